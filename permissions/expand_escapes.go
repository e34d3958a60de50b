package permissions

import (
	"strconv"
	"strings"
)

// unescapeDouble removes the backslashes that mean something in double quotes.
func unescapeDouble(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '\n':
				i++
				continue
			case '"', '\\', '$', '`':
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// decodeANSI is what $'…' makes of s.
func decodeANSI(s string) string {
	var b strings.Builder
	nul := false // the text ends at a NUL
	for i := 0; i < len(s) && !nul; i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		number := func(base, most int) (int, bool) {
			end := i + 1
			if base == 8 {
				end = i
			}
			start := end
			for end < len(s) && end-start < most && digitOf(s[end]) < base {
				end++
			}
			n, err := strconv.ParseUint(s[start:end], base, 32)
			if err != nil {
				return 0, false
			}
			nul = nul || n == 0
			i = end - 1
			return int(n), true
		}
		switch c := s[i]; c {
		case 'a':
			b.WriteByte(7)
		case 'b':
			b.WriteByte(8)
		case 'e', 'E':
			b.WriteByte(27)
		case 'f':
			b.WriteByte(12)
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'v':
			b.WriteByte(11)
		case 'x':
			if n, ok := number(16, 2); ok && n != 0 {
				b.WriteByte(byte(n))
			}
		case 'u':
			if n, ok := number(16, 4); ok && n != 0 {
				b.WriteRune(rune(n))
			}
		case 'U':
			if n, ok := number(16, 8); ok && n != 0 {
				b.WriteRune(rune(n))
			}
		case 'c':
			if i+1 < len(s) {
				i++
				b.WriteByte(s[i] & 31)
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			if n, ok := number(8, 3); ok && n != 0 {
				b.WriteByte(byte(n))
			}
		case '\\', '\'', '"', '?':
			b.WriteByte(c)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

func digitOf(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	default:
		return 99
	}
}

// escapeLength is how many bytes the backslash escape at the start of s takes.
func escapeLength(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	digits, most := 16, 2
	n := 2
	switch s[1] {
	case 'x':
	case '0', '1', '2', '3', '4', '5', '6', '7':
		digits, most, n = 8, 3, 1
	default:
		return 2
	}
	for most > 0 && n < len(s) && digitOf(s[n]) < digits {
		n++
		most--
	}
	return n
}
