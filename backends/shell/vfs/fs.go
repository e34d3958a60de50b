package vfs

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// FS is a file system. All methods are safe for concurrent use.
type FS struct {
	limits Limits
	access func(op, path string) error
	clock  func() time.Time
	memory *fair.Account

	mu      sync.Mutex
	root    *inode
	used    int64
	entries int
	opens   int
	numbers uint64
	linked  int    // bytes in the texts of symlinks that were made
	version uint64 // changes with every change
	merged  uint64 // version that the last Exchange has seen
	// orphans are files that are open and that no name leads to.
	orphans map[*inode]bool
	locks   map[*inode]*lock
}

// New makes a file system.
func New(opt Options) *FS {
	f := &FS{limits: opt.Limits, access: opt.Access, clock: opt.Now, memory: opt.Memory, used: opt.Used, entries: opt.Entries, numbers: 1, orphans: map[*inode]bool{}}
	if f.clock == nil {
		f.clock = time.Now
	}
	if opt.Base != nil {
		f.root = f.from(opt.Base)
	} else {
		f.root = f.newInode(fs.ModeDir | 0o755)
		f.root.changed = false
	}
	f.provide()
	f.version, f.merged = 0, 0
	return f
}

// provide adds /dev and /tmp where they are missing.
func (f *FS) provide() {
	tmp := f.provided(f.root, "tmp", fs.ModeDir|fs.ModeSticky|0o777)
	tmp.provided = tmp.base == nil
	dev := f.provided(f.root, "dev", fs.ModeDir|0o755)
	if !dev.isDir() {
		return
	}
	for _, name := range slices.Concat(devices, streams) {
		n := f.provided(dev, name, fs.ModeDevice|fs.ModeCharDevice|0o666)
		if n.provided {
			n.device = name
		}
	}
}

func (f *FS) provided(dir *inode, name string, mode fs.FileMode) *inode {
	if n := f.child(dir, name); n != nil {
		return n
	}
	n := f.newInode(mode)
	n.changed, n.provided, n.links = false, true, 1
	if dir.kids == nil {
		dir.kids = map[string]*inode{}
	}
	dir.kids[name] = n
	return n
}

// now is the time as a document can hold it.
func (f *FS) now() time.Time { return f.clock().UTC().Truncate(time.Microsecond) }

// Used tells how much content there is, in bytes, how many entries and how many
// open files.
func (f *FS) Used() (bytes int64, entries, open int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.used, f.entries, f.opens
}

// place is where a name leads.
type place struct {
	dir  *inode // nil for the root
	name string // in dir
	node *inode // nil when there is nothing
	path string // without symlinks
	// slash tells that the name ended in "/", and so means a directory.
	slash bool
}

// walk follows name. A missing last element is no error; the last element is
// followed where it is a symlink if follow says so.
func (f *FS) walk(name string, follow bool) (place, error) {
	if strings.IndexByte(name, 0) >= 0 {
		return place{}, syscall.EINVAL
	}
	if name == "" {
		return place{}, syscall.ENOENT
	}
	if len(name) >= maxPath {
		return place{}, syscall.ENAMETOOLONG
	}
	at := place{node: f.root}
	var above []place
	links := 0
	rest := name
	for {
		rest = strings.TrimLeft(rest, "/")
		if rest == "" {
			at.slash = at.slash || strings.HasSuffix(name, "/")
			at.path = pathOf(above, at)
			return at, nil
		}
		part, more, deeper := strings.Cut(rest, "/")
		rest = more
		last := strings.Trim(more, "/") == ""
		if at.node == nil {
			return place{}, syscall.ENOENT
		}
		if !at.node.isDir() {
			return place{}, syscall.ENOTDIR
		}
		switch part {
		case ".":
			if last {
				at.slash = true
			}
			continue
		case "..":
			if len(above) > 0 {
				at, above = above[len(above)-1], above[:len(above)-1]
			}
			if last {
				at.slash = true
			}
			continue
		}
		if len(part) > maxName {
			return place{}, syscall.ENAMETOOLONG
		}
		next := f.child(at.node, part)
		if next != nil && next.isLink() && (!last || follow || deeper) {
			if links++; links > maxLinks {
				return place{}, syscall.ELOOP
			}
			target := next.link
			if path.IsAbs(target) {
				at, above = place{node: f.root}, nil
			}
			if deeper {
				target += "/" + more
			}
			rest = target
			if len(rest) >= 2*maxPath {
				return place{}, syscall.ENAMETOOLONG
			}
			if last && !deeper {
				name = target // for its final slash
			}
			continue
		}
		above = append(above, at)
		at = place{dir: at.node, name: part, node: next, slash: last && deeper}
		if next == nil && !last {
			return place{}, syscall.ENOENT
		}
	}
}

// pathOf is the path of a place below others.
func pathOf(above []place, at place) string {
	if len(above) == 0 {
		return "/"
	}
	var b strings.Builder
	for _, p := range above[1:] {
		b.WriteByte('/')
		b.WriteString(p.name)
	}
	b.WriteByte('/')
	b.WriteString(at.name)
	return b.String()
}

// find follows name to what exists.
func (f *FS) find(name string, follow bool) (place, error) {
	at, err := f.walk(name, follow)
	switch {
	case err != nil:
		return at, err
	case at.node == nil:
		return at, syscall.ENOENT
	case at.slash && !at.node.isDir():
		return at, syscall.ENOTDIR
	}
	return at, nil
}

// checkNew tells whether something can be made at the place.
func (f *FS) checkNew(at place) error {
	switch {
	case at.dir == nil:
		return syscall.EEXIST
	case at.dir.provided && at.path[:min(5, len(at.path))] == "/dev/":
		return syscall.EACCES
	case at.dir.links <= 0 && at.dir != f.root:
		return syscall.ENOENT // the directory was removed
	case !utf8.ValidString(at.path):
		return syscall.EILSEQ
	case len(at.path) > maxPath:
		return syscall.ENAMETOOLONG
	case f.limits.Entries > 0 && f.entries >= f.limits.Entries:
		return syscall.ENOSPC
	}
	return nil
}

// try does something at the place that name leads to, once access has been
// granted to it. do is called with f.mu held.
func (f *FS) try(op, verb, name string, follow bool, do func(at place) error) error {
	const attempts = 10 // somebody who keeps moving links is refused
	asked := ""
	for range attempts {
		f.mu.Lock()
		at, err := f.walk(name, follow)
		if err == nil && (f.access == nil || asked == at.path) {
			err = do(at)
			f.mu.Unlock()
			return wrap(verb, name, err)
		}
		f.mu.Unlock()
		if err != nil {
			return wrap(verb, name, err)
		}
		clean := path.Clean(name)
		if err := f.access(op, clean); err != nil {
			return wrap(verb, name, err)
		}
		if at.path != clean {
			if err := f.access(op, at.path); err != nil {
				return wrap(verb, name, err)
			}
		}
		asked = at.path
	}
	return wrap(verb, name, syscall.EAGAIN)
}

func wrap(verb, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: verb, Path: name, Err: err}
}

// Capacity is how much content and how many entries there can be.
func (f *FS) Capacity() (bytes int64, entries int) {
	bytes, entries = f.limits.TotalBytes, f.limits.Entries
	if bytes == 0 {
		bytes = 1 << 40
	}
	if entries == 0 {
		entries = 1 << 30
	}
	return bytes, entries
}
