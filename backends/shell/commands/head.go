package commands

import (
	"io"
	"strings"
)

var headOptions = NewOptions(1, "c bytes=", "n lines=", "q quiet silent", "v verbose", "z zero-terminated")

// obsolete rewrites -NUM, as in head -5 and tail -5, to options of today, where
// it comes first.
func obsolete(args []string, plus bool) []string {
	if len(args) > 0 {
		arg := args[0]
		if len(arg) < 2 || arg[0] != '-' && (!plus || arg[0] != '+') || !isDigit(arg[1]) {
			return args
		}
		digits := len(arg[1:]) - len(strings.TrimLeft(arg[1:], "0123456789"))
		number, rest := arg[1:1+digits], arg[1+digits:]
		if arg[0] == '+' {
			number = "+" + number
		}
		option, more := "-n", ""
		for _, c := range rest {
			switch c {
			case 'c':
				option = "-c"
			case 'l':
				option = "-n"
			case 'q', 'v', 'z', 'f':
				more += string(c)
			case 'b', 'k', 'm':
				option, number = "-c", number+strings.ToUpper(string(c))
			default:
				return args
			}
		}
		out := []string{option + number}
		if more != "" {
			out = append(out, "-"+more)
		}
		return append(out, args[1:]...)
	}
	return args
}

// header writes "==> name <==" before each file when there are several.
type header struct{ on, later bool }

func (h *header) write(p *Proc, name string) {
	if !h.on {
		return
	}
	if name == "-" {
		name = "standard input"
	}
	if h.later {
		p.Out.WriteByte('\n')
	}
	h.later = true
	p.Out.WriteString("==> " + name + " <==\n")
}

func separator(o *Parsed) byte {
	if o.Has("z") {
		return 0
	}
	return '\n'
}

// part is what head or tail shows of each file.
type part struct {
	n       int64
	signed  bool // -n with head: all but the last n; +n with tail: from the nth on
	byBytes bool
	sep     byte
}

// parts shows a part of each file that is named, or of the standard input. The
// sign before a number is what gives it its other meaning, ignored one that may
// stand there and means nothing.
func parts(p *Proc, o *Parsed, sign, ignored string, show func(io.Reader, part) error) (code int) {
	want := part{n: 10, sep: separator(o)}
	if key := o.Last("c", "n"); key != "" {
		text, _ := o.Value(key)
		want.byBytes = key == "c"
		number, signed := strings.CutPrefix(text, sign)
		want.signed = signed
		var ok bool
		if want.n, ok = parseSize(strings.TrimPrefix(number, ignored)); !ok {
			return p.Errorf(1, "invalid number of %s: %s", map[bool]string{true: "bytes", false: "lines"}[want.byBytes], Quote(strings.TrimPrefix(text, "-")))
		}
	}
	last := o.Last("q", "v")
	h := header{on: last == "v" || last == "" && len(o.Args) > 1}
	names := o.Args
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if p.Stopped() {
			break
		}
		code = max(code, partOf(p, name, &h, func(r io.Reader) error { return show(r, want) }))
	}
	return code
}

func partOf(p *Proc, name string, h *header, show func(io.Reader) error) int {
	in := io.NopCloser(p.Stdin)
	if name != "-" {
		f, err := p.Open(name)
		if err != nil {
			return p.Errorf(1, "cannot open %s for reading: %s", Quote(name), Reason(err))
		}
		in = f
	}
	defer in.Close()
	h.write(p, name)
	if err := show(in); err != nil && !p.Stopped() {
		return p.Errorf(1, "error reading %s: %s", Quote(name), Reason(err))
	}
	return 0
}

func head(p *Proc) int {
	p.Args = obsolete(p.Args, false)
	o, code := p.Parse(headOptions)
	if o == nil {
		return code
	}
	return parts(p, o, "-", "+", func(in io.Reader, want part) (err error) {
		switch {
		case want.byBytes && want.signed:
			err = headAllButBytes(p, in, want.n)
		case want.byBytes:
			_, err = p.Copy(p.Out, io.LimitReader(in, want.n))
		case want.signed:
			err = headAllButLines(p, in, want.n, want.sep)
		default:
			err = headLines(p, in, want.n, want.sep)
		}
		return err
	})
}

func headLines(p *Proc, r io.Reader, n int64, sep byte) error {
	if n == 0 {
		return nil
	}
	lines := p.Lines(r, sep)
	defer lines.Close()
	for lines.Next() {
		p.Out.Write(lines.Bytes())
		if lines.Ended() {
			p.Out.WriteByte(sep)
		}
		if n--; n == 0 {
			return nil
		}
	}
	return lines.Err()
}

func headAllButBytes(p *Proc, r io.Reader, n int64) error {
	text, err := p.ReadAll(r)
	if keep := int64(len(text)) - n; keep > 0 {
		p.Out.Write(text[:keep])
	}
	return err
}

// headAllButLines holds the last n lines back.
func headAllButLines(p *Proc, r io.Reader, n int64, sep byte) error {
	ring := newRing(p, n)
	lines := p.Lines(r, sep)
	defer lines.Close()
	for lines.Next() {
		line := lines.Bytes()
		if lines.Ended() {
			line = line[:len(line)+1]
		}
		old, err := ring.push(line)
		if err != nil {
			return err
		}
		p.Out.Write(old)
	}
	return lines.Err()
}

// ring holds the last n lines.
type ring struct {
	p     *Proc
	n     int64
	lines [][]byte
	at    int
}

func newRing(p *Proc, n int64) *ring { return &ring{p: p, n: n} }

// push takes a line and returns the one that it displaces.
func (r *ring) push(line []byte) ([]byte, error) {
	if r.n == 0 {
		return line, nil
	}
	if err := r.p.Hold(len(line) + 48); err != nil {
		return nil, err
	}
	line = append([]byte(nil), line...)
	if int64(len(r.lines)) < r.n {
		r.lines = append(r.lines, line)
		return nil, nil
	}
	old := r.lines[r.at]
	r.lines[r.at] = line
	r.at = (r.at + 1) % len(r.lines)
	r.p.Release(len(old) + 48)
	return old, nil
}

// each calls do with the lines from the oldest on.
func (r *ring) each(do func(line []byte)) {
	for i := range r.lines {
		do(r.lines[(r.at+i)%len(r.lines)])
	}
}
