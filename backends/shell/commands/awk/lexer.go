package awk

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

type token struct {
	kind tokenKind
	text string // of an operator, name, string or regular expression
	num  float64
	line int
	// space tells that a blank came before; call that "(" follows a name at once.
	call bool
}

type tokenKind uint8

const (
	tEOF tokenKind = iota
	tNewline
	tOp
	tNumber
	tString
	tRegexp
	tName
	tKeyword
	tBuiltin
)

var keywords = map[string]bool{
	"BEGIN": true, "END": true, "BEGINFILE": true, "ENDFILE": true, "function": true, "func": true, "if": true, "else": true, "while": true,
	"for": true, "do": true, "break": true, "continue": true, "next": true, "nextfile": true, "exit": true, "return": true, "delete": true,
	"in": true, "getline": true, "print": true, "printf": true, "switch": true, "case": true, "default": true,
}

// builtins are the functions, with how many arguments each takes.
var builtins = map[string][2]int{
	"length": {0, 1}, "substr": {2, 3}, "index": {2, 2}, "split": {2, 4}, "sub": {2, 3}, "gsub": {2, 3}, "gensub": {3, 4}, "match": {2, 3},
	"sprintf": {1, 1 << 20}, "tolower": {1, 1}, "toupper": {1, 1}, "sin": {1, 1}, "cos": {1, 1}, "atan2": {2, 2}, "exp": {1, 1}, "log": {1, 1},
	"sqrt": {1, 1}, "int": {1, 1}, "rand": {0, 0}, "srand": {0, 1}, "system": {1, 1}, "close": {1, 2}, "fflush": {0, 1}, "systime": {0, 0},
	"mktime": {1, 2}, "strftime": {0, 3}, "and": {2, 1 << 20}, "or": {2, 1 << 20}, "xor": {2, 1 << 20}, "lshift": {2, 2}, "rshift": {2, 2},
	"compl": {1, 1}, "asort": {1, 3}, "asorti": {1, 3}, "strtonum": {1, 1}, "patsplit": {2, 4}, "typeof": {1, 1}, "isarray": {1, 1}, "mkbool": {1, 1},
}

type lexer struct {
	src  string
	i    int
	line int
}

var operators = []string{
	"**=", "&&", "||", "|&", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "**", "==", "<=", ">=", "!=", "!~", ">>",
	"{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^", "!", "<", ">", "|", "?", ":", "~", "$", "=", "@",
}

func fail(line int, format string, args ...any) {
	panic(fault{&SyntaxError{line, fmt.Sprintf(format, args...)}})
}

// next reads a token. A "/" is an operator; see regexp.
func (l *lexer) next() token {
	l.blanks()
	t := token{line: l.line}
	if l.i >= len(l.src) {
		return t
	}
	c := l.src[l.i]
	switch {
	case c == '\n':
		l.i++
		l.line++
		t.kind = tNewline
		return t
	case c == '"':
		l.i++
		t.kind, t.text = tString, l.quoted()
		return t
	case c >= '0' && c <= '9' || c == '.' && l.i+1 < len(l.src) && l.src[l.i+1] >= '0' && l.src[l.i+1] <= '9':
		t.kind, t.num = tNumber, l.number()
		return t
	case isNameByte(c):
		from := l.i
		for l.i < len(l.src) && (isNameByte(l.src[l.i]) || l.src[l.i] >= '0' && l.src[l.i] <= '9') {
			l.i++
		}
		t.text = l.src[from:l.i]
		t.call = l.i < len(l.src) && l.src[l.i] == '('
		switch _, builtin := builtins[t.text]; {
		case keywords[t.text]:
			t.kind = tKeyword
		case builtin:
			t.kind = tBuiltin
		default:
			t.kind = tName
		}
		if t.text == "func" {
			t.text = "function"
		}
		return t
	}
	for _, op := range operators {
		if strings.HasPrefix(l.src[l.i:], op) {
			l.i += len(op)
			t.kind, t.text = tOp, op
			switch op {
			case "**":
				t.text = "^"
			case "**=":
				t.text = "^="
			}
			return t
		}
	}
	r, _ := utf8.DecodeRuneInString(l.src[l.i:])
	fail(l.line, "syntax error at %q", r)
	return t
}

