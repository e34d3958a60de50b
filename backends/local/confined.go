//go:build linux || darwin

package local

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
)

var (
	_ fsops.FS     = (*confined)(nil)
	_ fsops.Locker = (*confined)(nil)
)

// confined is the tree of files below a directory, as [fsops.FS]. Every access
// is through dir, by which the kernel refuses every symlink (the names have been
// resolved, so one has been put there since), and where the kernel has no such
// call through root, which follows those that stay inside.
type confined struct {
	root *os.Root
	dir  *os.File    // of root; nil where openBeneath does not work
	path string      // of root, canonical
	info fs.FileInfo // of root, when it was opened
	// escape is the cause that os.Root gives when it is led outside.
	escape       error
	lockPatience time.Duration
}

func openConfined(dir string) (*confined, error) {
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
	c := &confined{root: root, path: dir, lockPatience: lockPatience}
	if c.info, err = root.Stat("."); err != nil {
		c.close()
		return nil, err
	}
	_, err = root.Lstat("..") // what that says has no exported name
	var pathErr *fs.PathError
	if !errors.As(err, &pathErr) {
		c.close()
		return nil, backends.Errorf(backends.CodeInternal, "open", dir, "the parent of the root can be reached from it (%v)", err)
	}
	c.escape = pathErr.Err
	if c.dir, err = root.Open("."); err != nil {
		c.close()
		return nil, err
	}
	if probe, err := openBeneath(c.dir, ".", dir, unix.O_DIRECTORY); err == nil {
		probe.Close()
	} else { // an old kernel, a filter of system calls, or another system
		c.dir.Close()
		c.dir = nil
	}
	return c, nil
}

// close lets go of the root: directories, so nothing can be lost.
func (c *confined) close() {
	_ = c.root.Close()
	if c.dir != nil {
		_ = c.dir.Close()
	}
}

// gone tells whether the root has been removed, or another directory put in its
// place.
func (c *confined) gone() bool {
	info, err := os.Stat(c.path)
	return err != nil || !os.SameFile(info, c.info)
}

// check fails when the root cannot be used any more.
func (c *confined) check() error {
	if _, err := c.root.Lstat("."); errors.Is(err, fs.ErrClosed) {
		return closedError()
	}
	if c.gone() {
		return goneError(c.path)
	}
	return nil
}

// rel is name as os.Root takes it.
func (c *confined) rel(name string) (string, error) {
	switch {
	case name == c.path:
		return ".", nil
	case c.path == "/" && strings.HasPrefix(name, "/"):
		return name[1:], nil
	case strings.HasPrefix(name, c.path) && name[len(c.path)] == '/':
		return name[len(c.path)+1:], nil
	default:
		return "", c.outside(name)
	}
}

// at is rel, as long as the root is where it was.
func (c *confined) at(name string) (string, error) {
	rel, err := c.rel(name)
	if err == nil && c.gone() {
		err = goneError(c.path)
	}
	return rel, err
}

// open opens rel, which is called name, and refuses symlinks on the way where
// the system can.
func (c *confined) open(rel, name string, flag int) (*os.File, error) {
	if c.dir == nil {
		return c.root.OpenFile(rel, flag, 0)
	}
	f, err := openBeneath(c.dir, rel, name, flag)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EXDEV) {
		if _, out := c.root.Stat(rel); errors.Is(out, c.escape) { // the better answer
			return nil, out
		}
	}
	return f, err
}

// openRoot opens directory rel, which is called name, as a root.
func (c *confined) openRoot(rel, name string) (*os.Root, error) {
	dir, err := c.root.OpenRoot(rel)
	if err != nil || c.dir == nil {
		return dir, err
	}
	// An os.Root follows symlinks. Is it where the name leads without any?
	f, err := c.open(rel, name, oPath|unix.O_DIRECTORY)
	if err == nil {
		defer f.Close()
		err = sameDir(dir, f.Stat, name)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
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

func (c *confined) outside(name string) error {
	return backends.Errorf(backends.CodePermission, "open", name, "leads outside the workspace; only paths below %s can be reached", c.path)
}

// fail gives err the meaning that it has for the workspace.
func (c *confined) fail(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, c.escape):
		return c.outside(name)
	case errors.Is(err, fs.ErrClosed):
		return closedError()
	case errors.Is(err, fs.ErrNotExist) && c.gone():
		return goneError(c.path)
	}
	return err
}

// Root implements [fsops.FS].
func (c *confined) Root() string { return c.path }

// Lstat implements [fsops.FS].
func (c *confined) Lstat(name string) (fs.FileInfo, error) {
	rel, err := c.rel(name)
	if err != nil {
		return nil, err
	}
	first := !strings.Contains(rel, "/") // every look-up begins with one
	if first && c.gone() {
		return nil, goneError(c.path)
	}
	if first || c.dir == nil {
		info, err := c.root.Lstat(rel)
		return info, c.fail(name, err)
	}
	f, err := c.open(rel, name, oPath|unix.O_NOFOLLOW)
	if err != nil {
		return nil, c.fail(name, err)
	}
	defer f.Close()
	return f.Stat()
}

