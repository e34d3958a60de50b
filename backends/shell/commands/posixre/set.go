package posixre

import (
	"strings"
	"unicode"
)

// set is a bracket expression.
type set struct {
	negated bool
	ranges  []rune   // pairs
	classes []string // names of character classes
}

// class is a character class: the test, and how package regexp writes it.
type class struct {
	has func(r rune) bool
	re2 string
}

const (
	re2Space = `\t-\r \x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{2028}\x{2029}\x{205f}\x{3000}`
	re2Punct = "!-/:-@\\[-`{-~" + `\p{P}\p{S}`
)

var classes = map[string]class{
	"alpha":  {unicode.IsLetter, `\p{L}`},
	"digit":  {func(r rune) bool { return r >= '0' && r <= '9' }, `0-9`},
	"alnum":  {isAlnum, `\p{L}\p{Nd}`},
	"upper":  {unicode.IsUpper, `\p{Lu}`},
	"lower":  {unicode.IsLower, `\p{Ll}`},
	"space":  {isSpace, re2Space},
	"blank":  {func(r rune) bool { return r == '\t' || isSpace(r) && unicode.Is(unicode.Zs, r) }, `\t \x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{205f}\x{3000}`},
	"punct":  {isPunct, re2Punct},
	"cntrl":  {func(r rune) bool { return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 }, `\x00-\x1f\x7f-\x{9f}\x{2028}\x{2029}`},
	"xdigit": {func(r rune) bool { return r < 0x80 && strings.ContainsRune("0123456789abcdefABCDEF", r) && r != 0 }, `0-9a-fA-F`},
	"print":  {func(r rune) bool { return r == ' ' || isGraph(r) || isSpace(r) && unicode.Is(unicode.Zs, r) }, ` \p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}`},
	"graph":  {isGraph, `\p{L}\p{M}\p{N}\p{P}\p{S}`},
}

func isAlnum(r rune) bool {
	if r < 0x80 {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.Is(unicode.Nd, r)
}

func isWord(r rune) bool { return r == '_' || isAlnum(r) }

func isSpace(r rune) bool {
	switch {
	case r < 0x80:
		return r >= '\t' && r <= '\r' || r == ' '
	case r == 0x85, r == 0xa0, r == 0x2007, r == 0x202f:
		return false
	}
	return unicode.IsSpace(r)
}

func isPunct(r rune) bool {
	if r < 0x80 {
		return r > ' ' && r < 0x7f && !isAlnum(r)
	}
	return unicode.IsPunct(r) || unicode.IsSymbol(r)
}

func isGraph(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
}

func (s *set) has(r rune) bool { return s.in(r) != s.negated }

func (s *set) in(r rune) bool {
	for i := 0; i < len(s.ranges); i += 2 {
		if r >= s.ranges[i] && r <= s.ranges[i+1] {
			return true
		}
	}
	for _, c := range s.classes {
		if classes[c].has(r) {
			return true
		}
	}
	return false
}

// folded is has for either case of r.
func (s *set) folded(r rune) bool {
	if s.in(r) {
		return !s.negated
	}
	if r < rawByte {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if s.in(f) {
				return !s.negated
			}
		}
	}
	return s.negated
}

var errBracket = fault{"Unmatched [, [^, [:, [., or [="}

// bracket reads what follows "[".
func (p *parser) bracket() *set {
	s := &set{}
	if p.i < len(p.s) && p.s[p.i] == '^' {
		s.negated = true
		p.i++
	}
	for first := true; ; first = false {
		if p.i >= len(p.s) {
			panic(errBracket)
		}
		if p.s[p.i] == ']' && !first {
			p.i++
			return s
		}
		if strings.HasPrefix(p.s[p.i:], "[:") {
			end := strings.Index(p.s[p.i+2:], ":]")
			if end < 0 {
				panic(errBracket)
			}
			name := p.s[p.i+2 : p.i+2+end]
			if _, ok := classes[name]; !ok {
				panic(fault{"Invalid character class name"})
			}
			s.classes = append(s.classes, name)
			p.i += end + 4
			continue
		}
		if p.flags&Awk != 0 && p.s[p.i] == '\\' && p.i+1 < len(p.s) && strings.IndexByte("wWsS", p.s[p.i+1]) >= 0 && s.addEscape(p.s[p.i+1]) {
			p.i += 2
			continue
		}
		lo := p.element()
		hi := lo
		if p.i+1 < len(p.s) && p.s[p.i] == '-' && p.s[p.i+1] != ']' {
			p.i++
			if hi = p.element(); hi < lo {
				panic(fault{"Invalid range end"})
			}
		}
		s.ranges = append(s.ranges, lo, hi)
	}
}

// addEscape adds \w or \s, which awk knows in brackets.
func (s *set) addEscape(c byte) bool {
	switch c {
	case 'w':
		s.classes = append(s.classes, "alnum")
		s.ranges = append(s.ranges, '_', '_')
	case 's':
		s.classes = append(s.classes, "space")
	default:
		return false
	}
	return true
}

// element reads one character of a bracket expression, [.x.] and [=x=] included.
func (p *parser) element() rune {
	for _, mark := range []string{".", "="} {
		if !strings.HasPrefix(p.s[p.i:], "["+mark) {
			continue
		}
		end := strings.Index(p.s[p.i+2:], mark+"]")
		if end < 0 {
			panic(errBracket)
		}
		text := p.s[p.i+2 : p.i+2+end]
		if text == "" {
			panic(fault{"Invalid collation character"})
		}
		r, size := decode(text, 0)
		if size != len(text) {
			panic(fault{"Invalid collation character"})
		}
		p.i += end + 4
		return r
	}
	if p.s[p.i] == '\\' && p.i+1 < len(p.s) && p.flags&(Awk|Escapes) != 0 {
		if r, n, ok := p.charEscape(p.s[p.i+1:]); ok {
			p.i += 1 + n
			return r
		}
		if p.flags&Awk != 0 {
			p.i++
		}
	}
	if p.i >= len(p.s) {
		panic(errBracket)
	}
	r, size := decode(p.s, p.i)
	p.i += size
	return r
}
