package commands

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

var duOptions = NewOptions(1, "0 null", "a all", "apparent-size", "B block-size=", "b bytes", "c total", "d max-depth=", "h human-readable", "k", "l count-links", "L dereference", "m", "P no-dereference", "S separate-dirs", "s summarize", "si", "t threshold=", "x one-file-system", "X exclude-from=", "exclude=", "time=?", "inodes", "D H dereference-args")

// usage is one run of du.
type usage struct {
	p        *Proc
	apparent bool
	inodes   bool
	all      bool
	separate bool
	human    bool
	unit     int64
	max      int
	exclude  []string
	end      string
	seen     map[uint64]bool
	code     int
}

func du(p *Proc) int {
	opts, code := p.Parse(duOptions)
	if opts == nil {
		return code
	}
	u := &usage{p: p, unit: 1024, max: 1 << 30, end: "\n", seen: map[uint64]bool{}, all: opts.Has("a"), separate: opts.Has("S"), inodes: opts.Has("inodes")}
	for _, o := range opts.Options {
		switch o.Key {
		case "0":
			u.end = "\x00"
		case "apparent-size":
			u.apparent = true
		case "b":
			u.apparent, u.unit, u.human = true, 1, false
		case "B":
			n, ok := ParseSize(o.Value)
			if !ok || n == 0 {
				return p.Errorf(1, "invalid -B argument %s", Quote(o.Value))
			}
			u.unit = n
		case "k":
			u.unit, u.human = 1024, false
		case "m":
			u.unit, u.human = 1<<20, false
		case "h", "si":
			u.human = true
		case "d":
			n, err := strconv.Atoi(o.Value)
			if err != nil || n < 0 {
				return p.Usage(1, "invalid maximum depth %s", Quote(o.Value))
			}
			u.max = n
		case "s":
			u.max = 0
		case "exclude":
			u.exclude = append(u.exclude, o.Value)
		}
	}
	names := opts.Args
	if len(names) == 0 {
		names = []string{"."}
	}
	var total int64
	for _, name := range names {
		read := p.Lstat
		if opts.Has("L", "D") {
			read = p.Stat
		}
		info, err := read(name)
		if err != nil {
			u.code = p.Errorf(1, "cannot access %s: %s", Quote(name), Reason(err))
			continue
		}
		total += u.walk(name, info, 0)
	}
	if opts.Has("c") {
		u.print(total, "total")
	}
	return u.code
}

func (u *usage) print(size int64, name string) {
	var text string
	switch {
	case u.inodes:
		text = strconv.FormatInt(size, 10)
	case u.human:
		text = Human(size)
	default:
		text = strconv.FormatInt((size+u.unit-1)/u.unit, 10)
	}
	u.p.Out.WriteString(text + "\t" + name + u.end)
}

func (u *usage) size(info fs.FileInfo) int64 {
	switch {
	case u.inodes:
		return 1
	case u.apparent && info.IsDir():
		return 4096
	case u.apparent:
		return info.Size()
	}
	return 1024 * kilobytes(info)
}

func (u *usage) walk(name string, info fs.FileInfo, depth int) int64 {
	if u.p.Stopped() || depth > 1000 {
		return 0
	}
	for _, pattern := range u.exclude {
		re, err := globRegexp(pattern, false)
		if err == nil && (re.MatchString(name) || re.MatchString(name[strings.LastIndexByte(name, '/')+1:])) {
			return 0
		}
	}
	if sys := sysOf(info); sys.Links > 1 && !info.IsDir() {
		if u.seen[sys.Inode] {
			return 0
		}
		u.seen[sys.Inode] = true
	}
	size := u.size(info)
	if !info.IsDir() {
		if u.all && depth <= u.max || depth == 0 {
			u.print(size, name)
		}
		return size
	}
	entries, err := u.p.ReadDir(name)
	if err != nil {
		u.code = u.p.Errorf(1, "cannot read directory %s: %s", Quote(name), Reason(err))
	}
	own := size
	for _, e := range entries {
		kid, err := e.Info()
		if err != nil {
			continue
		}
		n := u.walk(Join(name, e.Name()), kid, depth+1)
		size += n
		if !kid.IsDir() {
			own += n
		}
	}
	if depth <= u.max {
		if u.separate {
			u.print(own, name)
		} else {
			u.print(size, name)
		}
	}
	return size
}

var dfOptions = NewOptions(1, "a all", "B block-size=", "h human-readable", "H si", "i inodes", "k", "l local", "P portability", "T print-type", "t type=", "x exclude-type=", "output=?", "total", "sync", "no-sync")

// Capacity is what a file system can hold, where it has limits.
type Capacity interface {
	Capacity() (bytes int64, entries int)
}

func df(p *Proc) int {
	opts, code := p.Parse(dfOptions)
	if opts == nil {
		return code
	}
	for _, name := range opts.Args {
		if _, err := p.Stat(name); err != nil {
			return p.FileError(name, err)
		}
	}
	used, entries, _ := p.Files.Used()
	total, most := used, entries
	if c, ok := p.Files.(Capacity); ok {
		total, most = c.Capacity()
	}
	percent := func(a, b int64) string {
		if b == 0 {
			return "-"
		}
		return strconv.FormatInt((a*100+b-1)/b, 10) + "%"
	}
	switch {
	case opts.Has("i"):
		fmt.Fprintf(p.Out, "Filesystem  Inodes IUsed  IFree IUse%% Mounted on\nworkspace  %7d %5d %6d %5s /\n", most, entries, most-entries, percent(int64(entries), int64(most)))
	case opts.Has("h", "H"):
		fmt.Fprintf(p.Out, "Filesystem      Size  Used Avail Use%% Mounted on\nworkspace      %5s %5s %5s %4s /\n", Human(total), Human(used), Human(total-used), percent(used, total))
	default:
		fmt.Fprintf(p.Out, "Filesystem     1K-blocks    Used Available Use%% Mounted on\nworkspace      %9d %7d %9d %4s /\n", total/1024, (used+1023)/1024, (total-used)/1024, percent(used, total))
	}
	return 0
}
