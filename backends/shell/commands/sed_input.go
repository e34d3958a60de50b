package commands

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// sedInput reads the lines of all files, one ahead: whether a line is the last
// must be known before it is worked on.
type sedInput struct {
	file  io.Closer
	lines *Lines
	name  string
	next  []byte
	held  int
	has   bool // next is there
	ended bool // it had its newline
}

func (in *sedInput) close() {
	if in.lines != nil {
		in.lines.Close()
		in.lines = nil
	}
	if in.file != nil {
		in.file.Close()
		in.file = nil
	}
}

// ahead reads the line after the current one of this file.
func (s *sedRun) ahead() error {
	in := &s.in
	if in.has || in.lines == nil {
		return nil
	}
	if !in.lines.Next() {
		err := in.lines.Err()
		name := in.name
		in.close()
		if err != nil && !s.p.Stopped() {
			if name == "-" {
				name = "stdin"
			}
			return sedExitError{4, fmt.Sprintf("read error on %s: %s", name, Reason(err))}
		}
		return err
	}
	line := in.lines.Bytes()
	if len(line) > in.held {
		if err := s.p.Hold(len(line) - in.held); err != nil {
			return err
		}
		in.held = len(line)
	}
	in.next, in.has, in.ended = append(in.next[:0], line...), true, in.lines.Ended()
	return nil
}

// advance opens the next file that can be opened; false when there is none.
func (s *sedRun) advance() (bool, error) {
	for len(s.names) > 0 && !s.p.Stopped() {
		name := s.names[0]
		s.names = s.names[1:]
		if s.inPlace {
			ok, err := s.beginInPlace(name)
			if err != nil {
				return false, err
			}
			if !ok {
				continue
			}
		}
		r := s.p.Stdin
		if name != "-" || s.inPlace {
			f, err := s.p.Open(name)
			if err != nil {
				s.exit = s.p.Errorf(2, "can't read %s: %s", name, Reason(err))
				continue
			}
			s.in.file, r = f, f
		}
		s.in.name, s.in.lines = name, s.p.Lines(r, s.sep)
		if err := s.ahead(); err != nil {
			return false, err
		}
		if s.in.has || s.inPlace {
			return true, nil
		}
	}
	return false, nil
}

var errInPlace = errors.New("not a regular file")

// beginInPlace prepares to edit a file; false when it cannot be.
func (s *sedRun) beginInPlace(name string) (bool, error) {
	info, err := s.p.Stat(name)
	if err != nil {
		s.exit = s.p.Errorf(2, "can't read %s: %s", name, Reason(err))
		return false, nil
	}
	if !info.Mode().IsRegular() {
		s.exit = s.p.Errorf(4, "couldn't edit %s: %s", name, errInPlace)
		return false, nil
	}
	f, temp, err := s.p.temporary(s.p.Path(dirPrefix(name)) + "sed")
	if err != nil {
		return false, sedExitError{4, fmt.Sprintf("couldn't open temporary file %ssedXXXXXX: %s", dirPrefix(name), Reason(err))}
	}
	b := newBlocks(&writer{f, s.p})
	s.edit = &sedEdit{name: name, temp: temp, mode: info.Mode().Perm(), flush: b.Flush, file: f}
	s.out = &sedOut{w: b, eol: s.sep}
	return true, nil
}

// dirPrefix is the directory of name as it was written, with its "/".
func dirPrefix(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }

// sedEdit is a file that is edited in place: its new content.
type sedEdit struct {
	name, temp string
	mode       os.FileMode
	flush      func() error
	file       io.Closer
}

// finishFile puts the new content in the place of the file.
func (s *sedRun) finishFile() error {
	e := s.edit
	if e == nil {
		return s.out.err
	}
	s.edit = nil
	err := s.out.err
	if err == nil {
		err = e.flush()
	}
	if cerr := e.file.Close(); err == nil {
		err = cerr
	}
	s.out = s.stdout
	if err == nil && s.suffix != "" {
		backup := dirPrefix(e.name) + e.name[len(dirPrefix(e.name)):] + s.suffix
		if strings.Contains(s.suffix, "*") {
			backup = strings.ReplaceAll(s.suffix, "*", e.name[len(dirPrefix(e.name)):])
			if !strings.Contains(backup, "/") {
				backup = dirPrefix(e.name) + backup
			}
		}
		err = s.p.Files.Rename(s.p.Path(e.name), s.p.Path(backup))
	}
	if err == nil {
		err = s.p.Files.Chmod(e.temp, e.mode)
	}
	if err == nil {
		err = s.p.Files.Rename(e.temp, s.p.Path(e.name))
	}
	if err != nil {
		err = errors.Join(err, s.p.Files.Remove(e.temp))
	}
	return err
}

// abandonFile leaves the file as it was.
func (s *sedRun) abandonFile() {
	if e := s.edit; e != nil {
		s.edit = nil
		if err := errors.Join(e.file.Close(), s.p.Files.Remove(e.temp)); err != nil && !s.p.Stopped() {
			s.p.FileError(e.name, err)
		}
	}
}
