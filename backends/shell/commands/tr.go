package commands

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

var trOptions = NewOptions(1, "+", "c C complement", "d delete", "s squeeze-repeats", "t truncate-set1")

func tr(p *Proc) int {
	o, code := p.Parse(trOptions)
	if o == nil {
		return code
	}
	deletes, squeezes, complements := o.Has("d"), o.Has("s"), o.Has("c")
	most := 2
	if deletes && !squeezes {
		most = 1
	}
	switch n := len(o.Args); {
	case n == 0:
		return p.Usage(1, "missing operand")
	case n == 1 && deletes == squeezes:
		what := "Two strings must be given when translating."
		if deletes {
			what = "Two strings must be given when both deleting and squeezing repeats."
		}
		p.Errorf(1, "missing operand after %s\n%s", Quote(o.Args[0]), what)
		fmt.Fprint(p.Stderr, "Try 'tr --help' for more information.\n")
		return 1
	case n > most:
		extra := ""
		if n == 2 {
			extra = "\nOnly one string may be given when deleting without squeezing repeats."
		}
		p.Errorf(1, "extra operand %s%s", Quote(o.Args[most]), extra)
		fmt.Fprint(p.Stderr, "Try 'tr --help' for more information.\n")
		return 1
	}
	first, problem := parseTrSet(o.Args[0], -1)
	if problem != "" {
		return p.Errorf(1, "%s", problem)
	}
	if complements {
		first = complementBytes(first)
	}
	var second []byte
	two := len(o.Args) == 2
	if two {
		length := len(first)
		if deletes {
			length = 0
		}
		if second, problem = parseTrSet(o.Args[1], length); problem != "" {
			return p.Errorf(1, "%s", problem)
		}
	}
	t := &translator{squeeze: squeezes, last: -1}
	for i := range t.to {
		t.to[i] = byte(i)
	}
	switch {
	case deletes:
		for _, b := range first {
			t.drop[b] = true
		}
		for _, b := range second {
			t.squeezed[b] = true
		}
	case two:
		if problem := t.translate(o, first, second, o.Args[0], o.Args[1]); problem != "" {
			return p.Errorf(1, "%s", problem)
		}
		for _, b := range second {
			t.squeezed[b] = true
		}
	default:
		for _, b := range first {
			t.squeezed[b] = true
		}
	}
	return p.Inputs(nil, func(_ string, r io.Reader) (int, error) {
		buf := make([]byte, 32<<10)
		for {
			n, err := r.Read(buf)
			p.Out.Write(t.run(buf[:n]))
			if err == io.EOF {
				return 0, nil
			}
			if err != nil {
				return 1, err
			}
		}
	})
}

// translator is what tr does to each byte.
type translator struct {
	to       [256]byte
	drop     [256]bool
	squeezed [256]bool
	squeeze  bool
	last     int
}

func (t *translator) translate(o *Parsed, first, second []byte, one, two string) string {
	if len(second) == 0 {
		if !o.Has("t") && len(first) > 0 {
			return "when not truncating set1, string2 must be non-empty"
		}
	}
	if !o.Has("t") && len(second) > 0 {
		if strings.HasSuffix(two, ":]") && len(second) < len(first) && !strings.HasSuffix(one, ":]") {
			return "when translating with string1 longer than string2,\nthe latter string must not end with a character class"
		}
		for len(second) < len(first) {
			second = append(second, second[len(second)-1])
		}
	}
	for i, b := range first[:min(len(first), len(second))] {
		t.to[b] = second[i]
	}
	return ""
}

// run translates b in place.
func (t *translator) run(b []byte) []byte {
	out := b[:0]
	for _, c := range b {
		if t.drop[c] {
			continue
		}
		c = t.to[c]
		if t.squeeze && t.squeezed[c] && t.last == int(c) {
			continue
		}
		t.last = int(c)
		out = append(out, c)
	}
	return out
}

func complementBytes(set []byte) []byte {
	var out []byte
	for i := range 256 {
		if bytes.IndexByte(set, byte(i)) < 0 {
			out = append(out, byte(i))
		}
	}
	return out
}

