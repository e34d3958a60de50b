package commands

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// print writes the changes in the style that was asked for.
func (o *diffOptions) print(p *Proc, sides [2]*diffSide, changes []diffChange) {
	for i, s := range sides {
		s.label = s.name + "\t" + Strftime("%Y-%m-%d %H:%M:%S.%N %z", s.time.In(p.location()))
		if i < len(o.labels) {
			s.label = o.labels[i]
		}
	}
	switch o.style {
	case diffUnified, diffContext:
		if o.style == diffUnified {
			fmt.Fprintf(p.Out, "--- %s\n+++ %s\n", sides[0].label, sides[1].label)
		} else {
			fmt.Fprintf(p.Out, "*** %s\n--- %s\n", sides[0].label, sides[1].label)
		}
		for len(changes) > 0 && !p.Stopped() {
			n := o.hunk(changes)
			all := true
			for _, c := range changes[:n] {
				all = all && c.ignored
			}
			switch {
			case all:
			case o.style == diffUnified:
				o.unified(p, sides, changes[:n])
			default:
				o.contexts(p, sides, changes[:n])
			}
			changes = changes[n:]
		}
	case diffSideBySide:
		o.sideBySide(p, sides, changes)
	case diffEd:
		for i := len(changes) - 1; i >= 0; i-- {
			if !changes[i].ignored {
				o.ed(p, sides, changes[i])
			}
		}
	default:
		for _, c := range changes {
			switch {
			case c.ignored:
			case o.style == diffRCS:
				o.rcs(p, sides, c)
			default:
				o.normalHunk(p, sides, c)
			}
			if p.Stopped() {
				return
			}
		}
	}
}

// hunk is how many changes are shown together.
func (o *diffOptions) hunk(changes []diffChange) int {
	n := 1
	for n < len(changes) {
		limit := 2*o.context + 1
		if changes[n].ignored {
			limit = o.context
		}
		if changes[n].a0-changes[n-1].a1 >= limit {
			break
		}
		n++
	}
	return n
}

// line writes line i of a side after a mark.
func (o *diffOptions) line(p *Proc, s *diffSide, mark string, i int) {
	line := s.lines[i]
	if o.initialTab {
		mark = string(bytes.TrimRight([]byte(mark), " ")) + "\t"
	}
	p.Out.WriteString(mark)
	if o.expandTabs {
		line = expandTabs(line)
	}
	p.Out.Write(line)
	p.Out.WriteByte('\n')
	if s.unended && i == len(s.lines)-1 {
		p.Out.WriteString("\\ No newline at end of file\n")
	}
}

func expandTabs(line []byte) []byte {
	var out []byte
	column := 0
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		if r == '\t' {
			for spaces := 8 - column%8; spaces > 0; spaces-- {
				out = append(out, ' ')
				column++
			}
		} else {
			out = append(out, line[:n]...)
			column += displayWidth(r)
		}
		line = line[n:]
	}
	return out
}

// lineRange writes lines from to to, counted from 0, as "5" or "5,7".
func lineRange(from, to int) string {
	if to-from > 1 {
		return fmt.Sprintf("%d,%d", from+1, to)
	}
	return fmt.Sprint(to)
}

func (c diffChange) letter() string {
	switch {
	case c.a0 == c.a1:
		return "a"
	case c.b0 == c.b1:
		return "d"
	}
	return "c"
}

func (o *diffOptions) normalHunk(p *Proc, sides [2]*diffSide, c diffChange) {
	fmt.Fprintf(p.Out, "%s%s%s\n", lineRange(c.a0, c.a1), c.letter(), lineRange(c.b0, c.b1))
	for i := c.a0; i < c.a1; i++ {
		o.line(p, sides[0], "< ", i)
	}
	if c.letter() == "c" {
		p.Out.WriteString("---\n")
	}
	for i := c.b0; i < c.b1; i++ {
		o.line(p, sides[1], "> ", i)
	}
}

func (o *diffOptions) rcs(p *Proc, sides [2]*diffSide, c diffChange) {
	if c.a1 > c.a0 {
		fmt.Fprintf(p.Out, "d%d %d\n", c.a0+1, c.a1-c.a0)
	}
	if c.b1 > c.b0 {
		fmt.Fprintf(p.Out, "a%d %d\n", c.a1, c.b1-c.b0)
		o.plain(p, sides[1], c.b0, c.b1)
	}
}

