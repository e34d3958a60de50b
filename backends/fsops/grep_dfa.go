package fsops

import (
	"bytes"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Limits of a grepDFA: how much it remembers, and how often it may forget
// everything before it is no use.
const (
	maxGrepStates     = 1000
	maxGrepStateInsts = 1 << 18 // in all states together
	maxGrepStateRunes = 512     // transitions a state remembers for characters outside ASCII
	maxGrepFlushes    = 16
)

// grepDFA finds lines that match a pattern, by a deterministic automaton that
// is made while it runs: what the pattern can do next is worked out once for
// each set of places in the pattern and remembered. That is some ten times as
// fast as package regexp, which has to find out where matches begin and what
// their groups are. It is for patterns that match no newline, and for one
// goroutine.
type grepDFA struct {
	prog    *syntax.Prog
	looks   bool // the pattern has ^, $, \b or \B
	clock   *workClock
	states  map[string]*grepState
	insts   int // in all states
	flushes int
	start   *grepState // at the beginning of a line
	matched *grepState // a match has been found

	// Working memory.
	set  []uint32
	seen []uint32 // seen[pc] == turn: pc is in set
	turn uint32
	key  []byte
}

// grepState is a set of places in the pattern, after some character.
type grepState struct {
	insts []uint32 // that take a character, look around, or are the end
	after grepAfter
	match bool
	next  [utf8.RuneSelf]*grepState
	runes map[rune]*grepState
}

// grepAfter is what the character before was, as far as ^ and \b care.
type grepAfter uint8

const (
	grepAfterOther grepAfter = iota
	grepAfterWord
	grepAfterNewline
)

func newGrepDFA(p *grepPattern, clock *workClock) *grepDFA {
	d := &grepDFA{prog: p.prog, looks: p.looks, clock: clock, seen: make([]uint32, len(p.prog.Inst))}
	d.matched = &grepState{match: true}
	d.flush()
	return d
}

// useless tells whether the pattern has so many states that remembering them
// does not help.
func (d *grepDFA) useless() bool { return d.flushes > maxGrepFlushes }

func (d *grepDFA) flush() {
	d.states = map[string]*grepState{}
	d.insts = 0
	d.begin()
	d.add(uint32(d.prog.Start), 0)
	after := grepAfterOther
	if d.looks {
		after = grepAfterNewline
	}
	d.start = d.state(after)
}

// find returns a place in the first line of block that matches, from which is
// the start of one or, for a pattern that does not look around, a place in one
// before which no match begins; -1 when there is none. A newline at the end of
// block is of no importance. Where it is no use any more, or the clock's context
// has ended, it gives up (ok is false) and returns the start of the line that it
// came to.
func (d *grepDFA) find(block []byte, from int) (at int, ok bool) {
	s := d.start
	if s.match {
		return from, true
	}
	for i := from; i < len(block); {
		size := 1
		var next *grepState
		if b := block[i]; b < utf8.RuneSelf {
			if next = s.next[b]; next == nil {
				if next = d.step(s, rune(b)); d.tired() {
					return bytes.LastIndexByte(block[:i], '\n') + 1, false
				}
			}
		} else {
			var r rune
			r, size = utf8.DecodeRune(block[i:])
			if next = s.runes[r]; next == nil {
				if next = d.step(s, r); d.tired() {
					return bytes.LastIndexByte(block[:i], '\n') + 1, false
				}
			}
		}
		if next.match {
			return i, true
		}
		i += size
		if next == s { // often the start, which most characters do not lead out of
			for i < len(block) && block[i] < utf8.RuneSelf && s.next[block[i]] == s {
				i++
			}
		}
		s = next
	}
	if len(block) > from && block[len(block)-1] != '\n' || len(block) == from {
		if d.step(s, '\n').match {
			return max(from, len(block)-1), true
		}
	}
	return -1, true
}

// tired tells, after a step, whether to give up.
func (d *grepDFA) tired() bool { return d.useless() || d.clock.ended }

// step works out the state after s and r.
func (d *grepDFA) step(s *grepState, r rune) *grepState {
	if len(d.states) >= maxGrepStates || d.insts >= maxGrepStateInsts {
		d.flushes++
		d.flush()
	}
	here := s.insts
	if d.looks {
		// What looks around is decided now that both sides are known.
		flags := grepLook(s.after, r)
		d.begin()
		for _, pc := range here {
			d.add(pc, flags)
		}
		here = slices.Clone(d.set)
	}
	var next *grepState
	switch {
	case slices.ContainsFunc(here, func(pc uint32) bool { return d.prog.Inst[pc].Op == syntax.InstMatch }):
		next = d.matched
	case r == '\n':
		next = d.start
	default:
		d.begin()
		for _, pc := range here {
			if in := &d.prog.Inst[pc]; in.Op != syntax.InstEmptyWidth && in.MatchRune(r) {
				d.add(in.Out, 0)
			}
		}
		d.add(uint32(d.prog.Start), 0) // a match may begin at any place
		after := grepAfterOther
		if d.looks && syntax.IsWordChar(r) {
			after = grepAfterWord
		}
		next = d.state(after)
	}
	d.clock.spend(2*len(here) + len(d.set))
	switch {
	case r < utf8.RuneSelf:
		s.next[r] = next
	case len(s.runes) < maxGrepStateRunes:
		if s.runes == nil {
			s.runes = map[rune]*grepState{}
		}
		s.runes[r] = next
	}
	return next
}

// state returns the state of the set.
func (d *grepDFA) state(after grepAfter) *grepState {
	slices.Sort(d.set)
	d.key = append(d.key[:0], byte(after))
	for _, pc := range d.set {
		d.key = binary.LittleEndian.AppendUint32(d.key, pc)
	}
	if s := d.states[string(d.key)]; s != nil {
		return s
	}
	s := &grepState{insts: slices.Clone(d.set), after: after}
	s.match = slices.ContainsFunc(s.insts, func(pc uint32) bool { return d.prog.Inst[pc].Op == syntax.InstMatch })
	d.states[string(d.key)] = s
	d.insts += len(s.insts)
	return s
}

// begin empties the set.
func (d *grepDFA) begin() {
	d.set = d.set[:0]
	if d.turn++; d.turn == 0 {
		clear(d.seen)
		d.turn = 1
	}
}

// add adds what can be reached from pc without a character, going through what
// looks around where flags say that it finds what it looks for.
func (d *grepDFA) add(pc uint32, flags syntax.EmptyOp) {
	for d.seen[pc] != d.turn {
		d.seen[pc] = d.turn
		in := &d.prog.Inst[pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			d.add(in.Out, flags)
			pc = in.Arg
		case syntax.InstCapture, syntax.InstNop:
			pc = in.Out
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags != 0 {
				d.set = append(d.set, pc)
				return
			}
			pc = in.Out
		case syntax.InstFail:
			return
		default:
			d.set = append(d.set, pc)
			return
		}
	}
}

// grepLook tells what holds between a character and the next, r.
func grepLook(after grepAfter, r rune) syntax.EmptyOp {
	before := rune('.')
	switch after {
	case grepAfterWord:
		before = 'w'
	case grepAfterNewline:
		before = '\n'
	}
	return syntax.EmptyOpContext(before, r)
}
