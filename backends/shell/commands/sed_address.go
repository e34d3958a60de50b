package commands

import (
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

// address reads an address, or returns nil where there is none.
func (c *sedCompiler) address(second bool) (*sedAddress, error) {
	switch b := c.peek(); {
	case isDigit(b):
		n, _ := c.digits()
		c.spaces(sedBlanks)
		if c.peek() == '~' && !second {
			c.i++
			c.spaces(sedBlanks)
			step, _ := c.digits()
			if step > 0 {
				return &sedAddress{kind: '~', line: n, step: step}, nil
			}
		}
		return &sedAddress{kind: 'n', line: n}, nil
	case second && (b == '+' || b == '~'):
		c.i++
		n, ok := c.digits()
		if !ok {
			return nil, c.errorf("expected number after +/~")
		}
		if b == '~' {
			b = 'm'
		}
		return &sedAddress{kind: b, line: n}, nil
	case b == '$':
		c.i++
		return &sedAddress{kind: '$'}, nil
	case b == '/' || b == '\\':
		c.i++
		delim := b
		if b == '\\' {
			if c.i >= len(c.text) {
				return nil, c.errorf("unexpected end of script")
			}
			delim = c.text[c.i]
			c.i++
		}
		pattern, ok := c.delimited(delim, true)
		if !ok {
			return nil, c.errorf("unterminated address regex")
		}
		flags := c.flags
		for {
			switch c.peek() {
			case 'I':
				flags |= posixre.IgnoreCase
			case 'M':
				flags |= posixre.Multiline
			default:
				re, err := c.regexp(pattern, flags)
				return &sedAddress{kind: '/', re: re, emptyRegexp: pattern == ""}, err
			}
			c.i++
		}
	}
	return nil, nil
}

// regexp compiles a pattern; nil for the empty one, which is the last one used.
func (c *sedCompiler) regexp(pattern string, flags posixre.Flags) (*posixre.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	re, err := posixre.Compile(c.p, pattern, flags|posixre.Escapes)
	if err != nil {
		return nil, c.errorf("%s", Reason(err))
	}
	return re, nil
}

// delimited reads up to delim. A delimiter after a backslash is plain; in a
// bracket expression of a pattern it does not end it.
func (c *sedCompiler) delimited(delim byte, pattern bool) (string, bool) {
	var b strings.Builder
	for c.i < len(c.text) {
		ch := c.text[c.i]
		switch {
		case ch == delim:
			c.i++
			return b.String(), true
		case ch == '\n' && pattern && delim != '\n':
			return "", false
		case ch == '\\' && c.i+1 < len(c.text):
			next := c.text[c.i+1]
			switch {
			case next == delim && pattern && strings.IndexByte(`()|{}+?.*[]^$<>`, delim) >= 0:
				c.plain(&b, delim)
			case next == delim && !pattern:
				if delim == '&' {
					b.WriteByte('\\')
				}
				b.WriteByte(delim)
			case next == delim && delim != 'n':
				b.WriteByte(delim)
			default:
				b.WriteByte('\\')
				b.WriteByte(next)
			}
			c.i += 2
			continue
		case ch == '[' && pattern:
			if end := bracketEnd(c.text[c.i:], delim); end > 0 {
				b.WriteString(c.text[c.i : c.i+end])
				c.i += end
				continue
			}
		}
		b.WriteByte(ch)
		c.i++
	}
	return "", false
}

// plain writes a character that is special in patterns so that it is plain.
func (c *sedCompiler) plain(b *strings.Builder, ch byte) {
	if c.flags&posixre.Extended == 0 && strings.IndexByte("()|{}+?<>", ch) >= 0 {
		b.WriteByte(ch)
		return
	}
	b.WriteString("[" + string(ch) + "]")
	if ch == '^' {
		s := b.String()
		b.Reset()
		b.WriteString(s[:len(s)-3] + `\^`)
	}
}

// bracketEnd is where the bracket expression at the start of t ends; 0 when it
// does not end on its line.
func bracketEnd(t string, _ byte) int {
	i := 1
	if i < len(t) && t[i] == '^' {
		i++
	}
	if i < len(t) && t[i] == ']' {
		i++
	}
	for i < len(t) && t[i] != ']' && t[i] != '\n' {
		if t[i] == '[' && i+1 < len(t) && strings.IndexByte(":.=", t[i+1]) >= 0 {
			if end := strings.Index(t[i+2:], t[i+1:i+2]+"]"); end >= 0 {
				i += end + 4
				continue
			}
		}
		i++
	}
	if i >= len(t) || t[i] != ']' {
		return 0
	}
	return i + 1
}
