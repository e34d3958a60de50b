package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

func notExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// kindOf names what a side is.
func kindOf(s *diffSide) string {
	switch {
	case s.isDir:
		return "directory"
	case s.info == nil || s.info.Mode().IsRegular():
		return "regular file"
	case s.info.Mode()&fs.ModeSymlink != 0:
		return "symbolic link"
	case s.info.Mode()&fs.ModeNamedPipe != 0:
		return "fifo"
	}
	return "character special file"
}

// links compares two symlinks by what they say.
func (o *diffOptions) links(p *Proc, sides [2]*diffSide) int {
	var text [2]string
	for i, s := range sides {
		t, err := p.Files.Readlink(p.Path(s.name))
		if err != nil {
			p.FileError(s.name, err)
			return 2
		}
		text[i] = t
	}
	if text[0] == text[1] {
		return 0
	}
	fmt.Fprintf(p.Out, "Symbolic links %s and %s differ\n", sides[0].name, sides[1].name)
	return 1
}

// excluded tells whether a name matches -x.
func (o *diffOptions) excluded(name string) bool {
	return slices.ContainsFunc(o.exclude, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil || pattern == name
	})
}

// dirs compares two directories, one of which may be missing.
func (o *diffOptions) dirs(p *Proc, sides [2]*diffSide) (code int) {
	var names [2][]string
	for i, s := range sides {
		if !s.exists {
			continue
		}
		entries, err := p.ReadDir(s.name)
		if err != nil {
			p.FileError(s.name, err)
			code = 2
			continue
		}
		if err := p.Hold(64 * len(entries)); err != nil {
			return p.Errorf(2, "%s", Reason(err))
		}
		defer p.Release(64 * len(entries))
		for _, e := range entries {
			if !o.excluded(e.Name()) {
				names[i] = append(names[i], e.Name())
			}
		}
	}
	a, b := names[0], names[1]
	for (len(a) > 0 || len(b) > 0) && !p.Stopped() {
		switch order := compareNames(a, b); {
		case order == 0:
			code = max(code, o.pair(p, Join(sides[0].name, a[0]), Join(sides[1].name, b[0]), false))
			a, b = a[1:], b[1:]
		case order < 0:
			code = max(code, o.only(p, sides, 0, a[0]))
			a = a[1:]
		default:
			code = max(code, o.only(p, sides, 1, b[0]))
			b = b[1:]
		}
	}
	return code
}

// compareNames tells which list goes on with the first name.
func compareNames(a, b []string) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return strings.Compare(a[0], b[0])
}

// only is about a name that one directory has.
func (o *diffOptions) only(p *Proc, sides [2]*diffSide, which int, name string) int {
	if !o.newFile && (!o.oneWay || which == 0) {
		fmt.Fprintf(p.Out, "Only in %s: %s\n", sides[which].name, name)
		return 1
	}
	full := Join(sides[which].name, name)
	info, err := p.Stat(full)
	if err != nil {
		p.FileError(full, err)
		return 2
	}
	if info.IsDir() && !o.recursive {
		fmt.Fprintf(p.Out, "Only in %s: %s\n", sides[which].name, name)
		return 1
	}
	return o.pair(p, Join(sides[0].name, name), Join(sides[1].name, name), false)
}
