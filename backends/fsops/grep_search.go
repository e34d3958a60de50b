package fsops

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Sizes of what a grep holds of a file, in bytes. A line longer than
// grepLineMax is searched in pieces of that size, and with Multiline a file
// longer than grepWindowMax in windows of that size. Pieces and windows overlap
// by grepOverlap, so that a match up to that long is found wherever it is.
const (
	grepBlock     = 128 << 10
	grepLineMax   = 1 << 20
	grepWindowMax = 4 << 20
	grepOverlap   = 256 << 10
)

// grepSearch searches one file after the other for one worker.
type grepSearch struct {
	pattern *grepPattern
	req     *backends.GrepRequest
	finder  *grepFinder // nil where the pattern needs no literal
	dfa     *grepDFA    // nil for what spans lines
	nfa     *grepNFA
	clock   workClock
	buf     []byte
	spans   []grepSpan
	tried   int // bytes of the block in hand that a literal was no help with
	direct  int // blocks to search without looking for literals

	// About the file in hand.
	in      io.Reader
	n       int  // bytes in buf that are not searched yet
	plain   int  // of these, bytes at the start without carriage returns
	covered int  // of these, bytes at the start that belong to a match before them
	top     bool // buf starts where the file does
	eof     bool // the file has no more than buf
	out     grepLines
}

// grepDirect is how many blocks are searched without looking for literals once
// that has led to most lines of one.
const grepDirect = 16

// grepSpan is bytes of a window that belong to a match.
type grepSpan struct{ begin, end int }

var grepBuffers = sync.Pool{New: func() any { return new([grepBlock]byte) }}

func newGrepSearch(p *grepPattern, req *backends.GrepRequest) *grepSearch {
	s := &grepSearch{pattern: p, req: req, buf: grepBuffers.Get().(*[grepBlock]byte)[:]}
	if len(p.need.texts) > 0 {
		s.finder = newGrepFinder(&p.need)
	}
	s.nfa = newGrepNFA(p, &s.clock)
	if !p.multi {
		s.dfa = newGrepDFA(p, &s.clock)
	}
	return s
}

// release gives the search's memory back; it must not be used again.
func (s *grepSearch) release() {
	if len(s.buf) == grepBlock {
		grepBuffers.Put((*[grepBlock]byte)(s.buf))
	}
	s.buf = nil
}

// search reads a file to its end, or in GrepFiles to its first match, and
// returns how many lines match. In GrepContent keep is asked at the first match
// how many matching lines are wanted. A binary file has no matches.
func (s *grepSearch) search(ctx context.Context, in io.Reader, keep func() int) (count int, lines []backends.GrepLine, err error) {
	s.clock, s.in = workClock{ctx: ctx}, in
	s.n, s.plain, s.covered, s.top, s.eof = 0, 0, 0, true, false
	s.out.reset(s.req, keep)
	for !s.eof || s.n > 0 {
		if err := s.fill(); err != nil {
			return 0, nil, err
		}
		if s.top {
			if isBinary(s.buf[:s.n]) {
				return 0, nil, nil
			}
			if bytes.HasPrefix(s.buf[:s.n], []byte("\xef\xbb\xbf")) {
				s.n = copy(s.buf, s.buf[3:s.n])
			}
		}
		if err := s.searchBuffer(); err != nil {
			return 0, nil, err
		}
		if s.clock.ended {
			return 0, nil, context.Cause(ctx)
		}
		s.top = false
		if s.out.count > 0 && s.req.Mode == backends.GrepFiles {
			break
		}
	}
	return s.out.count, s.out.lines, nil
}

// fill reads until the buffer holds what is to be searched at once: some whole
// lines, or with Multiline as much as there may be.
func (s *grepSearch) fill() error {
	limit := grepLineMax
	if s.pattern.multi {
		limit = grepWindowMax
	}
	for {
		if err := s.fillBuffer(); err != nil {
			return err
		}
		enough := !s.pattern.multi && bytes.IndexByte(s.buf[:s.n], '\n') >= 0
		if s.eof || enough || len(s.buf) >= limit || s.top && isBinary(s.buf[:s.n]) {
			return nil
		}
		buf := make([]byte, min(4*len(s.buf), limit))
		copy(buf, s.buf[:s.n])
		s.buf = buf
	}
}

