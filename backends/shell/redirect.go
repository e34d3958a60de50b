package shell

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// maxFD is the highest number of a descriptor.
const maxFD = 1023

// redirect makes redirections, in order, and returns what undoes them. When one
// fails it has said why; undo is to be called all the same.
func (s *shell) redirect(redirs []*syntax.Redirect) (undo func(), ok bool) {
	if len(redirs) == 0 {
		return func() {}, true
	}
	type saved struct {
		n int
		d *descriptor
	}
	var before []saved
	undo = func() {
		for i := len(before) - 1; i >= 0; i-- {
			s.setFD(before[i].n, before[i].d)
		}
	}
	done := false
	defer func() {
		if !done { // unwound by a panic
			undo()
		}
	}()
	set := func(n int, d *descriptor) {
		old := s.fds[n]
		if old != nil {
			old.keep()
		}
		before = append(before, saved{n, old})
		s.setFD(n, d)
	}
	ok = true
	for _, r := range redirs {
		if err := s.redirectOne(r, set); err != "" {
			// Said where standard error was before.
			for i := len(before) - 1; i >= 0; i-- {
				if before[i].n == 2 {
					s.setFD(2, before[i].d)
					before[i].d = nil
					if d := s.fds[2]; d != nil {
						before[i].d = d.keep()
					}
				}
			}
			s.errorf("%s", err)
			ok = false
			break
		}
	}
	done = true
	return undo, ok
}

// redirectOne makes one redirection and returns why it cannot.
func (s *shell) redirectOne(r *syntax.Redirect, set func(int, *descriptor)) string {
	n := 1
	switch r.Op {
	case syntax.RdrIn, syntax.DplIn, syntax.RdrInOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		n = 0
	}
	if r.N != nil {
		if name, isVar := strings.CutPrefix(r.N.Value, "{"); isVar {
			name = strings.TrimSuffix(name, "}")
			for n = 10; s.fds[n] != nil; n++ {
			}
			if n > maxFD {
				return name + ": Too many open files"
			}
			if (r.Op == syntax.DplOut || r.Op == syntax.DplIn) && s.single(r.Word) == "-" {
				n, _ = strconv.Atoi(s.get(name))
				s.setFD(n, nil)
				return ""
			}
			s.assign(name, strconv.Itoa(n))
			// Such a descriptor stays open after the command.
			set = func(n int, d *descriptor) { s.setFD(n, d) }
		} else {
			var err error
			if n, err = strconv.Atoi(r.N.Value); err != nil || n > maxFD {
				return r.N.Value + ": Bad file descriptor"
			}
		}
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		text := s.hereText(r)
		// It is held for as long as the descriptor is open, which can be longer
		// than the command.
		held := int64(len(text)) + 256
		if s.m.memory.Grow(held) != nil {
			s.m.fail(s.m.memoryError())
			panic(stopped{})
		}
		set(n, newDescriptor(strings.NewReader(text), nil, func() { s.m.memory.Free(held) }))
		return ""
	case syntax.DplIn, syntax.DplOut:
		return s.duplicate(r, n, set)
	}
	name := s.target(r.Word)
	flag := os.O_RDONLY
	switch r.Op {
	case syntax.RdrOut, syntax.RdrAll, syntax.RdrClob, syntax.RdrAllClob:
		flag = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		if s.options.noclobber && (r.Op == syntax.RdrOut || r.Op == syntax.RdrAll) {
			if info, err := s.m.files.Stat(s.path(name)); err == nil && info.Mode().IsRegular() {
				return name + ": cannot overwrite existing file"
			}
		}
	case syntax.AppOut, syntax.AppAll, syntax.AppClob, syntax.AppAllClob:
		flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	case syntax.RdrInOut:
		flag = os.O_RDWR | os.O_CREATE
	case syntax.RdrIn:
	default:
		return fmt.Sprintf("this shell has no redirection %s", r.Op)
	}
	d, err := s.openFile(name, flag)
	if err != nil {
		return name + ": " + commands.Reason(err)
	}
	switch r.Op {
	case syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
		set(1, d)
		set(2, d.keep())
	default:
		set(n, d)
	}
	return ""
}

