package commands

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// grepSearch is the search of one file.
type grepSearch struct {
	*grepper
	name  string
	named bool

	binaryFile bool
	told       bool // that a binary file matches
	line       int64
	offset     int64
	selectedN  int64
	trailing   int   // lines of context that are still to come after a match
	last       int64 // the line that was printed last
	context    []grepLine
}

// grepLine is a line kept for the context before a match.
type grepLine struct {
	text   []byte
	number int64
	offset int64
}

func (s *grepSearch) run(r io.Reader) error {
	lines := s.p.Lines(r, s.sep)
	defer lines.Close()
	defer func() {
		for _, l := range s.context {
			s.p.Release(len(l.text) + 64)
		}
	}()
	if s.binary != "text" && s.sep != 0 {
		head, err := lines.r.Peek(32 << 10)
		if err == nil || err == io.EOF {
			s.binaryFile = bytes.IndexByte(head, 0) >= 0
		}
	}
	if s.binaryFile && s.binary == "without-match" {
		if s.list == 'L' {
			s.listed()
		} else if s.count {
			s.counted()
		}
		return nil
	}
	more := true
	for more && lines.Next() {
		s.line++
		line := lines.Bytes()
		var err error
		if more, err = s.each(line); err != nil {
			return err
		}
		s.offset += int64(len(line)) + 1
	}
	if err := lines.Err(); err != nil {
		return err
	}
	switch {
	case s.quiet:
	case s.list == 'l' && s.selectedN > 0, s.list == 'L' && s.selectedN == 0:
		s.listed()
	case s.list == 0 && s.count:
		s.counted()
	}
	return nil
}

func (s *grepSearch) listed() {
	s.color1(s.name, "35")
	if s.nulName {
		s.p.Out.WriteByte(0)
	} else {
		s.p.Out.WriteByte('\n')
	}
}

func (s *grepSearch) counted() {
	if s.rg && s.selectedN == 0 {
		return
	}
	if s.named {
		s.prefixName(':')
	}
	fmt.Fprintf(s.p.Out, "%d\n", s.selectedN)
}

// each looks at one line; false ends the search of this file.
func (s *grepSearch) each(line []byte) (more bool, err error) {
	text := view(line)
	start, end, found, err := s.find(text, 0)
	if err != nil {
		return false, err
	}
	if found == s.invert {
		return s.unselected(line)
	}
	if s.selectedN >= s.most {
		return false, nil
	}
	s.selected = true
	s.selectedN++
	if s.quiet || s.list != 0 {
		return false, nil
	}
	if !s.count {
		if s.isBinary(line) {
			if !s.told && (!s.only || !s.invert) {
				s.told = true
				s.p.Errorf(0, "%s: binary file matches", s.name)
			}
			return false, nil
		}
		s.print(line, start, end)
		s.trailing = s.after
	}
	return s.selectedN < s.most || s.trailing > 0, nil
}

// isBinary tells whether a line must not be printed.
func (s *grepSearch) isBinary(line []byte) bool {
	if s.binary == "text" {
		return false
	}
	return s.binaryFile || !s.rg && !utf8.Valid(line) || s.sep != 0 && bytes.IndexByte(line, 0) >= 0
}

// unselected keeps or prints a line that is context at most.
func (s *grepSearch) unselected(line []byte) (more bool, err error) {
	switch {
	case s.trailing > 0:
		s.trailing--
		s.printContext(grepLine{line, s.line, s.offset})
		return s.trailing > 0 || s.selectedN < s.most, nil
	case s.selectedN >= s.most:
		return false, nil
	case s.before > 0:
		if len(s.context) == s.before {
			s.p.Release(len(s.context[0].text) + 64)
			s.context = s.context[1:]
		}
		if err := s.p.Hold(len(line) + 64); err != nil {
			return false, err
		}
		s.context = append(s.context, grepLine{bytes.Clone(line), s.line, s.offset})
	}
	return true, nil
}

