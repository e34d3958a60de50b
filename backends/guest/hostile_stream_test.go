//go:build linux

package guest_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

func TestGreetings(t *testing.T) {
	for name, tc := range map[string]struct {
		says  string
		cause error
	}{
		"nothing":               {says: ""},
		"a shell's message":     {says: "OCI runtime exec failed: exec failed: unable to start container process\n"},
		"half a line":           {says: "mcp-workspace-guest/1"},
		"no version":            {says: "mcp-workspace-guest/ x\n"},
		"another version":       {says: "mcp-workspace-guest/99 1.2.3\n", cause: guest.ErrIncompatible},
		"a version without end": {says: "mcp-workspace-guest/" + strings.Repeat("9", 10_000)},
		"no line's end":         {says: strings.Repeat("x", 10_000)},
		"an empty line":         {says: "\n"},
		"control characters":    {says: "\x1b]0;title\x07\n"},
	} {
		t.Run(name, func(t *testing.T) {
			host, conn := net.Pipe()
			go func() {
				_, _ = io.WriteString(conn, tc.says) // the host closes it early
				conn.Close()
			}()
			_, err := guest.Dial(t.Context(), host, nil)
			wantCode(t, "Dial", err, backends.CodeUnavailable)
			if tc.cause != nil && !errors.Is(err, tc.cause) || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\x1b\x07") {
				t.Errorf("%v", err)
			}
			if _, err := host.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("the connection was not closed: %v", err)
			}
		})
	}
	t.Run("silence", func(t *testing.T) {
		host, _ := net.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := guest.Dial(ctx, host, nil)
		wantCode(t, "Dial", err, backends.CodeCancelled)
	})
}

// Requests that are given up in the middle of what they say leave frames of theirs
// on the way, which are no reason to end the session.
func TestLateFramesAreHarmless(t *testing.T) {
	c, _ := connect(t, guest.Setup{WorkingDir: t.TempDir()})
	if err := os.WriteFile(filepath.Join(c.WorkingDir(), "big"), make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for i := range 10 {
				ctx, cancel := context.WithCancel(t.Context())
				_, err := c.Run(ctx, backends.Command{Argv: []string{"yes"}, Output: func(backends.Stream, []byte) { cancel() }})
				wantCode(t, "Run", err, backends.CodeCancelled)
				cancel()
				file, _, err := c.Open(t.Context(), "big")
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := io.ReadFull(file, make([]byte, 1+i*1000)); err != nil {
					t.Error(err)
				}
				if err := file.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	if _, err := c.Stat(t.Context(), "."); err != nil {
		t.Error(err)
	}
	t.Logf("%d frames belonged to nothing", c.Strays())
	if n := c.Strays(); n > 1000 {
		t.Errorf("%d frames belonged to nothing", n)
	}
}

// Floods of what yamux is made of, from an agent that reads nothing.
func TestFloods(t *testing.T) {
	const ping, update, syn = 2, 1, 1
	header := func(kind, flags byte, stream, length uint32) []byte {
		h := []byte{0, kind, 0, flags}
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(h, stream), length)
	}
	for name, piece := range map[string]func(i uint32) []byte{
		"pings":                func(i uint32) []byte { return header(ping, syn, 0, i) },
		"answers to no ping":   func(i uint32) []byte { return header(ping, 2, 0, i) },
		"window updates":       func(uint32) []byte { return header(update, 0, 1, 1<<31) },
		"streams":              func(i uint32) []byte { return header(update, syn, 2*i+2, 0) },
		"data for no stream":   func(uint32) []byte { return append(header(0, 0, 9999, 100), make([]byte, 100)...) },
		"data without window":  func(uint32) []byte { return append(header(0, 0, 1, 1<<30), make([]byte, 1<<16)...) },
		"resets":               func(uint32) []byte { return header(update, 8, 1, 0) },
		"goodbyes":             func(uint32) []byte { return header(3, 0, 0, 0) },
		"goodbyes in anger":    func(uint32) []byte { return header(3, 0, 0, 1) },
		"another version":      func(uint32) []byte { return []byte("HTTP/1.1 400 Bad Request\r\n\r\n") },
		"ends":                 func(uint32) []byte { return header(update, 4, 1, 0) },
		"acknowledgements":     func(uint32) []byte { return header(update, 2, 1, 0) },
		"updates of nothing":   func(uint32) []byte { return header(update, 0, 1, 0) },
		"window for nothing":   func(uint32) []byte { return header(update, 0, 1, 512<<10) },
		"data of nothing":      func(uint32) []byte { return header(0, 0, 1, 0) },
		"updates of no stream": func(uint32) []byte { return header(update, 0, 9999, 0) },
		"much for no stream":   func(uint32) []byte { return append(header(0, 0, 9999, 1<<20), make([]byte, 1<<20)...) },
		"data of an ended one": func(i uint32) []byte {
			if i == 0 {
				return header(update, 4, 1, 0)
			}
			return header(0, 0, 1, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host, conn := net.Pipe()
			flooded, pieces := make(chan struct{}), uint32(0)
			go func() {
				defer close(flooded)
				defer conn.Close()
				if _, err := io.WriteString(conn, guest.Greeting("flood")); err != nil {
					return
				}
				// What the host says first: that it takes no streams, and a request.
				if _, err := io.ReadFull(conn, make([]byte, 24)); err != nil {
					return
				}
				var buf []byte
				for i := range uint32(2_000_000) {
					pieces = i
					if buf = append(buf, piece(i)...); len(buf) > 1<<15 {
						if _, err := conn.Write(buf); err != nil {
							return
						}
						buf = buf[:0]
					}
				}
			}()
			begun := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
			defer cancel()
			peak := watchHeap()
			c, err := guest.Connect(ctx, host, guest.Setup{}, nil)
			if err == nil {
				t.Error("it was set up")
				c.Close()
			}
			var e *backends.Error
			if !errors.As(err, &e) || ctx.Err() != nil {
				t.Errorf("%v", err)
			}
			if grown := peak(); grown > 64<<20 {
				t.Errorf("%d MB of memory", grown>>20)
			}
			<-flooded
			if pieces > 50_000 {
				t.Errorf("%d frames were read", pieces)
			}
			t.Logf("%s: %v", time.Since(begun), err)
		})
	}
}