// fillBuffer reads until the buffer is full or the file ends.
func (s *grepSearch) fillBuffer() error {
	for !s.eof && s.n < len(s.buf) {
		if s.clock.ctx.Err() != nil {
			return context.Cause(s.clock.ctx)
		}
		n, err := s.in.Read(s.buf[s.n:])
		s.n += n
		switch {
		case errors.Is(err, io.EOF):
			s.eof = true
		case err != nil:
			return err
		}
	}
	return nil
}

// searchBuffer searches the whole lines in the buffer and keeps the rest of it
// for the next time.
func (s *grepSearch) searchBuffer() error {
	end := s.n
	if !s.eof {
		if end = bytes.LastIndexByte(s.buf[:s.n], '\n') + 1; end == 0 {
			return s.searchLongLine()
		}
	}
	if s.pattern.multi {
		s.searchWindow(end)
		return nil
	}
	block := grepUnixLines(s.buf[:end])
	if s.finder == nil || s.direct > 0 {
		s.direct = max(0, s.direct-1)
		s.out.block(block, s.nextByPattern)
	} else {
		s.finder.start(block)
		s.tried = 0
		s.out.block(block, s.nextByLiteral)
		if s.tried > len(block)/2 && !s.dfa.useless() {
			s.direct = grepDirect
		}
	}
	s.n = copy(s.buf, s.buf[end:s.n])
	return nil
}

// grepUnixLines drops the carriage returns before newlines, in place.
func grepUnixLines(block []byte) []byte {
	crlf := []byte("\r\n")
	at := bytes.Index(block, crlf)
	if at < 0 {
		return block
	}
	out, rest := block[:at], block[at+1:]
	for {
		n := bytes.Index(rest, crlf)
		if n < 0 {
			return append(out, rest...)
		}
		out = append(out, rest[:n]...)
		rest = rest[n+1:]
	}
}

// nextByLiteral returns a place in the first matching line at or after from,
// which is where a line starts; -1 when there is none.
func (s *grepSearch) nextByLiteral(block []byte, from int) int {
	for from < len(block) && !s.clock.ended {
		at, proof := s.finder.next(from)
		if at == len(block) {
			return -1
		}
		if proof {
			return at
		}
		begin, end := grepLineAt(block, at)
		if begins, ok := s.finder.line(begin, at, end); ok {
			s.tried += end - begin
			if s.matchLine(block[begin:end], begins-begin) {
				return at
			}
		}
		from = end + 1
	}
	return -1
}

// nextByPattern is nextByLiteral for a pattern that needs no literal.
func (s *grepSearch) nextByPattern(block []byte, from int) int {
	if !s.dfa.useless() {
		at, ok := s.dfa.find(block, from)
		if ok {
			return at
		}
		from = at
	}
	for from < len(block) && !s.clock.ended {
		_, end := grepLineAt(block, from)
		if s.matchLine(block[from:end], 0) {
			return from
		}
		from = end + 1
	}
	return -1
}

// matchLine tells whether a line matches in which no match begins before from.
func (s *grepSearch) matchLine(line []byte, from int) bool {
	if !s.dfa.useless() {
		if s.dfa.looks {
			from = 0
		}
		if at, ok := s.dfa.find(line, from); ok {
			return at >= 0
		}
	}
	return s.nfa.match(line, grepEdges{grepLineEdge, grepLineEdge})
}

// searchWindow searches the first end bytes of the buffer for matches that may
// span lines. Where the file goes on, matches that begin in the overlap are
// left to the next window.
func (s *grepSearch) searchWindow(end int) {
	text := s.buf[:s.plain+len(grepUnixLines(s.buf[s.plain:end]))]
	s.n = len(text) + copy(s.buf[len(text):], s.buf[end:s.n])
	used := len(text)
	if !s.eof {
		used = bytes.LastIndexByte(text[:max(0, len(text)-grepOverlap)], '\n') + 1
		if used == 0 {
			used = bytes.IndexByte(text, '\n') + 1
		}
	}
	s.spans = s.spans[:0]
	if s.covered > 0 {
		s.spans = append(s.spans, grepSpan{0, s.covered})
	}
	s.findSpans(text, used)
	s.covered = 0
	if last := len(s.spans) - 1; last >= 0 {
		s.covered = max(0, s.spans[last].end-used)
	}
	i := 0
	s.out.block(text[:used], func(_ []byte, from int) int {
		for i < len(s.spans) && s.spans[i].end <= from {
			i++
		}
		if i == len(s.spans) || s.spans[i].begin >= used {
			return -1
		}
		return max(from, s.spans[i].begin)
	})
	s.plain = len(text) - used
	s.n = copy(s.buf, s.buf[used:s.n])
}

