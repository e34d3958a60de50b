package commands

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"
)

// finder is one run of find.
type finder struct {
	p        *Proc
	follow   bool // -L
	operands bool // -H
	depth    bool // contents first
	min, max int
	test     findTest
	now      time.Time
	quit     bool
	code     int
	batches  []*findExec
}

// found is a file that find looks at.
type found struct {
	path  string
	start string // the operand it was found below
	info  fs.FileInfo
	depth int
	prune bool
}

// findTest is an expression.
type findTest func(f *finder, at *found) bool

func find(p *Proc) int {
	f := &finder{p: p, max: 1 << 30, now: time.Now()}
	args := p.Args
	for len(args) > 0 {
		switch args[0] {
		case "-L":
			f.follow, args = true, args[1:]
			continue
		case "-P":
			f.follow, args = false, args[1:]
			continue
		case "-H":
			f.operands, args = true, args[1:]
			continue
		}
		break
	}
	var starts []string
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && args[0] != "(" && args[0] != "!" && args[0] != "," {
		starts, args = append(starts, args[0]), args[1:]
	}
	if len(starts) == 0 {
		starts = []string{"."}
	}
	parser := &findParser{f: f, args: args}
	test := parser.parse()
	if parser.err != "" {
		return p.Errorf(1, "%s", parser.err)
	}
	if parser.help {
		return 0
	}
	f.test = test
	for _, start := range starts {
		if f.quit || p.Stopped() {
			break
		}
		info, err := p.Lstat(start)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 && (f.follow || f.operands || strings.HasSuffix(start, "/")) {
			if to, serr := p.Stat(start); serr == nil {
				info = to
			}
		}
		if err != nil {
			f.code = p.Errorf(1, "%s: %s", Quote(start), Reason(err))
			continue
		}
		f.walk(&found{path: start, start: start, info: info}, nil)
	}
	for _, b := range f.batches {
		if !b.flush() {
			f.code = 1
		}
	}
	if err := parser.close(); err != nil && f.code == 0 {
		f.code = p.Errorf(1, "%s", Reason(err))
	}
	return f.code
}

// walk looks at a file and at what is in it. above are the directories that
// lead to it.
func (f *finder) walk(at *found, above []fs.FileInfo) {
	if f.quit || f.p.Stopped() {
		return
	}
	if at.depth > 1000 {
		f.code = f.p.Errorf(1, "%s: the directories are nested too deep", Quote(at.path))
		return
	}
	if !f.depth && at.depth >= f.min {
		f.test(f, at)
	}
	if at.info.IsDir() && !at.prune && at.depth < f.max && !f.quit {
		f.contents(at, above)
	}
	if f.depth && at.depth >= f.min && !f.quit {
		f.test(f, at)
	}
}

func (f *finder) contents(at *found, above []fs.FileInfo) {
	for _, a := range above {
		if f.follow && SameFile(a, at.info) {
			f.code = f.p.Errorf(1, "File system loop detected; %s is part of the same file system loop as %s.", Quote(at.path), Quote(path.Dir(at.path)))
			return
		}
	}
	entries, err := f.p.ReadDir(at.path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) || !f.depth {
			f.code = f.p.Errorf(1, "%s: %s", Quote(at.path), Reason(err))
		}
		return
	}
	for _, e := range entries {
		name := Join(at.path, e.Name())
		info, err := e.Info()
		if f.follow && e.Type()&fs.ModeSymlink != 0 {
			if to, serr := f.p.Stat(name); serr == nil {
				info = to
			}
		}
		if err == nil {
			f.walk(&found{path: name, start: at.start, info: info, depth: at.depth + 1}, append(above, at.info))
		}
	}
}
