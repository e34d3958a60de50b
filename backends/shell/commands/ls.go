package commands

import (
	order "cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

var lsOptions = NewOptions(2, "a all", "A almost-all", "b escape", "B ignore-backups", "c", "C", "d directory", "f", "F classify=?", "file-type", "g", "G no-group", "h human-readable", "si",
	"H dereference-command-line", "i inode", "I ignore=", "hide=", "k kibibytes", "l", "L dereference", "m", "n numeric-uid-gid", "N literal", "o", "p", "indicator-style=", "q hide-control-chars",
	"Q quote-name", "quoting-style=", "r reverse", "R recursive", "s size", "S", "sort=", "time=", "time-style=", "full-time", "t", "u", "U", "v", "w width=", "x", "X", "1", "color=?",
	"group-directories-first", "format=", "T tabsize=", "Z context", "zero", "show-control-chars", "block-size=", "hyperlink=?", "author", "D dired")

// lister is one run of ls.
type lister struct {
	p         *Proc
	all, most bool
	long      bool
	owner     bool
	group     bool
	numeric   bool
	human     bool
	inode     bool
	blocks    bool
	dir       bool
	recursive bool
	follow    bool
	reverse   bool
	dirsFirst bool
	commas    bool
	quote     bool
	escape    bool
	sort      string
	indicator string // "", "slash", "file-type", "classify"
	timeStyle string
	ignore    []string
	end       byte
	printed   bool
	code      int
}

// listed is a file to list.
type listed struct {
	name string // as shown
	path string // as it is opened
	info fs.FileInfo
}

func ls(p *Proc) int {
	opts, code := p.Parse(lsOptions)
	if opts == nil {
		return code
	}
	l := &lister{p: p, owner: true, group: true, sort: "name", end: '\n'}
	if !l.configure(opts) {
		return 2
	}
	names := opts.Args
	if len(names) == 0 {
		names = []string{"."}
	}
	var files, dirs []listed
	for _, name := range names {
		info, err := p.Lstat(name)
		isLink := err == nil && info.Mode()&fs.ModeSymlink != 0
		if isLink && (l.follow || opts.Has("H") || !l.long && !l.dir && l.indicator != "classify" || strings.HasSuffix(name, "/")) {
			if to, terr := p.Stat(name); terr == nil && (to.IsDir() || l.follow || opts.Has("H")) {
				info = to
			}
		}
		if err != nil {
			l.code = p.Errorf(2, "cannot access %s: %s", Quote(name), Reason(err))
			continue
		}
		f := listed{name: name, path: name, info: info}
		if info.IsDir() && !l.dir {
			dirs = append(dirs, f)
		} else {
			files = append(files, f)
		}
	}
	l.order(files)
	l.order(dirs)
	if len(files) > 0 {
		l.print(files, false)
	}
	for _, d := range dirs {
		l.directory(d.path, len(names) > 1 || l.recursive, 0)
	}
	return l.code
}

// configure reads the options.
func (l *lister) configure(opts *Parsed) bool {
	for _, o := range opts.Options {
		switch o.Key {
		case "a":
			l.all = true
		case "A":
			l.most = true
		case "f":
			l.all, l.sort = true, "none"
		case "d":
			l.dir = true
		case "F":
			l.indicator = "classify"
		case "file-type":
			l.indicator = "file-type"
		case "p":
			l.indicator = "slash"
		case "indicator-style":
			l.indicator = strings.TrimSuffix(o.Value, "none")
		case "g":
			l.long, l.owner = true, false
		case "o":
			l.long, l.group = true, false
		case "G":
			l.group = false
		case "n":
			l.long, l.numeric = true, true
		case "h", "si":
			l.human = true
		case "i":
			l.inode = true
		case "I", "hide":
			l.ignore = append(l.ignore, o.Value)
		case "B":
			l.ignore = append(l.ignore, "*~")
		case "l":
			l.long, l.commas = true, false
		case "L":
			l.follow = true
		case "m":
			l.commas, l.long = true, false
		case "1", "C", "x":
			if o.Key != "1" || l.commas {
				l.long, l.commas = false, false
			}
		case "format":
			l.long, l.commas = o.Value == "long" || o.Value == "verbose", o.Value == "commas"
		case "Q":
			l.quote = true
		case "b":
			l.escape = true
		case "r":
			l.reverse = true
		case "R":
			l.recursive = true
		case "s":
			l.blocks = true
		case "S":
			l.sort = "size"
		case "t":
			l.sort = "time"
		case "U":
			l.sort = "none"
		case "v":
			l.sort = "version"
		case "X":
			l.sort = "extension"
		case "sort":
			if l.sort = o.Value; !slices.Contains([]string{"none", "name", "size", "time", "version", "extension", "width"}, o.Value) {
				l.p.Usage(2, "invalid argument %s for '--sort'", Quote(o.Value))
				return false
			}
		case "time-style":
			l.timeStyle = o.Value
		case "full-time":
			l.long, l.timeStyle = true, "full-iso"
		case "group-directories-first":
			l.dirsFirst = true
		case "zero":
			l.end = 0
		}
	}
	return true
}

// directory lists the directory name.
func (l *lister) directory(name string, header bool, depth int) {
	if l.p.Stopped() || depth > 1000 {
		return
	}
	if header {
		if l.printed {
			l.p.Out.WriteByte('\n')
		}
		fmt.Fprintf(l.p.Out, "%s:\n", name)
		l.printed = true
	}
	entries, err := l.p.ReadDir(name)
	if err != nil {
		l.code = max(l.code, l.p.Errorf(2, "cannot open directory %s: %s", Quote(name), Reason(err)))
		return
	}
	if err := l.p.Hold(len(entries) * 128); err != nil {
		l.code = l.p.FileError(name, err)
		return
	}
	defer l.p.Release(len(entries) * 128)
	var files []listed
	if l.all {
		for _, dot := range []string{".", ".."} {
			if info, err := l.p.Stat(Join(name, dot)); err == nil {
				files = append(files, listed{name: dot, path: Join(name, dot), info: info})
			}
		}
	}
	for _, e := range entries {
		if e.Name()[0] == '.' && !l.all && !l.most || l.ignored(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		at := Join(name, e.Name())
		if l.follow {
			if to, err := l.p.Stat(at); err == nil {
				info = to
			}
		}
		files = append(files, listed{name: e.Name(), path: at, info: info})
	}
	l.order(files)
	l.print(files, true)
	if !l.recursive {
		return
	}
	for _, f := range files {
		if f.info.IsDir() && f.name != "." && f.name != ".." {
			l.directory(f.path, true, depth+1)
		}
	}
}

func (l *lister) ignored(name string) bool {
	return slices.ContainsFunc(l.ignore, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

func (l *lister) order(files []listed) {
	compare := func(a, b listed) int {
		switch l.sort {
		case "size":
			if c := order.Compare(b.info.Size(), a.info.Size()); c != 0 {
				return c
			}
		case "time":
			if c := b.info.ModTime().Compare(a.info.ModTime()); c != 0 {
				return c
			}
		case "version":
			if c := CompareVersions(a.name, b.name); c != 0 {
				return c
			}
		case "extension":
			if c := strings.Compare(path.Ext(a.name), path.Ext(b.name)); c != 0 {
				return c
			}
		case "width":
			if c := order.Compare(len(a.name), len(b.name)); c != 0 {
				return c
			}
		}
		return strings.Compare(a.name, b.name)
	}
	if l.sort != "none" {
		slices.SortStableFunc(files, compare)
		if l.reverse {
			slices.Reverse(files)
		}
	}
	if l.dirsFirst {
		slices.SortStableFunc(files, func(a, b listed) int {
			return order.Compare(rank(a.info.IsDir()), rank(b.info.IsDir()))
		})
	}
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}
