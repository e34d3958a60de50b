package posixre

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// translation writes a pattern for package regexp.
type translation struct {
	b strings.Builder
	// inside tells that the text does not start where matching does: ^ cannot
	// match.
	inside    bool
	multiline bool
	// cannot tells that regexp cannot say the same.
	cannot bool
	// looksBack tells that a word boundary was met, which depends on the
	// character before, and is right for ASCII only.
	looksBack bool
}

const never = `[^\x00-\x{10FFFF}]`

func (t *translation) node(n *node, before, after *node) {
	switch n.kind {
	case kEmpty:
		t.b.WriteString("(?:)")
	case kRune:
		t.rune(n.r)
	case kAny:
		t.b.WriteByte('.')
	case kSet:
		t.set(n.set)
	case kCat:
		for i, sub := range n.subs {
			prev, next := before, after
			if i > 0 {
				prev = n.subs[i-1]
			}
			if i+1 < len(n.subs) {
				next = n.subs[i+1]
			}
			t.node(sub, prev, next)
		}
	case kAlt:
		t.b.WriteString("(?:")
		for i, sub := range n.subs {
			if i > 0 {
				t.b.WriteByte('|')
			}
			t.node(sub, nil, nil)
		}
		t.b.WriteByte(')')
	case kGroup:
		t.b.WriteByte('(')
		t.node(n.subs[0], nil, nil)
		t.b.WriteByte(')')
	case kRepeat:
		t.repeat(n)
	case kBackref:
		t.cannot = true
	default:
		t.assertion(n.kind, before, after)
	}
}

func (t *translation) assertion(k kind, before, after *node) {
	switch k {
	case kTextStart, kLineStart:
		switch {
		case k == kLineStart && t.multiline:
			t.cannot = t.cannot || t.inside
			t.b.WriteString(`(?m:^)`)
		case t.inside:
			t.b.WriteString(never)
		default:
			t.b.WriteString(`\A`)
		}
	case kTextEnd, kLineEnd:
		if k == kLineEnd && t.multiline {
			t.b.WriteString(`(?m:$)`)
		} else {
			t.b.WriteString(`\z`)
		}
	case kNotWordEdge:
		t.looksBack = true
		t.b.WriteString(`\B`)
	case kWordEdge:
		t.looksBack = true
		t.b.WriteString(`\b`)
	case kWordStart, kNotAfterWord:
		// An edge before a word character is the start of a word.
		t.looksBack = true
		t.cannot = t.cannot || after == nil || !edgeIsWord(after, true)
		t.b.WriteString(`\b`)
	case kWordEnd, kNotBeforeWord:
		t.looksBack = true
		t.cannot = t.cannot || before == nil || !edgeIsWord(before, false)
		t.b.WriteString(`\b`)
	}
}

// edgeIsWord tells whether n matches only what starts (or ends) with a word
// character.
func edgeIsWord(n *node, start bool) bool {
	switch n.kind {
	case kRune:
		return isWord(n.r)
	case kSet:
		if n.set.negated {
			return false
		}
		for i := 0; i < len(n.set.ranges); i += 2 {
			lo, hi := n.set.ranges[i], n.set.ranges[i+1]
			if hi-lo > 64 || !isWord(lo) || !isWord(hi) || lo/32 != hi/32 {
				return false
			}
		}
		for _, c := range n.set.classes {
			switch c {
			case "alpha", "alnum", "digit", "upper", "lower", "xdigit":
			default:
				return false
			}
		}
		return true
	case kCat:
		if len(n.subs) == 0 {
			return false
		}
		if start {
			return edgeIsWord(n.subs[0], start)
		}
		return edgeIsWord(n.subs[len(n.subs)-1], start)
	case kGroup:
		return edgeIsWord(n.subs[0], start)
	case kRepeat:
		return n.min > 0 && edgeIsWord(n.subs[0], start)
	case kAlt:
		for _, sub := range n.subs {
			if !edgeIsWord(sub, start) {
				return false
			}
		}
		return true
	}
	return false
}

func (t *translation) repeat(n *node) {
	t.b.WriteString("(?:")
	t.node(n.subs[0], nil, nil)
	t.b.WriteByte(')')
	switch {
	case n.min == 0 && n.max == -1:
		t.b.WriteByte('*')
	case n.min == 1 && n.max == -1:
		t.b.WriteByte('+')
	case n.min == 0 && n.max == 1:
		t.b.WriteByte('?')
	case n.max == -1:
		fmt.Fprintf(&t.b, "{%d,}", n.min)
	default:
		fmt.Fprintf(&t.b, "{%d,%d}", n.min, n.max)
	}
}

func (t *translation) rune(r rune) {
	if r >= rawByte || r == utf8.RuneError {
		t.cannot = true // regexp cannot tell such bytes apart
		return
	}
	if r < 0x80 && !isAlnum(r) {
		fmt.Fprintf(&t.b, `\x%02x`, r)
		return
	}
	t.b.WriteRune(r)
}

func (t *translation) set(s *set) {
	t.b.WriteByte('[')
	if s.negated {
		t.b.WriteByte('^')
	}
	for i := 0; i < len(s.ranges); i += 2 {
		lo, hi := s.ranges[i], s.ranges[i+1]
		if hi >= rawByte {
			t.cannot = true
			return
		}
		fmt.Fprintf(&t.b, `\x{%x}-\x{%x}`, lo, hi)
	}
	for _, c := range s.classes {
		t.b.WriteString(classes[c].re2)
	}
	t.b.WriteByte(']')
}