// findSpans adds the lines of all matches in text that begin before used.
func (s *grepSearch) findSpans(text []byte, used int) {
	if s.finder != nil {
		s.finder.start(text)
		if at, _ := s.finder.next(0); at == len(text) {
			return
		}
	}
	edges := grepEdges{grepLineEdge, grepLineEdge}
	if s.top {
		edges.before = grepNoMore
	}
	if s.eof {
		edges.after = grepNoMore
	}
	for from, last := 0, -1; from <= len(text); {
		begin, end := s.nfa.find(text, from, edges)
		if begin < 0 || begin >= used && used < len(text) {
			return
		}
		// An empty match does not count right behind another match.
		counts := begin < end || begin != last
		last = end
		if end > from {
			from = end
		} else {
			_, size := utf8.DecodeRune(text[from:])
			from += max(1, size)
		}
		if !counts || begin == len(text) && begin > 0 && text[begin-1] == '\n' {
			continue
		}
		lineBegin, lineEnd := grepLineAt(text, begin)
		if end > begin {
			_, lineEnd = grepLineAt(text, end-1)
		}
		lineEnd = min(lineEnd+1, len(text))
		if last := len(s.spans) - 1; last >= 0 && s.spans[last].end > lineBegin {
			s.spans[last].end = max(lineEnd, s.spans[last].end)
		} else {
			s.spans = append(s.spans, grepSpan{lineBegin, lineEnd})
		}
		if s.req.Mode == backends.GrepFiles {
			return
		}
	}
}

// searchLongLine searches a line that does not fit in the buffer, in pieces
// that overlap.
func (s *grepSearch) searchLongLine() error {
	matched := s.covered > 0
	s.covered, s.plain = 0, 0
	chars := 0 // in the line so far
	var head string
	for begin := true; ; begin = false {
		end, next, ended := s.n, s.n, s.eof
		if n := bytes.IndexByte(s.buf[:s.n], '\n'); n >= 0 {
			end, next, ended = n, n+1, true
			if end > 0 && s.buf[end-1] == '\r' {
				end--
			}
		}
		piece := s.buf[:end]
		matched = matched || s.matchPiece(piece, begin, ended)
		if begin {
			head, _ = grepCutLine(piece, s.out.maxLine)
		}
		if ended {
			chars += utf8.RuneCount(piece)
			s.n = copy(s.buf, s.buf[next:s.n])
			break
		}
		over := s.n - grepOverlap
		for i := 1; i < utf8.UTFMax && !utf8.RuneStart(s.buf[over]); i++ {
			over--
		}
		chars += utf8.RuneCount(s.buf[:over])
		s.n = copy(s.buf, s.buf[over:s.n])
		if err := s.fillBuffer(); err != nil {
			return err
		}
	}
	s.out.longLine(head, max(0, chars-utf8.RuneCountInString(head)), matched)
	return nil
}

// matchPiece tells whether a piece of a line matches; begin and end tell
// whether it has the line's.
func (s *grepSearch) matchPiece(piece []byte, begin, end bool) bool {
	if s.finder != nil {
		s.finder.start(piece)
		at, proof := s.finder.next(0)
		if at == len(piece) {
			return false
		}
		if proof {
			return true
		}
	}
	if s.dfa != nil && !s.dfa.looks && !s.dfa.useless() {
		if at, ok := s.dfa.find(piece, 0); ok {
			return at >= 0
		}
	}
	edges := grepEdges{grepGoesOn, grepGoesOn}
	if begin {
		edges.before = grepLineEdge
		if s.top {
			edges.before = grepNoMore
		}
	}
	if end {
		edges.after = grepLineEdge
		if s.eof && len(piece) == s.n {
			edges.after = grepNoMore
		}
	}
	return s.nfa.match(piece, edges)
}