// plain writes lines as they are.
func (o *diffOptions) plain(p *Proc, s *diffSide, from, to int) {
	for i := from; i < to; i++ {
		p.Out.Write(s.lines[i])
		if !s.unended || i < len(s.lines)-1 {
			p.Out.WriteByte('\n')
		}
	}
}

// ed writes a change as commands for ed. A line that is just "." would end the
// text, so it is entered as ".." and then shortened.
func (o *diffOptions) ed(p *Proc, sides [2]*diffSide, c diffChange) {
	fmt.Fprintf(p.Out, "%s%s\n", lineRange(c.a0, c.a1), c.letter())
	if c.letter() == "d" {
		return
	}
	typing := true
	for i := c.b0; i < c.b1; i++ {
		if !typing {
			p.Out.WriteString("a\n")
			typing = true
		}
		line := sides[1].lines[i]
		if string(line) == "." {
			p.Out.WriteString("..\n.\ns/.//\n")
			typing = false
			continue
		}
		p.Out.Write(line)
		p.Out.WriteByte('\n')
	}
	if typing {
		p.Out.WriteString(".\n")
	}
}

// around is the range of lines that a hunk shows.
func (o *diffOptions) around(sides [2]*diffSide, changes []diffChange) (a0, a1, b0, b1 int) {
	first, last := changes[0], changes[len(changes)-1]
	before := min(o.context, first.a0, first.b0)
	after := min(o.context, len(sides[0].lines)-last.a1)
	return first.a0 - before, last.a1 + after, first.b0 - before, last.b1 + after
}

// functionLine is the line above a hunk that -p or -F names.
func (o *diffOptions) functionLine(s *diffSide, a0 int) string {
	if o.function == nil {
		return ""
	}
	for i := a0 - 1; i >= 0; i-- {
		if anyMatch(o.function, s.lines[i]) {
			line := bytes.TrimLeft(s.lines[i], " \t")
			return " " + string(bytes.TrimRight(line[:min(len(line), 40)], " \t"))
		}
	}
	return ""
}

func (o *diffOptions) unified(p *Proc, sides [2]*diffSide, changes []diffChange) {
	a0, a1, b0, b1 := o.around(sides, changes)
	part := func(from, to int) string {
		switch to - from {
		case 0:
			return fmt.Sprintf("%d,0", from)
		case 1:
			return fmt.Sprint(to)
		}
		return fmt.Sprintf("%d,%d", from+1, to-from)
	}
	fmt.Fprintf(p.Out, "@@ -%s +%s @@%s\n", part(a0, a1), part(b0, b1), o.functionLine(sides[0], a0))
	at := a0
	for _, c := range changes {
		for ; at < c.a0; at++ {
			o.line(p, sides[0], " ", at)
		}
		for ; at < c.a1; at++ {
			o.line(p, sides[0], "-", at)
		}
		for i := c.b0; i < c.b1; i++ {
			o.line(p, sides[1], "+", i)
		}
	}
	for ; at < a1; at++ {
		o.line(p, sides[0], " ", at)
	}
}

func (o *diffOptions) contexts(p *Proc, sides [2]*diffSide, changes []diffChange) {
	a0, a1, b0, b1 := o.around(sides, changes)
	fmt.Fprintf(p.Out, "***************%s\n*** %s ****\n", o.functionLine(sides[0], a0), lineRange(a0, a1))
	half := func(s *diffSide, from, to int, own, other func(c diffChange) (int, int), alone string) {
		found := false
		for _, c := range changes {
			x, y := own(c)
			found = found || y > x
		}
		if !found {
			return
		}
		at := from
		for _, c := range changes {
			x, y := own(c)
			for ; at < x; at++ {
				o.line(p, s, "  ", at)
			}
			mark := alone
			if ox, oy := other(c); oy > ox {
				mark = "! "
			}
			for ; at < y; at++ {
				o.line(p, s, mark, at)
			}
		}
		for ; at < to; at++ {
			o.line(p, s, "  ", at)
		}
	}
	inA := func(c diffChange) (int, int) { return c.a0, c.a1 }
	inB := func(c diffChange) (int, int) { return c.b0, c.b1 }
	half(sides[0], a0, a1, inA, inB, "- ")
	fmt.Fprintf(p.Out, "--- %s ----\n", lineRange(b0, b1))
	half(sides[1], b0, b1, inB, inA, "+ ")
}
