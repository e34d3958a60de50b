package fsops

import (
	"io"
	"io/fs"
	"sync/atomic"
)

// DirOpener is an FS that can keep a directory open. A search that reads many
// files of one directory then does not have to find the way to it for each.
type DirOpener interface {
	FS
	// OpenDir opens directory name.
	OpenDir(name string) (Dir, error)
}

// Dir is an open directory. Its methods fail as those of FS do, and follow no
// symlink; all but Close are safe for concurrent use.
type Dir interface {
	// ReadDir returns all entries in any order. It is called once, and of the
	// entries only their names and types are asked.
	ReadDir() ([]fs.DirEntry, error)
	// Open opens the regular file name, which is the name of an entry, as
	// FS.Open does.
	Open(name string) (io.ReadCloser, error)
	// Close frees the directory. Files opened from it stay open.
	Close() error
}

// openDir opens a directory of any FS.
func (t *Tree) openDir(name string) (Dir, error) {
	if opener, ok := t.fs.(DirOpener); ok {
		return opener.OpenDir(name)
	}
	return t.namedDir(name), nil
}

// namedDir is a directory that need not be kept open.
func (t *Tree) namedDir(name string) Dir { return namedDir{t.fs, name} }

// namedDir is a Dir of an FS that keeps none open.
type namedDir struct {
	fs   FS
	name string
}

func (d namedDir) ReadDir() ([]fs.DirEntry, error)         { return d.fs.ReadDir(d.name) }
func (d namedDir) Open(name string) (io.ReadCloser, error) { return d.fs.Open(join(d.name, name)) }
func (d namedDir) Close() error                            { return nil }

// sharedDir is a Dir that several jobs of a walk use, until the last of them
// releases it.
type sharedDir struct {
	Dir
	users atomic.Int32
}

func newSharedDir(d Dir) *sharedDir {
	s := &sharedDir{Dir: d}
	s.users.Store(1)
	return s
}

func (s *sharedDir) use() *sharedDir {
	s.users.Add(1)
	return s
}

func (s *sharedDir) release() {
	if s.users.Add(-1) == 0 {
		_ = s.Close() // it was only read: nothing can be lost
	}
}
