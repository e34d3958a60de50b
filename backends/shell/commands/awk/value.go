package awk

import (
	"math"
	"strconv"
	"strings"
)

type kind uint8

const (
	unset  kind = iota
	number      // n
	text        // s
	input       // s, which counts as a number if it looks like one
)

// value is what a variable holds. part tells that s is a piece of a longer text
// that would stay in memory with it.
type value struct {
	kind kind
	part bool
	n    float64
	s    string
	arr  *array // of an element that is an array itself
}

func num(n float64) value { return value{kind: number, n: n} }
func str(s string) value  { return value{kind: text, s: s} }

func boolean(b bool) value {
	if b {
		return num(1)
	}
	return num(0)
}

// fromInput makes a value of what was read.
func fromInput(s string, part bool) value { return value{kind: input, s: s, part: part} }

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

// looksNumeric tells whether all of s is a number, blanks around it allowed.
func looksNumeric(s string) (float64, bool) {
	for s != "" && isBlank(s[0]) {
		s = s[1:]
	}
	for s != "" && isBlank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	if s == "" {
		return 0, false
	}
	n, used := prefixNumber(s)
	return n, used == len(s)
}

// prefixNumber reads the number that s starts with, and its length.
func prefixNumber(s string) (float64, int) {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	start := i
	whole := 0.0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		whole = whole*10 + float64(s[i]-'0')
		i++
	}
	digits := i - start
	if digits > 0 && digits < 16 && (i == len(s) || s[i] != '.' && s[i] != 'e' && s[i] != 'E') {
		if s[0] == '-' {
			whole = -whole
		}
		return whole, i
	}
	if i < len(s) && s[i] == '.' {
		i++
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		digits += i - from
	}
	if digits == 0 {
		if start == 1 && len(s) >= 4 { // +nan and -inf, with a sign only
			switch strings.ToLower(s[1:4]) {
			case "nan":
				return math.Copysign(math.NaN(), map[byte]float64{'-': -1, '+': 1}[s[0]]), 4
			case "inf":
				return math.Inf(map[byte]int{'-': -1, '+': 1}[s[0]]), 4
			}
		}
		return 0, 0
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if j < len(s) && s[j] >= '0' && s[j] <= '9' {
			for j < len(s) && s[j] >= '0' && s[j] <= '9' {
				j++
			}
			i = j
		}
	}
	n, _ := strconv.ParseFloat(s[:i], 64) // out of range is infinity
	return n, i
}

func (v value) num() float64 {
	switch v.kind {
	case number:
		return v.n
	case text, input:
		s := v.s
		for s != "" && isBlank(s[0]) {
			s = s[1:]
		}
		n, _ := prefixNumber(s)
		return n
	}
	return 0
}

// truth is the value as a condition.
func (v value) truth() bool {
	switch v.kind {
	case number:
		return v.n != 0
	case text:
		return v.s != ""
	case input:
		if n, ok := looksNumeric(v.s); ok {
			return n != 0
		}
		return v.s != ""
	}
	return false
}

// str is the value as text; numbers that are not whole are written by format.
func (v value) str(format string) string {
	switch v.kind {
	case number:
		return formatNumber(v.n, format)
	case text, input:
		return v.s
	}
	return ""
}

func formatNumber(n float64, format string) string {
	switch {
	case n == math.Trunc(n) && math.Abs(n) < 1e15:
		return strconv.FormatInt(int64(n), 10)
	case math.IsNaN(n):
		if math.Signbit(n) {
			return "-nan"
		}
		return "+nan"
	case math.IsInf(n, 1):
		return "+inf"
	case math.IsInf(n, -1):
		return "-inf"
	case n == math.Trunc(n):
		return strconv.FormatFloat(n, 'f', 0, 64)
	case format == "%.6g":
		return formatG(n, 6)
	}
	return formatFloat(format, n)
}

// formatG writes n as %.<precision>g of C.
func formatG(n float64, precision int) string {
	s := strconv.FormatFloat(n, 'e', precision-1, 64)
	mantissa, exponent, _ := strings.Cut(s, "e")
	exp, _ := strconv.Atoi(exponent)
	if exp < -4 || exp >= precision {
		if strings.Contains(mantissa, ".") {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return mantissa + "e" + exponent
	}
	s = strconv.FormatFloat(n, 'f', precision-1-exp, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// numeric tells whether v takes part in comparisons as a number.
func (v value) numeric() (float64, bool) {
	switch v.kind {
	case number:
		return v.n, true
	case unset:
		return 0, true
	case input:
		return looksNumeric(v.s)
	}
	return 0, false
}

// compare tells the order of a and b.
func compare(a, b value, format string) int {
	if x, ok := a.numeric(); ok {
		if y, ok := b.numeric(); ok {
			// Where neither was set it is an empty text as well, which is the same.
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			case x == y:
				return 0
			}
			return 2 // NaN is not equal, less or greater
		}
	}
	return strings.Compare(a.str(format), b.str(format))
}
