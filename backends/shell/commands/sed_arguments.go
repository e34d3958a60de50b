package commands

import (
	"strings"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

// textArgument reads the text of a, i and c: on the lines after a backslash, or
// (as GNU has it) on the same line.
func (c *sedCompiler) textArgument(cmd *sedCommand) error {
	c.spaces(sedBlanks)
	if c.i >= len(c.text) {
		return c.errorf("expected \\ after `a', `c' or `i'")
	}
	if c.text[c.i] != '\\' {
		return c.readText(cmd)
	}
	rest := c.text[c.i+1:]
	blank := len(rest) - len(strings.TrimLeft(rest, sedBlanks))
	switch {
	case blank == len(rest):
		c.i = len(c.text)
		c.pending = cmd
		return nil
	case rest[blank] == '\n':
		c.i += 1 + blank + 1
		return c.readText(cmd)
	}
	// "a\text": the backslash keeps blanks at the start.
	c.i++
	return c.readText(cmd)
}

// readText reads text up to the end of a line that has no backslash there; \n
// is a newline in it. Text that ends with a backslash goes on with the next
// expression.
func (c *sedCompiler) readText(cmd *sedCommand) error {
	var b []byte
	for c.i < len(c.text) {
		ch := c.text[c.i]
		c.i++
		if ch == '\n' {
			break
		}
		if ch == '\\' {
			if c.i >= len(c.text) {
				c.pending = cmd
				break
			}
			ch = c.text[c.i]
			c.i++
			if r, n := sedEscape(c.text[c.i-1:]); n > 0 {
				b = append(b, r...)
				c.i += n - 1
				continue
			}
			if ch == 'n' {
				ch = '\n'
			}
		}
		b = append(b, ch)
	}
	cmd.text = append(append(cmd.text, b...), '\n')
	return nil
}

// sedEscape reads an escape that stands for a character, after its backslash.
func sedEscape(t string) (string, int) {
	if t == "" {
		return "", 0
	}
	if i := strings.IndexByte("afnrtv", t[0]); i >= 0 && t[0] != 'n' {
		return "\a\f\n\r\t\v"[i : i+1], 1
	}
	base, limit := 0, 3
	switch t[0] {
	case 'd':
		base = 10
	case 'o':
		base = 8
	case 'x':
		base, limit = 16, 2
	case 'c':
		if len(t) > 1 {
			return string([]byte{upperByte(t[1]) ^ 0x40}), 2
		}
	}
	if base == 0 {
		return "", 0
	}
	v, n := digits(t[1:], base, limit)
	if n == 0 {
		return "", 0
	}
	return string([]byte{byte(v)}), 1 + n
}

func upperByte(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

func (c *sedCompiler) fileArgument(cmd *sedCommand) error {
	c.spaces(sedBlanks)
	end := strings.IndexByte(c.text[c.i:], '\n')
	if end < 0 {
		end = len(c.text) - c.i
	}
	name := c.text[c.i : c.i+end]
	c.i += end
	if name == "" {
		return c.errorf("missing filename in r/R/w/W commands")
	}
	if c.sandbox {
		return c.errorf("e/r/w commands disabled in sandbox mode")
	}
	if cmd.name == 'r' || cmd.name == 'R' {
		cmd.read = name
	} else {
		cmd.file = c.output(name)
	}
	return nil
}

// output is the file of that name; all commands that write to it share it.
func (c *sedCompiler) output(name string) *sedFile {
	f := c.files[name]
	if f == nil {
		f = &sedFile{name: name}
		c.files[name] = f
	}
	return f
}

// sedSubst is what s does.
type sedSubst struct {
	re          *posixre.Regexp
	replacement []sedPart
	global      bool
	number      int
	print       int
	file        *sedFile
}

// sedPart is a part of a replacement: text, a group, or a change of case.
type sedPart struct {
	text  string
	group int  // -1: none
	caps  byte // U L u l E, or 0
}

func (c *sedCompiler) substitution(cmd *sedCommand) error {
	if c.i >= len(c.text) {
		return c.errorf("unterminated `s' command")
	}
	delim := c.text[c.i]
	if delim == '\n' || delim == '\\' {
		return c.errorf("unterminated `s' command")
	}
	c.i++
	pattern, ok := c.delimited(delim, true)
	if !ok {
		c.i = len(c.text)
		return c.errorf("unterminated `s' command")
	}
	text, ok := c.delimited(delim, false)
	if !ok {
		return c.errorf("unterminated `s' command")
	}
	s := &sedSubst{}
	cmd.subst = s
	flags := c.flags
	for more := true; more && c.i < len(c.text); {
		ch := c.text[c.i]
		c.i++
		switch {
		case ch == 'g':
			if s.global {
				return c.errorf("multiple `g' options to `s' command")
			}
			s.global = true
		case ch == 'p':
			s.print++
		case ch == 'i' || ch == 'I':
			flags |= posixre.IgnoreCase
		case ch == 'm' || ch == 'M':
			flags |= posixre.Multiline
		case ch == 'e':
			return c.errorf("the e flag of s runs programs and is refused; use a pipe of the shell")
		case isDigit(ch):
			c.i--
			n, _ := c.digits()
			if s.number != 0 {
				return c.errorf("multiple number options to `s' command")
			}
			if n == 0 {
				return c.errorf("number option to `s' command may not be zero")
			}
			s.number = int(min(n, 1<<40))
		case ch == 'w':
			w := &sedCommand{name: 'w'}
			if err := c.fileArgument(w); err != nil {
				return err
			}
			s.file = w.file
			more = false
		default:
			c.i--
			more = false
			if strings.IndexByte(sedBlanks+"\n;}#", ch) < 0 {
				c.i++
				return c.errorf("unknown option to `s'")
			}
		}
	}
	var err error
	if s.re, err = c.regexp(pattern, flags); err != nil {
		return err
	}
	var highest int
	s.replacement, highest = sedReplacement(text)
	if s.re != nil && highest > s.re.Groups() {
		return c.errorf("invalid reference \\%d on `s' command's RHS", highest)
	}
	return nil
}

// sedReplacement takes a replacement apart; highest is the highest group in it.
func sedReplacement(t string) (parts []sedPart, highest int) {
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			parts = append(parts, sedPart{text: b.String(), group: -1})
			b.Reset()
		}
	}
	for i := 0; i < len(t); i++ {
		switch {
		case t[i] == '&':
			flush()
			parts = append(parts, sedPart{group: 0})
		case t[i] != '\\' || i+1 == len(t):
			b.WriteByte(t[i])
		default:
			i++
			ch := t[i]
			switch {
			case isDigit(ch):
				flush()
				parts = append(parts, sedPart{group: int(ch - '0')})
				highest = max(highest, int(ch-'0'))
			case strings.IndexByte("ULulE", ch) >= 0:
				flush()
				parts = append(parts, sedPart{group: -1, caps: ch})
			case ch == 'n':
				b.WriteByte('\n')
			default:
				if text, n := sedEscape(t[i:]); n > 0 {
					b.WriteString(text)
					i += n - 1
				} else {
					b.WriteByte(ch)
				}
			}
		}
	}
	flush()
	return parts, highest
}

