package commands

import (
	"context"
	"io"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

// sedRun is a script that runs.
type sedRun struct {
	p        *Proc
	code     []*sedCommand
	files    map[string]*sedFile
	names    []string
	quiet    bool
	separate bool
	inPlace  bool
	suffix   string
	sep      byte
	wrap     int

	in      sedInput
	out     *sedOut // standard output, or the file that is edited
	stdout  *sedOut
	edit    *sedEdit
	reads   map[string]*sedReader
	line    int64
	pattern sedText
	ended   bool // the pattern space came with its newline
	heldEnd bool // and so did the hold space
	hold    sedText
	scratch sedText
	changed bool // a substitution was made since the last line was read
	last    *posixre.Regexp
	queue   []sedAppend
	exit    int
	steps   int
}

// sedAppend is what is written at the end of a cycle.
type sedAppend struct {
	text []byte
	file string // r
}

// sedReader is a file that R reads line by line.
type sedReader struct {
	*Lines
	file io.Closer
}

// read takes the next line; false at the end of all input.
func (s *sedRun) read() (bool, error) {
	for {
		if err := s.ahead(); err != nil {
			return false, err
		}
		if s.in.has {
			break
		}
		if s.edit != nil {
			if err := s.finishFile(); err != nil {
				return false, err
			}
		}
		ok, err := s.advance()
		if !ok || err != nil {
			return false, err
		}
		if s.separate {
			s.line = 0
		}
	}
	s.line++
	return true, nil
}

// take makes the line that was read ahead the current one.
func (s *sedRun) take() ([]byte, error) {
	s.in.has = false
	s.ended = s.in.ended
	return s.in.next, nil
}

// isLast tells whether there is no line after the current one.
func (s *sedRun) isLast() (bool, error) {
	if err := s.ahead(); err != nil || s.in.has {
		return false, err
	}
	if s.separate {
		return true, nil
	}
	ok, err := s.advance()
	return !ok, err
}

// What comes after a command.
type sedFlow uint8

const (
	sedNext    sedFlow = iota
	sedEnd             // of the cycle
	sedDelete          // end of the cycle without printing
	sedRestart         // of the cycle without reading
	sedQuit
	sedQuitSilent
)

func (s *sedRun) run() error {
	restart := false
	for !s.p.Stopped() {
		if !restart {
			ok, err := s.read()
			if err != nil || !ok {
				return err
			}
			line, err := s.take()
			if err != nil {
				return err
			}
			if err := s.pattern.set(line); err != nil {
				return err
			}
			s.changed = false
		}
		flow, err := s.cycle()
		if err != nil {
			return err
		}
		if (flow == sedEnd || flow == sedQuit) && !s.quiet {
			s.out.line(s.pattern.b, s.ended)
		}
		if flow != sedQuitSilent {
			if err := s.flushQueue(); err != nil {
				return err
			}
		}
		switch flow {
		case sedQuit, sedQuitSilent:
			return nil
		}
		if s.out.err != nil {
			return s.out.err
		}
		restart = flow == sedRestart
	}
	return context.Cause(s.p.ctx)
}

func (s *sedRun) flushQueue() error {
	for _, a := range s.queue {
		if a.file == "" {
			s.out.raw(a.text)
			continue
		}
		var r io.ReadCloser
		if a.file == "/dev/stdin" {
			r = io.NopCloser(s.p.Stdin)
		} else {
			f, err := s.p.Open(a.file)
			if err != nil {
				continue // r says nothing of files that are not there
			}
			r = f
		}
		s.out.complete()
		_, err := s.p.Copy(s.out.w, r)
		r.Close()
		if err != nil {
			if info, serr := s.p.Stat(a.file); serr == nil && info.IsDir() {
				continue
			}
			return err
		}
	}
	s.queue = s.queue[:0]
	return nil
}

// cycle runs the script on the pattern space.
func (s *sedRun) cycle() (sedFlow, error) {
	for pc := 0; pc < len(s.code); pc++ {
		if s.steps++; s.steps%256 == 0 && s.p.Stopped() {
			return 0, context.Cause(s.p.ctx)
		}
		cmd := s.code[pc]
		selected, err := s.selects(cmd)
		if err != nil {
			return 0, err
		}
		if !selected {
			if cmd.name == '{' {
				pc = cmd.target
			}
			continue
		}
		switch cmd.name {
		case 'b':
			pc = cmd.target - 1
			continue
		case 't', 'T':
			if s.changed == (cmd.name == 't') {
				pc = cmd.target - 1
			}
			s.changed = false
			continue
		}
		flow, err := s.execute(cmd)
		if err != nil || flow != sedNext {
			return flow, err
		}
	}
	return sedEnd, nil
}

// selects tells whether a command is for the current line.
func (s *sedRun) selects(cmd *sedCommand) (bool, error) {
	if cmd.a1 == nil {
		return !cmd.negate, nil
	}
	ok, err := s.inRange(cmd)
	return ok != cmd.negate, err
}

func (s *sedRun) inRange(cmd *sedCommand) (bool, error) {
	if cmd.a2 == nil {
		return s.matches(cmd.a1)
	}
	if cmd.active {
		switch cmd.a2.kind {
		case 'n', '+', 'm':
			end := cmd.endLine
			if cmd.a2.kind == 'n' {
				end = cmd.a2.line
			}
			if s.line >= end {
				cmd.active = false
			}
			if s.line > end {
				// The range ended on a line that was not looked at.
				return s.begins(cmd)
			}
			return true, nil
		}
		ended, err := s.matches(cmd.a2)
		cmd.active = !ended
		return true, err
	}
	return s.begins(cmd)
}

// begins tells whether a range begins on this line.
func (s *sedRun) begins(cmd *sedCommand) (bool, error) {
	ok, err := s.matches(cmd.a1)
	if !ok || err != nil {
		return false, err
	}
	switch a := cmd.a2; a.kind {
	case 'n':
		cmd.active = a.line > s.line
	case '+':
		cmd.endLine = s.line + a.line
		cmd.active = a.line > 0
	case 'm':
		cmd.endLine = s.line
		if a.line > 0 {
			cmd.endLine += a.line - s.line%a.line
		}
		cmd.active = cmd.endLine > s.line
	case '$':
		last, err := s.isLast()
		cmd.active = !last
		return true, err
	default:
		cmd.active = true
	}
	return true, nil
}

func (s *sedRun) matches(a *sedAddress) (bool, error) {
	switch a.kind {
	case 'n':
		return s.line == a.line, nil
	case '~':
		return s.line >= a.line && (s.line-a.line)%a.step == 0, nil
	case '$':
		return s.isLast()
	}
	re, err := s.regexp(a.re)
	if err != nil {
		return false, err
	}
	return re.Match(view(s.pattern.b))
}

// regexp is re, or the last one that was used where it is nil.
func (s *sedRun) regexp(re *posixre.Regexp) (*posixre.Regexp, error) {
	if re != nil {
		s.last = re
	}
	if s.last == nil {
		return nil, sedExitError{1, "no previous regular expression"}
	}
	return s.last, nil
}

func (s *sedRun) later(a sedAppend) error {
	if err := s.p.Hold(48 + len(a.text)); err != nil {
		return err
	}
	s.queue = append(s.queue, a)
	return nil
}
