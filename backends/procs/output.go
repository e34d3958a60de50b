package procs

import (
	"io"
	"log/slog"
	"sync"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// output is where a command's output goes: to the caller, and past a threshold
// into a file as well. It is safe for concurrent use.
type output struct {
	full chan struct{} // closed when the command has written more than max

	mu        sync.Mutex
	deliver   func(backends.Stream, []byte)
	max       int64
	total     int64 // bytes delivered
	over      bool
	keepAbove int64
	held      []byte // all output so far, until there is more than keepAbove
	open      func() (string, io.WriteCloser, error)
	file      io.WriteCloser
	path      string
	log       *slog.Logger
}

func newOutput(cmd backends.Command, opt Options) *output {
	o := &output{
		full:      make(chan struct{}),
		deliver:   cmd.Output,
		max:       cmd.MaxOutput,
		keepAbove: cmd.KeepAbove,
		open:      opt.OpenOutputFile,
		log:       opt.Logger,
	}
	if o.open == nil {
		o.keepAbove = 0
	}
	return o
}

// write takes a piece of output. What exceeds the limit is dropped.
func (o *output) write(s backends.Stream, p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.max > 0 && int64(len(p)) > o.max-o.total {
		p = p[:o.max-o.total]
		if !o.over {
			o.over = true
			close(o.full)
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

// giveUp keeps no output any more. The command is not failed for it: its
// result is worth more than the rest of its output.
func (o *output) giveUp(err error) {
	o.log.Warn("the whole output of a command could not be kept", "path", o.path, "error", err)
	if o.file != nil {
		if err := o.file.Close(); err != nil {
			o.log.Debug("closing an output file", "path", o.path, "error", err)
		}
	}
	o.file, o.path, o.held, o.keepAbove = nil, "", nil, 0
}

// overflowed tells whether the command has written more than it may.
func (o *output) overflowed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.over
}

// close ends the output and returns the path of the file that holds all of it,
// or "".
func (o *output) close() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.file == nil {
		return ""
	}
	err := o.file.Close()
	if err != nil {
		o.log.Warn("the whole output of a command could not be kept", "path", o.path, "error", err)
		return ""
	}
	return o.path
}
