//go:build linux

package guest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

// liar is an agent that answers every request, once it is set up, by answer.
func liar(t *testing.T, answer func(op guest.Op, stream net.Conn)) *guest.Client {
	t.Helper()
	c, err := guest.Connect(t.Context(), lying(t, answer), guest.Setup{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// lying is the host's end of a stream to a liar.
func lying(t *testing.T, answer func(op guest.Op, stream net.Conn)) net.Conn {
	return speaking(t, func(stream net.Conn) {
		_, payload, err := guest.ReadFrame(stream, nil, guest.MaxRequest)
		if err != nil {
			return
		}
		op, _, err := guest.DecodeRequest(payload)
		switch {
		case err != nil:
		case op == guest.OpSetup:
			_, _ = stream.Write(setUp) // the host may have gone
		default:
			answer(op, stream)
		}
	})
}

// setUp is the answer to a Setup.
var setUp = reply(guest.SetupReply{WorkingDir: "/work"})

// speaking is the host's end of a stream to an agent that handles each request by
// handle.
func speaking(t *testing.T, handle func(stream net.Conn)) net.Conn {
	host, conn := net.Pipe()
	go func() {
		if _, err := io.WriteString(conn, guest.Greeting("liar")); err != nil {
			return
		}
		mux, err := yamux.Server(conn, guest.Multiplexing(io.Discard))
		if err != nil {
			t.Error(err)
			return
		}
		defer mux.Close()
		for {
			stream, err := mux.AcceptStream()
			if err != nil {
				return
			}
			go func() {
				defer stream.Close()
				handle(stream)
			}()
		}
	}()
	return host
}

func frame(kind guest.FrameKind, payload []byte) []byte { return guest.AppendFrame(nil, kind, payload) }

func reply(body any) []byte {
	data, err := guest.Encode(body)
	if err != nil {
		panic(err)
	}
	return frame(guest.FrameReply, data)
}

// operations is each call that a liar can answer.
func operations(ctx context.Context, c *guest.Client) map[string]func() error {
	return map[string]func() error{
		"Resolve": func() error { _, err := c.Resolve(ctx, "f"); return err },
		"Stat":    func() error { _, err := c.Stat(ctx, "f"); return err },
		"List":    func() error { _, err := c.List(ctx, backends.ListRequest{Path: "f", Limit: 2}); return err },
		"Read":    func() error { _, err := c.Read(ctx, backends.ReadRequest{Path: "f", Limit: 2}); return err },
		"Open": func() error {
			file, _, err := c.Open(ctx, "f")
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = io.Copy(io.Discard, file)
			return err
		},
		"Write": func() error {
			_, err := c.Write(ctx, backends.WriteRequest{Path: "f", Content: strings.NewReader("x")})
			return err
		},
		"Edit":      func() error { _, err := c.Edit(ctx, backends.EditRequest{Path: "f", Old: "a", New: "b"}); return err },
		"EditLines": func() error { _, err := c.EditLines(ctx, backends.EditLinesRequest{Path: "f"}); return err },
		"Glob":      func() error { _, err := c.Glob(ctx, backends.GlobRequest{Pattern: "*", Limit: 2}); return err },
		"Grep": func() error {
			_, err := c.Grep(ctx, backends.GrepRequest{Pattern: "x", Limit: 2, Mode: backends.GrepContent})
			return err
		},
		"Run": func() error {
			_, err := c.Run(ctx, backends.Command{Script: "true", MaxOutput: 1 << 20, Output: func(backends.Stream, []byte) {}})
			return err
		},
	}
}

// bomb is CBOR of a map with key, whose value is n times inner in an array.
func bomb(key string, n int, inner []byte) []byte {
	out := append([]byte{0xa1, 0x60 | byte(len(key))}, key...)
	out = binary.BigEndian.AppendUint32(append(out, 0x9a), uint32(n))
	return append(out, bytes.Repeat(inner, n)...)
}

// Whatever the bytes are that come for an answer, each call fails with an error
// of the contract, and takes no memory to speak of.
func TestAnswersThatAreNone(t *testing.T) {
	lines := bomb("Lines", 1_000_000, []byte{0xa0})
	for name, answer := range map[string][]byte{
		"nothing":                       {},
		"half a header":                 {'r', 0},
		"a frame over the limit":        frame('r', nil)[:1:1],
		"a reply of nothing":            frame('r', nil),
		"a length that lies":            append(binary.BigEndian.AppendUint32([]byte{'r'}, 10<<20), "short"...),
		"the largest length":            {'r', 0xff, 0xff, 0xff, 0xff},
		"a frame of no kind":            frame('?', []byte("what")),
		"an end":                        frame('z', nil),
		"a request":                     frame('q', []byte("\x01\xa0")),
		"random bytes":                  []byte("\x9c\x11\x52\x0e\x85\xd3\xf0\x28\x8c\xdf\x24\x6d\xb0\x36\x8f\x85\xae\xa3\xe3\xa6"),
		"a shell's message":             []byte("sh: 1: mcp-workspace-guest: not found\n"),
		"random CBOR":                   frame('r', []byte("\xd8\x2a\xbf\x61\x61\x9f\xff\xff")),
		"deep nesting":                  frame('r', bytes.Repeat([]byte{0x81}, 1_000_000)),
		"deep maps":                     frame('r', bytes.Repeat([]byte{0xa1, 0x61, 'a'}, 1_000_000)),
		"an array that claims 2^62":     frame('r', []byte{0x9b, 0x40, 0, 0, 0, 0, 0, 0, 0}),
		"a string that claims 2^62":     frame('r', []byte{0x5b, 0x40, 0, 0, 0, 0, 0, 0, 0}),
		"entries that claim to be many": frame('r', append([]byte("\xa1\x67Entries"), 0x9a, 0, 0xff, 0xff, 0xff)),
		"an indefinite array":           frame('r', append([]byte{0x9f}, bytes.Repeat([]byte{0}, 1_000_000)...)),
		"a million empty entries":       frame('r', bomb("Entries", 1_000_000, []byte{0xa0})),
		"files with a million lines":    frame('r', bomb("Files", 15, lines)),
		"keys twice":                    frame('r', []byte("\xa2\x64Path\x61/\x64Path\x61/")),
		"a failure of no kind":          frame('f', []byte("\xa1\x64Code\x63bad")),
		"a failure of a binary without": frame('f', []byte("\xa1\x64Code\x66binary")),
		"a failure that cannot be read": frame('f', []byte("\xff")),
		"a failure without a code":      frame('f', []byte("\xa0")),
		"an empty reply":                frame('r', []byte("\xa0")),
		"a relative path":               reply(map[string]any{"Path": "f", "Resolved": "f"}),
		"an unclean path":               reply(map[string]any{"Path": "/work/f", "Resolved": "/work/../f"}),
		"a path with NUL":               reply(map[string]any{"Path": "/work/f", "Resolved": "/work/f\x00"}),
		"another path":                  reply(map[string]any{"Path": "/etc/passwd", "Resolved": "/etc/passwd"}),
	} {
		t.Run(name, func(t *testing.T) {
			c := liar(t, func(_ guest.Op, stream net.Conn) { _, _ = stream.Write(answer) }) // the host closes what it has seen enough of
			for op, call := range operations(t.Context(), c) {
				if op == "Run" && (name == "an empty reply" || strings.Contains(name, "path")) {
					continue // an exit with code 0; it has no path
				}
				if op == "Run" && (name == "files with a million lines" || name == "a million empty entries") {
					continue // likewise; it knows no such key
				}
				peak := watchHeap()
				err := call()
				var e *backends.Error
				if !errors.As(err, &e) {
					t.Errorf("%s: %v", op, err)
				}
				if grown := peak(); grown > 160<<20 {
					t.Errorf("%s: %d MB of memory", op, grown>>20)
				}
			}
		})
	}
}

// watchHeap samples the memory in use until the function it returns is called,
// which tells by how much it had grown.
func watchHeap() (peak func() int64) {
	before := heap()
	stop, highest := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, int64(m.HeapAlloc)) //nolint:gosec // no heap has 2^63 bytes
			select {
			case <-stop:
				highest <- most
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(stop)
		return <-highest - before
	}
}

// Answers that can be read and must not be believed.
func TestAnswersThatAreLies(t *testing.T) {
	at := backends.Resolution{Path: "/work/f", Resolved: "/work/f", Exists: true}
	dir := backends.Resolution{Path: "/work", Resolved: "/work", Exists: true}
	entry := func(name string) any {
		return backends.ListResult{Resolution: at, Total: 1, Entries: []backends.Entry{{Name: name}}}
	}
	for name, tc := range map[string]struct {
		op     string
		answer any
	}{
		"an entry of the parent":        {"List", entry("../x")},
		"an entry that is the parent":   {"List", entry("..")},
		"an entry that is itself":       {"List", entry(".")},
		"an entry with NUL":             {"List", entry("a\x00b")},
		"an entry without a name":       {"List", entry("")},
		"more entries than there are":   {"List", backends.ListResult{Resolution: at, Entries: []backends.Entry{{Name: "a"}}}},
		"more entries than asked for":   {"List", backends.ListResult{Resolution: at, Total: 3, Entries: []backends.Entry{{Name: "a"}, {Name: "b"}, {Name: "c"}}}},
		"an entry of negative size":     {"List", backends.ListResult{Resolution: at, Total: 1, Entries: []backends.Entry{{Name: "a", Size: -1}}}},
		"an entry of no kind":           {"List", backends.ListResult{Resolution: at, Total: 1, Entries: []backends.Entry{{Name: "a", Kind: 99}}}},
		"a file of negative size":       {"Stat", guest.InfoReply{Resolution: at, Size: -1}},
		"a file of no kind":             {"Stat", guest.InfoReply{Resolution: at, Kind: 99}},
		"lines that are not there":      {"Read", guest.ReadReply{Resolution: at, Count: 2, TotalLines: 2, Text: "one\n"}},
		"more lines than asked for":     {"Read", guest.ReadReply{Resolution: at, Count: 3, TotalLines: 3, Text: "1\n2\n3\n"}},
		"a negative count of lines":     {"Read", guest.ReadReply{Resolution: at, Count: -1, TotalLines: 3}},
		"more lines than the file has":  {"Read", guest.ReadReply{Resolution: at, Count: 2, TotalLines: 1, Text: "1\n2\n"}},
		"more text than asked for":      {"Read", guest.ReadReply{Resolution: at, Count: 1, TotalLines: 1, Text: strings.Repeat("x", 2<<20) + "\n"}},
		"hashes of other lines":         {"Read", guest.ReadReply{Resolution: at, Count: 1, TotalLines: 1, Text: "1\n", Hashes: []string{"a", "b"}}},
		"a negative number of bytes":    {"Write", backends.WriteResult{Resolution: at, Bytes: -1}},
		"a negative number of edits":    {"Edit", backends.EditResult{Resolution: at, Replaced: -1}},
		"a diff over the limit":         {"EditLines", backends.EditResult{Resolution: at, Diff: strings.Repeat("x", 1<<20)}},
		"a relative path found":         {"Glob", backends.GlobResult{Resolution: dir, Total: 1, Paths: []string{"f"}}},
		"an unclean path found":         {"Glob", backends.GlobResult{Resolution: dir, Total: 1, Paths: []string{"/work/../f"}}},
		"more paths than asked for":     {"Glob", backends.GlobResult{Resolution: dir, Total: 3, Paths: []string{"/a", "/b", "/c"}}},
		"a negative number skipped":     {"Glob", backends.GlobResult{Resolution: dir, Skipped: -1}},
		"a match in a relative path":    {"Grep", backends.GrepResult{Resolution: dir, Files: []backends.GrepFile{{Path: "f"}}}},
		"a match of two lines":          {"Grep", backends.GrepResult{Resolution: dir, Files: []backends.GrepFile{{Path: "/f", Lines: []backends.GrepLine{{Number: 1, Text: "a\nb"}}}}}},
		"a match in line 0":             {"Grep", backends.GrepResult{Resolution: dir, Files: []backends.GrepFile{{Path: "/f", Lines: []backends.GrepLine{{}}}}}},
		"a negative number of matches":  {"Grep", backends.GrepResult{Resolution: dir, Total: -1}},
		"more matches than asked for":   {"Grep", backends.GrepResult{Resolution: dir, Total: 3, Files: []backends.GrepFile{{Path: "/f", Lines: []backends.GrepLine{{Number: 1}, {Number: 2}, {Number: 3}}}}}},
		"a negative exit code":          {"Run", guest.RunReply{Exit: backends.Exit{Code: -1}}},
		"an exit code there is not":     {"Run", guest.RunReply{Exit: backends.Exit{Code: 256}}},
		"a signal there is not":         {"Run", guest.RunReply{Exit: backends.Exit{Signal: "SIG\nKILL"}}},
		"output kept in a relative one": {"Run", guest.RunReply{Exit: backends.Exit{OutputFile: "../x"}}},
		"stopped for no reason":         {"Run", guest.RunReply{Stopped: &guest.Failure{Code: "tired"}}},
		"a reply after the description": {"Open", guest.InfoReply{Resolution: at}},
	} {
		t.Run(name, func(t *testing.T) {
			c := liar(t, func(op guest.Op, stream net.Conn) {
				answer := reply(tc.answer)
				if op == guest.OpOpen {
					answer = append(answer, answer...)
				}
				_, _ = stream.Write(answer) // the host closes what it has seen enough of
				_, _ = io.Copy(io.Discard, stream)
			})
			wantCode(t, tc.op, operations(t.Context(), c)[tc.op](), backends.CodeInternal)
			eventually(t, "the streams to be closed", func() bool { return c.Streams() == 0 })
		})
	}
}

// Success before the content has come cannot be, and does not make the host wait.
func TestSuccessTooEarly(t *testing.T) {
	c := liar(t, func(_ guest.Op, stream net.Conn) {
		_, _ = stream.Write(reply(backends.WriteResult{Resolution: backends.Resolution{Path: "/work/f", Resolved: "/work/f"}})) // the host may have gone
	})
	_, err := c.Write(t.Context(), backends.WriteRequest{Path: "f", Content: &counting{}})
	wantCode(t, "Write", err, backends.CodeInternal)
}

// Output without end ends with the limit of output, and without one with that of
// time; content without end ends with its caller.
func TestNoEnd(t *testing.T) {
	var cancelled atomic.Int64
	c := liar(t, func(op guest.Op, stream net.Conn) {
		data := frame('d', make([]byte, guest.MaxData))
		first := data
		switch op {
		case guest.OpCancel:
			cancelled.Add(1)
			return // without an answer
		case guest.OpOpen:
			first = reply(guest.InfoReply{Resolution: backends.Resolution{Path: "/work/f", Resolved: "/work/f"}})
		}
		for _, err := stream.Write(first); err == nil; _, err = stream.Write(data) {
		}
	})
	peak := watchHeap()
	_, err := c.Run(t.Context(), backends.Command{Script: "yes", MaxOutput: 1 << 20})
	wantCode(t, "Run with a limit", err, backends.CodeInternal)

	ctx, cancel := context.WithCancel(t.Context())
	file, _, err := c.Open(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, file, 10<<20); err != nil {
		t.Error(err)
	}
	cancel()
	_, err = io.Copy(io.Discard, file)
	wantCode(t, "Open", err, backends.CodeCancelled)
	if err := file.Close(); err != nil {
		t.Error(err)
	}

	begun := time.Now()
	_, err = c.Run(t.Context(), backends.Command{Script: "yes", Timeout: time.Millisecond})
	wantCode(t, "Run with a time", err, backends.CodeUnavailable)
	ctx, cancel = context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = c.Run(ctx, backends.Command{Script: "yes"})
	wantCode(t, "Run that is given up", err, backends.CodeCancelled)
	if took := time.Since(begun); took > patience {
		t.Errorf("it took %s", took)
	}
	if grown := peak(); grown > 32<<20 {
		t.Errorf("%d MB of memory", grown>>20)
	}
	if cancelled.Load() == 0 {
		t.Error("nothing was cancelled")
	}
}

// An agent that never answers is left as soon as the caller wants, and what it
// says then is not heard.
func TestNoAnswer(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("", func(t *testing.T) {
		late := make(chan struct{})
		c := liar(t, func(op guest.Op, stream net.Conn) {
			if op != guest.OpCancel {
				<-late
				_, _ = stream.Write(reply(backends.Resolution{Path: "/work/f", Resolved: "/work/f"})) // the host has gone
			}
		})
		for range 50 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			for op, call := range operations(ctx, c) {
				if op != "Run" { // which waits for what a command said last
					wantCode(t, op, call(), backends.CodeCancelled)
				}
			}
			cancel()
		}
		close(late)
		eventually(t, "the streams to be closed", func() bool { return c.Streams() == 0 })
	})
	eventually(t, "all goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}