func (s *grepSearch) print(line []byte, start, end int) {
	first := s.line
	if len(s.context) > 0 {
		first = s.context[0].number
	}
	if (s.before > 0 || s.after > 0) && s.printed && s.groupSeparator != "\x00" && (s.last == 0 || first > s.last+1) {
		s.color1(s.groupSeparator, "36")
		s.p.Out.WriteByte('\n')
	}
	for _, l := range s.context {
		s.printContext(l)
		s.p.Release(len(l.text) + 64)
	}
	s.context = s.context[:0]
	s.printed, s.last = true, s.line
	if s.only {
		if !s.invert {
			s.printMatches(line, start, end)
		}
		return
	}
	s.prefix(':', s.line, s.offset)
	switch {
	case s.rewrite != nil && !s.invert:
		s.p.Out.Write(s.rewrite(line))
	case s.color && !s.invert:
		s.highlight(line, start, end)
	default:
		s.p.Out.Write(line)
	}
	s.p.Out.WriteByte(s.sep)
}

func (s *grepSearch) printContext(l grepLine) {
	s.printed, s.last = true, l.number
	s.prefix('-', l.number, l.offset)
	if s.color && s.invert {
		if start, end, ok, err := s.find(view(l.text), 0); ok && err == nil {
			s.highlight(l.text, start, end)
			s.p.Out.WriteByte(s.sep)
			return
		}
	}
	s.p.Out.Write(l.text)
	s.p.Out.WriteByte(s.sep)
}

// printMatches prints the matches of a line that are not empty.
func (s *grepSearch) printMatches(line []byte, start, end int) {
	s.eachMatch(line, start, end, func(start, end int) {
		s.prefix(':', s.line, s.offset+int64(start))
		switch {
		case s.rewrite != nil:
			s.p.Out.Write(s.rewrite(line[start:end]))
		case s.color:
			s.color1(string(line[start:end]), "01;31")
		default:
			s.p.Out.Write(line[start:end])
		}
		s.p.Out.WriteByte(s.sep)
	})
}

func (s *grepSearch) highlight(line []byte, start, end int) {
	at := 0
	s.eachMatch(line, start, end, func(start, end int) {
		s.p.Out.Write(line[at:start])
		s.color1(string(line[start:end]), "01;31")
		at = end
	})
	s.p.Out.Write(line[at:])
}

// eachMatch calls do with each match of a line that is not empty; the first
// match is known.
func (s *grepSearch) eachMatch(line []byte, start, end int, do func(start, end int)) {
	text := view(line)
	for {
		next := end
		if end > start {
			do(start, end)
		} else {
			_, size := utf8.DecodeRune(line[end:])
			next += max(size, 1)
		}
		if next > len(line) || s.p.Stopped() {
			return
		}
		var ok bool
		var err error
		start, end, ok, err = s.find(text, next)
		if err != nil || !ok {
			return
		}
	}
}

func (s *grepSearch) color1(text, code string) {
	if !s.color {
		s.p.Out.WriteString(text)
		return
	}
	s.p.Out.WriteString("\x1b[" + code + "m\x1b[K" + text + "\x1b[m\x1b[K")
}

func (s *grepSearch) prefixName(mark byte) {
	s.color1(s.name, "35")
	if s.nulName {
		s.p.Out.WriteByte(0)
	} else {
		s.color1(string(mark), "36")
	}
}

func (s *grepSearch) prefix(mark byte, number, offset int64) {
	if s.named {
		s.prefixName(mark)
	}
	if s.numbers {
		s.color1(fmt.Sprint(number), "32")
		s.color1(string(mark), "36")
	}
	if s.offsets {
		s.color1(fmt.Sprint(offset), "32")
		s.color1(string(mark), "36")
	}
	if s.tab && (s.named || s.numbers || s.offsets) {
		s.p.Out.WriteByte('\t')
	}
}
