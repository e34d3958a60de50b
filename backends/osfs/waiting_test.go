//go:build linux || darwin

package osfs

import (
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// As the kernel's log is on a busy machine.
func TestFileThatAlwaysSaysALittleMore(t *testing.T) {
	const often, most = 50 * time.Millisecond, 1000
	for _, test := range []struct {
		name string
		open func(t *testing.T, name string) io.Reader
	}{
		{"by its path", func(t *testing.T, name string) io.Reader {
			f, err := os.OpenFile(name, os.O_RDWR|unix.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			return &hesitant{file: f}
		}},
		{"in its directory", func(t *testing.T, name string) io.Reader {
			fd, err := unix.Open(name, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			f := &dirFile{fd: fd, dir: &dir{name: "/"}, name: "f"}
			t.Cleanup(func() { f.Close() })
			return f
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			name := t.TempDir() + "/f"
			if err := unix.Mkfifo(name, 0o600); err != nil {
				t.Fatal(err)
			}
			reader := test.open(t, name)
			fifo, err := os.OpenFile(name, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer fifo.Close()
			over, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				for range most {
					select {
					case <-over:
						return
					case <-time.After(often):
						if _, err := fifo.Write([]byte("x")); err != nil {
							t.Error(err)
							return
						}
					}
				}
			}()
			got, err := io.CopyN(io.Discard, reader, most)
			close(over)
			<-ended
			if backends.CodeOf(err) != backends.CodeInvalidArgument || got == 0 {
				t.Errorf("after %d bytes: %v", got, err)
			}
		})
	}
}
