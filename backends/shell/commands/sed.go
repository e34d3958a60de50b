package commands

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

var sedOptions = NewOptions(1, "n quiet silent", "e expression=", "f file=", "E r regexp-extended", "i in-place=?", "s separate", "z null-data", "u unbuffered",
	"l line-length=", "posix", "debug", "follow-symlinks", "sandbox", "b binary")

func sed(p *Proc) int {
	o, code := p.Parse(sedOptions)
	if o == nil {
		return code
	}
	c := &sedCompiler{p: p, labels: map[string]int{}, files: map[string]*sedFile{}}
	if o.Has("E") {
		c.flags = posixre.Extended
	}
	c.sandbox = o.Has("sandbox")
	operands := o.Args
	given := false
	for _, opt := range o.Options {
		var err error
		switch opt.Key {
		case "e":
			given = true
			err = c.add(opt.Value, "")
		case "f":
			given = true
			var text []byte
			if text, err = p.ReadFile(opt.Value); err != nil {
				return p.Errorf(1, "couldn't open file %s: %s", opt.Value, Reason(err))
			}
			script := strings.TrimSuffix(string(text), "\n")
			if strings.HasPrefix(script, "#n\n") || script == "#n" {
				c.quiet = c.quiet || len(c.code) == 0
			}
			err = c.add(script, opt.Value)
		}
		if err != nil {
			return p.Errorf(1, "%s", Reason(err))
		}
	}
	if !given {
		if len(operands) == 0 {
			fmt.Fprint(p.Stderr, "Usage: sed [OPTION]... {script-only-if-no-other-script} [input-file]...\nTry 'sed --help' for more information.\n")
			return 1
		}
		if strings.HasPrefix(operands[0], "#n\n") || operands[0] == "#n" {
			c.quiet = true
		}
		if err := c.add(operands[0], ""); err != nil {
			return p.Errorf(1, "%s", Reason(err))
		}
		operands = operands[1:]
	}
	if code, err := c.finish(); err != nil {
		return p.Errorf(code, "%s", Reason(err))
	}
	s := &sedRun{p: p, code: c.code, quiet: c.quiet || o.Has("n"), sep: '\n', names: operands, files: c.files, wrap: 70, heldEnd: true}
	s.pattern.p, s.hold.p, s.scratch.p = p, p, p
	if o.Has("z") {
		s.sep = 0
	}
	if v, ok := o.Value("l"); ok {
		n, err := strconv.ParseUint(v, 10, 31)
		if err != nil {
			return p.Errorf(1, "invalid line length: %s", v)
		}
		s.wrap = int(n)
	}
	s.separate = o.Has("s", "i")
	if v, ok := o.Value("i"); ok {
		s.inPlace, s.suffix = true, v
		if len(operands) == 0 {
			return p.Errorf(1, "no input files")
		}
	}
	if len(operands) == 0 {
		s.names = []string{"-"}
	}
	return s.main()
}

// main runs the script over all input.
func (s *sedRun) main() int {
	s.out = &sedOut{w: s.p.Out, eol: s.sep}
	s.stdout = s.out
	for _, f := range s.files {
		if err := s.openOutput(f); err != nil {
			return s.p.Errorf(4, "couldn't open file %s: %s", f.name, Reason(err))
		}
	}
	err := s.run()
	if err == nil {
		err = s.finishFile()
	} else {
		s.abandonFile()
	}
	s.in.close()
	for _, r := range s.reads {
		r.Close()
		r.file.Close()
	}
	for _, f := range s.files {
		if f.file == nil {
			continue
		}
		if cerr := f.file.Close(); cerr != nil && err == nil {
			err = fmt.Errorf("couldn't close %s: %s", f.name, Reason(cerr))
		}
	}
	if err != nil && !s.p.Stopped() {
		var exit sedExitError
		if errors.As(err, &exit) {
			return s.p.Errorf(exit.code, "%s", exit.text)
		}
		code := s.p.Errorf(4, "%s", Reason(err))
		return code
	}
	return s.exit
}

// sedExitError is a failure with an exit code of its own.
type sedExitError struct {
	code int
	text string
}

func (e sedExitError) Error() string { return e.text }

// sedFile is a file that w writes to.
type sedFile struct {
	name string
	out  *sedOut
	file io.Closer
}

func (s *sedRun) openOutput(f *sedFile) error {
	switch f.name {
	case "/dev/stdout":
		f.out = s.stdout
		return nil
	case "/dev/stderr":
		f.out = &sedOut{w: s.p.Stderr, eol: s.sep}
		return nil
	}
	w, err := s.p.Create(f.name)
	if err != nil {
		return err
	}
	// What is written is seen by an r that follows: it is not gathered.
	f.out, f.file = &sedOut{w: w, eol: s.sep}, w
	return nil
}

// sedOut writes lines; a newline that the last one lacked is written before the
// next.
type sedOut struct {
	w       io.Writer
	eol     byte
	missing bool
	err     error
}

func (o *sedOut) write(b []byte) {
	if o.err == nil {
		_, o.err = o.w.Write(b)
	}
}

// line writes a line; ended tells whether its newline was there.
func (o *sedOut) line(b []byte, ended bool) {
	o.complete()
	o.write(b)
	if ended {
		o.write([]byte{o.eol})
	} else {
		o.missing = true
	}
}

// complete writes a newline that is missing.
func (o *sedOut) complete() {
	if o.missing {
		o.missing = false
		o.write([]byte{o.eol})
	}
}

// raw writes text that has its newlines.
func (o *sedOut) raw(b []byte) {
	if len(b) > 0 {
		o.complete()
		o.write(b)
	}
}

// sedText is a space of the script: its size is held.
type sedText struct {
	p    *Proc
	b    []byte
	held int
}

// room makes room for n bytes.
func (t *sedText) room(n int) error {
	if n <= cap(t.b) {
		return nil
	}
	grown := max(n, 2*cap(t.b), 256)
	if err := t.p.Hold(grown); err != nil {
		if grown = n; t.p.Hold(grown) != nil {
			return err
		}
	}
	next := make([]byte, len(t.b), grown)
	copy(next, t.b)
	t.b = next
	t.p.Release(t.held)
	t.held = grown
	return nil
}

func (t *sedText) add(b ...byte) error {
	if err := t.room(len(t.b) + len(b)); err != nil {
		return err
	}
	t.b = append(t.b, b...)
	return nil
}

func (t *sedText) addString(s string) error {
	if err := t.room(len(t.b) + len(s)); err != nil {
		return err
	}
	t.b = append(t.b, s...)
	return nil
}

func (t *sedText) set(b []byte) error {
	t.b = t.b[:0]
	return t.add(b...)
}