// target expands the word of a redirection: one word, with globbing when it
// finds one file.
func (s *shell) target(w *syntax.Word) string {
	if fields := s.words([]*syntax.Word{w}); len(fields) == 1 {
		return fields[0]
	} else if len(fields) > 1 {
		s.errorf("%s: ambiguous redirect", s.single(w))
		panic(failed{code: 1})
	}
	text := s.single(w)
	if text == "" && !isQuoted(w) {
		s.errorf("%s: ambiguous redirect", sourceOf(w))
		panic(failed{code: 1})
	}
	return text
}

func isQuoted(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch part.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		}
	}
	return false
}

// openFile opens a file, or a stream by its name below /dev.
func (s *shell) openFile(name string, flag int) (*descriptor, error) {
	abs := s.path(name)
	if n, ok := fdName(abs); ok {
		if d := s.fds[n]; d != nil {
			return d.keep(), nil
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	f, err := s.m.files.OpenFile(abs, flag, 0o666)
	if device := vfs.IsDevice(err); device != "" {
		if d := s.fds[map[string]int{"stdin": 0, "stdout": 1, "stderr": 2}[device]]; d != nil {
			return d.keep(), nil
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENXIO}
	}
	if err != nil {
		return nil, err
	}
	d := newDescriptor(nil, nil, func() { _ = f.Close() }) // of memory: it cannot fail
	d.file = f
	if flag&os.O_WRONLY == 0 {
		d.in = f
	}
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		d.out = f
	}
	return d, nil
}

// fdName reads /dev/fd/N.
func fdName(abs string) (int, bool) {
	text, ok := strings.CutPrefix(abs, "/dev/fd/")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// path makes name absolute.
func (s *shell) path(name string) string {
	switch {
	case name == "" || name[0] == '/':
		return name
	case s.dir == "/":
		return "/" + name
	}
	return s.dir + "/" + name
}

// duplicate makes n>&m, n>&-, n>&m- and >&file.
func (s *shell) duplicate(r *syntax.Redirect, n int, set func(int, *descriptor)) string {
	word := s.single(r.Word)
	move := false
	if len(word) > 1 && strings.HasSuffix(word, "-") {
		word, move = strings.TrimSuffix(word, "-"), true
	}
	if word == "-" {
		set(n, nil)
		return ""
	}
	m, err := strconv.Atoi(word)
	if err != nil {
		if r.Op == syntax.DplOut && r.N == nil {
			d, err := s.openFile(word, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
			if err != nil {
				return word + ": " + commands.Reason(err)
			}
			set(1, d)
			set(2, d.keep())
			return ""
		}
		return word + ": ambiguous redirect"
	}
	d := s.fds[m]
	if d == nil {
		return word + ": Bad file descriptor"
	}
	set(n, d.keep())
	if move && m != n {
		set(m, nil)
	}
	return ""
}

// hereText is what a here-document or here-string brings.
func (s *shell) hereText(r *syntax.Redirect) string {
	if r.Op == syntax.WordHdoc {
		text := s.single(r.Word)
		s.charge(len(text))
		return text + "\n"
	}
	if r.Hdoc == nil {
		return ""
	}
	literal := isQuoted(r.Word) || strings.Contains(r.Word.Lit(), `\`)
	return s.document(r.Hdoc, literal, r.Op == syntax.DashHdoc)
}

// redirectPermanently makes the redirections of exec.
func (s *shell) redirectPermanently(redirs []*syntax.Redirect) bool {
	for _, r := range redirs {
		if err := s.redirectOne(r, s.setFD); err != "" {
			s.errorf("%s", err)
			return false
		}
	}
	return true
}
