package posixre

import (
	"context"
	"strings"
	"unicode"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

const (
	maxSteps   = 50_000_000 // of one search with back-references
	checkSteps = 1 << 14
)

// matcher runs a program over texts, depth first. A state that was tried at a
// place is not tried again there, which makes the time linear in the text; with
// back-references states differ by what the groups hold, and the steps are
// counted instead.
type matcher struct {
	prog    *program
	host    Host
	fold    bool
	multi   bool
	text    string
	base    int // where visited starts
	visited []uint64
	stack   []frame
	held    int
	caps    []int
	marks   []int
	best    []int
	found   bool
	steps   int
}

// frame is a branch to try, or (pc < 0) a slot to restore.
type frame struct{ pc, pos int }

// find returns the leftmost longest match at or after from.
func (m *matcher) find(text string, from int) ([]int, error) {
	m.text, m.base, m.steps = text, from, 0
	if err := m.prepare(len(text) - from + 1); err != nil {
		return nil, err
	}
	for at := from; ; {
		if m.prog.first != nil {
			for at < len(text) && !m.prog.first[text[at]] {
				at++
			}
			if at == len(text) {
				return nil, m.host.Context().Err()
			}
		}
		m.found = false
		if err := m.try(at); err != nil {
			return nil, err
		}
		if m.found {
			return m.best, nil
		}
		if at >= len(text) {
			return nil, nil
		}
		_, size := decode(text, at)
		at += size
	}
}

func (m *matcher) prepare(positions int) error {
	slots := 2 * (m.prog.groups + 1)
	if m.caps == nil {
		m.caps, m.best, m.marks = make([]int, slots), make([]int, slots), make([]int, m.prog.marks)
	}
	if m.prog.backrefs {
		return nil
	}
	words := m.prog.splits*positions/64 + 1
	if words > cap(m.visited) {
		if err := m.host.Hold(8 * (words - cap(m.visited))); err != nil {
			return err
		}
		m.visited = make([]uint64, words)
	}
	m.visited = m.visited[:words]
	clear(m.visited)
	return nil
}

func (m *matcher) push(f frame) error {
	if len(m.stack) == cap(m.stack) {
		grown := max(256, 2*cap(m.stack))
		if err := m.host.Hold(16 * grown); err != nil {
			return err
		}
		next := make([]frame, len(m.stack), grown)
		copy(next, m.stack)
		m.stack = next
		m.host.Release(m.held)
		m.held = 16 * grown
	}
	m.stack = append(m.stack, f)
	return nil
}

// try explores all matches that start at pos and keeps the longest.
func (m *matcher) try(start int) error {
	for i := range m.caps {
		m.caps[i] = -1
	}
	m.stack = m.stack[:0]
	if err := m.push(frame{0, start}); err != nil {
		return err
	}
	for len(m.stack) > 0 {
		f := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		if f.pc < 0 {
			m.restore(-1-f.pc, f.pos)
			continue
		}
		if err := m.run(f.pc, f.pos, start); err != nil {
			return err
		}
		if m.found && m.best[1] == len(m.text) {
			return nil
		}
	}
	return nil
}

func (m *matcher) restore(slot, value int) {
	if slot < len(m.caps) {
		m.caps[slot] = value
	} else {
		m.marks[slot-len(m.caps)] = value
	}
}

// run follows one branch to its end.
func (m *matcher) run(pc, pos, start int) error {
	for {
		if m.steps++; m.steps%checkSteps == 0 {
			ctx := m.host.Context()
			fair.Take(ctx)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if m.prog.backrefs && m.steps > maxSteps {
				return ErrSteps
			}
		}
		in := &m.prog.insts[pc]
		switch in.op {
		case opRune, opSet, opAny:
			if pos >= len(m.text) {
				return nil
			}
			r, size := decode(m.text, pos)
			if !m.matches(in, r) {
				return nil
			}
			pos += size
			pc++
		case opSplit:
			if !m.prog.backrefs {
				bit := in.id*(len(m.text)-m.base+1) + pos - m.base
				if m.visited[bit/64]&(1<<(bit%64)) != 0 {
					return nil
				}
				m.visited[bit/64] |= 1 << (bit % 64)
			}
			if err := m.push(frame{in.y, pos}); err != nil {
				return err
			}
			pc = in.x
		case opJump:
			pc = in.x
		case opSave, opMark:
			slot := in.x
			var old int
			if in.op == opSave {
				old, m.caps[slot] = m.caps[slot], pos
			} else {
				old, m.marks[slot] = m.marks[slot], pos
				slot += len(m.caps)
			}
			if err := m.push(frame{-1 - slot, old}); err != nil {
				return err
			}
			pc++
		case opProgress:
			if m.marks[in.x] == pos {
				return nil
			}
			pc++
		case opAssert:
			if !m.holds(in.kind, pos) {
				return nil
			}
			pc++
		case opBackref:
			n, ok := m.backref(in.x, pos)
			if !ok {
				return nil
			}
			m.steps += n / 16
			pos += n
			pc++
		case opMatch:
			if !m.found || pos > m.best[1] {
				m.found = true
				copy(m.best, m.caps)
				m.best[0], m.best[1] = start, pos
			}
			return nil
		}
	}
}

func (m *matcher) matches(in *inst, r rune) bool {
	switch in.op {
	case opRune:
		return r == in.r || m.fold && sameLetter(r, in.r)
	case opSet:
		if m.fold {
			return in.set.folded(r)
		}
		return in.set.has(r)
	}
	return r < rawByte
}

func sameLetter(a, b rune) bool {
	if a >= rawByte || b >= rawByte {
		return a == b
	}
	for f := unicode.SimpleFold(a); f != a; f = unicode.SimpleFold(f) {
		if f == b {
			return true
		}
	}
	return a == b
}

func (m *matcher) backref(group, pos int) (n int, ok bool) {
	from, to := m.caps[2*group], m.caps[2*group+1]
	if from < 0 || to < from {
		return 0, false
	}
	want, rest := m.text[from:to], m.text[pos:]
	if len(rest) < len(want) {
		return 0, false
	}
	if m.fold {
		return len(want), strings.EqualFold(want, rest[:len(want)])
	}
	return len(want), strings.HasPrefix(rest, want)
}

// holds tells whether an assertion is true at pos.
func (m *matcher) holds(k kind, pos int) bool {
	switch k {
	case kTextStart:
		return pos == 0
	case kTextEnd:
		return pos == len(m.text)
	case kLineStart:
		return pos == 0 || m.multi && m.text[pos-1] == '\n'
	case kLineEnd:
		return pos == len(m.text) || m.multi && m.text[pos] == '\n'
	}
	before, after := WordBefore(m.text, pos), WordAfter(m.text, pos)
	switch k {
	case kWordEdge:
		return before != after
	case kNotWordEdge:
		return before == after
	case kNotAfterWord:
		return !before
	case kNotBeforeWord:
		return !after
	case kWordStart:
		return !before && after
	default:
		return before && !after
	}
}
