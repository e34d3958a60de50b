package fsops

import "strings"

// ignorePattern is one pattern of a .gitignore file as git's own matcher
// (wildmatch) reads it, compiled to steps over bytes. Matching takes time in
// proportion to the length of the name times that of the pattern.
type ignorePattern struct {
	prefix string // literal text that the name starts with
	steps  []ignoreStep
	least  int // bytes that the steps take at least
}

type ignoreStep struct {
	op  ignoreOp
	lit byte
	set *ignoreSet
}

type ignoreOp uint8

const (
	ignoreByte  ignoreOp = iota // lit
	ignoreAny                   // one byte that is not "/"
	ignoreClass                 // one byte of set, never "/"
	ignoreStar                  // any bytes without "/"
	ignoreDeep                  // any bytes
	ignoreDirs                  // nothing, or through the next step: "**/"
	ignoreInto                  // any bytes up to and including a "/"; follows ignoreDirs
)

// ignoreSet is a set of bytes.
type ignoreSet [4]uint64

func (s *ignoreSet) add(b byte)      { s[b>>6] |= 1 << (b & 63) }
func (s *ignoreSet) has(b byte) bool { return s[b>>6]&(1<<(b&63)) != 0 }
func (s *ignoreSet) addRange(lo, hi byte) {
	for b := int(lo); b <= int(hi); b++ {
		s.add(byte(b))
	}
}

// compileIgnore compiles a pattern. It fails for one that cannot match
// anything: an unclosed class, a final lone backslash.
func compileIgnore(p string) (ignorePattern, bool) {
	n := strings.IndexAny(p, `*?[\`)
	if n < 0 {
		return ignorePattern{prefix: p}, true
	}
	out := ignorePattern{prefix: p[:n]}
	// git hands the rest to its matcher by itself, so that a "**" right here
	// counts as one at the start, whatever is before it.
	p = p[n:]
	for i := 0; i < len(p); {
		switch p[i] {
		case '*':
			first := i
			for i < len(p) && p[i] == '*' {
				i++
			}
			rest := p[i:]
			atStart := first == 0 || p[first-1] == '/'
			switch {
			case i-first == 1 || !atStart || rest != "" && rest[0] != '/' && !strings.HasPrefix(rest, `\/`):
				out.steps = append(out.steps, ignoreStep{op: ignoreStar})
			case strings.HasPrefix(rest, "/"):
				out.steps = append(out.steps, ignoreStep{op: ignoreDirs}, ignoreStep{op: ignoreInto})
				i++
			default:
				out.steps = append(out.steps, ignoreStep{op: ignoreDeep})
			}
		case '?':
			out.steps = append(out.steps, ignoreStep{op: ignoreAny})
			out.least++
			i++
		case '[':
			set, n, ok := parseIgnoreClass(p[i:])
			if !ok {
				return ignorePattern{}, false
			}
			out.steps = append(out.steps, ignoreStep{op: ignoreClass, set: set})
			out.least++
			i += n
		case '\\':
			if i++; i == len(p) {
				return ignorePattern{}, false
			}
			fallthrough
		default:
			out.steps = append(out.steps, ignoreStep{op: ignoreByte, lit: p[i]})
			out.least++
			i++
		}
	}
	return out, true
}

// parseIgnoreClass reads the class that p starts with, and tells how long it
// is. It fails where git gives up on the pattern.
func parseIgnoreClass(p string) (*ignoreSet, int, bool) {
	i := 1
	negate := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negate {
		i++
	}
	set := &ignoreSet{}
	last := -1 // the byte before, where a range may start
	for first := true; ; first = false {
		if i >= len(p) {
			return nil, 0, false
		}
		c := p[i]
		switch {
		case c == ']' && !first:
			if negate {
				for w := range set {
					set[w] = ^set[w]
				}
			}
			return set, i + 1, true
		case c == '\\':
			if i++; i >= len(p) {
				return nil, 0, false
			}
			set.add(p[i])
			last = int(p[i])
			i++
		case c == '-' && last > 0 && i+1 < len(p) && p[i+1] != ']':
			i++
			if p[i] == '\\' {
				if i++; i >= len(p) {
					return nil, 0, false
				}
			}
			set.addRange(byte(last), p[i])
			last = -1
			i++
		case c == '[' && i+1 < len(p) && p[i+1] == ':':
			end := strings.IndexByte(p[i+2:], ']')
			if end < 0 {
				return nil, 0, false
			}
			name := p[i+2 : i+2+end]
			if !strings.HasSuffix(name, ":") {
				set.add('[') // not a named class after all
				last = '['
				i++
				break
			}
			if !set.addNamed(strings.TrimSuffix(name, ":")) {
				return nil, 0, false
			}
			last = -1
			i += 2 + end + 1
		default:
			set.add(c)
			last = int(c)
			i++
		}
	}
}

// addNamed adds a POSIX class, in ASCII.
func (s *ignoreSet) addNamed(name string) bool {
	switch name {
	case "alnum":
		s.addRange('0', '9')
		s.addRange('A', 'Z')
		s.addRange('a', 'z')
	case "alpha":
		s.addRange('A', 'Z')
		s.addRange('a', 'z')
	case "blank":
		s.add(' ')
		s.add('\t')
	case "cntrl":
		s.addRange(0, 31)
		s.add(127)
	case "digit":
		s.addRange('0', '9')
	case "graph":
		s.addRange('!', '~')
	case "lower":
		s.addRange('a', 'z')
	case "print":
		s.addRange(' ', '~')
	case "punct":
		s.addRange('!', '/')
		s.addRange(':', '@')
		s.addRange('[', '`')
		s.addRange('{', '~')
	case "space":
		s.addRange('\t', '\r')
		s.add(' ')
	case "upper":
		s.addRange('A', 'Z')
	case "xdigit":
		s.addRange('0', '9')
		s.addRange('A', 'F')
		s.addRange('a', 'f')
	default:
		return false
	}
	return true
}

