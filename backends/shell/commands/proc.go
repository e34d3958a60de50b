package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// Proc is one run of a command: what a process is elsewhere. A command uses it
// from one goroutine.
type Proc struct {
	// Name is how the command was called, without directories; Args are the
	// arguments after it.
	Name string
	Args []string
	// Dir is where relative names start: absolute.
	Dir string
	// Env is the environment, K=V.
	Env []string
	// Stdin is never nil once the command runs.
	Stdin io.Reader
	// Out is standard output. It is flushed when the command ends, before
	// something is said on standard error, and before standard input is read.
	Out *bufio.Writer
	// Stderr is standard error. What is written there comes after what was
	// written to Out before.
	Stderr io.Writer
	// Stdout is the stream below Out, for another command that writes there;
	// see [Proc.Run].
	Stdout io.Writer
	Files  Files
	// Memory is shared by all commands of a script.
	Memory *Memory
	// System is what is told of the machine that there is not.
	System System
	// Start runs another command, as a shell finds it; nil when there is none
	// to run.
	Start func(ctx context.Context, c Call) (code int)
	// Descriptor is what /dev/fd/N leads to, nil for what it cannot do; nil
	// when there are none.
	Descriptor func(n int) (io.Reader, io.Writer)
	// IsSet tells whether a variable of the shell is set; nil when there is no
	// shell around.
	IsSet func(name string) bool

	ctx    context.Context
	cancel context.CancelCauseFunc
	turn   *fair.Turn
	held   int64
	cmd    *Command
	raw    io.Writer // standard error as it was given
}

// Call is a command that a command runs.
type Call struct {
	Args           []string
	Dir            string
	Env            []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// System is who and where a command believes to be.
type System struct {
	User, Group, Host string
	UID, GID          int
}

// DefaultSystem is the superuser of a machine of its own, as in most
// containers.
var DefaultSystem = System{User: "root", Group: "root", Host: "workspace"}

// Exit codes with a meaning of their own.
const (
	exitNotRunnable = 126
	exitNotFound    = 127
	exitPipe        = 141 // 128 + SIGPIPE
)

// ErrPipe is the cause with which a command's context ends when nobody reads
// its output any more.
var ErrPipe error = syscall.EPIPE

// Main runs cmd as p and returns its exit code. A defect of the command (a
// panic) ends that command alone, with code 134 and a word on standard error.
func (p *Proc) Main(ctx context.Context, cmd *Command) (code int) {
	p.cmd = cmd
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.turn = fair.TurnOf(ctx)
	p.raw = p.Stderr
	out := outputs.Get().(*bufio.Writer)
	out.Reset(&stdout{p: p, to: p.Stdout})
	p.Out = out
	p.Stdout = &flushed{p: p, to: &stdout{p: p, to: p.Stdout}}
	p.Stderr = &flushed{p: p, to: p.raw}
	if p.Stdin == nil {
		p.Stdin = NoInput{}
	}
	p.Stdin = &input{p: p, from: p.Stdin}
	if p.Memory == nil {
		p.Memory = NewMemory(0, nil)
	}
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(p.raw, "%s: this command has a defect and was ended: %v\n", p.Name, r)
			if panicked != nil {
				panicked(r, debug.Stack())
			}
			code = 134
		}
		if err := out.Flush(); err != nil && code == 0 {
			code = 1
		}
		if errors.Is(context.Cause(p.ctx), ErrPipe) {
			code = exitPipe
		}
		p.cancel(nil)
		p.Memory.Free(p.held)
		out.Reset(nil)
		outputs.Put(out)
	}()
	code = cmd.Run(p)
	return code
}

// panicked hears of defects; tests make them failures.
var panicked func(r any, stack []byte)

var outputs = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 16<<10) }}

// Context ends when the command is to end.
func (p *Proc) Context() context.Context { return p.ctx }

// Stopped tells whether the command is to end now. It waits until it is the
// command's turn to compute.
func (p *Proc) Stopped() bool {
	p.turn.Take(p.ctx)
	return p.ctx.Err() != nil
}

