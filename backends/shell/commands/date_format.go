package commands

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// FormatTime formats t as GNU date does in the C locale: all conversions, the
// flags - _ 0 + ^ and #, and widths.
func FormatTime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); {
		if format[i] != '%' {
			b.WriteByte(format[i])
			i++
			continue
		}
		c := conversion{}
		n := c.parse(format[i:])
		if text, ok := c.format(t); ok {
			b.WriteString(text)
		} else {
			b.WriteString(format[i : i+n])
		}
		i += n
	}
	return b.String()
}

// conversion is one % of a format.
type conversion struct {
	pad         byte // '-', '_', '0' or '+'; 0 where none was given
	upper, swap bool
	width       int // -1 where none was given
	colons      int
	letter      byte
}

func (c *conversion) parse(f string) int {
	i := 1
	c.width = -1
	for ; i < len(f) && strings.IndexByte("-_0+^#", f[i]) >= 0; i++ {
		switch f[i] {
		case '^':
			c.upper = true
		case '#':
			c.swap = true
		default:
			c.pad = f[i]
		}
	}
	for ; i < len(f) && f[i] >= '0' && f[i] <= '9'; i++ {
		c.width = min(max(c.width, 0)*10+int(f[i]-'0'), 4096)
	}
	if i < len(f) && (f[i] == 'E' || f[i] == 'O') {
		i++
	}
	for ; i < len(f) && f[i] == ':'; i++ {
		c.colons++
	}
	if i == len(f) {
		return i
	}
	c.letter = f[i]
	return i + 1
}

// number writes n with at least digits digits, filled up as flags say, or with
// fill.
func (c *conversion) number(n, digits int, fill byte) string {
	return c.digits(strconv.Itoa(max(n, -n)), n < 0, digits, fill)
}

func (c *conversion) digits(text string, negative bool, digits int, fill byte) string {
	switch c.pad {
	case '-':
		digits = 0
	case '_':
		fill = ' '
	case '0', '+':
		fill = '0'
	}
	if c.width >= 0 && c.pad != '-' {
		digits = max(digits, c.width)
		if c.width < digits && c.pad != 0 {
			digits = max(c.width, digits)
		}
	}
	sign := ""
	if negative {
		sign = "-"
	} else if c.pad == '+' && (c.letter == 'Y' && (len(text) > 4 || digits > 4) || c.letter == 'C' && (len(text) > 2 || digits > 2) || c.letter == 'G' && (len(text) > 4 || digits > 4)) {
		sign = "+"
	}
	fillers := strings.Repeat(string(fill), max(0, digits-len(text)-len(sign)))
	if fill == ' ' {
		return fillers + sign + text
	}
	return sign + fillers + text
}

// text writes a word, filled up with blanks.
func (c *conversion) text(s string) string {
	switch {
	case c.upper:
		s = strings.ToUpper(s)
	case c.swap && (c.letter == 'p' || c.letter == 'Z'):
		s = strings.ToLower(s)
	case c.swap && strings.IndexByte("aAbBh", c.letter) >= 0:
		s = strings.ToUpper(s)
	}
	fill := " "
	if c.pad == '0' || c.pad == '+' {
		fill = "0"
	}
	if c.pad == '-' {
		return s
	}
	return strings.Repeat(fill, max(0, c.width-len(s))) + s
}

