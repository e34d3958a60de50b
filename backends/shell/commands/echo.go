package commands

import (
	"strings"
	"unicode/utf8"
)

// Escapes tells which escapes a text can have: those of echo -e, of printf's
// format, of its %b, and of $'…' differ.
type Escapes uint8

// The kinds of escapes.
const (
	EchoEscapes Escapes = iota
	FormatEscapes
	PercentB
	DollarQuotes
)

// Unescape replaces backslash escapes in text. stop tells that \c was met: no
// output is to follow.
func Unescape(text string, kind Escapes) (out string, stop bool) {
	if !strings.Contains(text, `\`) {
		return text, false
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			i++
			continue
		}
		n, ends := escape(&b, text[i+1:], kind)
		if ends {
			return b.String(), true
		}
		i += 1 + n
	}
	return b.String(), false
}

// escape writes the escape that t, which follows a backslash, starts with, and
// returns its length.
func escape(b *strings.Builder, t string, kind Escapes) (n int, stop bool) {
	const from, to = `abefnrtvE\`, "\a\b\x1b\f\n\r\t\v\x1b\\"
	if i := strings.IndexByte(from, t[0]); i >= 0 {
		b.WriteByte(to[i])
		return 1, false
	}
	switch c := t[0]; {
	case c == 'c' && kind == DollarQuotes && len(t) > 1:
		b.WriteByte(t[1] & 0x1f)
		return 2, false
	case c == 'c' && kind != FormatEscapes && kind != DollarQuotes:
		return 1, true
	case (c == '\'' || c == '"' || c == '?') && kind != EchoEscapes && kind != PercentB, c == '"' && kind == PercentB:
		b.WriteByte(c)
		return 1, false
	case c == '0' && (kind == EchoEscapes || kind == PercentB):
		v, n := digits(t[1:], 8, 3)
		b.WriteByte(byte(v))
		return 1 + n, false
	case c >= '0' && c <= '7' && kind != EchoEscapes:
		v, n := digits(t, 8, 3)
		b.WriteByte(byte(v))
		return n, false
	case c == 'x':
		if v, n := digits(t[1:], 16, 2); n > 0 {
			b.WriteByte(byte(v))
			return 1 + n, false
		}
	case c == 'u', c == 'U':
		width := 4
		if c == 'U' {
			width = 8
		}
		if v, n := digits(t[1:], 16, width); n > 0 {
			if v > utf8.MaxRune {
				v = utf8.RuneError
			}
			b.WriteRune(rune(v))
			return 1 + n, false
		}
	}
	b.WriteByte('\\')
	b.WriteByte(t[0])
	return 1, false
}

// digits reads at most limit digits.
func digits(t string, base, limit int) (value uint32, n int) {
	for n < len(t) && n < limit {
		d := 99
		switch c := t[n]; {
		case c >= '0' && c <= '9':
			d = int(c - '0')
		case c >= 'a' && c <= 'f':
			d = int(c-'a') + 10
		case c >= 'A' && c <= 'F':
			d = int(c-'A') + 10
		}
		if d >= base {
			break
		}
		value = value*uint32(base) + uint32(d)
		n++
	}
	return value, n
}

// echo is that of bash: options -n, -e and -E only, in any combination.
func echo(p *Proc) int {
	args, newline, escapes := p.Args, true, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, c := range args[0][1:] {
			switch c {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
		args = args[1:]
	}
	for i, arg := range args {
		if i > 0 {
			p.Out.WriteByte(' ')
		}
		if escapes {
			text, stop := Unescape(arg, EchoEscapes)
			arg = text
			if stop {
				p.Out.WriteString(arg)
				return 0
			}
		}
		p.Out.WriteString(arg)
	}
	if newline {
		p.Out.WriteByte('\n')
	}
	return 0
}
