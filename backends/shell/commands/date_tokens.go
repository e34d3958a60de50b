package commands

import (
	"strconv"
	"strings"
	"time"
)

// epochDate reads seconds since 1970.
func epochDate(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	whole, frac, hasFrac := strings.Cut(strings.Replace(text, ",", ".", 1), ".")
	seconds, err := strconv.ParseInt(strings.TrimPrefix(whole, "+"), 10, 64)
	const most = 1 << 55 // years that fit an int
	if err != nil || seconds > most || seconds < -most {
		return time.Time{}, errNoDate
	}
	nanos := int64(0)
	if hasFrac {
		if frac == "" || strings.Trim(frac, "0123456789") != "" {
			return time.Time{}, errNoDate
		}
		nanos, _ = strconv.ParseInt((frac + "000000000")[:9], 10, 64)
		if strings.HasPrefix(whole, "-") {
			nanos = -nanos
		}
	}
	return time.Unix(seconds, nanos).In(now.Location()), nil
}

// A dateToken is a word, a number or a sign.
type dateToken struct {
	word   string // in lower case, without dots; or one other character
	number bool
	sign   int // of a number with one
	value  int
	digits int
	frac   string // of a decimal number
}

// dateTokensOf takes text apart. Parentheses are comments.
func dateTokensOf(text string) (out []dateToken, ok bool) {
	if len(text) > 4096 {
		return nil, false
	}
	digit := func(i int) bool { return i < len(text) && text[i] >= '0' && text[i] <= '9' }
	letter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			i++
		case c == '(':
			depth := 0
			for ; i < len(text); i++ {
				if text[i] == '(' {
					depth++
				} else if text[i] == ')' {
					if depth--; depth == 0 {
						i++
						break
					}
				}
			}
			if depth > 0 {
				return nil, false
			}
		case c == '+' || c == '-' || digit(i):
			t := dateToken{number: true}
			if !digit(i) {
				t.sign = 1
				if c == '-' {
					t.sign = -1
				}
				for i++; i < len(text) && (text[i] == ' ' || text[i] == '\t'); i++ {
					continue
				}
				if !digit(i) {
					continue // a sign alone is skipped
				}
			}
			start := i
			for digit(i) {
				i++
			}
			v, err := strconv.ParseInt(text[start:i], 10, 62)
			if err != nil {
				return nil, false
			}
			t.value, t.digits = int(v), i-start
			if t.sign < 0 {
				t.value = -t.value
			}
			if i < len(text) && (text[i] == '.' || text[i] == ',') && digit(i+1) {
				start = i + 1
				for i++; digit(i); i++ {
					continue
				}
				t.frac = text[start:i]
			}
			out = append(out, t)
		case letter(c):
			start := i
			for i < len(text) && (letter(text[i]) || text[i] == '.') {
				i++
			}
			out = append(out, dateToken{word: strings.ToLower(strings.ReplaceAll(text[start:i], ".", ""))})
		default:
			out = append(out, dateToken{word: string(c)})
			i++
		}
	}
	return out, true
}

// peek is the token n after the next.
func (d *dateReader) peek(n int) dateToken {
	if d.i+n < len(d.tokens) {
		return d.tokens[d.i+n]
	}
	return dateToken{}
}

// Kinds of numbers.
func (t dateToken) plain() bool  { return t.number && t.sign == 0 && t.frac == "" }
func (t dateToken) signed() bool { return t.number && t.sign != 0 && t.frac == "" }
