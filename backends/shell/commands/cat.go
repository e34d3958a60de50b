package commands

import (
	"bytes"
	"fmt"
	"io"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

var catOptions = NewOptions(1, "A show-all", "b number-nonblank", "e", "E show-ends", "n number", "s squeeze-blank", "t", "T show-tabs", "u", "v show-nonprinting")

// catter writes bytes as cat's options ask, over all its files.
type catter struct {
	number, nonblank, ends, squeeze, tabs, visible bool

	line   int
	blanks int
	inside bool // the line has begun
	cr     bool // a carriage return waits for what follows it
}

func cat(p *Proc) int {
	o, code := p.Parse(catOptions)
	if o == nil {
		return code
	}
	c := &catter{nonblank: o.Has("b"), squeeze: o.Has("s")}
	c.number = o.Has("n", "b")
	c.ends = o.Has("A", "e", "E")
	c.tabs = o.Has("A", "t", "T")
	c.visible = o.Has("A", "e", "t", "v")
	plain := !c.number && !c.ends && !c.squeeze && !c.tabs && !c.visible
	return p.Inputs(o.Args, func(_ string, r io.Reader) (int, error) {
		if plain {
			_, err := p.Copy(p.Out, r)
			return 0, err
		}
		buf := make([]byte, 32<<10)
		for {
			n, err := r.Read(buf)
			for _, b := range buf[:n] {
				c.write(p, b)
			}
			if err == io.EOF {
				c.flushCR(p)
				return 0, nil
			}
			if err != nil {
				return 0, err
			}
		}
	})
}

func (c *catter) flushCR(p *Proc) {
	if c.cr {
		c.cr = false
		c.byte(p, '\r')
	}
}

func (c *catter) write(p *Proc, b byte) {
	if c.cr && b == '\n' {
		p.Out.WriteString("^M")
		c.cr = false
	}
	c.flushCR(p)
	if !c.inside {
		if b == '\n' {
			c.blanks++
			if c.squeeze && c.blanks > 1 {
				return
			}
		} else {
			c.blanks = 0
		}
		if c.number && (!c.nonblank || b != '\n') {
			c.line++
			fmt.Fprintf(p.Out, "%6d\t", c.line)
		}
		c.inside = true
	}
	switch {
	case b == '\n':
		if c.ends {
			p.Out.WriteByte('$')
		}
		p.Out.WriteByte('\n')
		c.inside = false
	case b == '\r' && c.ends && !c.visible:
		c.cr = true
	default:
		c.byte(p, b)
	}
}

func (c *catter) byte(p *Proc, b byte) {
	switch {
	case b == '\t' && !c.tabs, b != '\t' && !c.visible:
		p.Out.WriteByte(b)
		return
	case b >= 0x80:
		p.Out.WriteString("M-")
		b -= 0x80
	}
	switch {
	case b < ' ':
		p.Out.WriteByte('^')
		p.Out.WriteByte(b + '@')
	case b == 0x7f:
		p.Out.WriteString("^?")
	default:
		p.Out.WriteByte(b)
	}
}

var tacOptions = NewOptions(1, "b before", "r regex", "s separator=")

func tac(p *Proc) int {
	o, code := p.Parse(tacOptions)
	if o == nil {
		return code
	}
	sep := "\n"
	if s, ok := o.Value("s"); ok {
		if sep = s; s == "" {
			sep = "\x00"
		}
	}
	var re *posixre.Regexp
	if o.Has("r") {
		var err error
		if re, err = posixre.Compile(p, sep, posixre.Escapes); err != nil {
			return p.Errorf(1, "%s", Reason(err))
		}
	}
	return p.Inputs(o.Args, func(_ string, r io.Reader) (int, error) {
		text, err := p.ReadAll(r)
		if err != nil {
			return 1, err
		}
		return 0, tacText(p, text, sep, re, o.Has("b"))
	})
}

// tacText writes the records of text from the last to the first. A separator
// belongs to the record before it, or with before to the one after it.
func tacText(p *Proc, text []byte, sep string, re *posixre.Regexp, before bool) error {
	if re == nil {
		for end := len(text); end > 0 && !p.Stopped(); {
			var start int
			if before {
				start = max(bytes.LastIndex(text[:end], []byte(sep)), 0)
			} else if i := bytes.LastIndex(text[:end-min(len(sep), end)], []byte(sep)); i >= 0 {
				start = i + len(sep)
			}
			p.Out.Write(text[start:end])
			end = start
		}
		return nil
	}
	// GNU's looks for separators backwards: for the match that starts last.
	var starts []int
	for at := 0; at <= len(text); {
		loc, err := re.Find(view(text), at)
		if err != nil {
			return err
		}
		if loc == nil {
			break
		}
		if err := p.Hold(16); err != nil {
			return err
		}
		starts = append(starts, loc[0])
		at = loc[0] + 1
	}
	end, bound := len(text), len(text)
	for i := len(starts) - 1; i >= 0 && !p.Stopped(); i-- {
		if starts[i] >= bound {
			continue
		}
		loc, err := re.Find(view(text[:bound]), starts[i])
		if err != nil {
			return err
		}
		if loc == nil || loc[0] != starts[i] || loc[1] == loc[0] {
			continue
		}
		cut := loc[1]
		if before {
			cut = loc[0]
		}
		if cut < end {
			p.Out.Write(text[cut:end])
			end = cut
		}
		bound = loc[0]
	}
	p.Out.Write(text[:end])
	return nil
}
