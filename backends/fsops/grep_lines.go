package fsops

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// defaultGrepLine is GrepRequest.MaxLine when that is 0, in characters.
const defaultGrepLine = 2000

// grepLines counts the matching lines of a file and keeps those that are
// wanted, with their neighbours. It is given the file in blocks of whole
// lines.
type grepLines struct {
	mode    backends.GrepMode
	context int
	maxLine int
	keep    func() int // how many matching lines are wanted; asked once

	count int // matching lines
	want  int // matching lines to keep; -1 before keep was asked
	kept  int
	full  bool // nothing is kept from here on
	lines []backends.GrepLine

	number int                 // of the next line, from 1, unless full
	after  int                 // neighbours after the last match still to come
	shown  int                 // number of the last line in lines
	before []backends.GrepLine // the last lines of the blocks so far
}

func (g *grepLines) reset(req *backends.GrepRequest, keep func() int) {
	*g = grepLines{mode: req.Mode, context: req.Context, maxLine: req.MaxLine, keep: keep, want: -1, number: 1, before: g.before[:0]}
	if g.maxLine <= 0 {
		g.maxLine = defaultGrepLine
	}
	if g.mode != backends.GrepContent {
		g.full = true
	}
}

// block takes some whole lines. next returns a place in the first matching
// line at or after from, which is where a line starts, or -1.
func (g *grepLines) block(block []byte, next func(block []byte, from int) int) {
	pos, number := 0, g.number // of the first line not dealt with
	for pos < len(block) {
		at := next(block, pos)
		if at < 0 {
			break
		}
		g.count++
		if g.mode == backends.GrepFiles {
			return
		}
		begin, end := grepLineAt(block, at)
		if !g.full {
			pos, number = g.follow(block, pos, begin, number)
			if g.wanted() {
				number += bytes.Count(block[pos:begin], []byte("\n"))
				g.lead(block, pos, begin, number)
				g.add(g.line(block, begin, end, number, false))
				number++
			}
		}
		pos = min(end+1, len(block))
	}
	if g.full {
		return
	}
	pos, number = g.follow(block, pos, len(block), number)
	g.number = number + bytes.Count(block[pos:], []byte("\n"))
	g.remember(block)
}

// longLine takes a line that is too long for a block; text is its beginning.
func (g *grepLines) longLine(text string, cut int, match bool) {
	if match {
		g.count++
	}
	if g.full {
		return
	}
	line := backends.GrepLine{Number: g.number, Text: text, Cut: cut, Context: !match}
	switch {
	case match && g.wanted():
		g.lead(nil, 0, 0, g.number)
		g.add(line)
	case !match && g.after > 0:
		g.add(line)
	}
	g.number++
	if g.context > 0 {
		line.Context = true
		g.push(line)
	}
}

// wanted tells whether a match that was just found is to be kept.
func (g *grepLines) wanted() bool {
	if g.want < 0 {
		g.want = g.keep()
	}
	g.full = g.kept >= g.want
	return !g.full
}

func (g *grepLines) line(block []byte, begin, end, number int, neighbour bool) backends.GrepLine {
	text, cut := grepCutLine(block[begin:end], g.maxLine)
	return backends.GrepLine{Number: number, Text: text, Cut: cut, Context: neighbour}
}

// grepCutLine is cutChars of a line of which no more is copied than is kept.
func grepCutLine(line []byte, limit int) (kept string, cut int) {
	head := line
	if len(line)/utf8.UTFMax > limit {
		head = line[:utf8.UTFMax*limit]
	}
	kept, cut = cutChars(string(head), limit)
	if cut > 0 {
		kept = strings.Clone(kept)
	}
	return kept, utf8.RuneCount(line[len(kept):])
}

func (g *grepLines) add(line backends.GrepLine) {
	g.lines = append(g.lines, line)
	g.shown = line.Number
	if line.Context {
		g.after = max(0, g.after-1)
		return
	}
	g.kept++
	g.after = g.context
}

// follow keeps the neighbours after the last match, from pos up to end.
func (g *grepLines) follow(block []byte, pos, end, number int) (int, int) {
	for pos < end && g.after > 0 {
		_, lineEnd := grepLineAt(block, pos)
		g.add(g.line(block, pos, lineEnd, number, true))
		pos = min(lineEnd+1, len(block))
		number++
	}
	return pos, number
}

// lead keeps the neighbours before the line at begin, which has that number.
// The lines before pos have been dealt with.
func (g *grepLines) lead(block []byte, pos, begin, number int) {
	if g.context == 0 {
		return
	}
	first, have := grepLinesBack(block, pos, begin, g.context)
	if first == 0 {
		for _, line := range g.before {
			if line.Number > g.shown && line.Number >= number-g.context {
				g.add(line)
			}
		}
	}
	for n := number - have; first < begin; n++ {
		_, end := grepLineAt(block, first)
		g.add(g.line(block, first, end, n, true))
		first = end + 1
	}
}

// remember keeps the last lines of a block as possible neighbours of a match
// in the next one.
func (g *grepLines) remember(block []byte) {
	if g.context == 0 {
		return
	}
	first, have := grepLinesBack(block, 0, len(block), g.context)
	for n := g.number - have; first < len(block); n++ {
		_, end := grepLineAt(block, first)
		g.push(g.line(block, first, end, n, true))
		first = end + 1
	}
}

func (g *grepLines) push(line backends.GrepLine) {
	if len(g.before) == g.context {
		copy(g.before, g.before[1:])
		g.before = g.before[:len(g.before)-1]
	}
	g.before = append(g.before, line)
}

// grepLinesBack goes back from end, where a line starts or the block ends, by
// at most n lines, but not before pos. It returns how many lines there were.
func grepLinesBack(block []byte, pos, end, n int) (first, have int) {
	first = end
	for have < n && first > pos {
		first = bytes.LastIndexByte(block[:first-1], '\n') + 1
		have++
	}
	return first, have
}

// grepLineAt returns where the line that has the byte at begins and ends, its
// newline not included.
func grepLineAt(block []byte, at int) (begin, end int) {
	begin = bytes.LastIndexByte(block[:at], '\n') + 1
	if n := bytes.IndexByte(block[at:], '\n'); n >= 0 {
		return begin, at + n
	}
	return begin, len(block)
}

// grepTrim cuts lines after n matches and at most context neighbours behind the
// last of them.
func grepTrim(lines []backends.GrepLine, n, context int) []backends.GrepLine {
	last := 0 // number of the last match that stays
	for i, line := range lines {
		switch {
		case !line.Context && n > 0:
			n--
			last = line.Number
		case n == 0 && (!line.Context || line.Number > last+context):
			return lines[:i]
		}
	}
	return lines
}

const grepKeepAll = math.MaxInt