// Getenv returns a variable of the environment.
func (p *Proc) Getenv(name string) (string, bool) {
	for i := len(p.Env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(p.Env[i], "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// Errorf says what is wrong, after the command's name, and returns code.
func (p *Proc) Errorf(code int, format string, args ...any) int {
	fmt.Fprintf(p.Stderr, "%s: %s\n", p.Name, fmt.Sprintf(format, args...))
	return code
}

// FileError says that something failed with the file name, as "cat: name: why",
// and returns 1. It says nothing when the command is to end anyway.
func (p *Proc) FileError(name string, err error) int {
	if p.Stopped() {
		return 1
	}
	return p.Errorf(1, "%s: %s", name, Reason(err))
}

// Usage says what is wrong with the arguments and how to see what is right,
// and returns code.
func (p *Proc) Usage(code int, format string, args ...any) int {
	p.Errorf(code, format, args...)
	fmt.Fprintf(p.Stderr, "Try '%s --help' for more information.\n", p.Name)
	return code
}

// Run runs another command with the streams of this one where c names none, and
// returns its exit code.
func (p *Proc) Run(ctx context.Context, c Call) int {
	if p.Start == nil || len(c.Args) == 0 {
		return p.Errorf(exitNotFound, "there is no command to run")
	}
	if err := p.Out.Flush(); err != nil {
		return exitPipe
	}
	if c.Dir == "" {
		c.Dir = p.Dir
	}
	if c.Env == nil {
		c.Env = p.Env
	}
	if c.Stdin == nil {
		c.Stdin = p.Stdin
	}
	if c.Stdout == nil {
		c.Stdout = p.Stdout
	}
	if c.Stderr == nil {
		c.Stderr = p.Stderr
	}
	return p.Start(ctx, c)
}

// Hold takes n bytes of the memory that a script may use, until the command
// ends. When it fails the command gives up what it does.
func (p *Proc) Hold(n int) error {
	if err := p.Memory.Grow(int64(n)); err != nil {
		return err
	}
	p.held += int64(n)
	return nil
}

// Release gives back n bytes that Hold took.
func (p *Proc) Release(n int) {
	p.held -= int64(n)
	p.Memory.Free(int64(n))
}

// stdout ends the command when a write fails.
type stdout struct {
	p  *Proc
	to io.Writer
}

func (s *stdout) Write(b []byte) (int, error) {
	if s.p.Stopped() {
		return 0, context.Cause(s.p.ctx)
	}
	n, err := WriteContext(s.p.ctx, s.to, b)
	if err != nil {
		switch {
		case errors.Is(err, ErrPipe), errors.Is(err, io.ErrClosedPipe):
			s.p.cancel(ErrPipe)
		case s.p.ctx.Err() == nil:
			s.p.cancel(err) // first: nothing is to be flushed for the message
			fmt.Fprintf(s.p.raw, "%s: write error: %s\n", s.p.Name, Reason(err))
		}
	}
	return n, err
}

// flushed writes after what Out still holds.
type flushed struct {
	p  *Proc
	to io.Writer
}

func (f *flushed) Write(b []byte) (int, error) {
	if f.p.Out.Buffered() > 0 && f.p.ctx.Err() == nil {
		// A failure has ended the context, and is told of there.
		_ = f.p.Out.Flush()
	}
	return f.to.Write(b)
}

// NoInput is the standard input of who has none.
type NoInput struct{}

func (NoInput) Read([]byte) (int, error) { return 0, io.EOF }

// hasInput tells whether standard input is a file or a pipe.
func (p *Proc) hasInput() bool {
	r := p.Stdin
	for {
		switch from := r.(type) {
		case *input:
			r = from.from
		case NoInput:
			return false
		case vfs.File:
			info, err := from.Stat()
			return err == nil && info.Mode()&fs.ModeDevice == 0
		default:
			return true
		}
	}
}

// input ends with the command.
type input struct {
	p    *Proc
	from io.Reader
}

func (i *input) Read(b []byte) (int, error) {
	if i.p.Out.Buffered() > 0 {
		if err := i.p.Out.Flush(); err != nil {
			return 0, err
		}
	}
	return i.ReadContext(i.p.ctx, b)
}

func (i *input) ReadContext(ctx context.Context, b []byte) (int, error) {
	i.p.turn.Take(ctx)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return ReadContext(ctx, i.from, b)
}

// ReadContext reads from r, and gives up when ctx ends where r can.
func ReadContext(ctx context.Context, r io.Reader, b []byte) (int, error) {
	if c, ok := r.(interface {
		ReadContext(context.Context, []byte) (int, error)
	}); ok {
		return c.ReadContext(ctx, b)
	}
	return r.Read(b)
}

// WriteContext writes to w, and gives up when ctx ends where w can.
func WriteContext(ctx context.Context, w io.Writer, b []byte) (int, error) {
	if c, ok := w.(interface {
		WriteContext(context.Context, []byte) (int, error)
	}); ok {
		return c.WriteContext(ctx, b)
	}
	return w.Write(b)
}

// WriteContext lets a command that this one runs give up a write of its own.
func (f *flushed) WriteContext(ctx context.Context, b []byte) (int, error) {
	if s, ok := f.to.(*stdout); ok && ctx != f.p.ctx {
		if _, err := f.Write(nil); err != nil {
			return 0, err
		}
		return WriteContext(ctx, s.to, b)
	}
	return f.Write(b)
}
