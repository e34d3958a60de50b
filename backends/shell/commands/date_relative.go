package commands

import (
	"strconv"
	"strings"
	"time"
)

// dateUnit is a unit of time, in one of months, days or seconds.
type dateUnit struct {
	known               bool
	years, months, days int
	seconds             int64
}

var dateUnits = map[string]dateUnit{
	"year": {true, 1, 0, 0, 0}, "month": {true, 0, 1, 0, 0}, "fortnight": {true, 0, 0, 14, 0}, "week": {true, 0, 0, 7, 0}, "day": {true, 0, 0, 1, 0},
	"hour": {true, 0, 0, 0, 3600}, "minute": {true, 0, 0, 0, 60}, "min": {true, 0, 0, 0, 60}, "second": {true, 0, 0, 0, 1}, "sec": {true, 0, 0, 0, 1},
}

var dateOrdinals = map[string]int{"last": -1, "this": 0, "next": 1, "first": 1, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
	"ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12}

var dateShifts = map[string]int{"tomorrow": 1, "yesterday": -1, "today": 0, "now": 0}

// relative reads an amount of time: "2 days", "-1 week ago", "next month",
// "hour", "tomorrow". It takes nothing and returns false where there is none.
func (d *dateReader) relative() bool {
	t := d.peek(0)
	if n, ok := dateShifts[t.word]; ok {
		d.i++
		d.relatives++
		d.dDay += n
		return true
	}
	n, used, nanos := 1, 0, int64(0)
	switch ordinal, ok := dateOrdinals[t.word]; {
	case t.number:
		n, used = t.value, 1
		nanos, _ = strconv.ParseInt((t.frac + "000000000")[:9], 10, 64)
		if t.sign < 0 {
			nanos = -nanos
		}
	case ok:
		n, used = ordinal, 1
	}
	u := dateUnits[strings.TrimSuffix(d.peek(used).word, "s")]
	const most = 1 << 40 // amounts that cannot overflow when they add up
	if !u.known || t.frac != "" && u.seconds != 1 || n > most || n < -most || d.relatives > 100 {
		return false
	}
	d.i += used + 1
	if d.peek(0).word == "ago" {
		d.i++
		n, nanos = -n, -nanos
	}
	d.relatives++
	d.dYear += n * u.years
	d.dMonth += n * u.months
	d.dDay += n * u.days
	d.dSeconds += int64(n) * u.seconds
	d.dNanos += nanos
	return true
}

func (d *dateReader) result(now time.Time) (time.Time, error) {
	if d.dates > 1 || d.times > 1 || d.days > 1 || d.zonesSeen > 1 {
		return time.Time{}, errNoDate
	}
	if d.times == 0 && (d.relatives == 0 || d.dates > 0 || d.days > 0) {
		d.hour, d.min, d.sec, d.nsec = 0, 0, 0, 0
	}
	loc := now.Location()
	if d.zonesSeen > 0 {
		loc = time.FixedZone("", d.zone)
	}
	if d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31 || d.year > 1<<31 {
		return time.Time{}, errNoDate
	}
	t := time.Date(d.year, time.Month(d.month), d.day, d.hour, d.min, d.sec, d.nsec, loc)
	if t.Day() != d.day || t.Hour() != d.hour || t.Minute() != d.min {
		return time.Time{}, errNoDate // there is no such day, or no such hour where clocks change
	}
	day := d.day
	if d.days > 0 && d.dates == 0 {
		ahead := (d.weekday - int(t.Weekday()) + 7) % 7
		weeks := d.ordinal
		if d.ordinal > 0 && ahead != 0 {
			weeks--
		}
		day += ahead + 7*weeks
	}
	const most = 1 << 31
	if d.dYear > most || d.dYear < -most || d.dMonth > most || d.dMonth < -most || d.dDay > most*400 || d.dDay < -most*400 {
		return time.Time{}, errNoDate
	}
	if d.dYear != 0 || d.dMonth != 0 || d.dDay != 0 || day != d.day {
		t = time.Date(d.year+d.dYear, time.Month(d.month+d.dMonth), day+d.dDay, d.hour, d.min, d.sec, d.nsec, loc)
	}
	return time.Unix(t.Unix()+d.dSeconds, int64(t.Nanosecond())+d.dNanos).In(now.Location()), nil
}

// monthNumber is 1 to 12 for the name of a month, else 0.
func monthNumber(word string) int {
	if word == "sept" {
		return 9
	}
	for m := time.January; m <= time.December; m++ {
		if name := strings.ToLower(m.String()); word == name || word == name[:3] {
			return int(m)
		}
	}
	return 0
}

// dayNumber is 0 to 6 for the name of a day, from Sunday, else -1.
func dayNumber(word string) int {
	switch word {
	case "tues":
		return 2
	case "wednes":
		return 3
	case "thur", "thurs":
		return 4
	}
	for w := time.Sunday; w <= time.Saturday; w++ {
		if name := strings.ToLower(w.String()); word == name || word == name[:3] {
			return int(w)
		}
	}
	return -1
}

// zoneHours are zones by name, in hours east of UTC.
var zoneHours = map[string]float64{"gmt": 0, "ut": 0, "utc": 0, "wet": 0, "west": 1, "bst": 1, "art": -3, "brt": -3, "brst": -2, "nst": -3.5, "ndt": -2.5,
	"ast": -4, "adt": -3, "clt": -4, "clst": -3, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "akst": -9, "akdt": -8,
	"hst": -10, "hast": -10, "hadt": -9, "sst": -12, "wat": 1, "cet": 1, "cest": 2, "met": 1, "mez": 1, "mest": 2, "mesz": 2, "eet": 2, "eest": 3,
	"cat": 2, "sast": 2, "eat": 3, "msk": 3, "msd": 4, "ist": 5.5, "sgt": 8, "kst": 9, "jst": 9, "gst": 10, "nzst": 12, "nzdt": 13}

// zoneNumber is the offset, in seconds, of a zone by name or by the letter that
// soldiers have for it.
func zoneNumber(word string) (seconds int, ok bool) {
	if h, ok := zoneHours[word]; ok {
		return int(h * 3600), true
	}
	if len(word) != 1 {
		return 0, false
	}
	switch c := int(word[0]); {
	case c >= 'a' && c <= 'i':
		return (c - 'a' + 1) * 3600, true
	case c >= 'k' && c <= 'm':
		return (c - 'k' + 10) * 3600, true
	case c >= 'n' && c <= 'y' && c != 't':
		return -(c - 'n' + 1) * 3600, true
	case c == 'z':
		return 0, true
	}
	return 0, false
}
