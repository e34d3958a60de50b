package awk

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxWidth is how wide printf pads, in characters.
const maxWidth = 1 << 20

// spec is a directive of printf.
type spec struct {
	minus, plus, space, zero, alt, group bool
	width, precision                     int // precision -1: none
	verb                                 byte
}

// formatFloat writes one number by a format, as CONVFMT does.
func formatFloat(format string, n float64) string {
	in := &interp{}
	var out string
	if err := in.protect(func() { out = in.format([]value{str(format), num(n)}) }); err != nil {
		return formatG(n, 6)
	}
	return out
}

// format is sprintf.
func (in *interp) format(args []value) string {
	f := args[0].str(in.convfmt)
	all := args[1:]
	next := 0
	take := func() value {
		if next >= len(all) {
			if in.cfg.Host != nil {
				in.fatal("not enough arguments to satisfy format string\n\t`%s'", f)
			}
			return value{}
		}
		next++
		return all[next-1]
	}
	var b strings.Builder
	for i := 0; i < len(f); {
		end := strings.IndexByte(f[i:], '%')
		if end < 0 {
			b.WriteString(f[i:])
			break
		}
		b.WriteString(f[i : i+end])
		i += end
		if i+1 < len(f) && f[i+1] == '%' {
			b.WriteByte('%')
			i += 2
			continue
		}
		s, n, picked := in.directive(f[i:], take)
		if n == 0 {
			b.WriteString(f[i:]) // no directive: it is text
			break
		}
		i += n
		var v value
		if picked > 0 {
			if picked > len(all) {
				in.fatal("argument index %d is more than the number of arguments", picked)
			}
			v = all[picked-1]
		} else {
			v = take()
		}
		piece := in.convert(s, v)
		if in.cfg.Host != nil {
			in.passing(b.Len() + len(piece))
		}
		b.WriteString(piece)
	}
	return b.String()
}

// directive takes one apart; n is its length, 0 when it is none. picked is N of
// %N$s.
func (in *interp) directive(f string, take func() value) (s spec, n, picked int) {
	s.precision = -1
	i := 1
	number := func() int {
		v := 0
		for ; i < len(f) && f[i] >= '0' && f[i] <= '9'; i++ {
			v = min(v*10+int(f[i]-'0'), math.MaxInt32)
		}
		return v
	}
	if j := strings.IndexByte(f, '$'); j > 1 && strings.Trim(f[1:j], "0123456789") == "" {
		picked = number()
		i++
	}
flags:
	for ; i < len(f); i++ {
		switch f[i] {
		case '-':
			s.minus = true
		case '+':
			s.plus = true
		case ' ':
			s.space = true
		case '0':
			s.zero = true
		case '#':
			s.alt = true
		case '\'':
			s.group = true
		default:
			break flags
		}
	}
	amount := func() int {
		if i < len(f) && f[i] == '*' {
			i++
			return int(max(min(take().num(), math.MaxInt32), -math.MaxInt32))
		}
		return number()
	}
	if s.width = amount(); s.width < 0 {
		s.minus, s.width = true, -s.width
	}
	if i < len(f) && f[i] == '.' {
		i++
		if s.precision = amount(); s.precision < 0 {
			s.precision = -1
		}
	}
	if s.width > maxWidth || s.precision > maxWidth {
		in.fatal("printf: a width of more than %d is too much for this workspace", maxWidth)
	}
	for i < len(f) && strings.IndexByte("hlLjzt", f[i]) >= 0 {
		i++
	}
	if i >= len(f) || strings.IndexByte("diouxXcsfFeEgGaA", f[i]) < 0 {
		return s, 0, 0
	}
	s.verb = f[i]
	return s, i + 1, picked
}

func (in *interp) convert(s spec, v value) string {
	switch s.verb {
	case 'c':
		var text string
		if n, ok := v.numeric(); ok && v.kind != unset && (v.kind == number || v.kind == input) {
			r := rune(int64(n))
			if r < 0x80 || !utf8.ValidRune(r) {
				text = string([]byte{byte(r)})
			} else {
				text = string(r)
			}
		} else if t := v.str(in.convfmt); t != "" {
			_, size := utf8.DecodeRuneInString(t)
			text = t[:size]
		} else {
			text = "\x00"
		}
		return s.pad(text, false)
	case 's':
		text := v.str(in.convfmt)
		if s.precision >= 0 {
			text = text[:byteOffset(text, s.precision)]
		}
		return s.pad(text, false)
	}
	n := v.num()
	if math.IsNaN(n) || math.IsInf(n, 0) {
		s.zero = false
		return s.pad(formatNumber(n, ""), false)
	}
	switch s.verb {
	case 'd', 'i', 'o', 'u', 'x', 'X':
		return s.integer(n)
	}
	return s.float(n)
}

// pad makes text as wide as is asked.
func (s *spec) pad(text string, numeric bool) string {
	gap := s.width - utf8.RuneCountInString(text)
	if gap <= 0 {
		return text
	}
	switch {
	case s.minus:
		return text + strings.Repeat(" ", gap)
	case s.zero && numeric:
		sign := 0
		if text != "" && strings.IndexByte("+- ", text[0]) >= 0 {
			sign = 1
		}
		if strings.HasPrefix(text[sign:], "0x") || strings.HasPrefix(text[sign:], "0X") {
			sign += 2
		}
		return text[:sign] + strings.Repeat("0", gap) + text[sign:]
	}
	return strings.Repeat(" ", gap) + text
}

func (s *spec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case s.plus:
		return "+"
	case s.space:
		return " "
	}
	return ""
}

func (s *spec) integer(n float64) string {
	n = math.Trunc(n)
	negative := n < 0
	signed := s.verb == 'd' || s.verb == 'i'
	base := map[byte]int{'o': 8, 'x': 16, 'X': 16}[s.verb]
	if base == 0 {
		base = 10
	}
	if negative && !signed {
		return s.pad(strconv.FormatFloat(n, 'f', 0, 64), true)
	}
	var digits string
	if n = math.Abs(n); n < 1<<63 {
		digits = strconv.FormatUint(uint64(n), base)
	} else {
		whole, _ := big.NewFloat(n).Int(nil)
		digits = whole.Text(base)
	}
	if s.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	if s.precision >= 0 {
		s.zero = false
		if s.precision == 0 && n == 0 {
			digits = ""
		}
		if gap := s.precision - len(digits); gap > 0 {
			digits = strings.Repeat("0", gap) + digits
		}
	}
	if s.alt && n != 0 {
		switch s.verb {
		case 'o':
			digits = "0" + digits
		case 'x', 'X':
			digits = "0" + string(s.verb) + digits
		}
	}
	if signed {
		digits = s.sign(negative) + digits
	}
	return s.pad(digits, true)
}

func (s *spec) float(n float64) string {
	precision := s.precision
	if precision < 0 {
		precision = 6
	}
	negative := math.Signbit(n)
	n = math.Abs(n)
	var text string
	switch s.verb {
	case 'f', 'F':
		text = strconv.FormatFloat(n, 'f', precision, 64)
		if s.alt && precision == 0 {
			text += "."
		}
	case 'e', 'E':
		text = strconv.FormatFloat(n, s.verb, precision, 64)
	case 'a', 'A':
		text = strconv.FormatFloat(n, 'x'+(s.verb-'a'), s.precision, 64)
	default:
		text = formatG(n, max(precision, 1))
		if s.verb == 'G' {
			text = strings.ToUpper(text)
		}
	}
	return s.pad(s.sign(negative)+text, true)
}
