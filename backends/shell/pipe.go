package shell

import (
	"bytes"
	"context"
	"io"
	"sync"
	"syscall"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// pipeSize is how much a pipe holds, as on Linux.
const pipeSize = 64 << 10

// pipe is a pipe in memory. Waiting for it ends with a context.
type pipe struct {
	mu      sync.Mutex
	buf     []byte
	start   int           // of what is unread in buf
	changed chan struct{} // closed and replaced when something changes; nil when nobody waits
	noRead  bool          // the reading end is closed
	noWrite bool
	failure error // of the writing end, for the reader
}

func (p *pipe) wake() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// wait needs mu, and has it again when it returns.
func (p *pipe) wait(ctx context.Context) error {
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	c := p.changed
	p.mu.Unlock()
	fair.Give(ctx)
	defer p.mu.Lock()
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readable waits until there is something to read, and returns it. It needs mu.
func (p *pipe) readable(ctx context.Context) ([]byte, error) {
	for p.start == len(p.buf) {
		switch {
		case p.failure != nil:
			return nil, p.failure
		case p.noWrite:
			return nil, io.EOF
		}
		if err := p.wait(ctx); err != nil {
			return nil, err
		}
	}
	return p.buf[p.start:], nil
}

func (p *pipe) took(n int) {
	p.start += n
	if p.start == len(p.buf) {
		p.buf, p.start = p.buf[:0], 0
	}
	p.wake()
}

// ReadContext reads what there is, once there is something.
func (p *pipe) ReadContext(ctx context.Context, b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(b) == 0 {
		return 0, nil
	}
	have, err := p.readable(ctx)
	if err != nil {
		return 0, err
	}
	n := copy(b, have)
	p.took(n)
	return n, nil
}

// readUntil reads at most limit bytes, up to and including the first delim.
func (p *pipe) readUntil(ctx context.Context, delim byte, limit int) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []byte
	for len(out) < limit {
		have, err := p.readable(ctx)
		if err != nil {
			return out, err
		}
		have = have[:min(len(have), limit-len(out))]
		i := bytes.IndexByte(have, delim)
		if i >= 0 {
			have = have[:i+1]
		}
		out = append(out, have...)
		p.took(len(have))
		if i >= 0 {
			break
		}
	}
	return out, nil
}

// WriteContext writes all of b, or fails with EPIPE when nobody can read it.
func (p *pipe) WriteContext(ctx context.Context, b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done := 0
	for {
		switch {
		case p.noRead:
			return done, syscall.EPIPE
		case done == len(b):
			return done, nil
		}
		if room := pipeSize - (len(p.buf) - p.start); room > 0 {
			if p.start > 0 {
				p.buf = append(p.buf[:0], p.buf[p.start:]...)
				p.start = 0
			}
			n := min(room, len(b)-done)
			p.buf = append(p.buf, b[done:done+n]...)
			done += n
			p.wake()
			continue
		}
		if err := p.wait(ctx); err != nil {
			return done, err
		}
	}
}

func (p *pipe) closeRead() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noRead, p.buf, p.start = true, nil, 0
	p.wake()
}

func (p *pipe) closeWrite() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noWrite = true
	p.wake()
}

// feed is the script's own input: a reader that knows no context.
type feed struct {
	pipe
	from io.Reader
	fail func(error)

	reading bool
}

// ReadContext reads from the input. A read that is under way when ctx ends goes
// on by itself; what it brings is for whoever reads next.
func (f *feed) ReadContext(ctx context.Context, b []byte) (int, error) {
	f.ask()
	return f.pipe.ReadContext(ctx, b)
}

func (f *feed) readUntil(ctx context.Context, delim byte, limit int) ([]byte, error) {
	var out []byte
	for {
		f.ask()
		f.mu.Lock()
		have, err := f.readable(ctx)
		if err != nil {
			f.mu.Unlock()
			return out, err
		}
		have = have[:min(len(have), limit-len(out))]
		i := bytes.IndexByte(have, delim)
		if i >= 0 {
			have = have[:i+1]
		}
		out = append(out, have...)
		f.took(len(have))
		f.mu.Unlock()
		if i >= 0 || len(out) >= limit {
			return out, nil
		}
	}
}

// ask starts a read when there is nothing left of the one before.
func (f *feed) ask() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reading || f.start < len(f.buf) || f.noWrite || f.failure != nil {
		return
	}
	f.reading = true
	go func() {
		b := make([]byte, 32<<10)
		n, err := f.from.Read(b)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.reading = false
		f.buf = append(f.buf, b[:n]...)
		switch {
		case err == io.EOF:
			f.noWrite = true
		case err != nil:
			f.failure = err
			f.fail(err)
		case n == 0:
			// Nothing yet: who waits asks again.
			f.failure = io.ErrNoProgress
		}
		f.wake()
	}()
}

// nothing is an input at its end.
type nothing = commands.NoInput
