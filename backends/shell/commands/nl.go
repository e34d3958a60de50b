package commands

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

var nlOptions = NewOptions(1, "b body-numbering=", "d section-delimiter=", "f footer-numbering=", "h header-numbering=", "i line-increment=",
	"l join-blank-lines=", "n number-format=", "p no-renumber", "s number-separator=", "v starting-line-number=", "w number-width=")

// numberer is one run of nl.
type numberer struct {
	p          *Proc
	styles     [3]nlStyle // header, body, footer
	section    int
	delimiter  string
	increment  int64
	join       int64
	format     string
	renumber   bool
	separator  string
	first      int64
	width      int
	line       int64
	blanks     int64
	overflowed bool
}

// nlStyle tells which lines of a section are numbered.
type nlStyle struct {
	kind byte // a, t, n or p
	re   *posixre.Regexp
}

func nl(p *Proc) int {
	o, code := p.Parse(nlOptions)
	if o == nil {
		return code
	}
	n := &numberer{p: p, section: 1, delimiter: `\:`, increment: 1, join: 1, format: "rn", renumber: !o.Has("p"), separator: "\t", first: 1, width: 6}
	n.styles = [3]nlStyle{{kind: 'n'}, {kind: 't'}, {kind: 'n'}}
	if !n.options(o) {
		return 1
	}
	n.line = n.first
	return p.Inputs(o.Args, func(_ string, r io.Reader) (int, error) {
		lines := p.Lines(r, '\n')
		defer lines.Close()
		for lines.Next() {
			if err := n.write(lines.Bytes()); err != nil {
				return 1, err
			}
			if n.overflowed {
				return p.Errorf(1, "line number overflow"), nil
			}
		}
		return 0, lines.Err()
	})
}

func (n *numberer) options(o *Parsed) bool {
	ok := true
	number := func(what, text string, least int64) int64 {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < least {
			n.p.Errorf(1, "invalid %s: %s", what, Quote(text))
			ok = false
		}
		return v
	}
	for _, opt := range o.Options {
		switch opt.Key {
		case "h":
			ok = n.style(0, "header", opt.Value) && ok
		case "b":
			ok = n.style(1, "body", opt.Value) && ok
		case "f":
			ok = n.style(2, "footer", opt.Value) && ok
		case "d":
			n.delimiter = opt.Value
			if len(opt.Value) == 1 {
				n.delimiter += ":"
			}
		case "i":
			n.increment = number("line number increment", opt.Value, math.MinInt64)
		case "l":
			n.join = number("number of blank lines", opt.Value, 1)
		case "v":
			n.first = number("starting line number", opt.Value, math.MinInt64)
		case "w":
			n.width = int(min(number("line number field width", opt.Value, 1), maxWidth))
		case "s":
			n.separator = opt.Value
		case "n":
			if n.format = opt.Value; opt.Value != "ln" && opt.Value != "rn" && opt.Value != "rz" {
				n.p.Errorf(1, "invalid line numbering format: %s", Quote(opt.Value))
				ok = false
			}
		}
	}
	if !ok {
		fmt.Fprintf(n.p.Stderr, "Try '%s --help' for more information.\n", n.p.Name)
	}
	return ok
}

func (n *numberer) style(section int, name, text string) bool {
	if text == "a" || text == "t" || text == "n" {
		n.styles[section] = nlStyle{kind: text[0]}
		return true
	}
	if pattern, ok := strings.CutPrefix(text, "p"); ok {
		re, err := posixre.Compile(n.p, pattern, 0)
		if err != nil {
			n.p.Errorf(1, "%s", Reason(err))
			return false
		}
		n.styles[section] = nlStyle{'p', re}
		return true
	}
	n.p.Errorf(1, "invalid %s numbering style: %s", name, Quote(text))
	return false
}

func (n *numberer) write(line []byte) error {
	if n.delimiter != "" {
		for section, times := range []int{3, 2, 1} {
			if string(line) != strings.Repeat(n.delimiter, times) {
				continue
			}
			n.section = section
			if n.renumber {
				n.line = n.first
			}
			n.overflowed = false
			n.p.Out.WriteByte('\n')
			return nil
		}
	}
	numbered := false
	switch s := n.styles[n.section]; s.kind {
	case 'a':
		if n.join > 1 && len(line) == 0 {
			n.blanks++
			if numbered = n.blanks == n.join; numbered {
				n.blanks = 0
			}
		} else {
			n.blanks, numbered = 0, true
		}
	case 't':
		numbered = len(line) > 0
	case 'p':
		var err error
		if numbered, err = s.re.Match(view(line)); err != nil {
			return err
		}
	}
	if !numbered {
		n.p.Out.Write(bytes.Repeat([]byte{' '}, n.width+len(n.separator)))
		n.p.Out.Write(line)
		n.p.Out.WriteByte('\n')
		return nil
	}
	switch n.format {
	case "ln":
		fmt.Fprintf(n.p.Out, "%-*d", n.width, n.line)
	case "rz":
		fmt.Fprintf(n.p.Out, "%0*d", n.width, n.line)
	default:
		fmt.Fprintf(n.p.Out, "%*d", n.width, n.line)
	}
	n.p.Out.WriteString(n.separator)
	n.p.Out.Write(line)
	n.p.Out.WriteByte('\n')
	n.overflowed = n.increment > 0 && n.line > math.MaxInt64-n.increment
	n.line += n.increment
	return nil
}
