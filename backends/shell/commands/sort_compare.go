package commands

import (
	"bytes"
	"hash/maphash"
	"strconv"
	"strings"
)

func (s *sorting) compareKey(a, b []byte, k *sortKey) int {
	switch k.kind {
	case 'n':
		return compareNumbers(a, b)
	case 'g':
		return compareGeneral(a, b)
	case 'h':
		return compareHuman(a, b)
	case 'M':
		return month(a) - month(b)
	case 'V':
		return compareVersions(view(a), view(b))
	case 'R':
		x, y := maphash.Bytes(s.seed, a), maphash.Bytes(s.seed, b)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return bytes.Compare(a, b)
	}
	if !k.dictionary && !k.printable && !k.fold {
		return bytes.Compare(a, b)
	}
	return compareFolded(a, b, k)
}

// compareFolded compares letter by letter and leaves out what k ignores.
func compareFolded(a, b []byte, k *sortKey) int {
	i, j := 0, 0
	next := func(t []byte, at *int) int {
		for *at < len(t) {
			c := t[*at]
			*at++
			letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
			if k.dictionary && !letter && !blank(c) || k.printable && (c < ' ' || c >= 0x7f) {
				continue
			}
			if k.fold && c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
			return int(c)
		}
		return -1
	}
	for {
		x, y := next(a, &i), next(b, &j)
		if x != y {
			return x - y
		}
		if x < 0 {
			return 0
		}
	}
}

// numberText takes a decimal number apart: sign, integer digits without leading
// zeros, fraction digits without trailing zeros.
func numberText(t []byte) (negative bool, whole, fraction []byte) {
	for len(t) > 0 && blank(t[0]) {
		t = t[1:]
	}
	if len(t) > 0 && t[0] == '-' {
		negative, t = true, t[1:]
	}
	i := 0
	for i < len(t) && t[i] >= '0' && t[i] <= '9' {
		i++
	}
	whole = bytes.TrimLeft(t[:i], "0")
	if i < len(t) && t[i] == '.' {
		j := i + 1
		for j < len(t) && t[j] >= '0' && t[j] <= '9' {
			j++
		}
		fraction = bytes.TrimRight(t[i+1:j], "0")
	}
	if len(whole) == 0 && len(fraction) == 0 {
		negative = false
	}
	return negative, whole, fraction
}

func compareNumbers(a, b []byte) int {
	na, wa, fa := numberText(a)
	nb, wb, fb := numberText(b)
	if na != nb {
		if na {
			return -1
		}
		return 1
	}
	c := len(wa) - len(wb)
	if c == 0 {
		c = bytes.Compare(wa, wb)
	}
	if c == 0 {
		c = bytes.Compare(fa, fb)
	}
	if na {
		return -c
	}
	return c
}

func compareHuman(a, b []byte) int {
	sa, sb := humanOrder(a), humanOrder(b)
	if sa != sb {
		return sa - sb
	}
	return compareNumbers(a, b)
}

// humanOrder is the power of the suffix of a number as du -h prints it, with
// its sign.
func humanOrder(t []byte) int {
	negative, whole, fraction := numberText(t)
	if len(whole) == 0 && len(fraction) == 0 {
		return 0
	}
	i := 0
	for i < len(t) && (blank(t[i]) || strings.IndexByte("-.0123456789", t[i]) >= 0) {
		i++
	}
	order := 0
	if i < len(t) {
		order = strings.IndexByte("KMGTPEZY", t[i]) + 1
		if t[i] == 'k' {
			order = 1
		}
	}
	if negative {
		return -order - 1
	}
	return order + 1
}

// compareGeneral compares as strtold reads: what is no number comes first, then
// NaN, then numbers.
func compareGeneral(a, b []byte) int {
	x, okx := leadingFloat(string(a))
	y, oky := leadingFloat(string(b))
	switch {
	case !okx || !oky:
		return map[bool]int{true: 1}[okx] - map[bool]int{true: 1}[oky]
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return map[bool]int{true: 1}[x == x] - map[bool]int{true: 1}[y == y]
}

// leadingFloat reads the number that text starts with.
func leadingFloat(text string) (float64, bool) {
	text = strings.TrimLeft(text, " \t\n\v\f\r")
	end := len(text)
	if end > 400 {
		end = 400
	}
	for ; end > 0; end-- {
		if c := text[end-1]; c == '_' {
			continue
		}
		if v, err := strconv.ParseFloat(text[:end], 64); err == nil || v != 0 {
			return v, true
		}
	}
	return 0, false
}

func month(t []byte) int {
	for len(t) > 0 && blank(t[0]) {
		t = t[1:]
	}
	if len(t) < 3 {
		return 0
	}
	i := strings.Index("JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", strings.ToUpper(string(t[:3])))
	if i < 0 || i%3 != 0 {
		return 0
	}
	return i/3 + 1
}
