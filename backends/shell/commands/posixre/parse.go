package posixre

import (
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	kEmpty kind = iota
	kRune
	kSet
	kAny
	kCat
	kAlt
	kRepeat
	kGroup
	kBackref
	kLineStart
	kLineEnd
	kTextStart
	kTextEnd
	kWordEdge
	kNotWordEdge
	kWordStart
	kWordEnd
	kNotAfterWord
	kNotBeforeWord
)

// node is a part of a pattern.
type node struct {
	kind     kind
	r        rune
	set      *set
	subs     []*node
	min, max int // of a repetition; max is -1 without a bound
	n        int // of a group or a back-reference
}

const (
	maxRepeat  = 32767 // RE_DUP_MAX
	maxNesting = 500
)

type parser struct {
	s      string
	i      int
	flags  Flags
	groups int
	closed []bool // groups that a back-reference can name
	depth  int
}

// fault is how a parser gives up.
type fault struct{ err Error }

func parse(s string, flags Flags) (n *node, groups int, err error) {
	p := &parser{s: s, flags: flags, closed: make([]bool, 1)}
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fault)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	if flags&Fixed != 0 {
		n = &node{kind: kCat}
		for i := 0; i < len(s); {
			r, size := decode(s, i)
			n.subs = append(n.subs, &node{kind: kRune, r: r})
			i += size
		}
		return surround(n, flags), 0, nil
	}
	n = p.alternatives()
	return surround(n, flags), p.groups, nil
}

// surround adds what flags want around a match.
func surround(n *node, flags Flags) *node {
	before, after := kTextStart, kTextEnd
	switch {
	case flags&Whole != 0:
	case flags&Word != 0:
		before, after = kNotAfterWord, kNotBeforeWord
	default:
		return n
	}
	return &node{kind: kCat, subs: []*node{{kind: before}, n, {kind: after}}}
}

// rawByte is where bytes that are not UTF-8 are put in the space of runes.
const rawByte = 0x200000

// decode is the character at i; a byte that is not UTF-8 is one of its own.
func decode(s string, i int) (rune, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	if r == utf8.RuneError && size == 1 {
		return rawByte + rune(s[i]), 1
	}
	return r, size
}

func (p *parser) extended() bool { return p.flags&Extended != 0 }

// at tells whether an operator is next: itself in the extended syntax, after a
// backslash in the basic one.
func (p *parser) at(op byte) bool {
	if p.extended() {
		return p.i < len(p.s) && p.s[p.i] == op
	}
	return p.i+1 < len(p.s) && p.s[p.i] == '\\' && p.s[p.i+1] == op
}

func (p *parser) skip() {
	if !p.extended() {
		p.i++
	}
	p.i++
}

func (p *parser) alternatives() *node {
	if p.depth++; p.depth > maxNesting {
		panic(fault{"Regular expression too big"})
	}
	defer func() { p.depth-- }()
	first := p.sequence()
	if !p.at('|') {
		return first
	}
	alt := &node{kind: kAlt, subs: []*node{first}}
	for p.at('|') {
		p.skip()
		alt.subs = append(alt.subs, p.sequence())
	}
	return alt
}

func (p *parser) sequence() *node {
	cat := &node{kind: kCat}
	start := true // nothing that can be repeated came yet
	for p.i < len(p.s) && !p.at('|') {
		if p.at(')') {
			if p.depth > 1 {
				break
			}
			if p.flags&LooseParen == 0 || !p.extended() {
				panic(fault{`Unmatched ) or \)`})
			}
		}
		atom, repeats := p.atom(start)
		if repeats || p.extended() {
			atom = p.repetitions(atom)
			start = false
		}
		cat.subs = append(cat.subs, atom)
	}
	if len(cat.subs) == 1 {
		return cat.subs[0]
	}
	return cat
}

// atom reads what a repetition can follow. In the basic syntax one that follows
// an anchor at the start is plain text; repeats is false then.
func (p *parser) atom(start bool) (n *node, repeats bool) {
	c := p.s[p.i]
	switch {
	case p.at('('):
		p.skip()
		return p.group(), true
	case c == '.':
		p.i++
		return &node{kind: kAny}, true
	case c == '[':
		p.i++
		return &node{kind: kSet, set: p.bracket()}, true
	case c == '^' && (p.extended() || start):
		p.i++
		return &node{kind: kLineStart}, false
	case c == '$' && (p.extended() || p.atEnd()):
		p.i++
		return &node{kind: kLineEnd}, p.extended()
	case c == '\\':
		return p.escape(), true
	case p.extended() && start && (c == '*' || c == '+' || c == '?'):
		return &node{kind: kEmpty}, true // GNU repeats nothing
	}
	r, size := decode(p.s, p.i)
	p.i += size
	return &node{kind: kRune, r: r}, true
}

// atEnd tells whether the $ that is next is an anchor in the basic syntax.
func (p *parser) atEnd() bool {
	rest := p.s[p.i+1:]
	return rest == "" || strings.HasPrefix(rest, `\)`) || strings.HasPrefix(rest, `\|`)
}

func (p *parser) group() *node {
	p.groups++
	n := p.groups
	p.closed = append(p.closed, false)
	sub := p.alternatives()
	if !p.at(')') {
		panic(fault{`Unmatched ( or \(`})
	}
	p.skip()
	p.closed[n] = true
	return &node{kind: kGroup, n: n, subs: []*node{sub}}
}

func (p *parser) repetitions(n *node) *node {
	for p.i < len(p.s) {
		lo, hi := 0, -1
		switch {
		case p.s[p.i] == '*':
			p.i++
		case p.at('+'):
			p.skip()
			lo = 1
		case p.at('?'):
			p.skip()
			hi = 1
		case p.at('{'):
			was := p.i
			var ok bool
			if lo, hi, ok = p.interval(); !ok {
				p.i = was
				return n
			}
		default:
			return n
		}
		if p.depth++; p.depth > maxNesting {
			panic(fault{"Regular expression too big"})
		}
		defer func() { p.depth-- }()
		n = repeat(n, lo, hi)
	}
	return n
}

func repeat(n *node, lo, hi int) *node {
	if n.kind == kRepeat && n.min == 0 && n.max == -1 && lo <= 1 && hi != 0 {
		return n // x** and the like
	}
	return &node{kind: kRepeat, min: lo, max: hi, subs: []*node{n}}
}

// interval reads {n}, {n,}, {,m} or {n,m}. In the extended syntax what is none
// of them is plain text.
func (p *parser) interval() (lo, hi int, ok bool) {
	p.skip()
	bad := func() (int, int, bool) {
		if p.extended() {
			return 0, 0, false
		}
		if !strings.Contains(p.s[p.i:], `\}`) {
			panic(fault{`Unmatched \{`})
		}
		panic(fault{`Invalid content of \{\}`})
	}
	lo, first := p.number()
	hi = lo
	if p.i < len(p.s) && p.s[p.i] == ',' {
		p.i++
		var second bool
		if hi, second = p.number(); !second {
			hi = -1
		}
		if !first && !second && p.extended() {
			return bad()
		}
	} else if !first {
		return bad()
	}
	if !p.at('}') {
		return bad()
	}
	p.skip()
	if hi != -1 && lo > hi {
		panic(fault{`Invalid content of \{\}`})
	}
	if max(lo, hi) > maxRepeat {
		panic(fault{"Regular expression too big"})
	}
	return lo, hi, true
}

func (p *parser) number() (n int, ok bool) {
	for ; p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9'; p.i++ {
		n, ok = min(n*10+int(p.s[p.i]-'0'), maxRepeat+1), true
	}
	return n, ok
}