var trClasses = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return isDigit(c) || isLetter(c) },
	"alpha":  isLetter,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  isDigit,
	"graph":  func(c byte) bool { return c > ' ' && c < 0x7f },
	"lower":  func(c byte) bool { return c >= 'a' && c <= 'z' },
	"print":  func(c byte) bool { return c >= ' ' && c < 0x7f },
	"punct":  func(c byte) bool { return c > ' ' && c < 0x7f && !isDigit(c) && !isLetter(c) },
	"space":  func(c byte) bool { return c >= '\t' && c <= '\r' || c == ' ' },
	"upper":  func(c byte) bool { return c >= 'A' && c <= 'Z' },
	"xdigit": func(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' },
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// parseTrSet reads a set. A repeat [c*] fills it up to length bytes; length is
// -1 for the first set, where repeats are not allowed.
func parseTrSet(s string, length int) (set []byte, problem string) {
	fill, fillByte := -1, byte(0)
	for i := 0; i < len(s); {
		if s[i] == '[' {
			if end := strings.Index(s[i:], ":]"); strings.HasPrefix(s[i:], "[:") && end > 1 {
				name := s[i+2 : i+end]
				has := trClasses[name]
				if has == nil {
					return nil, "invalid character class " + Quote(name)
				}
				if length >= 0 && name != "lower" && name != "upper" && length > 0 {
					return nil, "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'"
				}
				for c := range 256 {
					if has(byte(c)) {
						set = append(set, byte(c))
					}
				}
				i += end + 2
				continue
			}
			if strings.HasPrefix(s[i:], "[=") && i+4 < len(s) && s[i+3:i+5] == "=]" {
				set = append(set, s[i+2])
				i += 5
				continue
			}
			if c, n := trByte(s[i+1:]); n > 0 && i+1+n < len(s) && s[i+1+n] == '*' {
				if end := strings.IndexByte(s[i:], ']'); end > 0 {
					count, ok := trCount(s[i+2+n : i+end])
					if ok {
						if length < 0 && count == 0 {
							return nil, "the [c*] repeat construct may not appear in string1"
						}
						if count == 0 {
							fill, fillByte = len(set), c
						}
						set = append(set, bytes.Repeat([]byte{c}, min(count, 1<<16))...)
						i += end + 1
						continue
					}
				}
			}
		}
		c, n := trByte(s[i:])
		i += n
		if i+1 < len(s) && s[i] == '-' {
			hi, m := trByte(s[i+1:])
			if hi < c {
				return nil, "range-endpoints of '" + s[i-n:i+1+m] + "' are in reverse collating sequence order"
			}
			for b := int(c); b <= int(hi); b++ {
				set = append(set, byte(b))
			}
			i += 1 + m
			continue
		}
		set = append(set, c)
	}
	if fill >= 0 && len(set) < length {
		set = append(set[:fill:fill], append(bytes.Repeat([]byte{fillByte}, length-len(set)), set[fill:]...)...)
	}
	return set, ""
}

func trCount(text string) (n int, ok bool) {
	base := 10
	if strings.HasPrefix(text, "0") {
		base = 8
	}
	for _, c := range []byte(text) {
		if !isDigit(c) || int(c-'0') >= base {
			return 0, false
		}
		n = min(n*base+int(c-'0'), 1<<20)
	}
	return n, true
}

// trByte reads a byte or an escape.
func trByte(s string) (c byte, n int) {
	if s == "" {
		return 0, 0
	}
	if s[0] != '\\' || len(s) == 1 {
		return s[0], 1
	}
	if v, n := digits(s[1:], 8, 3); n > 0 {
		if v > 255 {
			v, n = v>>3, n-1
		}
		return byte(v), 1 + n
	}
	if i := strings.IndexByte("abfnrtv", s[1]); i >= 0 {
		return "\a\b\f\n\r\t\v"[i], 2
	}
	return s[1], 2
}
