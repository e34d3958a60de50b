package commands

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// execute runs one command.
func (s *sedRun) execute(cmd *sedCommand) (sedFlow, error) {
	switch cmd.name {
	case '=':
		s.out.complete()
		s.out.write(fmt.Appendf(nil, "%d\n", s.line))
	case 'a':
		return sedNext, s.later(sedAppend{text: cmd.text})
	case 'i':
		s.out.raw(cmd.text)
	case 'c':
		if cmd.a2 == nil || !cmd.active || cmd.negate {
			s.out.raw(cmd.text)
		}
		return sedDelete, nil
	case 'd':
		return sedDelete, nil
	case 'D':
		i := bytes.IndexByte(s.pattern.b, s.sep)
		if i < 0 {
			return sedDelete, nil
		}
		s.pattern.b = append(s.pattern.b[:0], s.pattern.b[i+1:]...)
		return sedRestart, nil
	case 'F':
		s.out.complete()
		s.out.write([]byte(s.in.name + "\n"))
	case 'g':
		s.ended = s.heldEnd
		return sedNext, s.pattern.set(s.hold.b)
	case 'G':
		s.ended = s.ended || s.heldEnd
		if err := s.pattern.add(s.sep); err != nil {
			return 0, err
		}
		return sedNext, s.pattern.add(s.hold.b...)
	case 'h':
		s.heldEnd = s.ended
		return sedNext, s.hold.set(s.pattern.b)
	case 'H':
		s.heldEnd = s.heldEnd || s.ended
		if err := s.hold.add(s.sep); err != nil {
			return 0, err
		}
		return sedNext, s.hold.add(s.pattern.b...)
	case 'l':
		width := s.wrap
		if cmd.number >= 0 {
			width = cmd.number
		}
		s.list(width)
	case 'n', 'N':
		return s.more(cmd.name == 'N')
	case 'p':
		s.out.line(s.pattern.b, s.ended)
	case 'P':
		line := s.pattern.b
		if i := bytes.IndexByte(line, s.sep); i >= 0 {
			line = line[:i]
		}
		s.out.line(line, true)
	case 'q', 'Q':
		if cmd.number > 0 {
			s.exit = cmd.number & 0xff
		}
		if cmd.name == 'Q' {
			return sedQuitSilent, nil
		}
		return sedQuit, nil
	case 'r':
		return sedNext, s.later(sedAppend{file: cmd.read})
	case 'R':
		return sedNext, s.readLine(cmd.read)
	case 's':
		return sedNext, s.substitute(cmd.subst)
	case 'w', 'W':
		line := s.pattern.b
		if i := bytes.IndexByte(line, s.sep); cmd.name == 'W' && i >= 0 {
			line = line[:i]
		}
		cmd.file.out.line(line, cmd.name == 'W' || s.ended)
		return sedNext, cmd.file.out.err
	case 'x':
		s.pattern, s.hold = s.hold, s.pattern
		s.ended, s.heldEnd = s.heldEnd, s.ended
	case 'y':
		return sedNext, s.transliterate(cmd.table)
	case 'z':
		s.pattern.b = s.pattern.b[:0]
	}
	return sedNext, s.out.err
}

// more reads the next line: in place of the pattern space, or added to it.
func (s *sedRun) more(add bool) (sedFlow, error) {
	last, err := s.isLast()
	if err != nil {
		return 0, err
	}
	if last && (!s.separate || len(s.names) == 0 || s.inPlace) {
		// GNU's prints the pattern space at the end.
		return sedQuit, nil
	}
	if !add && !s.quiet {
		s.out.line(s.pattern.b, s.ended)
	}
	if err := s.flushQueue(); err != nil {
		return 0, err
	}
	ok, err := s.read()
	if err != nil {
		return 0, err
	}
	if !ok {
		return sedQuitSilent, nil
	}
	line, err := s.take()
	if err != nil {
		return 0, err
	}
	if !add {
		return sedNext, s.pattern.set(line)
	}
	if err := s.pattern.add(s.sep); err != nil {
		return 0, err
	}
	return sedNext, s.pattern.add(line...)
}

