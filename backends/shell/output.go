package shell

import (
	"io"
	"log/slog"
	"sync"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// output is where a script's standard output and standard error go.
type output struct {
	mu      sync.Mutex
	deliver func(backends.Stream, []byte)
	total   int64
	max     int64
	over    func() // called once when more than max was written
	ended   bool

	keepAbove int64
	held      []byte
	open      func() (string, io.WriteCloser, error)
	file      io.WriteCloser
	path      string
	log       *slog.Logger
}

// stream is one of the two.
type stream struct {
	out *output
	is  backends.Stream
}

func (w stream) Write(p []byte) (int, error) {
	w.out.write(w.is, p)
	return len(p), nil
}

// write takes a piece of output. What exceeds the limit is dropped, and so is
// what comes after the end.
func (o *output) write(s backends.Stream, p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	if o.max > 0 && int64(len(p)) > o.max-o.total {
		p = p[:o.max-o.total]
		if o.over != nil {
			o.over()
			o.over = nil
		}
	}
	if len(p) == 0 {
		return
	}
	o.total += int64(len(p))
	if o.keepAbove > 0 {
		o.keep(p)
	}
	if o.deliver != nil {
		o.deliver(s, p)
	}
}

// keep puts p where the whole output is kept.
func (o *output) keep(p []byte) {
	if o.total <= o.keepAbove {
		o.held = append(o.held, p...)
		return
	}
	if o.file == nil {
		path, file, err := o.open()
		if err != nil {
			o.giveUp(err)
			return
		}
		o.path, o.file = path, file
		held := o.held
		o.held = nil
		if _, err := file.Write(held); err != nil {
			o.giveUp(err)
			return
		}
	}
	if _, err := o.file.Write(p); err != nil {
		o.giveUp(err)
	}
}

// giveUp keeps no output any more. The script is not failed for it: its result
// is worth more than the rest of its output.
func (o *output) giveUp(err error) {
	o.log.Warn("the whole output of a script could not be kept", "path", o.path, "error", err)
	if o.file != nil {
		if err := o.file.Close(); err != nil {
			o.log.Debug("closing an output file", "path", o.path, "error", err)
		}
	}
	o.file, o.path, o.held, o.keepAbove = nil, "", nil, 0
}

// end ends the output and returns the path of the file that holds all of it, or
// "".
func (o *output) end() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.file == nil {
		return ""
	}
	if err := o.file.Close(); err != nil {
		o.log.Warn("the whole output of a script could not be kept", "path", o.path, "error", err)
		return ""
	}
	return o.path
}
