package vfs

import (
	"io/fs"
	"maps"
	"slices"
	"time"
)

// inode is an entry as it is now. All of it is guarded by FS.mu.
type inode struct {
	number uint64
	mode   fs.FileMode
	mtime  time.Time
	links  int // names that lead here
	opens  int
	writes int // opens that can write

	// base is what this was loaded from, or merged as; nil when it was made
	// here. changed tells that it may differ from base.
	base    Node
	changed bool
	// rewritten tells that since then the content was changed in another way
	// than by appending, or that it came from elsewhere.
	rewritten bool

	// content is shared up to the offset shared: what is below that is
	// replaced by a copy before it is written to.
	content []byte
	shared  int
	own     int64 // bytes of memory taken for the buffer of content

	link   string
	device string // one of devices or streams

	kids   map[string]*inode
	loaded bool // kids are there
	// provided marks a directory or device that this package adds, and that is
	// not written back unless something is put into it.
	provided bool
}

func (n *inode) isDir() bool  { return n.mode.IsDir() }
func (n *inode) isLink() bool { return n.mode&fs.ModeSymlink != 0 }

// copies is how often a document will hold the content: for each name.
func (n *inode) copies() int64 { return int64(max(1, n.links)) }

func (n *inode) size() int64 {
	if n.isLink() {
		return int64(len(n.link))
	}
	return int64(len(n.content))
}

// newInode makes an inode that nothing leads to yet.
func (f *FS) newInode(mode fs.FileMode) *inode {
	f.numbers++
	f.memory.Overdraw(entryCost)
	return &inode{number: f.numbers, mode: mode, mtime: f.now(), changed: true, loaded: true}
}

// from makes an inode of a node.
func (f *FS) from(b Node) *inode {
	f.numbers++
	n := &inode{number: f.numbers, links: 1}
	n.take(b)
	return n
}

// take makes n what b is.
func (n *inode) take(b Node) {
	n.base, n.changed, n.rewritten = b, false, false
	n.mode, n.mtime = b.Mode(), b.ModTime()
	n.content, n.link = nil, ""
	switch {
	case n.isDir():
		n.kids, n.loaded = nil, false
	case n.isLink():
		n.link = b.Link()
	default:
		n.content = b.Content()
		n.shared = len(n.content)
		n.content = slices.Clip(n.content)
	}
}

// load makes sure that the children of a directory are there.
func (f *FS) load(n *inode) {
	if n.loaded {
		return
	}
	n.loaded, n.kids = true, map[string]*inode{}
	if n.base == nil {
		return
	}
	for b := range n.base.Children() {
		n.kids[b.Name()] = f.from(b)
	}
	f.memory.Overdraw(entryCost * int64(len(n.kids)))
}

// child returns what name leads to in directory n, or nil.
func (f *FS) child(n *inode, name string) *inode {
	f.load(n)
	return n.kids[name]
}

// names returns the names in directory n in byte order.
func (f *FS) names(n *inode) []string {
	f.load(n)
	return slices.Sorted(maps.Keys(n.kids))
}

// put makes name in directory dir lead to n.
func (f *FS) put(dir *inode, name string, n *inode) {
	f.load(dir)
	if dir.kids == nil {
		dir.kids = map[string]*inode{}
	}
	dir.kids[name] = n
	if n.links > 0 { // a document holds the content for each name
		f.used += int64(len(n.content))
	}
	n.links++
	f.entries++
	f.touch(dir)
}

// drop takes name out of directory dir.
func (f *FS) drop(dir *inode, name string) {
	n := dir.kids[name]
	delete(dir.kids, name)
	n.links--
	f.entries--
	if n.links > 0 {
		f.used -= int64(len(n.content))
	}
	f.release(n)
	f.touch(dir)
}

// touch notes that n was changed.
func (f *FS) touch(n *inode) {
	n.changed = true
	f.version++
	// The version of a large file is made from its time: two writes never get
	// the same.
	now := f.now()
	if !now.After(n.mtime) && now.Add(time.Second).After(n.mtime) {
		now = n.mtime.Add(time.Microsecond)
	}
	n.mtime = now
}

// release frees the content of n when nothing leads to it any more.
func (f *FS) release(n *inode) {
	switch {
	case n.links > 0:
	case n.opens > 0:
		f.orphans[n] = true
	default:
		delete(f.orphans, n)
		f.used -= int64(len(n.content))
		f.forget(n)
	}
}

// info describes an inode at one moment.
type info struct {
	name  string
	mode  fs.FileMode
	size  int64
	mtime time.Time
	sys   Sys
}

func (i *info) Name() string               { return i.name }
func (i *info) Size() int64                { return i.size }
func (i *info) Mode() fs.FileMode          { return i.mode }
func (i *info) Type() fs.FileMode          { return i.mode.Type() }
func (i *info) ModTime() time.Time         { return i.mtime }
func (i *info) IsDir() bool                { return i.mode.IsDir() }
func (i *info) Sys() any                   { return &i.sys }
func (i *info) Info() (fs.FileInfo, error) { return i, nil }

func (n *inode) info(name string) *info {
	out := &info{name: name, mode: n.mode, size: n.size(), mtime: n.mtime, sys: Sys{Inode: n.number, Links: n.links}}
	if n.isDir() {
		out.size = 4096
		out.sys.Links = 2
		for _, kid := range n.kids {
			if kid.isDir() {
				out.sys.Links++
			}
		}
	}
	return out
}
