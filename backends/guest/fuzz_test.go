//go:build linux

package guest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/yamux"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

func FuzzFrame(f *testing.F) {
	f.Add([]byte("r\x00\x00\x00\x01x"))
	f.Add([]byte{})
	f.Add([]byte{'d', 0xff, 0xff, 0xff, 0xff})
	f.Add(append([]byte{'d', 0, 1, 0, 0}, make([]byte, 1<<16)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		kind, payload, err := guest.ReadFrame(bytes.NewReader(data), nil, guest.MaxReply)
		if err != nil {
			return
		}
		// What can be read is what is written.
		if again := guest.AppendFrame(nil, kind, payload); !bytes.HasPrefix(data, again) {
			t.Fatalf("%q %q", data, again)
		}
		if _, _, err := guest.ReadFrame(bytes.NewReader(data), nil, len(payload)-1); err == nil {
			t.Fatal("a frame over its limit was read")
		}
	})
}

// FuzzReply answers calls with what may be anything. A call that fails does so as
// the contract has it, and the session goes on.
func FuzzReply(f *testing.F) {
	at := backends.Resolution{Path: "/work/f", Resolved: "/work/f", Exists: true}
	dir := backends.Resolution{Path: "/work", Resolved: "/work", Exists: true}
	for i, body := range []any{
		at,
		guest.InfoReply{Resolution: at, Size: 3},
		backends.ListResult{Resolution: at, Total: 1, Entries: []backends.Entry{{Name: "a", Size: 1, Link: "b"}}},
		guest.ReadReply{Resolution: at, Count: 2, TotalLines: 2, Text: "a\nb\n", Cuts: map[int]int{1: 3}, Hashes: []string{"aa", "bb"}},
		backends.WriteResult{Resolution: at, Bytes: 1, Lines: 1, Version: "v"},
		backends.EditResult{Resolution: at, Replaced: 1, Diff: "d", Version: "v"},
		backends.EditResult{Resolution: at},
		backends.GlobResult{Resolution: dir, Paths: []string{"/work/f", "/work/d/"}, Total: 2},
		backends.GrepResult{Resolution: dir, Total: 1, Files: []backends.GrepFile{{Path: "/work/f", Count: 1, Lines: []backends.GrepLine{{Number: 1, Text: "x"}}}}},
		guest.RunReply{Exit: backends.Exit{Code: 137, Signal: "SIGKILL", OutputFile: "/tmp/x"}, Stopped: &guest.Failure{Code: backends.CodeTimeout}},
		guest.InfoReply{Resolution: at},
	} {
		f.Add(byte(i), byte('r'), reply(body)[5:])
	}
	f.Add(byte(0), byte('f'), []byte("\xa2\x64Code\x66binary\x66Binary\xa2\x64MIME\x61x\x64Size\x01"))
	names := []string{"Resolve", "Stat", "List", "Read", "Write", "Edit", "EditLines", "Glob", "Grep", "Run", "Open"}

	var answer atomic.Pointer[[]byte]
	host, conn := net.Pipe()
	go func() {
		if _, err := io.WriteString(conn, guest.Greeting("fuzz")); err != nil {
			return
		}
		mux, err := yamux.Server(conn, guest.Multiplexing(io.Discard))
		if err != nil {
			return
		}
		for {
			stream, err := mux.AcceptStream()
			if err != nil {
				return
			}
			go func() {
				defer stream.Close()
				if _, payload, err := guest.ReadFrame(stream, nil, guest.MaxRequest); err == nil && payload[0] == byte(guest.OpCancel) {
					_, _ = stream.Write(reply(struct{}{})) // the host may have gone
					return
				}
				_, _ = stream.Write(*answer.Load()) // likewise
			}()
		}
	}()
	setup := reply(guest.SetupReply{WorkingDir: "/work"})
	answer.Store(&setup)
	c, err := guest.Connect(context.Background(), host, guest.Setup{}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = c.Close() })
	f.Fuzz(func(t *testing.T, op, kind byte, payload []byte) {
		if len(payload) > guest.MaxData {
			return
		}
		whole := guest.AppendFrame(nil, guest.FrameKind(kind), payload)
		answer.Store(&whole)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		name := names[int(op)%len(names)]
		err := operations(ctx, c)[name]()
		var e *backends.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%s: %v", name, err)
		}
		if err != nil && slices.Contains([]backends.Code{"", backends.CodeCancelled}, e.Code) && guest.FrameKind(kind) != guest.FrameFailure && name != "Run" {
			t.Fatalf("%s: %v", name, err)
		}
		select {
		case <-c.Done():
			t.Fatal("the session ended")
		default:
		}
	})
}
