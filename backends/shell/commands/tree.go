package commands

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

var treeOptions = NewOptions(1, "a", "d", "f", "F", "L=", "I=", "P=", "h", "s", "p", "u", "g", "D", "i", "l", "n", "C", "A", "S", "N", "q", "r", "t", "U", "v", "J", "X", "noreport", "dirsfirst", "filesfirst", "charset=", "prune", "gitignore", "matchdirs", "ignore-case", "sort=", "du", "o=", "x")

// treePrinter is one run of tree.
type treePrinter struct {
	p                        *Proc
	all, onlyDirs, full      bool
	classify, indent         bool
	size, human, mode        bool
	reverse, byTime          bool
	dirsFirst, filesFirst    bool
	prune                    bool
	level                    int
	ignore, only             []string
	dirs, files, errors      int
	branch, corner, bar, gap string
}

func tree(p *Proc) int {
	opts, code := p.Parse(treeOptions)
	if opts == nil {
		return code
	}
	t := &treePrinter{p: p, level: 1 << 30, all: opts.Has("a"), onlyDirs: opts.Has("d"), full: opts.Has("f"), classify: opts.Has("F"), indent: !opts.Has("i"), size: opts.Has("s", "h"), human: opts.Has("h"), mode: opts.Has("p"),
		reverse: opts.Has("r"), byTime: opts.Has("t"), dirsFirst: opts.Has("dirsfirst"), filesFirst: opts.Has("filesfirst"), prune: opts.Has("prune")}
	t.branch, t.corner, t.bar, t.gap = "├── ", "└── ", "│\u00a0\u00a0 ", "    "
	for _, o := range opts.Options {
		switch o.Key {
		case "L":
			n, err := strconv.Atoi(o.Value)
			if err != nil || n < 1 {
				return p.Errorf(1, "Invalid level, must be greater than 0.")
			}
			t.level = n
		case "I":
			t.ignore = append(t.ignore, strings.Split(o.Value, "|")...)
		case "P":
			t.only = append(t.only, strings.Split(o.Value, "|")...)
		case "charset":
			if !strings.EqualFold(o.Value, "utf-8") {
				t.branch, t.corner, t.bar = "|-- ", "`-- ", "|   "
			}
		case "J", "X":
			return p.Errorf(1, "-%s is not supported here; use find -printf", o.Key)
		}
	}
	names := opts.Args
	if len(names) == 0 {
		names = []string{"."}
	}
	for _, name := range names {
		info, err := p.Stat(name)
		if err != nil || !info.IsDir() {
			t.errors++
			why := "error opening dir"
			p.Out.WriteString(name + "  [" + why + "]\n")
			continue
		}
		p.Out.WriteString(t.label(name, info) + "\n")
		t.dirs++
		t.walk(name, "", 1)
	}
	if !opts.Has("noreport") {
		p.Out.WriteString("\n" + counted(t.dirs, "directory", "directories"))
		if !t.onlyDirs {
			p.Out.WriteString(", " + counted(t.files, "file", "files"))
		}
		p.Out.WriteByte('\n')
	}
	if t.errors > 0 {
		return 2
	}
	return 0
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func (t *treePrinter) label(name string, info fs.FileInfo) string {
	var notes []string
	if t.mode {
		notes = append(notes, ModeString(info.Mode()))
	}
	switch {
	case t.human:
		notes = append(notes, fmt.Sprintf("%4s", Human(info.Size())))
	case t.size:
		notes = append(notes, fmt.Sprintf("%11d", info.Size()))
	}
	if len(notes) > 0 {
		name = "[" + strings.Join(notes, " ") + "]  " + name
	}
	if t.classify {
		switch mode := info.Mode(); {
		case mode.IsDir():
			name += "/"
		case mode.IsRegular() && mode&0o111 != 0:
			name += "*"
		}
	}
	return name
}

func (t *treePrinter) kept(e fs.DirEntry) bool {
	match := func(patterns []string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool {
			ok, err := path.Match(strings.TrimSuffix(p, "/"), e.Name())
			return ok && err == nil
		})
	}
	switch {
	case e.Name()[0] == '.' && !t.all, match(t.ignore), t.onlyDirs && !e.IsDir():
		return false
	}
	return e.IsDir() || len(t.only) == 0 || match(t.only)
}

// holds tells whether there is a file to show below dir.
func (t *treePrinter) holds(dir string, depth int) bool {
	if depth > 100 || t.p.Stopped() {
		return true
	}
	entries, err := t.p.ReadDir(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return t.kept(e) && (!e.IsDir() || t.holds(Join(dir, e.Name()), depth+1))
	})
}

func (t *treePrinter) walk(dir, prefix string, depth int) {
	if depth > t.level || depth > 1000 || t.p.Stopped() {
		return
	}
	entries, err := t.p.ReadDir(dir)
	if err != nil {
		t.errors++
		return
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !t.kept(e) || t.prune && e.IsDir() && !t.holds(Join(dir, e.Name()), depth)
	})
	if t.byTime {
		slices.SortStableFunc(entries, func(a, b fs.DirEntry) int {
			x, err1 := a.Info()
			y, err2 := b.Info()
			if err1 != nil || err2 != nil {
				return 0
			}
			return x.ModTime().Compare(y.ModTime())
		})
	}
	if t.reverse {
		slices.Reverse(entries)
	}
	if t.dirsFirst || t.filesFirst {
		slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return rank(a.IsDir() == t.dirsFirst) - rank(b.IsDir() == t.dirsFirst) })
	}
	for i, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		mark, below := t.branch, t.bar
		if i == len(entries)-1 {
			mark, below = t.corner, t.gap
		}
		if !t.indent {
			mark, below = "", ""
		}
		at := Join(dir, e.Name())
		shown := e.Name()
		if t.full {
			shown = at
		}
		shown = t.label(shown, info)
		if e.Type()&fs.ModeSymlink != 0 {
			if to, err := t.p.Files.Readlink(t.p.Path(at)); err == nil {
				shown += " -> " + to
			}
		}
		t.p.Out.WriteString(prefix + mark + shown + "\n")
		if e.IsDir() {
			t.dirs++
			t.walk(at, prefix+below, depth+1)
		} else {
			t.files++
		}
	}
}
