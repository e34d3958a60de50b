package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"
	"syscall"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// descriptor is an open file of the shell. Subshells share it; it is closed
// when the last of them lets it go.
type descriptor struct {
	refs  atomic.Int32
	in    io.Reader // nil when it cannot be read
	out   io.Writer // nil when it cannot be written
	file  vfs.File  // nil when it is a stream
	close func()
}

func newDescriptor(in io.Reader, out io.Writer, close func()) *descriptor {
	d := &descriptor{in: in, out: out, close: close}
	d.refs.Store(1)
	return d
}

func (d *descriptor) keep() *descriptor {
	d.refs.Add(1)
	return d
}

func (d *descriptor) release() {
	if d.refs.Add(-1) == 0 && d.close != nil {
		d.close()
	}
}

// pipeReader and pipeWriter are the ends of a pipe. They are used with a
// context only; see commands.ReadContext.
type pipeReader struct{ *pipe }

func (r pipeReader) Read(b []byte) (int, error) { return r.ReadContext(context.Background(), b) }

type pipeWriter struct{ *pipe }

func (w pipeWriter) Write(b []byte) (int, error) { return w.WriteContext(context.Background(), b) }

type feedReader struct{ *feed }

func (r feedReader) Read(b []byte) (int, error) { return r.ReadContext(context.Background(), b) }

// newPipe returns both ends of a pipe.
func newPipe() (r, w *descriptor) {
	p := &pipe{}
	return newDescriptor(pipeReader{p}, nil, p.closeRead), newDescriptor(nil, pipeWriter{p}, p.closeWrite)
}

// unusable is a descriptor that is closed, or not open for this.
type unusable struct{}

func (unusable) Read([]byte) (int, error)  { return 0, syscall.EBADF }
func (unusable) Write([]byte) (int, error) { return 0, syscall.EBADF }

// reader is what commands read from descriptor n.
func (s *shell) reader(n int) io.Reader {
	if d := s.fds[n]; d != nil && d.in != nil {
		return d.in
	}
	return unusable{}
}

// writer is what commands write to descriptor n.
func (s *shell) writer(n int) io.Writer {
	if d := s.fds[n]; d != nil && d.out != nil {
		return d.out
	}
	return unusable{}
}

// setFD makes n lead to d, whose reference it takes over.
func (s *shell) setFD(n int, d *descriptor) {
	if old := s.fds[n]; old != nil {
		old.release()
	}
	if d == nil {
		delete(s.fds, n)
		return
	}
	s.fds[n] = d
}

// say writes to standard error, after what went to standard output before.
func (s *shell) say(text string) {
	// Where standard error cannot be written to there is nobody to tell.
	_, _ = commands.WriteContext(s.ctx, s.writer(2), []byte(text))
}

// print writes to standard output and returns the exit code of a builtin.
func (s *shell) print(name, text string) int {
	if text == "" {
		return 0
	}
	if _, err := commands.WriteContext(s.ctx, s.writer(1), []byte(text)); err != nil {
		s.check()
		if errors.Is(err, syscall.EPIPE) {
			panic(killed{s.pid, "SIGPIPE", 13})
		}
		s.errorf("%s: write error: %s", name, commands.Reason(err))
		return 1
	}
	return 0
}

// readUntil reads from descriptor n at most limit bytes, up to and including
// delim, and no more than that.
func (s *shell) readUntil(ctx context.Context, n int, delim byte, limit int) ([]byte, error) {
	r := s.reader(n)
	if u, ok := r.(interface {
		readUntil(context.Context, byte, int) ([]byte, error)
	}); ok {
		return u.readUntil(ctx, delim, limit)
	}
	var out []byte
	if d := s.fds[n]; d != nil && d.file != nil {
		chunk := make([]byte, min(limit, 512))
		for len(out) < limit {
			n, err := d.file.Read(chunk[:min(len(chunk), limit-len(out))])
			if i := bytes.IndexByte(chunk[:n], delim); i >= 0 {
				if _, err := d.file.Seek(int64(i+1-n), io.SeekCurrent); err != nil {
					return out, err
				}
				return append(out, chunk[:i+1]...), nil
			}
			out = append(out, chunk[:n]...)
			if err != nil {
				return out, err
			}
			if len(chunk) < 64<<10 {
				chunk = make([]byte, 4*len(chunk))
			}
		}
		return out, nil
	}
	var one [1]byte
	for len(out) < limit {
		k, err := commands.ReadContext(ctx, r, one[:])
		out = append(out, one[:k]...)
		if err != nil || k == 1 && one[0] == delim {
			return out, err
		}
	}
	return out, nil
}
