// Package fsops holds the file, search and edit operations of a workspace,
// written once over a small interface to a file tree. A backend that keeps
// files implements [FS]; the operations here turn it into the answers of
// [backends.Workspace].
//
// The package knows paths, bytes and patterns. It knows no backend, no
// ruleset and no protocol, and imports little, so that it can be compiled into
// a small program that runs where the files are.
package fsops

import (
	"context"
	"io"
	"io/fs"
)

// FS is a tree of files as the operations need it. All names are absolute and
// clean, with "/" as separator. Every name passed to a method has had the
// symlinks of its parents resolved, except where a race put one there since:
// an implementation that confines must refuse to be led outside all the same.
//
// Methods fail with errors that errors.Is can hold against fs.ErrNotExist,
// fs.ErrExist, fs.ErrPermission, syscall.ENOTDIR, EISDIR, ELOOP, EROFS,
// ENOSPC and the like, or with a [*backends.Error] that is passed on as it is.
// Implementations are safe for concurrent use.
type FS interface {
	// Root is the topmost directory that can be reached: "/" when all can.
	Root() string
	// Lstat describes name without following it.
	Lstat(name string) (fs.FileInfo, error)
	// Readlink returns the text of the symlink name.
	Readlink(name string) (string, error)
	// ReadDir returns the entries of directory name in any order.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Open opens the regular file name for reading, and never waits for a
	// writer, a device or a lock.
	Open(name string) (File, error)
	// Replace puts what content writes at name, atomically and durably: when
	// it returns nil the new bytes are there, and when it or content fails the
	// old ones are. The mode and owner of a file that is there are kept;
	// otherwise the file gets mode. Parents must exist.
	Replace(name string, mode fs.FileMode, content func(io.Writer) error) error
	// MkdirAll makes directory name and the parents it lacks.
	MkdirAll(name string) error
}

// Locker is an FS that other processes of this program change too.
type Locker interface {
	FS
	// Lock waits until no other Lock of name is held, in this process or
	// another, and holds it until unlock is called or the process ends. Between
	// the two a file is read, and replaced by what was made of it. Parents of
	// name must exist. When ctx ends first, Lock fails with its error. It may be
	// called by the content of a Replace.
	Lock(ctx context.Context, name string) (unlock func(), err error)
}

// File is an open regular file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}
