// Package pathglob matches paths, and the command lines of rules, against
// patterns in the syntax of gobwas/glob.
//
// A pattern is an automaton that is simulated over all of its states at once:
// unlike a backtracking matcher it takes time linear in the text, whatever the
// pattern. The automaton is open to those who match what is only known in part
// ([Pattern.Start] and what follows it). The package is small because it is
// compiled into the guest agent too.
package pathglob

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// MaxPattern is the longest pattern accepted, in bytes.
const MaxPattern = 512

// Pattern is a compiled pattern. It is safe for concurrent use.
type Pattern struct {
	literal string // every match contains this text; the cheap first test
	prefix  bool   // … and starts with it
	suffix  bool   // … and ends with it
	states  []Edge
	words   int // length of a set of states
	closure []Set
}

// Compile compiles a path pattern: "/" is the separator that "*" and "?" stop
// at.
func Compile(source string) (*Pattern, error) { return compile(source, "/", false) }

// CompileCommand compiles a pattern for command lines: "*" reads anything,
// except where "/*" is a word of its own. That stands for the entries of the
// root directory one by one, so that "rm -rf /*" does not match every absolute
// path.
func CompileCommand(source string) (*Pattern, error) { return compile(source, "", true) }

// Match tells whether p matches the whole of s. A byte of s that is not UTF-8
// is a character of its own, which only "*", "**", "?" and "[!…]" match.
func (p *Pattern) Match(s string) bool {
	var possible bool
	switch {
	case p.prefix:
		possible = strings.HasPrefix(s, p.literal)
	case p.suffix:
		possible = strings.HasSuffix(s, p.literal)
	default:
		possible = strings.Contains(s, p.literal)
	}
	if !possible {
		return false
	}
	if p.words == 1 {
		return p.match64(s)
	}
	cur, next := p.Start(), p.None()
	for s != "" && !cur.empty() {
		r, n := Decode(s)
		s = s[n:]
		clear(next)
		p.Step(cur, next, r)
		cur, next = next, cur
	}
	return p.Accepts(cur)
}

// match64 is Match for patterns of up to 64 states, which are nearly all.
func (p *Pattern) match64(s string) bool {
	cur := p.closure[0][0]
	for s != "" && cur != 0 {
		r, n := Decode(s)
		s = s[n:]
		cur = p.step64(cur, r)
	}
	return cur&(1<<(len(p.states)-1)) != 0
}

func (p *Pattern) step64(cur uint64, r rune) (next uint64) {
	for w := cur; w != 0; w &= w - 1 {
		if e := &p.states[bits.TrailingZeros64(w)]; e.Reads(r) {
			next |= p.closure[e.to][0]
		}
	}
	return next
}

// Decode is utf8.DecodeRuneInString for a text that is not empty, with every
// invalid byte a (negative) character of its own, which no pattern can name.
func Decode(s string) (r rune, size int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	r, size = utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		return -1 - rune(s[0]), 1
	}
	return r, size
}
