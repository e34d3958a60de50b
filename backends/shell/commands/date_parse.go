package commands

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/zones"
)

var errNoDate = errors.New("invalid date")

// dateReader reads what date -d takes, with the rules of GNU's parser: items in
// any order, each kind at most once but relative ones.
type dateReader struct {
	tokens []dateToken
	i      int

	dates, times, days, zonesSeen, relatives int
	year, month, day                         int
	yearDigits                               int
	hour, min, sec, nsec                     int
	weekday, ordinal                         int
	zone                                     int // seconds east
	dYear, dMonth, dDay                      int
	dSeconds, dNanos                         int64
}

// ReadDate reads text as date -d does. What it does not say is that of now, in
// whose zone the result is.
func ReadDate(text string, now time.Time) (time.Time, error) {
	text = strings.TrimLeft(text, " \t\n")
	if rest, ok := strings.CutPrefix(text, `TZ="`); ok {
		name, rest, ok := strings.Cut(rest, `"`)
		if !ok {
			return time.Time{}, errNoDate
		}
		loc, _ := zones.Load(name)
		t, err := ReadDate(rest, now.In(loc))
		return t.In(now.Location()), err
	}
	if rest, ok := strings.CutPrefix(text, "@"); ok {
		return epochDate(rest, now)
	}
	tokens, ok := dateTokensOf(text)
	if !ok {
		return time.Time{}, errNoDate
	}
	d := &dateReader{tokens: tokens, year: now.Year(), month: int(now.Month()), day: now.Day(), hour: now.Hour(), min: now.Minute(), sec: now.Second(), nsec: now.Nanosecond()}
	for d.i < len(d.tokens) {
		if !d.item() {
			return time.Time{}, errNoDate
		}
	}
	return d.result(now)
}

// item reads one item.
func (d *dateReader) item() bool {
	t := d.peek(0)
	switch {
	case t.plain() && d.peek(1).word == ":":
		return d.clock()
	case t.plain() && (d.peek(1).word == "am" || d.peek(1).word == "pm"):
		d.hour, d.min, d.sec, d.nsec = t.value, 0, 0, 0
		d.i++
		d.times++
		return d.meridian()
	case t.plain() && d.peek(1).word == "/":
		return d.slashes()
	case t.plain() && d.peek(1).signed() && d.peek(2).signed() && d.peek(1).sign < 0 && d.peek(2).sign < 0:
		d.setYear(t)
		d.month, d.day = -d.peek(1).value, -d.peek(2).value
		d.i += 3
		d.dates++
		if d.peek(0).word == "t" && d.peek(1).plain() && d.peek(2).word == ":" {
			d.i++
		}
		return true
	case t.number && d.relative():
		return true
	case t.plain() && monthNumber(d.peek(1).word) > 0:
		return d.dayMonth(t)
	case t.plain() && dayNumber(d.peek(1).word) >= 0:
		d.weekday, d.ordinal = dayNumber(d.peek(1).word), t.value
		d.i += 2
		d.days++
		return true
	case t.plain():
		d.i++
		return d.lone(t)
	case t.number:
		return false
	}
	return d.words(t.word)
}

func (d *dateReader) words(word string) bool {
	if n := dayNumber(word); n >= 0 {
		d.weekday, d.ordinal = n, 0
		d.i++
		d.days++
		if d.peek(0).word == "," {
			d.i++
		}
		return true
	}
	if m := monthNumber(word); m > 0 && d.peek(1).number {
		return d.monthDay(m)
	}
	if n, ok := dateOrdinals[word]; ok {
		if day := dayNumber(d.peek(1).word); day >= 0 {
			d.weekday, d.ordinal = day, n
			d.i += 2
			d.days++
			return true
		}
	}
	if d.relative() {
		return true
	}
	if seconds, ok := zoneNumber(word); ok {
		d.zone = seconds
		d.i++
		d.zonesSeen++
		switch {
		case d.peek(0).word == "dst":
			d.zone += 3600
			d.i++
		case d.peek(0).signed() && !dateUnits[strings.TrimSuffix(d.peek(1).word, "s")].known:
			east := d.zone
			if !d.offset() {
				return false
			}
			d.zone += east
			d.zonesSeen--
		}
		return true
	}
	return false
}

