package vfs

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// Lstat describes name itself, also where it is a symlink.
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.describe("lstat", name, false) }

// Stat describes what name leads to.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.describe("stat", name, true) }

func (f *FS) describe(verb, name string, follow bool) (fs.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.find(name, follow)
	if err != nil {
		return nil, wrap(verb, name, err)
	}
	if at.node.isDir() {
		f.load(at.node)
	}
	return at.node.info(path.Base(path.Clean(name))), nil
}

// Resolve returns the path without symlinks of what name leads to. The last
// element need not exist.
func (f *FS) Resolve(name string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.walk(name, true)
	if err == nil && at.slash && at.node != nil && !at.node.isDir() {
		err = syscall.ENOTDIR
	}
	return at.path, wrap("resolve", name, err)
}

// Readlink returns the text of a symlink.
func (f *FS) Readlink(name string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.find(name, false)
	if err == nil && !at.node.isLink() {
		err = syscall.EINVAL
	}
	if err != nil {
		return "", wrap("readlink", name, err)
	}
	return at.node.link, nil
}

// ReadDir returns the entries of a directory in byte order.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.find(name, true)
	if err == nil && !at.node.isDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, wrap("readdir", name, err)
	}
	names := f.names(at.node)
	out := make([]fs.DirEntry, len(names))
	for i, kid := range names {
		out[i] = at.node.kids[kid].info(kid)
	}
	return out, nil
}

// Mkdir makes a directory whose parent exists.
func (f *FS) Mkdir(name string, perm fs.FileMode) error {
	return f.try(Write, "mkdir", name, false, func(at place) error {
		if at.node != nil {
			return syscall.EEXIST
		}
		if err := f.checkNew(at); err != nil {
			return err
		}
		n := f.newInode(fs.ModeDir | perm&(fs.ModePerm|fs.ModeSticky))
		n.kids = map[string]*inode{}
		f.put(at.dir, at.name, n)
		return nil
	})
}

// Symlink makes a symlink with the text target.
func (f *FS) Symlink(target, name string) error {
	return f.try(Write, "symlink", name, false, func(at place) error {
		switch {
		case at.node != nil:
			return syscall.EEXIST
		case target == "":
			return syscall.ENOENT
		case len(target) >= maxPath:
			return syscall.ENAMETOOLONG
		case !utf8.ValidString(target):
			return syscall.EILSEQ
		case f.linked+len(target) > maxLinked:
			return syscall.ENOSPC
		}
		if err := f.checkNew(at); err != nil {
			return err
		}
		n := f.newInode(fs.ModeSymlink | 0o777)
		n.link = target
		f.linked += len(target)
		f.put(at.dir, at.name, n)
		return nil
	})
}

// Link makes another name for a file. The two share their content for as long
// as this file system lives, and are files of their own afterwards. Who may use
// the new name can read and write the old file through it, and so access is
// asked for both.
func (f *FS) Link(old, name string) error {
	for _, op := range []string{Read, Write} {
		if err := f.try(op, "link", old, false, func(place) error { return nil }); err != nil {
			return err
		}
	}
	return f.try(Write, "link", name, false, func(at place) error {
		from, err := f.find(old, false)
		switch {
		case err != nil:
			return err
		case at.node != nil:
			return syscall.EEXIST
		case from.node.isDir(), from.node.device != "":
			return syscall.EPERM
		}
		if err := f.checkNew(at); err != nil {
			return err
		}
		if f.limits.TotalBytes > 0 && int64(len(from.node.content)) > f.limits.TotalBytes-f.used {
			return syscall.ENOSPC
		}
		f.put(at.dir, at.name, from.node)
		from.node.changed, from.node.rewritten = true, true
		return nil
	})
}

// Remove removes a file, a symlink or an empty directory.
func (f *FS) Remove(name string) error {
	return f.try(Write, "remove", name, false, func(at place) error {
		switch {
		case at.node == nil:
			return syscall.ENOENT
		case at.slash && !at.node.isDir():
			return syscall.ENOTDIR
		case at.dir == nil, at.node.device != "":
			return syscall.EBUSY
		}
		if at.node.isDir() {
			f.load(at.node)
			if len(at.node.kids) > 0 {
				return syscall.ENOTEMPTY
			}
			if at.node.provided {
				return syscall.EBUSY
			}
		}
		f.drop(at.dir, at.name)
		return nil
	})
}