func (c *sedCompiler) transliteration(cmd *sedCommand) error {
	if c.i >= len(c.text) {
		return c.errorf("unterminated `y' command")
	}
	delim := c.text[c.i]
	c.i++
	from, ok := c.delimited(delim, false)
	to, ok2 := "", false
	if ok {
		to, ok2 = c.delimited(delim, false)
	}
	if !ok || !ok2 {
		return c.errorf("unterminated `y' command")
	}
	a, b := sedCharacters(from), sedCharacters(to)
	if len(a) != len(b) {
		return c.errorf("strings for `y' command are different lengths")
	}
	cmd.table = map[string]string{}
	for i, ch := range a {
		if _, there := cmd.table[ch]; !there {
			cmd.table[ch] = b[i]
		}
	}
	return nil
}

// sedCharacters splits a string of y into characters.
func sedCharacters(t string) (out []string) {
	for i := 0; i < len(t); {
		if t[i] == '\\' && i+1 < len(t) {
			if t[i+1] == '\\' || t[i+1] == 'n' {
				out = append(out, map[byte]string{'\\': `\`, 'n': "\n"}[t[i+1]])
				i += 2
				continue
			}
			if text, n := sedEscape(t[i+1:]); n > 0 {
				out = append(out, text)
				i += 1 + n
				continue
			}
		}
		_, size := utf8.DecodeRuneInString(t[i:])
		out = append(out, t[i:i+size])
		i += size
	}
	return out
}
