package vfs

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"
)

// Change is a path at which there is something else than in the tree that the
// file system started from, or was last rebased to.
type Change struct {
	Path string
	// Was is what the tree has there; nil is nothing.
	Was Node
	// Now is what is there; nil is nothing.
	Now *Entry
}

// Entry is a file, a symlink or a directory as a change brings it.
type Entry struct {
	Mode    fs.FileMode
	ModTime time.Time
	// Content of a regular file. It is shared with the file system, which does
	// not write into it any more: nobody else may.
	Content []byte
	Link    string
	// Appended tells that the content is that of Was, or nothing, and what was
	// appended to it.
	Appended bool
}

// Exchange calls merge with what has changed, parents before what is in them,
// and what was removed before the directory it was in; of a directory only its
// being there counts. merge returns the tree that came of these changes and of
// what others have done, and how much content and how many entries it has. It
// is the tree that the file system lies over from then on: files become what
// they are there, and those that are open stay open. When merge fails nothing
// happens. Whoever uses the file system waits meanwhile.
func (f *FS) Exchange(merge func([]Change) (base Node, used int64, entries int, err error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := differ{fs: f}
	d.directory("/", f.root.base, f.root)
	keep := f.handOver(d.handed)
	base, used, entries, err := merge(d.out)
	if err != nil {
		keep()
		return err
	}
	f.merged = f.version
	f.used, f.entries = used, entries
	for n := range f.orphans {
		f.used += int64(len(n.content))
	}
	f.rebase(f.root, base)
	f.provide()
	return nil
}

// Changed tells whether anything was done since the last Exchange.
func (f *FS) Changed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.version != f.merged
}

type differ struct {
	fs     *FS
	out    []Change
	handed []*inode // whose content is in out
}

// at compares what was at a path with what is.
func (d *differ) at(name string, was Node, now *inode) {
	switch {
	case now == nil:
		d.removed(name, was)
	case now.device != "":
	case now.isDir():
		if was != nil && !was.IsDir() {
			d.out = append(d.out, Change{name, was, nil})
			was = nil
		}
		if was == nil && !now.provided {
			d.out = append(d.out, Change{name, nil, &Entry{Mode: now.mode, ModTime: now.mtime}})
		}
		d.directory(name, was, now)
	default:
		if was != nil && was.IsDir() {
			d.removed(name, was)
			was = nil
		}
		if was != nil && now.base == was && !now.changed || was != nil && now.equals(was) {
			return
		}
		e := now.entry()
		d.handed = append(d.handed, now)
		e.Appended = now.base == was && !now.rewritten && !now.isLink()
		d.out = append(d.out, Change{name, was, e})
	}
}

// directory compares what was in a directory with what is.
func (d *differ) directory(name string, was Node, now *inode) {
	if !now.loaded && now.base == was {
		return
	}
	d.fs.load(now)
	before := map[string]Node{}
	if was != nil {
		for b := range was.Children() {
			before[b.Name()] = b
		}
	}
	for _, kid := range slices.Sorted(maps.Keys(before)) {
		if now.kids[kid] == nil {
			d.removed(path.Join(name, kid), before[kid])
		}
	}
	for _, kid := range slices.Sorted(maps.Keys(now.kids)) {
		d.at(path.Join(name, kid), before[kid], now.kids[kid])
	}
}

func (d *differ) removed(name string, was Node) {
	if was.IsDir() {
		for b := range was.Children() {
			d.removed(path.Join(name, b.Name()), b)
		}
	}
	d.out = append(d.out, Change{name, was, nil})
}

// entry is n as it is now.
func (n *inode) entry() *Entry {
	e := &Entry{Mode: n.mode, ModTime: n.mtime, Link: n.link}
	if !n.isLink() {
		if spare := cap(n.content) - len(n.content); n.writes == 0 && spare > len(n.content)/8 {
			n.content = append(make([]byte, 0, len(n.content)), n.content...)
		}
		n.shared = len(n.content)
		e.Content = n.content[:len(n.content):len(n.content)]
	}
	return e
}

// equals tells whether b is what n is now.
func (n *inode) equals(b Node) bool {
	if n.mode != b.Mode() {
		return false
	}
	if n.isLink() {
		return n.link == b.Link()
	}
	return n.mtime.Equal(b.ModTime()) && sameBytes(n.content, b.Content())
}

func sameBytes(a, b []byte) bool {
	if len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) {
		return true
	}
	return bytes.Equal(a, b)
}

// rebase makes a directory, as far as it is loaded, what base is.
func (f *FS) rebase(dir *inode, base Node) {
	if !dir.loaded || dir.kids == nil {
		dir.base, dir.loaded = base, false
		return
	}
	same := dir.base == base
	dir.base, dir.changed = base, false
	fresh := map[string]Node{}
	for b := range base.Children() {
		fresh[b.Name()] = b
	}
	for name, n := range dir.kids {
		b := fresh[name]
		delete(fresh, name)
		switch {
		case n.device != "" || b == nil && n.provided:
		case b == nil:
			delete(dir.kids, name)
			f.orphan(n)
		case n.isDir() && b.IsDir():
			n.provided = false
			f.rebase(n, b)
		case n.isDir() || b.IsDir():
			dir.kids[name] = f.from(b)
			f.memory.Overdraw(entryCost)
			f.orphan(n)
		case same && n.base == b && !n.changed:
		case n.equals(b):
			n.base, n.changed, n.rewritten = b, false, false
			n.shared = len(n.content)
			f.disown(n)
		default:
			f.disown(n)
			n.take(b)
		}
	}
	for name, b := range fresh {
		dir.kids[name] = f.from(b)
	}
	f.memory.Overdraw(entryCost * int64(len(fresh)))
}

// orphan takes a name from n, which is not in the tree any more.
func (f *FS) orphan(n *inode) {
	n.links--
	for _, kid := range n.kids {
		f.orphan(kid)
	}
	switch {
	case n.links > 0:
	case n.opens > 0 && !f.orphans[n]:
		f.orphans[n] = true
		f.used += int64(len(n.content))
	case n.opens == 0:
		f.forget(n)
	}
}
