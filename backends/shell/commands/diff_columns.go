package commands

import (
	"unicode/utf8"
)

// sideBySide writes both files next to each other.
func (o *diffOptions) sideBySide(p *Proc, sides [2]*diffSide, changes []diffChange) {
	tab := 8
	if o.expandTabs {
		tab = 1
	}
	gap := tab + 3
	column := o.width/2 + gap/2 + (o.width & gap & 1)
	column -= column % tab
	half := max(0, min(column-3, o.width-column))
	if half == 0 {
		column = o.width
	}
	row := func(left int, mark byte, right int) {
		at, ended := 0, false
		if left >= 0 {
			s := sides[0]
			ended = !s.unended || left < len(s.lines)-1
			at = o.halfLine(p, s.lines[left], 0, half)
		}
		rightEnded := right >= 0 && (!sides[1].unended || right < len(sides[1].lines)-1)
		if mark != ' ' {
			at = o.tabTo(p, at, (half+column-1)/2) + 1
			if mark == '|' && ended != rightEnded {
				mark = '\\'
				if ended {
					mark = '/'
				}
			}
			p.Out.WriteByte(mark)
		}
		if right >= 0 {
			if line := sides[1].lines[right]; len(line) > 0 {
				at = o.tabTo(p, at, column)
				o.halfLine(p, line, at, half)
			}
		}
		if ended || rightEnded {
			p.Out.WriteByte('\n')
		}
	}
	a, b := 0, 0
	common := func(a1, b1 int) {
		for ; a < a1 || b < b1; a, b = a+1, b+1 {
			switch {
			case o.suppressCommon || p.Stopped():
			case o.leftColumn:
				row(a, '(', -1)
			case a >= a1: // blank lines that do not count
				row(-1, ' ', b)
			case b >= b1:
				row(a, ' ', -1)
			default:
				row(a, ' ', b)
			}
		}
		a, b = a1, b1
	}
	for _, c := range changes {
		if c.ignored {
			common(c.a1, c.b1)
			continue
		}
		common(c.a0, c.b0)
		for ; a < c.a1 && b < c.b1; a, b = a+1, b+1 {
			row(a, '|', b)
		}
		for ; b < c.b1; b++ {
			row(-1, '>', b)
		}
		for ; a < c.a1; a++ {
			row(a, '<', -1)
		}
	}
	common(len(sides[0].lines), len(sides[1].lines))
}

// tabTo moves from one column to another and returns where it got to.
func (o *diffOptions) tabTo(p *Proc, from, to int) int {
	if !o.expandTabs {
		for tab := from + 8 - from%8; tab <= to; tab += 8 {
			p.Out.WriteByte('\t')
			from = tab
		}
	}
	for ; from < to; from++ {
		p.Out.WriteByte(' ')
	}
	return from
}

// halfLine writes as much of a line as fits and returns the column it got to.
// indent is the column that it starts in.
func (o *diffOptions) halfLine(p *Proc, line []byte, indent, limit int) int {
	in, out := 0, 0
	for len(line) > 0 && in <= limit {
		r, n := utf8.DecodeRune(line)
		switch r {
		case '\t':
			spaces := 8 - in%8
			if in == out && in+spaces < limit {
				if o.expandTabs {
					o.tabTo(p, 0, spaces)
				} else {
					o.tabTo(p, indent+out, indent+out+spaces)
				}
				out = in + spaces
			}
			in += spaces
		case '\r', '\b':
			p.Out.Write(line[:n])
		default:
			w := displayWidth(r)
			if in += w; in <= limit {
				p.Out.Write(line[:n])
				out = in
			}
		}
		line = line[n:]
	}
	return out
}
