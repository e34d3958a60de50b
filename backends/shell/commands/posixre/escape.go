package posixre

// escape reads what a backslash starts, outside brackets.
func (p *parser) escape() *node {
	if p.i+1 >= len(p.s) {
		panic(fault{"Trailing backslash"})
	}
	c := p.s[p.i+1]
	if p.flags&(Awk|Escapes) != 0 {
		if r, n, ok := p.charEscape(p.s[p.i+1:]); ok {
			p.i += 1 + n
			return &node{kind: kRune, r: r}
		}
	}
	simple := func(k kind) *node {
		p.i += 2
		return &node{kind: k}
	}
	class := func(s *set) *node {
		p.i += 2
		return &node{kind: kSet, set: s}
	}
	switch c {
	case 'w':
		return class(&set{classes: []string{"alnum"}, ranges: []rune{'_', '_'}})
	case 'W':
		return class(&set{classes: []string{"alnum"}, ranges: []rune{'_', '_'}, negated: true})
	case 's':
		return class(&set{classes: []string{"space"}})
	case 'S':
		return class(&set{classes: []string{"space"}, negated: true})
	case 'b':
		return simple(kWordEdge)
	case 'y':
		if p.flags&Awk != 0 {
			return simple(kWordEdge)
		}
	case 'B':
		return simple(kNotWordEdge)
	case '<':
		return simple(kWordStart)
	case '>':
		return simple(kWordEnd)
	case '`':
		return simple(kTextStart)
	case '\'':
		return simple(kTextEnd)
	case '{':
		if !p.extended() {
			panic(fault{"Invalid preceding regular expression"})
		}
	}
	if c >= '1' && c <= '9' && p.flags&Awk == 0 {
		n := int(c - '0')
		if n >= len(p.closed) || !p.closed[n] {
			panic(fault{"Invalid back reference"})
		}
		p.i += 2
		return &node{kind: kBackref, n: n}
	}
	r, size := decode(p.s, p.i+1)
	p.i += 1 + size
	return &node{kind: kRune, r: r}
}

// charEscape reads an escape that stands for one character; t follows the
// backslash.
func (p *parser) charEscape(t string) (r rune, n int, ok bool) {
	switch t[0] {
	case 'n':
		return '\n', 1, true
	case 't':
		return '\t', 1, true
	case 'r':
		return '\r', 1, true
	case 'f':
		return '\f', 1, true
	case 'v':
		return '\v', 1, true
	case 'a':
		return '\a', 1, true
	case 'x':
		if v, k := number(t[1:], 16, 2); k > 0 {
			return byteRune(v), 1 + k, true
		}
	case 'c':
		if p.flags&Escapes != 0 && len(t) > 1 {
			return rune(upper(t[1]) ^ 0x40), 2, true
		}
	case 'o':
		if v, k := number(t[1:], 8, 3); k > 0 && p.flags&Escapes != 0 {
			return byteRune(v), 1 + k, true
		}
	case 'd':
		if v, k := number(t[1:], 10, 3); k > 0 && p.flags&Escapes != 0 {
			return byteRune(v), 1 + k, true
		}
	case '/', '"':
		if p.flags&Awk != 0 {
			return rune(t[0]), 1, true
		}
	}
	if p.flags&Awk != 0 && t[0] >= '0' && t[0] <= '7' {
		v, k := number(t, 8, 3)
		return byteRune(v), k, true
	}
	return 0, 0, false
}

func byteRune(v int) rune {
	if v &= 0xff; v < 0x80 {
		return rune(v)
	}
	return rawByte + rune(v)
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// number reads at most limit digits.
func number(t string, base, limit int) (v, n int) {
	for n < len(t) && n < limit {
		d := 99
		switch c := t[n]; {
		case c >= '0' && c <= '9':
			d = int(c - '0')
		case c >= 'a' && c <= 'f':
			d = int(c-'a') + 10
		case c >= 'A' && c <= 'F':
			d = int(c-'A') + 10
		}
		if d >= base {
			break
		}
		v = v*base + d
		n++
	}
	return v, n
}
