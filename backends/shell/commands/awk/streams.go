package awk

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// errExit unwinds an exit in BEGINFILE and ENDFILE.
var errExit = errors.New("exit")

// tooMuch marks a command whose output was cut off.
const tooMuch = -1

// maxOutput is how many bytes of the output of a command getline can read.
const maxOutput = 32 << 20

// gathered holds the output of a command, up to a limit. What exceeds it is
// refused, which ends the command, and reading that far is a failure.
type gathered struct {
	in   *interp
	buf  bytes.Buffer
	held int
	cut  bool
}

var errCut = errors.New("the command wrote more than getline can hold in this workspace")

func (g *gathered) Write(b []byte) (int, error) {
	need := 2 * (g.buf.Len() + len(b))
	if g.buf.Len()+len(b) > maxOutput {
		g.cut = true
		return 0, io.ErrClosedPipe
	}
	if need > g.held {
		if err := g.in.cfg.Host.Hold(need - g.held); err != nil {
			g.cut = true
			return 0, io.ErrClosedPipe
		}
		g.held = need
	}
	return g.buf.Write(b)
}

// rest reads what was gathered.
type rest struct{ *gathered }

func (r rest) Read(b []byte) (int, error) {
	n, err := r.buf.Read(b)
	if errors.Is(err, io.EOF) && r.cut {
		err = errCut
	}
	return n, err
}

// source finds or opens what getline reads: a file ('<') or a command ('|').
func (in *interp) source(mode byte, name string) (*source, error) {
	key := string(mode) + name
	if s := in.sources[key]; s != nil {
		return s, nil
	}
	s := &source{}
	switch {
	case mode == '|':
		in.flush()
		g := &gathered{in: in}
		s.code = in.cfg.Run(name, nil, g)
		if g.cut {
			s.code = tooMuch
		}
		s.r = rest{g}
		s.done = func() error {
			in.cfg.Host.Release(g.held)
			return nil
		}
	case name == "-" || name == "/dev/stdin":
		s.r = in.cfg.Stdin
	default:
		f, err := in.cfg.Open(name)
		if err != nil {
			return nil, err
		}
		s.r, s.done = f, f.Close
	}
	in.hold(1024)
	in.sources[key] = s
	return s, nil
}

// sink is where output goes: a file or the input of a command.
type sink struct {
	*bufio.Writer
	immediate bool // what is printed is written at once
	command   string
	text      *gathered
	file      io.Closer
}

// sink finds or opens where print writes.
func (in *interp) sink(redir, name string) *sink {
	key := redir[:1] + name
	if s := in.sinks[key]; s != nil {
		return s
	}
	s := &sink{}
	switch {
	case redir == "|":
		in.flush()
		s.command = name
		s.text = &gathered{in: in}
		s.Writer = bufio.NewWriterSize(limited{s.text}, 4096)
	case name == "/dev/stdout" || name == "-":
		return &sink{Writer: in.cfg.Stdout}
	case name == "/dev/stderr":
		s.Writer, s.immediate = bufio.NewWriter(in.cfg.Stderr), true
	case name == "":
		in.fatal("expression for `%s' redirection has null string value", redir)
	default:
		f, err := in.cfg.Create(name, redir == ">>")
		if err != nil {
			in.fatal("cannot redirect to `%s': %s", name, in.cfg.Reason(err))
		}
		s.Writer, s.file = bufio.NewWriterSize(f, 16<<10), f
	}
	in.hold(32 << 10)
	in.sinks[key] = s
	in.order = append(in.order, key)
	return s
}

// limited ends the program where what a command is to read gets too much.
type limited struct{ g *gathered }

func (l limited) Write(b []byte) (int, error) {
	if l.g.cut {
		return 0, io.ErrClosedPipe
	}
	if _, err := l.g.Write(b); err != nil {
		l.g.in.fatal("what is written to a command is more than it can hold in this workspace")
	}
	return len(b), nil
}

// flush writes what was gathered for files and standard output.
func (in *interp) flush() {
	if err := in.cfg.Stdout.Flush(); err != nil {
		in.failed(err)
	}
	for _, key := range in.order {
		s := in.sinks[key]
		if s == nil || s.text != nil {
			continue
		}
		if err := s.Flush(); err != nil {
			in.fatal("cannot write to `%s': %s", key[1:], in.cfg.Reason(err))
		}
	}
}

// closeSink ends a sink and returns its exit code.
func (in *interp) closeSink(key string) (code int) {
	s := in.sinks[key]
	delete(in.sinks, key)
	in.order = slices.DeleteFunc(in.order, func(k string) bool { return k == key })
	in.release(32 << 10)
	err := s.Flush()
	if s.file != nil {
		if cerr := s.file.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		in.fatal("cannot write to `%s': %s", key[1:], in.cfg.Reason(err))
	}
	if s.text != nil {
		// What was printed since the command was named comes after its output, as
		// where both run at one time.
		code = in.cfg.Run(s.command, bytes.NewReader(s.text.buf.Bytes()), nil)
		in.cfg.Host.Release(s.text.held)
	}
	return code
}

// close is the function close.
func (in *interp) close(name string) float64 {
	result := -1.0
	for _, mode := range []string{"<", "|"} {
		if s := in.sources[mode+name]; s != nil {
			delete(in.sources, mode+name)
			in.release(1024)
			in.closeSource(s)
			result = float64(max(s.code, 0))
		}
	}
	for _, mode := range []string{">", "|"} {
		if in.sinks[mode+name] != nil {
			result = float64(in.closeSink(mode + name))
		}
	}
	return result
}

// closeAll ends everything that is open. The first failure counts.
func (in *interp) closeAll() {
	var first error
	try := func(do func()) {
		if err := in.protect(do); err != nil && first == nil {
			first = err
		}
	}
	try(func() { in.closeInput(false) })
	for _, s := range in.sources {
		try(func() { in.closeSource(s) })
	}
	for len(in.order) > 0 {
		try(func() { in.closeSink(in.order[0]) })
	}
	if first != nil {
		panic(fault{first})
	}
}

func (in *interp) warn(text string) {
	if err := in.cfg.Stdout.Flush(); err != nil {
		in.failed(err)
	}
	fmt.Fprintf(in.cfg.Stderr, "%s: %s\n", in.cfg.Name, text)
}

func (in *interp) system(command string) float64 {
	in.flush()
	return float64(in.cfg.Run(command, in.cfg.Stdin, nil))
}