// clock reads 10:00, 10:00:00.5, and what says more about it.
func (d *dateReader) clock() bool {
	h, m, s := d.peek(0), d.peek(2), dateToken{}
	if !m.number || m.sign != 0 || m.frac != "" {
		return false
	}
	d.i += 3
	if d.peek(0).word == ":" && d.peek(1).number && d.peek(1).sign == 0 {
		s = d.peek(1)
		d.i += 2
	}
	d.hour, d.min, d.sec = h.value, m.value, s.value
	d.nsec, _ = strconv.Atoi((s.frac + "000000000")[:9])
	d.times++
	if d.hour > 23 || d.min > 59 || d.sec > 59 {
		return false
	}
	if w := d.peek(0).word; w == "am" || w == "pm" {
		return d.meridian()
	}
	return d.offset()
}

func (d *dateReader) meridian() bool {
	pm := d.peek(0).word == "pm"
	d.i++
	if d.hour < 1 || d.hour > 12 {
		return false
	}
	if d.hour %= 12; pm {
		d.hour += 12
	}
	return true
}

// offset reads a zone such as +02:00 where there is one.
func (d *dateReader) offset() bool {
	t := d.peek(0)
	if !t.signed() {
		return true
	}
	d.i++
	n := t.sign * t.value
	minutes := n/100*60 + n%100
	if t.digits <= 2 {
		minutes = n * 60
	}
	if d.peek(0).word == ":" && d.peek(1).plain() && t.digits <= 2 {
		minutes = n*60 + d.peek(1).value
		d.i += 2
	}
	d.zone = t.sign * minutes * 60
	d.zonesSeen++
	return minutes <= 24*60
}

// setYear reads a year; one of two digits is between 1969 and 2068.
func (d *dateReader) setYear(t dateToken) {
	d.year, d.yearDigits = t.value, t.digits
	if d.year < 0 {
		d.year = -d.year
	}
	if t.digits <= 2 {
		if d.year += 1900; d.year < 1969 {
			d.year += 100
		}
	}
}

func (d *dateReader) slashes() bool {
	a, b := d.peek(0), d.peek(2)
	if !b.plain() {
		return false
	}
	d.i += 3
	d.dates++
	if d.peek(0).word != "/" || !d.peek(1).plain() {
		d.month, d.day = a.value, b.value
		return true
	}
	c := d.peek(1)
	d.i += 2
	if a.digits >= 4 {
		d.setYear(a)
		d.month, d.day = b.value, c.value
		return true
	}
	d.setYear(c)
	d.month, d.day = a.value, b.value
	return true
}

// dayMonth reads 5 Jan, 5 Jan 2024 and 5-Jan-2024.
func (d *dateReader) dayMonth(t dateToken) bool {
	d.day, d.month = t.value, monthNumber(d.peek(1).word)
	d.i += 2
	d.dates++
	if y := d.peek(0); y.signed() && y.sign < 0 && !d.unitAt(1) || y.plain() {
		d.setYear(y)
		d.i++
	}
	return true
}

func (d *dateReader) unitAt(n int) bool {
	return dateUnits[strings.TrimSuffix(d.peek(n).word, "s")].known
}

// monthDay reads Jan 5, Jan 5, 2024 and Jan-5-2024.
func (d *dateReader) monthDay(m int) bool {
	t := d.peek(1)
	d.month, d.day = m, t.value
	if t.sign < 0 {
		d.day = -t.value
	}
	d.i += 2
	d.dates++
	switch {
	case t.sign < 0 && d.peek(0).signed():
		d.setYear(d.peek(0))
		d.i++
	case d.peek(0).word == "," && d.peek(1).plain():
		d.setYear(d.peek(1))
		d.i += 2
	}
	return t.frac == ""
}

// lone reads a number that stands alone: a year, a date or a time.
func (d *dateReader) lone(t dateToken) bool {
	switch {
	case d.dates > 0 && d.yearDigits == 0 && d.relatives == 0 && (d.times > 0 || t.digits > 2):
		d.setYear(t)
	case t.digits > 4:
		d.dates++
		d.day, d.month = t.value%100, t.value/100%100
		d.year, d.yearDigits = t.value/10000, t.digits-4
	default:
		d.times++
		d.hour, d.min, d.sec, d.nsec = t.value, 0, 0, 0
		if t.digits > 2 {
			d.hour, d.min = t.value/100, t.value%100
		}
		if d.hour > 23 || d.min > 59 {
			return false
		}
	}
	return true
}
