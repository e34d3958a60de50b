package backendtest

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func testCancellation(s *suite) {
	for _, op := range s.operations() {
		s.claim(op.name+" is cancelled when its context has ended", func(p *place) {
			p.write("dir/f", firstLine+"\nunchanged\n")
			cancelled, cancel := context.WithCancel(p.Context())
			cancel()
			expired, cancel := context.WithDeadline(p.Context(), time.Unix(0, 0))
			defer cancel()
			target := p.at("dir/f")
			if op.wants == wantsDirectory {
				target = p.at("dir")
			}
			p.promptly(op.name, func() {
				wantCode(p.T, op.name+" with a cancelled context", op.do(cancelled, p.ws, target), backends.CodeCancelled)
				wantCode(p.T, op.name+" with an expired context", op.do(expired, p.ws, target), backends.CodeCancelled)
			})
			p.wantBytes("dir/f", firstLine+"\nunchanged\n")
		})
	}

	s.claim("a write whose context ends stops and leaves the file as it was", func(p *place) {
		p.write("f", "old")
		for _, name := range []string{"f", "new"} {
			ctx, cancel := context.WithCancel(p.Context())
			p.promptly("Write", func() {
				_, err := p.ws.Write(ctx, backends.WriteRequest{Path: p.at(name), Content: &endless{after: 1 << 20, call: cancel}})
				wantCode(p.T, "Write "+name, err, backends.CodeCancelled)
			})
			cancel()
		}
		p.wantBytes("f", "old")
		wantEqual(p.T, "List", entryNames(p.list(".")), []string{"f"})
	})
}

// endless is content that calls once so many bytes have been read, and does
// not end soon after.
type endless struct {
	after int
	call  func()
	read  int
}

func (e *endless) Read(b []byte) (int, error) {
	const most = 256 << 20 // where nobody stops, the disk is not filled
	if e.read > most {
		return 0, errors.New("read on though the context had ended")
	}
	if e.read >= e.after {
		e.call()
	}
	b = b[:min(len(b), 64<<10)]
	for i := range b {
		b[i] = 'x'
	}
	e.read += len(b)
	return len(b), nil
}