// Rename moves what is at old to name, in place of a file that is there. What is
// moved can be read at its new name, and a directory moves all that is below it:
// access is asked to read and write each old name, and to write each new one.
func (f *FS) Rename(old, name string) error {
	const attempts = 10        // somebody who keeps moving files is refused
	asked := map[string]bool{} // what access was granted for
	for range attempts {
		var ask [][2]string
		err := f.try(Write, "rename", name, false, func(at place) error {
			from, err := f.find(old, false)
			if err != nil {
				return err
			}
			if err := f.checkRename(from, at); err != nil || from.node == at.node {
				return err
			}
			if f.access != nil {
				if clean := path.Clean(old); clean != from.path && !asked[Write+clean] {
					ask = append(ask, [2]string{Write, clean})
				}
				ask = f.moved(ask, asked, from.path, at.path, from.node)
				if len(ask) > 0 {
					return errAsk
				}
			}
			f.move(from, at)
			return nil
		})
		if !errors.Is(err, errAsk) {
			return err
		}
		for _, a := range ask {
			if err := f.access(a[0], a[1]); err != nil {
				return wrap("rename", old, err)
			}
			asked[a[0]+a[1]] = true
		}
	}
	return wrap("rename", old, syscall.EAGAIN)
}

// errAsk ends an attempt to rename for which access is still to be asked.
var errAsk = errors.New("access is to be asked")

// moved adds to ask what access a move of n needs that was not asked yet.
func (f *FS) moved(ask [][2]string, asked map[string]bool, from, to string, n *inode) [][2]string {
	for _, a := range [][2]string{{Write, from}, {Read, from}, {Write, to}} {
		if !asked[a[0]+a[1]] && (a[0] != Read || n.mode.IsRegular()) {
			ask = append(ask, a)
		}
	}
	if n.isDir() {
		for _, kid := range f.names(n) {
			ask = f.moved(ask, asked, path.Join(from, kid), path.Join(to, kid), n.kids[kid])
		}
	}
	return ask
}

// checkRename tells whether from can be moved to the place at.
func (f *FS) checkRename(from, at place) error {
	switch {
	case from.dir == nil || at.dir == nil, from.node.device != "", from.node.provided:
		return syscall.EBUSY
	case at.slash && !from.node.isDir():
		return syscall.ENOTDIR
	case from.node == at.node:
		return nil
	case from.node.isDir() && (at.path == from.path || strings.HasPrefix(at.path, from.path+"/")):
		return syscall.EINVAL
	case at.node == nil:
		if err := f.checkNew(at); err != nil && !errors.Is(err, syscall.ENOSPC) {
			return err
		}
		return nil
	case at.node.device != "" || at.node.provided:
		return syscall.EBUSY
	case at.node.isDir() && !from.node.isDir():
		return syscall.EISDIR
	case !at.node.isDir() && from.node.isDir():
		return syscall.ENOTDIR
	case at.node.isDir():
		f.load(at.node)
		if len(at.node.kids) > 0 {
			return syscall.ENOTEMPTY
		}
	}
	return nil
}

// move puts from in the place at, where there may be something else.
func (f *FS) move(from, at place) {
	if at.node != nil {
		f.drop(at.dir, at.name)
	}
	n := from.node
	n.links++ // it is not to be freed on the way
	f.drop(from.dir, from.name)
	f.put(at.dir, at.name, n)
	n.links--
	n.changed, n.rewritten = true, true
}

// Chmod changes the permission bits of what name leads to. A document keeps
// them for files only.
func (f *FS) Chmod(name string, mode fs.FileMode) error {
	return f.try(Write, "chmod", name, true, func(at place) error {
		switch {
		case at.node == nil:
			return syscall.ENOENT
		case at.slash && !at.node.isDir():
			return syscall.ENOTDIR
		case at.node.device != "":
			return syscall.EPERM
		}
		at.node.mode = at.node.mode&^fs.ModePerm | mode&fs.ModePerm
		at.node.changed = true
		f.version++
		return nil
	})
}

// Chtimes changes the time of what name leads to.
func (f *FS) Chtimes(name string, mtime time.Time) error {
	mtime = mtime.UTC().Truncate(time.Microsecond)
	return f.try(Write, "chtimes", name, true, func(at place) error {
		switch {
		case at.node == nil:
			return syscall.ENOENT
		case at.slash && !at.node.isDir():
			return syscall.ENOTDIR
		case at.node.device != "":
			return nil
		case mtime.Year() < 0 || mtime.Year() > 9999:
			return syscall.EINVAL
		}
		at.node.mtime = mtime
		at.node.changed = true
		f.version++
		return nil
	})
}

// RemoveOwn removes a file that the program itself made; nobody is asked for
// access.
func (f *FS) RemoveOwn(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.find(name, false)
	if err == nil && (at.dir == nil || at.node.isDir() || at.node.device != "") {
		err = syscall.EISDIR
	}
	if err == nil {
		f.drop(at.dir, at.name)
	}
	return wrap("remove", name, err)
}