// readLine queues the next line of a file, for R.
func (s *sedRun) readLine(name string) error {
	r := s.reads[name]
	if r == nil {
		f := io.NopCloser(s.p.Stdin)
		if name != "/dev/stdin" {
			opened, err := s.p.Open(name)
			if err != nil {
				return nil //nolint:nilerr // R says nothing of files that are not there
			}
			f = opened
		}
		r = &sedReader{s.p.Lines(f, s.sep), f}
		if s.reads == nil {
			s.reads = map[string]*sedReader{}
		}
		s.reads[name] = r
	}
	if !r.Next() {
		return r.Err()
	}
	line := r.Bytes()
	text := make([]byte, 0, len(line)+1)
	return s.later(sedAppend{text: append(append(text, line...), '\n')})
}

// sedCase changes the case of what a replacement writes.
type sedCase struct {
	all  byte // U, L or 0
	next byte // u, l or 0
}

func (c *sedCase) set(b byte) {
	switch b {
	case 'u', 'l':
		c.next = b
	case 'E':
		c.all, c.next = 0, 0
	default:
		c.all, c.next = b, 0
	}
}

func (c *sedCase) write(t *sedText, text []byte) error {
	if c.all == 0 && c.next == 0 {
		return t.add(text...)
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		how := c.all
		if c.next != 0 {
			how, c.next = c.next, 0
		}
		changed := r
		switch how {
		case 'U', 'u':
			changed = unicode.ToUpper(r)
		case 'L', 'l':
			changed = unicode.ToLower(r)
		}
		var err error
		if changed == r {
			err = t.add(text[:size]...)
		} else {
			err = t.addString(string(changed))
		}
		if err != nil {
			return err
		}
		text = text[size:]
	}
	return nil
}

// substitute does s.
func (s *sedRun) substitute(sub *sedSubst) error {
	re, err := s.regexp(sub.re)
	if err != nil {
		return err
	}
	b := s.pattern.b
	text := view(b)
	s.scratch.b = s.scratch.b[:0]
	done, at, copied, ended := 0, 0, 0, -1
	want := max(sub.number, 1)
	replaced := false
	for at <= len(b) {
		loc, err := re.Find(text, at)
		if err != nil {
			return err
		}
		if loc == nil {
			break
		}
		start, end := loc[0], loc[1]
		if start == end && end == ended {
			// Nothing right after a match is no match.
			_, size := utf8.DecodeRune(b[start:])
			at = start + max(size, 1)
			if start >= len(b) {
				break
			}
			ended = -1
			continue
		}
		ended = end
		if done++; done >= want {
			replaced = true
			if err := s.scratch.add(b[copied:start]...); err != nil {
				return err
			}
			if err := s.replace(sub.replacement, b, loc); err != nil {
				return err
			}
			copied = end
			if !sub.global {
				break
			}
			if done%256 == 0 && s.p.Stopped() {
				return nil
			}
		}
		at = end
		if start == end {
			_, size := utf8.DecodeRune(b[end:])
			at += max(size, 1)
		}
	}
	if !replaced {
		return nil
	}
	if err := s.scratch.add(b[copied:]...); err != nil {
		return err
	}
	s.pattern, s.scratch = s.scratch, s.pattern
	s.changed = true
	for range sub.print {
		s.out.line(s.pattern.b, s.ended)
	}
	if sub.file != nil {
		sub.file.out.line(s.pattern.b, s.ended)
		return sub.file.out.err
	}
	return nil
}

func (s *sedRun) replace(parts []sedPart, b []byte, loc []int) error {
	var caps sedCase
	for _, part := range parts {
		var err error
		switch {
		case part.caps != 0:
			caps.set(part.caps)
		case part.group < 0:
			err = caps.write(&s.scratch, []byte(part.text))
		case 2*part.group+1 < len(loc) && loc[2*part.group] >= 0:
			err = caps.write(&s.scratch, b[loc[2*part.group]:loc[2*part.group+1]])
		}
		if err != nil {
			return err
		}
	}
	return nil
}
