package pathglob

import (
	"math/bits"
	"strings"
)

// Set is a set of states of one [Pattern].
type Set []uint64

func (s Set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s Set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// Union adds t to s and tells whether s has grown.
func (s Set) Union(t Set) (grown bool) {
	for i, w := range t {
		grown = grown || w&^s[i] != 0
		s[i] |= w
	}
	return grown
}

func (s Set) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// Edge is the one thing a state reads, and where that leads.
type Edge struct {
	Kind   EdgeKind
	Rune   rune   // EdgeRune: the character
	Except string // EdgeOther: the characters it does not read
	Set    string // EdgeClass: the characters …
	Lo, Hi rune   // … or, without Set, the first and last of a range
	Not    bool   // EdgeClass: reads all others instead
	Loops  bool   // reading leads back to the same state, as with "*"

	to  int
	eps []int // states reached without reading
}

// EdgeKind is what sort of character an [Edge] reads.
type EdgeKind uint8

// The kinds of edges.
const (
	EdgeNone  EdgeKind = iota // reads nothing: a fork, or the end
	EdgeRune                  // one given character
	EdgeOther                 // any character but those of Except
	EdgeClass                 // [abc], [a-c], [!a]
)

// Reads tells whether e reads r.
func (e *Edge) Reads(r rune) bool {
	switch e.Kind {
	case EdgeRune:
		return e.Rune == r
	case EdgeOther:
		return !strings.ContainsRune(e.Except, r)
	case EdgeClass:
		if e.Set != "" {
			return strings.ContainsRune(e.Set, r) != e.Not
		}
		return (e.Lo <= r && r <= e.Hi) != e.Not
	default:
		return false
	}
}

// Start is the set of states before the first character. It is the caller's.
func (p *Pattern) Start() Set { return append(Set(nil), p.closure[0]...) }

// None is an empty set. It is the caller's.
func (p *Pattern) None() Set { return make(Set, p.words) }

// Accepts tells whether the text read up to s is a match.
func (p *Pattern) Accepts(s Set) bool { return s.has(len(p.states) - 1) }

// Step adds to next what reading r leads to from cur.
func (p *Pattern) Step(cur, next Set, r rune) {
	if p.words == 1 {
		next[0] |= p.step64(cur[0], r)
		return
	}
	p.Each(cur, func(e *Edge, to Set) {
		if e.Reads(r) {
			next.Union(to)
		}
	})
}

// Each calls f for every state in s, with the states that reading its edge
// leads to. Neither may be changed.
func (p *Pattern) Each(s Set, f func(e *Edge, to Set)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			e := &p.states[i*64+bits.TrailingZeros64(w)]
			f(e, p.closure[e.to])
		}
	}
}
