// Package output is where what a command prints goes, however the command runs.
package output

import (
	"io"
	"log/slog"
	"sync"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// OpenFile makes a file in the workspace for the whole output of a command.
type OpenFile func() (path string, w io.WriteCloser, err error)

// Output passes on what a command prints to its caller, and past a threshold
// into a file as well. It is safe for concurrent use.
type Output struct {
	mu        sync.Mutex
	deliver   func(backends.Stream, []byte)
	max       int64
	total     int64 // bytes delivered
	over      func()
	overflown bool
	ended     bool
	keepAbove int64
	held      []byte // all output so far, until there is more than keepAbove
	open      OpenFile
	file      io.WriteCloser
	path      string
	fault     error // that the whole output is not kept for
	log       *slog.Logger
}

// New returns the Output that cmd asks for. A nil open keeps none. The function
// over is called once, with the Output locked, when the command has printed more
// than it may.
func New(cmd backends.Command, open OpenFile, log *slog.Logger, over func()) *Output {
	o := &Output{deliver: cmd.Output, max: cmd.MaxOutput, keepAbove: cmd.KeepAbove, open: open, log: log, over: over}
	if open == nil {
		o.keepAbove = 0
	}
	return o
}

// To is a writer for one of the streams. It never fails.
func (o *Output) To(s backends.Stream) io.Writer { return stream{o, s} }

type stream struct {
	out *Output
	is  backends.Stream
}

func (w stream) Write(p []byte) (int, error) {
	w.out.Write(w.is, p)
	return len(p), nil
}

// Write takes a piece of output. What exceeds the limit is dropped, and so is
// what comes after the end.
func (o *Output) Write(s backends.Stream, p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	if o.max > 0 && int64(len(p)) > o.max-o.total {
		p = p[:o.max-o.total]
		if !o.overflown {
			o.overflown = true
			o.over()
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
func (o *Output) keep(p []byte) {
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
func (o *Output) giveUp(err error) {
	o.log.Warn("the whole output of a command could not be kept", "path", o.path, "error", err)
	o.fault = err
	if o.file != nil {
		if err := o.file.Close(); err != nil {
			o.log.Debug("closing an output file", "path", o.path, "error", err)
		}
	}
	o.file, o.path, o.held, o.keepAbove = nil, "", nil, 0
}

// Overflowed tells whether the command has written more than it may.
func (o *Output) Overflowed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.overflown
}

// Close ends the output and returns the path of the file that holds all of it, or
// why there is none that was asked for.
func (o *Output) Close() (path, notKept string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	if o.file != nil {
		if err := o.file.Close(); err != nil {
			o.log.Warn("the whole output of a command could not be kept", "path", o.path, "error", err)
			o.path, o.fault = "", err
		}
	}
	if o.fault != nil {
		return "", o.fault.Error()
	}
	return o.path, ""
}
