//go:build linux || darwin

package osfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
)

var (
	_ fsops.FS     = (*FS)(nil)
	_ fsops.Locker = (*FS)(nil)
)

// FS is the tree of files below a directory, the root. It is safe for concurrent
// use.
//
// Every access is through dir, by which the kernel refuses every symlink (the
// names have been resolved, so one has been put there since), and where the
// kernel has no such call through root, which follows those that stay inside.
type FS struct {
	root *os.Root
	dir  *os.File    // of root; nil where openBeneath does not work
	path string      // of root, canonical
	info fs.FileInfo // of root, when it was opened
	// escape is the cause that os.Root gives when it is led outside.
	escape       error
	lockPatience time.Duration
}

// Open opens the tree below dir, an absolute path without symlinks: other names
// for what is in it lead outside. It fails with what errors.Is can hold against
// fs.ErrNotExist, fs.ErrPermission and syscall.ENOTDIR.
func Open(dir string) (*FS, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	o := &FS{root: root, path: dir, lockPatience: lockPatience}
	if o.info, err = root.Stat("."); err != nil {
		o.Close()
		return nil, err
	}
	_, err = root.Lstat("..") // what that says has no exported name
	var pathErr *fs.PathError
	if !errors.As(err, &pathErr) {
		o.Close()
		return nil, backends.Errorf(backends.CodeInternal, "open", dir, "the parent of the root can be reached from it (%v)", err)
	}
	o.escape = pathErr.Err
	if o.dir, err = root.Open("."); err != nil {
		o.Close()
		return nil, err
	}
	if probe, err := openBeneath(o.dir, ".", dir, unix.O_DIRECTORY); err == nil {
		probe.Close()
	} else { // an old kernel, a filter of system calls, or another system
		o.dir.Close()
		o.dir = nil
	}
	return o, nil
}

// Close lets go of the root. Everything answers CodeUnavailable from then on;
// files that are open stay open. Only a second Close fails.
func (o *FS) Close() error {
	err := o.root.Close()
	if o.dir != nil {
		err = errors.Join(err, o.dir.Close())
	}
	return err
}

// Path is the root's, as it was given to Open.
func (o *FS) Path() string { return o.path }

// Root implements [fsops.FS].
func (o *FS) Root() string { return o.path }

// whole tells whether the root is the machine's, which has no outside and is
// always there.
func (o *FS) whole() bool { return o.path == "/" }

// Gone tells whether the root has been removed, or another directory put in its
// place.
func (o *FS) Gone() bool {
	if o.whole() {
		return false
	}
	info, err := os.Stat(o.path)
	return err != nil || !os.SameFile(info, o.info)
}

// Check fails with CodeUnavailable when the root cannot be used any more.
func (o *FS) Check() error {
	if _, err := o.root.Lstat("."); errors.Is(err, fs.ErrClosed) {
		return closedError()
	}
	if o.Gone() {
		return goneError(o.path)
	}
	return nil
}

// rel is name as os.Root takes it.
func (o *FS) rel(name string) (string, error) {
	switch {
	case name == o.path:
		return ".", nil
	case o.whole() && strings.HasPrefix(name, "/"):
		return name[1:], nil
	case strings.HasPrefix(name, o.path) && name[len(o.path)] == '/':
		return name[len(o.path)+1:], nil
	default:
		return "", o.outside(name)
	}
}

// at is rel, as long as the root is where it was.
func (o *FS) at(name string) (string, error) {
	rel, err := o.rel(name)
	if err == nil && o.Gone() {
		err = goneError(o.path)
	}
	return rel, err
}

// open opens rel, which is called name, and refuses symlinks on the way where
// the system can.
func (o *FS) open(rel, name string, flag int) (*os.File, error) {
	if o.dir == nil {
		return o.root.OpenFile(rel, flag, 0)
	}
	f, err := openBeneath(o.dir, rel, name, flag)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EXDEV) {
		if _, out := o.root.Stat(rel); errors.Is(out, o.escape) { // the better answer
			return nil, out
		}
	}
	return f, err
}

// openRoot opens directory rel, which is called name, as a root.
func (o *FS) openRoot(rel, name string) (*os.Root, error) {
	if o.dir == nil {
		return openSub(o.root, rel)
	}
	// An os.Root follows symlinks. Is it where the name leads without any?
	f, err := o.open(rel, name, oPath|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dir, err := openSub(o.root, rel)
	if err != nil {
		return nil, err
	}
	if err := sameDir(dir, f.Stat, name); err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// openSub is dir.OpenRoot, which opens whatever name is and so waits where it is
// a FIFO. A name with more behind it is opened as a directory or not at all.
func openSub(dir *os.Root, name string) (*os.Root, error) {
	sub, err := dir.OpenRoot(name + "/.")
	var e *fs.PathError
	if errors.As(err, &e) {
		return nil, &fs.PathError{Op: e.Op, Path: name, Err: e.Err}
	}
	return sub, err
}

// sameDir fails with ELOOP unless dir is the directory that stat describes.
func sameDir(dir *os.Root, stat func() (fs.FileInfo, error), name string) error {
	there, err := stat()
	if err != nil {
		return err
	}
	opened, err := dir.Stat(".")
	if err == nil && !os.SameFile(there, opened) {
		err = &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
	}
	return err
}

// fail gives err the meaning that it has for the workspace.
func (o *FS) fail(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, o.escape) && o.whole():
		// An os.Root takes the target of an absolute symlink for the outside.
		return &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
	case errors.Is(err, o.escape):
		return o.outside(name)
	case errors.Is(err, fs.ErrClosed):
		return closedError()
	case errors.Is(err, fs.ErrNotExist) && o.Gone():
		return goneError(o.path)
	}
	return err
}

func (o *FS) outside(name string) error {
	return backends.Errorf(backends.CodePermission, "open", name, "leads outside the workspace; only paths below %s can be reached", o.path)
}

func closedError() error {
	return backends.Errorf(backends.CodeUnavailable, "open", "", "the connection to this workspace is closed")
}

func goneError(root string) error {
	return backends.Errorf(backends.CodeUnavailable, "open", root, "the workspace's directory has been removed, or another one is in its place")
}