func isNameByte(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// blanks skips blanks, comments and lines that go on after a backslash.
func (l *lexer) blanks() {
	for l.i < len(l.src) {
		switch c := l.src[l.i]; {
		case c == ' ' || c == '\t' || c == '\r':
			l.i++
		case c == '\\' && strings.HasPrefix(l.src[l.i:], "\\\n"):
			l.i += 2
			l.line++
		case c == '\\' && strings.HasPrefix(l.src[l.i:], "\\\r\n"):
			l.i += 3
			l.line++
		case c == '#':
			for l.i < len(l.src) && l.src[l.i] != '\n' {
				l.i++
			}
		default:
			return
		}
	}
}

func (l *lexer) number() float64 {
	if rest := l.src[l.i:]; len(rest) > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X') {
		n, j := 0.0, 2
		for ; j < len(rest); j++ {
			d := strings.IndexByte("0123456789abcdef", rest[j]|0x20)
			if d < 0 || rest[j] < '0' {
				break
			}
			n = n*16 + float64(d)
		}
		if j > 2 {
			l.i += j
			return n
		}
	}
	n, used := prefixNumber(l.src[l.i:])
	digits := l.src[l.i : l.i+used]
	l.i += used
	if len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "01234567") == "" {
		n = strtonum(str(digits)) // octal, in programs only
	}
	return n
}

// quoted reads a string after its quote.
func (l *lexer) quoted() string {
	var b strings.Builder
	for l.i < len(l.src) {
		c := l.src[l.i]
		l.i++
		switch {
		case c == '"':
			return b.String()
		case c == '\n':
			fail(l.line, "unterminated string")
		case c == '\\' && l.i < len(l.src):
			l.escape(&b)
		default:
			b.WriteByte(c)
		}
	}
	fail(l.line, "unterminated string")
	return ""
}

// escape reads an escape of a string after its backslash.
func (l *lexer) escape(b *strings.Builder) {
	c := l.src[l.i]
	l.i++
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		b.WriteByte("\a\b\f\n\r\t\v"[i])
		return
	}
	switch {
	case c == '\n':
		l.line++
	case c == '"' || c == '/' || c == '\\':
		b.WriteByte(c)
	case c >= '0' && c <= '7':
		v := int(c - '0')
		for n := 1; n < 3 && l.i < len(l.src) && l.src[l.i] >= '0' && l.src[l.i] <= '7'; n++ {
			v = v*8 + int(l.src[l.i]-'0')
			l.i++
		}
		b.WriteByte(byte(v))
	case c == 'x' || c == 'u':
		v, n, most := 0, 0, 2
		if c == 'u' {
			most = 8
		}
		for ; n < most && l.i < len(l.src); n++ {
			d := strings.IndexByte("0123456789abcdef", l.src[l.i]|0x20)
			if d < 0 || l.src[l.i] < '0' {
				break
			}
			v = v*16 + d
			l.i++
		}
		switch {
		case n == 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == 'u':
			b.WriteRune(rune(v))
		default:
			b.WriteByte(byte(v))
		}
	default:
		// Unknown: it stays, for the regular expressions that strings become.
		b.WriteByte('\\')
		b.WriteByte(c)
	}
}

// regexp reads a regular expression after its "/".
func (l *lexer) regexp(start string) string {
	var b strings.Builder
	b.WriteString(start)
	inBracket := 0 // characters into a bracket expression
	for l.i < len(l.src) {
		c := l.src[l.i]
		l.i++
		switch {
		case c == '\n':
			fail(l.line, "unterminated regexp")
		case c == '\\' && l.i < len(l.src):
			b.WriteByte(c)
			b.WriteByte(l.src[l.i])
			l.i++
			if inBracket > 0 {
				inBracket++
			}
			continue
		case c == '/' && inBracket == 0:
			return b.String()
		case c == '[' && inBracket == 0:
			inBracket = 1
			b.WriteByte(c)
			if l.i < len(l.src) && l.src[l.i] == '^' {
				b.WriteByte('^')
				l.i++
			}
			continue
		case c == '[' && l.i < len(l.src) && l.src[l.i] == ':':
			if end := strings.Index(l.src[l.i:], ":]"); end >= 0 {
				b.WriteString(l.src[l.i-1 : l.i+end+2])
				l.i += end + 2
				inBracket++
				continue
			}
		case c == ']' && inBracket > 1:
			inBracket = 0
			b.WriteByte(c)
			continue
		}
		b.WriteByte(c)
		if inBracket > 0 {
			inBracket++
		}
	}
	fail(l.line, "unterminated regexp")
	return ""
}
