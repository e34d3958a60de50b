package commands

import (
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

const maxDirectories = 200 // how deep grep -r goes

func (g *grepper) fail(name string, err error) {
	if g.failed = true; !g.silent {
		g.p.FileError(name, err)
	}
}

func matchesAny(globs []*regexp.Regexp, name string) bool {
	for _, re := range globs {
		if re.MatchString(name) {
			return true
		}
	}
	return false
}

// excluded tells whether a file is left out by --include and --exclude.
func (g *grepper) excluded(name string) bool {
	base := path.Base(name)
	if matchesAny(g.exclude, base) || matchesAny(g.exclude, name) {
		return true
	}
	return g.include != nil && !matchesAny(g.include, base) && !matchesAny(g.include, name)
}

// operand searches what was named as an argument.
func (g *grepper) operand(name string) {
	if name == "-" {
		g.search("-", g.label, g.names == 1, g.p.Stdin)
		return
	}
	info, err := g.p.Stat(name)
	switch {
	case err != nil:
		g.fail(name, err)
	case info.IsDir() && g.directories == "recurse":
		trimmed := name
		for len(trimmed) > 1 && strings.HasSuffix(trimmed, "/") {
			trimmed = trimmed[:len(trimmed)-1]
		}
		if !matchesAny(g.excludeDirs, path.Base(trimmed)) && !matchesAny(g.excludeDirs, trimmed) || trimmed == "." || trimmed == ".." {
			g.directory(name, 0)
		}
	case info.IsDir() && g.directories == "skip":
	case !info.IsDir() && g.excluded(name):
	default:
		g.file(name, g.names == 1)
	}
}

// directory searches all files below dir, "" being the working directory.
func (g *grepper) directory(dir string, depth int) {
	shown := dir
	if dir == "" {
		shown = "."
	}
	entries, err := g.p.ReadDir(shown)
	if err != nil {
		g.fail(shown, err)
		return
	}
	for _, e := range entries {
		if g.p.Stopped() || g.quiet && g.selected {
			return
		}
		name := Join(dir, e.Name())
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			if !g.follow {
				continue
			}
			info, err := g.p.Stat(name)
			if err != nil {
				g.fail(name, err)
				continue
			}
			mode = info.Mode()
		}
		switch {
		case mode.IsDir() && depth >= maxDirectories:
			if g.failed = true; !g.silent {
				g.p.Errorf(2, "%s: warning: recursive directory loop", name)
			}
		case mode.IsDir():
			if !matchesAny(g.excludeDirs, e.Name()) {
				g.directory(name, depth+1)
			}
		case mode&fs.ModeDevice != 0: // some of them have no end
		case !g.excluded(name):
			g.file(name, g.names != 0)
		}
	}
}

func (g *grepper) file(name string, named bool) {
	f, err := g.p.Open(name)
	if err != nil {
		g.fail(name, err)
		return
	}
	defer f.Close()
	g.search(name, name, named, f)
}

// search searches one file and says what could not be read.
func (g *grepper) search(name, shown string, named bool, r io.Reader) {
	s := &grepSearch{grepper: g, name: shown, named: named}
	if err := s.run(r); err != nil && !g.p.Stopped() {
		if name == "-" {
			name = shown
		}
		g.fail(name, err)
	}
}
