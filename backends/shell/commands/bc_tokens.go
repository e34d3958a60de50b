package commands

import (
	"strings"
)

var bcKeywords = map[string]bool{"auto": true, "break": true, "continue": true, "define": true, "else": true, "for": true, "halt": true, "if": true, "ibase": true,
	"last": true, "length": true, "obase": true, "print": true, "quit": true, "read": true, "return": true, "scale": true, "sqrt": true, "void": true, "while": true,
	"limits": true, "warranty": true}

func (b *bcParser) fault() {
	if b.err == nil {
		b.err = errBCSyntax
	}
}

// next goes to the next token.
func (b *bcParser) next() {
	for b.pos < len(b.text) {
		c := b.text[b.pos]
		rest := b.text[b.pos:]
		switch {
		case c == ' ' || c == '\t' || c == '\r':
			b.pos++
		case strings.HasPrefix(rest, "\\\n"):
			b.pos += 2
			b.line++
		case c == '#':
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			b.pos += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				n = len(rest) - 4
			}
			b.line += strings.Count(rest[:max(n+4, 0)], "\n")
			b.pos += n + 4
		default:
			b.token(c, rest)
			return
		}
	}
	b.tok, b.kind = "", 0
}

func (b *bcParser) token(c byte, rest string) {
	n := 1
	switch {
	case c == '\n':
		b.line++
		b.kind = '\n'
	case c == '"':
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 {
			b.fault()
			end = len(rest) - 2
		}
		b.tok, b.kind = rest[1:max(end+1, 1)], 's'
		b.line += strings.Count(b.tok, "\n")
		b.pos += end + 2
		b.pos = min(b.pos, len(b.text))
		return
	case c >= '0' && c <= '9' || c >= 'A' && c <= 'F' || c == '.' && len(rest) > 1 && (rest[1] >= '0' && rest[1] <= '9' || rest[1] >= 'A' && rest[1] <= 'F'):
		n = 0
		var digits strings.Builder
		for dot := false; n < len(rest); n++ {
			d := rest[n]
			if d == '\\' && n+1 < len(rest) && rest[n+1] == '\n' {
				n++
				b.line++
				continue
			}
			if (d < '0' || d > '9') && (d < 'A' || d > 'F') && (d != '.' || dot) {
				break
			}
			dot = dot || d == '.'
			digits.WriteByte(d)
		}
		b.tok, b.kind = digits.String(), 'n'
		b.pos += n
		return
	case c >= 'a' && c <= 'z':
		for n < len(rest) && (rest[n] >= 'a' && rest[n] <= 'z' || rest[n] >= '0' && rest[n] <= '9' || rest[n] == '_') {
			n++
		}
		b.kind = 'i'
		if bcKeywords[rest[:n]] {
			b.kind = 'o'
		}
	default:
		b.kind = 'o'
		for _, op := range []string{"++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "==", "<=", ">=", "!=", "&&", "||"} {
			if strings.HasPrefix(rest, op) {
				n = 2
			}
		}
	}
	b.tok = rest[:n]
	b.pos += n
}

func (b *bcParser) is(tok string) bool { return b.kind == 'o' && b.tok == tok }

func (b *bcParser) take(tok string) bool {
	if b.is(tok) {
		b.next()
		return true
	}
	return false
}

func (b *bcParser) expect(tok string) {
	if !b.take(tok) {
		b.fault()
	}
}

func (b *bcParser) newlines() {
	for b.kind == '\n' && b.err == nil {
		b.next()
	}
}