// Readlink implements [fsops.FS].
func (c *confined) Readlink(name string) (string, error) {
	rel, err := c.rel(name)
	if err != nil {
		return "", err
	}
	if c.dir == nil {
		text, err := c.root.Readlink(rel)
		return text, c.fail(name, err)
	}
	f, err := c.open(rel, name, oPath|unix.O_NOFOLLOW)
	if err != nil {
		return "", c.fail(name, err)
	}
	defer f.Close()
	text := make([]byte, unix.PathMax) // the longest there is
	n, err := unix.Readlinkat(int(f.Fd()), "", text)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(text[:n]), nil
}

// ReadDir implements [fsops.FS].
func (c *confined) ReadDir(name string) ([]fs.DirEntry, error) {
	rel, err := c.at(name)
	if err != nil {
		return nil, err
	}
	dir, err := c.open(rel, name, os.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, c.fail(name, err)
	}
	defer dir.Close()
	// A file that comes from an os.Root asks for each entry's status as it
	// lists, which a walk over a large tree does not need. One of our own over
	// the same directory asks when Info is called, but by path; entry does not.
	fd, err := unix.FcntlInt(dir.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	plain := os.NewFile(uintptr(fd), name)
	defer plain.Close()
	entries, err := plain.ReadDir(-1)
	if err != nil {
		return nil, c.fail(name, err)
	}
	for i, e := range entries {
		entries[i] = entry{e, c, path.Join(name, e.Name())}
	}
	return entries, nil
}

// entry is a directory entry that is described through the root.
type entry struct {
	fs.DirEntry
	files *confined
	name  string
}

func (e entry) Info() (fs.FileInfo, error) { return e.files.Lstat(e.name) }

// MkdirAll implements [fsops.FS].
func (c *confined) MkdirAll(name string) error {
	rel, err := c.at(name)
	if err != nil {
		return err
	}
	if c.dir != nil {
		return c.fail(name, c.mkdirAll(rel, name))
	}
	err = c.root.MkdirAll(rel, 0o777) // less what the umask takes
	if errors.Is(err, fs.ErrExist) {
		err = &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
	}
	return c.fail(name, err)
}

// mkdirAll makes directory rel and the parents it lacks, through no symlink.
func (c *confined) mkdirAll(rel, name string) error {
	there, err := c.open(rel, name, oPath|unix.O_DIRECTORY)
	if err == nil {
		there.Close()
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) || rel == "." {
		return err
	}
	if err := c.mkdirAll(path.Dir(rel), name); err != nil {
		return err
	}
	parent, err := c.open(path.Dir(rel), name, oPath|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer parent.Close()
	err = unix.Mkdirat(int(parent.Fd()), path.Base(rel), 0o777) // less what the umask takes
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist): // made by another meanwhile; or a file or symlink is there
		if there, err = c.open(rel, name, oPath|unix.O_DIRECTORY); err == nil {
			there.Close()
		}
		return err
	}
	return &fs.PathError{Op: "mkdir", Path: name, Err: err}
}

// Open implements [fsops.FS].
func (c *confined) Open(name string) (fsops.File, error) {
	rel, err := c.at(name)
	if err != nil {
		return nil, err
	}
	f, err := openRegular(name, os.O_RDONLY, func(flag int) (*os.File, error) { return c.open(rel, name, flag) })
	if err != nil {
		return nil, c.fail(name, err)
	}
	if f.SetReadDeadline(time.Time{}) == nil {
		return hesitant{f}, nil
	}
	return f, nil
}

// openRegular opens a regular file without waiting for anything, and refuses
// what else has been put in its place. In errors it is called name.
func openRegular(name string, flag int, open func(flag int) (*os.File, error)) (*os.File, error) {
	f, err := open(flag | unix.O_NONBLOCK | unix.O_NOCTTY)
	if errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.ENODEV) { // a socket; a FIFO without a reader
		return nil, special(name, 0)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = wantRegular(name, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func wantRegular(name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &fs.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	case mode&fs.ModeSymlink != 0:
		return &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
	default:
		return special(name, mode)
	}
}

func special(name string, mode fs.FileMode) error {
	what := "a FIFO, socket or device"
	switch {
	case mode&fs.ModeNamedPipe != 0:
		what = "a FIFO"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	}
	return backends.Errorf(backends.CodeInvalidArgument, "open", name, "is %s, not a regular file", what)
}

// patience is how long a read waits for a file that may have nothing to say.
const patience = time.Second

// hesitant is a file that calls itself regular and can still keep a reader
// waiting, as /proc/kmsg does.
type hesitant struct{ file *os.File }

func (h hesitant) Read(p []byte) (int, error) {
	if err := h.file.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	n, err := h.file.Read(p)
	return n, h.fail(err)
}

func (h hesitant) ReadAt(p []byte, off int64) (int, error) {
	n, err := h.file.ReadAt(p, off)
	return n, h.fail(err)
}

func (h hesitant) fail(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.EAGAIN) {
		return backends.Errorf(backends.CodeInvalidArgument, "read", h.file.Name(), "waits for something to happen before it can be read; it is not a file of text")
	}
	return err
}

func (h hesitant) Stat() (fs.FileInfo, error) { return h.file.Stat() }
func (h hesitant) Close() error               { return h.file.Close() }
