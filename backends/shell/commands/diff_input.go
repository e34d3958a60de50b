package commands

import (
	"bytes"
	"io/fs"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

// diffSide is one of two files that are compared.
type diffSide struct {
	name, label string
	exists      bool
	isDir       bool
	info        fs.FileInfo
	time        time.Time
	content     []byte
	lines       [][]byte // without newlines
	// unended tells that the last line has no newline.
	unended bool
	classes []int32
}

// diffChange is lines a0 to a1 of the first file that became b0 to b1.
type diffChange struct {
	a0, a1, b0, b1 int
	// ignored tells that only what is not looked at differs: blank lines (-B)
	// and lines that match -I.
	ignored bool
}

// isBinary tells whether content is no text: it has a null byte near its start.
func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 64<<10)], 0) >= 0
}

// normal is a line as it is compared.
func (o *diffOptions) normal(line, buf []byte) []byte {
	if o.stripCR {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	if !o.allSpace && !o.spaceChange && !o.trailingSpace && !o.tabExpansion && !o.ignoreCase {
		return line
	}
	buf = buf[:0]
	switch {
	case o.allSpace:
		for _, c := range line {
			if !isSpace(c) {
				buf = append(buf, c)
			}
		}
	case o.spaceChange:
		for i, c := range line {
			switch {
			case !isSpace(c):
				buf = append(buf, c)
			case i == 0 || !isSpace(line[i-1]):
				buf = append(buf, ' ')
			}
		}
		buf = bytes.TrimRight(buf, " ")
	default:
		column := 0
		for _, c := range line {
			if c == '\t' && o.tabExpansion {
				for n := 8 - column%8; n > 0; n-- {
					buf = append(buf, ' ')
					column++
				}
				continue
			}
			buf = append(buf, c)
			column++
		}
		if o.trailingSpace {
			buf = bytes.TrimRight(buf, " \t\r\v\f")
		}
	}
	if o.ignoreCase {
		buf = bytes.ToLower(buf)
	}
	return buf
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// split makes the lines of both sides and gives each a class: equal lines have
// the same. It returns how many classes there are.
func (o *diffOptions) split(p *Proc, sides [2]*diffSide) (int, error) {
	classes := map[string]int32{}
	var buf []byte
	for _, s := range sides {
		n := bytes.Count(s.content, []byte("\n")) + 1
		// A line costs its header, its class, marks and its part of the table.
		if err := p.Hold(n*64 + len(s.content)); err != nil {
			return 0, err
		}
		s.lines = splitLines(s.content)
		s.unended = len(s.content) > 0 && s.content[len(s.content)-1] != '\n'
		s.classes = make([]int32, len(s.lines))
		for i, line := range s.lines {
			if i%4096 == 0 && p.Stopped() {
				return 0, p.Context().Err()
			}
			key := o.normal(line, buf)
			if cap(key) > cap(buf) && (o.allSpace || o.spaceChange || o.trailingSpace || o.tabExpansion || o.ignoreCase) {
				buf = key
			}
			if s.unended && i == len(s.lines)-1 && !o.allSpace && !o.spaceChange && !o.trailingSpace && o.style != diffEd {
				key = append([]byte("\n"), key...) // no line is equal to this but one that ends so, too
			}
			class, ok := classes[string(key)]
			if !ok {
				class = int32(len(classes))
				classes[string(key)] = class
			}
			s.classes[i] = class
		}
	}
	return len(classes), nil
}

// changes compares the lines of both sides.
func (o *diffOptions) changes(p *Proc, sides [2]*diffSide) ([]diffChange, error) {
	n, err := o.split(p, sides)
	if err != nil {
		return nil, err
	}
	a, b := sides[0].classes, sides[1].classes
	if err := p.Hold(20*(len(a)+len(b)) + 8*n); err != nil {
		return nil, err
	}
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	tail := 0
	for tail < len(a)-same && tail < len(b)-same && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	// As much as is shown around changes takes part, so that they can shift.
	same, tail = max(0, same-o.horizon()), max(0, tail-o.horizon())
	ca, cb := compareLines(a[same:len(a)-tail], b[same:len(b)-tail], n, o.minimal, p.Stopped)
	if p.Stopped() {
		return nil, p.Context().Err()
	}
	var out []diffChange
	i, j := 0, 0
	for i+1 < len(ca) || j+1 < len(cb) {
		if i+1 < len(ca)-1 && ca[i+1] || j+1 < len(cb)-1 && cb[j+1] {
			c := diffChange{a0: i + same, b0: j + same}
			for ca[i+1] {
				i++
			}
			for cb[j+1] {
				j++
			}
			c.a1, c.b1 = i+same, j+same
			c.ignored = o.ignorable(sides[0].lines[c.a0:c.a1]) && o.ignorable(sides[1].lines[c.b0:c.b1])
			out = append(out, c)
			continue
		}
		i++
		j++
	}
	return out, p.Hold(len(out) * 40)
}

func (o *diffOptions) horizon() int { return max(o.context, o.horizonLines) }

// ignorable tells whether none of the lines counts.
func (o *diffOptions) ignorable(lines [][]byte) bool {
	if !o.blankLines && o.ignoreLines == nil {
		return false
	}
	for _, line := range lines {
		blank := len(line) == 0
		if o.allSpace || o.spaceChange || o.trailingSpace {
			blank = len(bytes.TrimSpace(line)) == 0
		}
		if o.blankLines && blank || anyMatch(o.ignoreLines, line) {
			continue
		}
		return false
	}
	return true
}

// anyMatch tells whether one of the expressions matches. A match that is given
// up is none.
func anyMatch(all []*posixre.Regexp, line []byte) bool {
	return slices.ContainsFunc(all, func(re *posixre.Regexp) bool {
		ok, err := re.Match(string(line))
		return ok && err == nil
	})
}

// displayWidth is how many columns of a terminal a character takes.
func displayWidth(r rune) int {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0, unicode.Is(unicode.Mn, r), unicode.Is(unicode.Me, r), unicode.Is(unicode.Cf, r):
		return 0
	case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0x303e || r >= 0x3041 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 ||
		r >= 0x1f300 && r <= 0x1f64f || r >= 0x1f900 && r <= 0x1f9ff || r >= 0x20000 && r <= 0x3fffd):
		return 2
	case r == utf8.RuneError:
		return 1
	}
	return 1
}
