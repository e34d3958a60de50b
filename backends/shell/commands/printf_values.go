package commands

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

func magnitude(n int64) uint64 {
	if n < 0 {
		return uint64(-n)
	}
	return uint64(n)
}

// text prints a string; width and precision count bytes, as bash has it also in
// UTF-8.
func (pr *printer) text(s spec, text string) {
	if s.precision >= 0 {
		text = text[:min(s.precision, len(text))]
	}
	pr.pad(s, text)
}

func (pr *printer) pad(s spec, text string) {
	fill := s.width - len(text)
	left := strings.Contains(s.flags, "-")
	if fill > 0 && !left {
		writeRepeated(pr.p, ' ', fill)
	}
	pr.p.Out.WriteString(text)
	if fill > 0 && left {
		writeRepeated(pr.p, ' ', fill)
	}
}

func writeRepeated(p *Proc, c byte, n int) {
	for range n {
		p.Out.WriteByte(c)
	}
}

// number prints digits with sign, prefix, precision and padding.
func (pr *printer) number(s spec, negative bool, digits, prefix string) {
	sign := ""
	switch {
	case negative:
		sign = "-"
	case strings.Contains(s.flags, "+"):
		sign = "+"
	case strings.Contains(s.flags, " "):
		sign = " "
	}
	if s.precision >= 0 {
		if fill := s.precision - len(digits); fill > 0 {
			digits = strings.Repeat("0", fill) + digits
		}
	} else if strings.Contains(s.flags, "0") && !strings.Contains(s.flags, "-") {
		if fill := s.width - len(sign) - len(prefix) - len(digits); fill > 0 {
			digits = strings.Repeat("0", fill) + digits
		}
	}
	pr.pad(s, sign+prefix+digits)
}

// integer reads an argument of %d: decimal, 0octal, 0xhex, or 'c.
func (pr *printer) integer(arg string) int64 {
	text := strings.TrimLeft(arg, " \t\n")
	if len(text) > 0 && (text[0] == '\'' || text[0] == '"') {
		r, n := utf8.DecodeRuneInString(text[1:])
		if n == 0 {
			return 0
		}
		if r == utf8.RuneError && n == 1 {
			return int64(text[1])
		}
		return int64(r)
	}
	body, neg := text, false
	if body != "" && (body[0] == '-' || body[0] == '+') {
		neg, body = body[0] == '-', body[1:]
	}
	base, at := 10, 0
	switch {
	case strings.HasPrefix(body, "0x"), strings.HasPrefix(body, "0X"):
		base, at = 16, 2
	case len(body) > 1 && body[0] == '0':
		base, at = 8, 1
	}
	end := at
	for end < len(body) {
		if _, n := digits(body[end:end+1], base, 1); n == 0 {
			break
		}
		end++
	}
	if end == at && base == 8 {
		base, at, end = 10, 0, 1
	}
	n, err := strconv.ParseUint(body[at:end], base, 64)
	switch {
	case arg == "":
		return 0
	case end == at || end < len(body):
		pr.code = pr.p.Errorf(1, "%s: invalid number", arg)
	case err != nil || n > math.MaxInt64 && neg && n != 1<<63:
		pr.code = 0
		pr.p.Errorf(1, "warning: %s: Numerical result out of range", arg)
		if neg {
			return math.MinInt64
		}
		return math.MaxInt64
	}
	if neg {
		return -int64(n)
	}
	return int64(n)
}

func (pr *printer) float(s spec, verb byte, arg string, given bool) {
	f := 0.0
	if given && arg != "" {
		text := strings.TrimSpace(arg)
		var err error
		if len(text) > 1 && (text[0] == '\'' || text[0] == '"') {
			r, _ := utf8.DecodeRuneInString(text[1:])
			f = float64(r)
		} else if f, err = strconv.ParseFloat(text, 64); err != nil && !math.IsInf(f, 0) {
			end := len(text)
			for end > 0 {
				if f, err = strconv.ParseFloat(text[:end], 64); err == nil {
					break
				}
				end--
			}
			pr.code = pr.p.Errorf(1, "%s: invalid number", arg)
		}
	}
	precision := s.precision
	if precision < 0 && verb != 'a' && verb != 'A' {
		precision = 6
	}
	var digits string
	switch v := verb | 0x20; {
	case math.IsInf(f, 0), math.IsNaN(f):
		digits = strings.ToLower(strings.TrimLeft(fmt.Sprint(f), "+-"))
		s.flags = strings.ReplaceAll(s.flags, "0", "")
	case v == 'g':
		digits = formatG(math.Abs(f), precision, strings.Contains(s.flags, "#"))
	case v == 'a':
		digits = fmt.Sprintf("%x", math.Abs(f))
	default:
		digits = strconv.FormatFloat(math.Abs(f), v, precision, 64)
	}
	if verb < 'a' {
		digits = strings.ToUpper(digits)
	}
	s.precision = -1
	pr.number(s, math.Signbit(f) && !math.IsNaN(f), digits, "")
}

// formatG is C's %g.
func formatG(f float64, precision int, keep bool) string {
	if precision == 0 {
		precision = 1
	}
	exp := strconv.FormatFloat(f, 'e', precision-1, 64)
	mantissa, e, _ := strings.Cut(exp, "e")
	x, err := strconv.Atoi(e)
	if err != nil {
		return exp
	}
	if x >= -4 && x < precision {
		mantissa, e = strconv.FormatFloat(f, 'f', max(0, precision-1-x), 64), ""
	}
	if !keep && strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	if e != "" {
		mantissa += "e" + e
	}
	return mantissa
}

// time is %(format)T.
func (pr *printer) time(s spec, format string) {
	at := time.Now()
	if arg, ok := pr.next(); ok && arg != "-1" && arg != "-2" {
		at = time.Unix(pr.integer(arg), 0)
	}
	if format == "" {
		format = "%X"
	}
	pr.text(s, FormatTime(format, at.In(pr.p.location())))
}

// quoteShell is %q.
func quoteShell(text string) string {
	if text == "" {
		return "''"
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }) {
		var b strings.Builder
		b.WriteString("$'")
		for i := range len(text) {
			switch c := text[i]; {
			case strings.IndexByte("\a\b\x1b\f\n\r\t\v", c) >= 0:
				b.WriteByte('\\')
				b.WriteByte("abEfnrtv"[strings.IndexByte("\a\b\x1b\f\n\r\t\v", c)])
			case c == '\'' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c < ' ' || c == 0x7f:
				fmt.Fprintf(&b, "\\%03o", c)
			default:
				b.WriteByte(c)
			}
		}
		return b.String() + "'"
	}
	var b strings.Builder
	for i, r := range text {
		if strings.ContainsRune(" !\"#$&'()*,;<>?[\\]^`{|}", r) && (r != '#' || i == 0) || r == '~' && i == 0 {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
