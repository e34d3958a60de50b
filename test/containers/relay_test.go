package containers

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// relay is a socket that leads to an engine's, which every user may use and
// whose connections can be cut.
type relay struct {
	host string // its address

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// openDir is a directory of the test that every user may look into, as they may
// not into t.TempDir.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "story-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func relayTo(t *testing.T, e *engines.Engine) *relay {
	t.Helper()
	path := filepath.Join(openDir(t), "engine.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	r := &relay{host: "unix://" + path, conns: map[net.Conn]bool{}}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return // closed
			}
			serving.Go(func() {
				if err := r.pass(from, strings.TrimPrefix(e.Host, "unix://")); err != nil {
					t.Errorf("the relay: %v", err)
				}
			})
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		r.cut()
		serving.Wait()
	})
	return r
}

// pass passes bytes on both ways until both sides have ended.
func (r *relay) pass(from net.Conn, address string) error {
	defer from.Close()
	to, err := net.Dial("unix", address)
	if err != nil {
		return err
	}
	defer to.Close()
	r.keep(from, to)
	defer r.forget(from, to)
	var copying sync.WaitGroup
	for _, way := range [][2]*net.UnixConn{{from.(*net.UnixConn), to.(*net.UnixConn)}, {to.(*net.UnixConn), from.(*net.UnixConn)}} {
		copying.Go(func() {
			_, _ = io.Copy(way[1], way[0]) // its failure is the end of the connection
			_ = way[1].CloseWrite()
		})
	}
	copying.Wait()
	return nil
}

func (r *relay) keep(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		r.conns[c] = true
	}
}

func (r *relay) forget(conns ...net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		delete(r.conns, c)
	}
}

// cut ends all connections.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.Close() // it may have ended by itself
	}
}