// match holds the whole of name against the pattern. scratch is working
// memory, kept for the next call.
func (p *ignorePattern) match(name []byte, scratch *ignoreScratch) bool {
	if len(name) < len(p.prefix)+p.least || string(name[:len(p.prefix)]) != p.prefix {
		return false
	}
	name = name[len(p.prefix):]
	if len(p.steps) == 0 {
		return len(name) == 0
	}
	// The steps that can take the next byte, all of them at once.
	scratch.reset(len(p.steps) + 1)
	scratch.reach(p.steps, 0)
	for _, b := range name {
		now := scratch.advance()
		if len(now) == 0 || scratch.clock.spend(len(now)) {
			return false
		}
		for _, i := range now {
			if i == len(p.steps) {
				continue // matched, but there is more of the name
			}
			switch s := &p.steps[i]; s.op {
			case ignoreByte:
				if b == s.lit {
					scratch.reach(p.steps, i+1)
				}
			case ignoreAny:
				if b != '/' {
					scratch.reach(p.steps, i+1)
				}
			case ignoreClass:
				if b != '/' && s.set.has(b) {
					scratch.reach(p.steps, i+1)
				}
			case ignoreStar:
				if b != '/' {
					scratch.reach(p.steps, i)
				}
			case ignoreDeep:
				scratch.reach(p.steps, i)
			case ignoreInto:
				scratch.reach(p.steps, i)
				if b == '/' {
					scratch.reach(p.steps, i+1)
				}
			}
		}
	}
	return scratch.has(len(p.steps))
}

// ignoreScratch is the sets of steps that a match is at, and will be at after
// the byte in hand. Once the clock's context has ended nothing matches.
type ignoreScratch struct {
	clock     workClock
	now, next []int
	mark      []uint32 // mark[i] == turn: i is in next
	turn      uint32
}

func (s *ignoreScratch) reset(n int) {
	s.now, s.next = s.now[:0], s.next[:0]
	if len(s.mark) < n {
		s.mark = make([]uint32, max(n, 64))
		s.turn = 0
	}
	s.newTurn()
}

func (s *ignoreScratch) newTurn() {
	if s.turn++; s.turn == 0 { // wrapped: old marks would count again
		clear(s.mark)
		s.turn = 1
	}
}

func (s *ignoreScratch) advance() []int {
	s.now, s.next = s.next, s.now[:0]
	s.newTurn()
	return s.now
}

func (s *ignoreScratch) has(i int) bool { return s.mark[i] == s.turn }

// reach adds step i, and those that can be reached from it without a byte.
func (s *ignoreScratch) reach(steps []ignoreStep, i int) {
	for !s.has(i) {
		s.mark[i] = s.turn
		if i == len(steps) {
			s.next = append(s.next, i)
			return
		}
		switch steps[i].op {
		case ignoreDirs:
			s.reach(steps, i+1)
			i += 2
		case ignoreStar, ignoreDeep:
			s.next = append(s.next, i)
			i++
		default:
			s.next = append(s.next, i)
			return
		}
	}
}
