package fsops

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// grepNFA finds matches of a pattern by following all ways through it at once,
// one character after the other. Unlike package regexp it can be told what is
// around the text that it is given, looks at a context on its way, and needs no
// second compilation. It is for one goroutine.
type grepNFA struct {
	pattern   *grepPattern
	clock     *workClock
	now, next grepThreads
	visits    int // of places in the pattern that the clock has not been told of
}

// grepThreads are the places in the pattern that a text has led to, the
// preferred ones first.
type grepThreads struct {
	list []grepThread
	seen []uint32 // seen[pc] == turn: pc has been reached
	turn uint32
}

type grepThread struct {
	pc    uint32 // takes a character, or is the end
	begin int    // of the match
}

func (t *grepThreads) clear() {
	t.list = t.list[:0]
	if t.turn++; t.turn == 0 { // wrapped: old marks would count again
		clear(t.seen)
		t.turn = 1
	}
}

// grepEdges are the characters before and after a text, as far as anchors and
// \b care.
type grepEdges struct{ before, after rune }

const (
	grepNoMore   rune = -1  // there the whole text begins or ends
	grepGoesOn   rune = '.' // there the line goes on; of what is unknown, no word is made
	grepLineEdge rune = '\n'
)

func newGrepNFA(p *grepPattern, clock *workClock) *grepNFA {
	m := &grepNFA{pattern: p, clock: clock}
	for _, t := range []*grepThreads{&m.now, &m.next} {
		t.seen = make([]uint32, len(p.prog.Inst))
	}
	return m
}

// match tells whether a text matches somewhere. It does not once the clock's
// context has ended.
func (m *grepNFA) match(text []byte, edges grepEdges) bool {
	begin, _ := m.run(text, 0, edges, true)
	return begin >= 0
}

// find returns the first match that begins at or after from, as regular
// expressions in Perl's manner choose it; -1 when there is none, or the clock's
// context has ended.
func (m *grepNFA) find(text []byte, from int, edges grepEdges) (begin, end int) {
	return m.run(text, from, edges, false)
}

// run is find and, with any, what finds some match as soon as it is sure.
func (m *grepNFA) run(text []byte, from int, edges grepEdges, any bool) (begin, end int) {
	p := m.pattern
	decode := func(at int) (rune, int) {
		switch {
		case at >= len(text):
			return edges.after, 0
		case text[at] < utf8.RuneSelf:
			return rune(text[at]), 1
		default:
			return utf8.DecodeRune(text[at:])
		}
	}
	look := func(before, after rune) syntax.EmptyOp {
		if !p.looks {
			return 0
		}
		return syntax.EmptyOpContext(before, after)
	}

	begin, end = -1, -1
	before := edges.before
	if from > 0 {
		before, _ = utf8.DecodeLastRune(text[:from])
	}
	at := from
	r, size := decode(at)
	flags := look(before, r)
	m.now.clear()
	for {
		if begin < 0 {
			if len(m.now.list) == 0 && p.starts != nil {
				skipped := at
				for at < len(text) && !p.starts[text[at]] {
					at++
				}
				if at == len(text) {
					return -1, -1
				}
				if at > skipped {
					r, size = decode(at)
					flags = look(rune(text[at-1]), r)
				}
			}
			m.add(&m.now, uint32(p.prog.Start), at, flags)
		}
		after, afterSize := decode(at + size)
		flags = look(r, after)
		m.next.clear()
		for _, t := range m.now.list {
			in := &p.prog.Inst[t.pc]
			if in.Op == syntax.InstMatch {
				begin, end = t.begin, at
				if any {
					return begin, end
				}
				break // the others are less preferred
			}
			if size > 0 && in.MatchRune(r) {
				m.add(&m.next, in.Out, t.begin, flags)
			}
		}
		m.visits += len(m.now.list)
		if m.clock.spend(m.visits) {
			return -1, -1
		}
		m.visits = 0
		if size == 0 || begin >= 0 && len(m.next.list) == 0 {
			return begin, end
		}
		m.now, m.next = m.next, m.now
		at += size
		r, size = after, afterSize
	}
}

// add adds what can be reached from pc without a character.
func (m *grepNFA) add(t *grepThreads, pc uint32, begin int, flags syntax.EmptyOp) {
	for t.seen[pc] != t.turn {
		t.seen[pc] = t.turn
		m.visits++
		in := &m.pattern.prog.Inst[pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			m.add(t, in.Out, begin, flags)
			pc = in.Arg
		case syntax.InstCapture, syntax.InstNop:
			pc = in.Out
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags != 0 {
				return
			}
			pc = in.Out
		case syntax.InstFail:
			return
		default:
			t.list = append(t.list, grepThread{pc, begin})
			return
		}
	}
}

func grepLooks(prog *syntax.Prog) bool {
	return slices.ContainsFunc(prog.Inst, func(in syntax.Inst) bool { return in.Op == syntax.InstEmptyWidth })
}

// grepStarts returns the bytes that a match can begin with, among them all that
// are not ASCII; nil when a match can be empty.
func grepStarts(prog *syntax.Prog) *[256]bool {
	m := &grepNFA{pattern: &grepPattern{prog: prog}}
	m.now = grepThreads{seen: make([]uint32, len(prog.Inst)), turn: 1}
	m.add(&m.now, uint32(prog.Start), 0, ^syntax.EmptyOp(0))
	starts := new([256]bool)
	for b := utf8.RuneSelf; b < len(starts); b++ {
		starts[b] = true
	}
	for _, t := range m.now.list {
		in := &prog.Inst[t.pc]
		if in.Op == syntax.InstMatch {
			return nil
		}
		for b := range rune(utf8.RuneSelf) {
			starts[b] = starts[b] || in.MatchRune(b)
		}
	}
	return starts
}