// format returns false for a conversion that there is not.
func (c *conversion) format(t time.Time) (string, bool) {
	hour12 := (t.Hour()+11)%12 + 1
	isoYear, isoWeek := t.ISOWeek()
	name := func(layout string) (string, bool) { return c.text(t.Format(layout)), true }
	num := func(n, digits int, fill byte) (string, bool) { return c.number(n, digits, fill), true }
	if c.colons > 0 && c.letter != 'z' {
		return "", false
	}
	switch c.letter {
	case '%':
		return c.text("%"), true
	case 'n':
		return c.text("\n"), true
	case 't':
		return c.text("\t"), true
	case 'a':
		return name("Mon")
	case 'A':
		return name("Monday")
	case 'b', 'h':
		return name("Jan")
	case 'B':
		return name("January")
	case 'c':
		return c.text(t.Format("Mon Jan _2 15:04:05 ") + strconv.Itoa(t.Year())), true
	case 'C':
		return num(floorDiv(t.Year(), 100), 2, '0')
	case 'd':
		return num(t.Day(), 2, '0')
	case 'D', 'x':
		return name("01/02/06")
	case 'e':
		return num(t.Day(), 2, ' ')
	case 'F':
		year := conversion{pad: c.pad, width: max(c.width-6, -1), letter: 'Y'}
		if c.pad == 0 && c.width < 0 {
			year.pad = '+'
		}
		if c.pad == '-' {
			return fmt.Sprint(t.Year()) + t.Format("-01-02"), true
		}
		return year.number(t.Year(), 4, '0') + t.Format("-01-02"), true
	case 'g':
		return num(isoYear%100, 2, '0')
	case 'G':
		return num(isoYear, 4, '0')
	case 'H':
		return num(t.Hour(), 2, '0')
	case 'I':
		return num(hour12, 2, '0')
	case 'j':
		return num(t.YearDay(), 3, '0')
	case 'k':
		return num(t.Hour(), 2, ' ')
	case 'l':
		return num(hour12, 2, ' ')
	case 'm':
		return num(int(t.Month()), 2, '0')
	case 'M':
		return num(t.Minute(), 2, '0')
	case 'N':
		return c.nanos(t.Nanosecond()), true
	case 'p':
		return name("PM")
	case 'P':
		c.swap = false
		return c.text(strings.ToLower(t.Format("PM"))), true
	case 'q':
		return num((int(t.Month())-1)/3+1, 1, '0')
	case 'r':
		return name("03:04:05 PM")
	case 'R':
		return name("15:04")
	case 's':
		v := t.Unix()
		return c.digits(strings.TrimPrefix(strconv.FormatInt(v, 10), "-"), v < 0, 1, '0'), true
	case 'S':
		return num(t.Second(), 2, '0')
	case 'T', 'X':
		return name("15:04:05")
	case 'u':
		return num((int(t.Weekday())+6)%7+1, 1, '0')
	case 'U':
		return num((t.YearDay()+6-int(t.Weekday()))/7, 2, '0')
	case 'V':
		return num(isoWeek, 2, '0')
	case 'w':
		return num(int(t.Weekday()), 1, '0')
	case 'W':
		return num((t.YearDay()+6-(int(t.Weekday())+6)%7)/7, 2, '0')
	case 'y':
		return num((t.Year()%100+100)%100, 2, '0')
	case 'Y':
		return num(t.Year(), 4, '0')
	case 'z':
		return c.zone(t), c.colons <= 3
	case 'Z':
		zone, _ := t.Zone()
		return c.text(zone), true
	}
	return "", false
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// nanos writes as many digits of the nanoseconds as the width says.
func (c *conversion) nanos(n int) string {
	text := fmt.Sprintf("%09d", n)
	switch {
	case c.pad == '-' && c.width < 0:
		return text
	case c.width > 0 && c.width < 9:
		text = text[:c.width]
	case c.width > 9:
		text += strings.Repeat("0", c.width-9)
	}
	if c.pad == '_' {
		digits := strings.TrimRight(text[1:], "0")
		text = text[:1] + digits + strings.Repeat(" ", len(text)-1-len(digits))
	}
	return text
}

// zone writes the offset from UTC: +hhmm, +hh:mm, +hh:mm:ss, or as short as it
// can be said.
func (c *conversion) zone(t time.Time) string {
	_, offset := t.Zone()
	sign := "+"
	if offset < 0 {
		sign, offset = "-", -offset
	}
	h, m, s := offset/3600, offset/60%60, offset%60
	rest := ""
	switch {
	case c.colons == 0:
		rest = fmt.Sprintf("%02d", m)
	case c.colons == 1:
		rest = fmt.Sprintf(":%02d", m)
	case c.colons == 2 || s != 0:
		rest = fmt.Sprintf(":%02d:%02d", m, s)
	case m != 0:
		rest = fmt.Sprintf(":%02d", m)
	}
	hours := strconv.Itoa(h)
	if c.colons == 0 && (c.pad == '-' || c.pad == '_') {
		hours, rest = strconv.Itoa(h*100+m), "" // it is one number
	}
	width := max(3, c.width) - len(rest)
	if c.width < 0 {
		width = 3
		if rest == "" && c.colons == 0 {
			width = 5
		}
	}
	switch c.pad {
	case '-':
		return sign + hours + rest
	case '_':
		return strings.Repeat(" ", max(0, width-1-len(hours))) + sign + hours + rest
	}
	return sign + strings.Repeat("0", max(0, width-1-len(hours))) + hours + rest
}
