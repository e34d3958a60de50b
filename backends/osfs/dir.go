//go:build linux || darwin

package osfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
)

var _ fsops.DirOpener = (*FS)(nil)

// dir is an open directory. What is opened from it needs no way to be found and
// is given no os.File: in a search of many small files either would cost more
// than reading them. A directory that is moved stays open, wherever it goes.
type dir struct {
	files *FS
	name  string
	fd    int // -1 once it is closed
}

// OpenDir implements [fsops.DirOpener].
func (o *FS) OpenDir(name string) (fsops.Dir, error) {
	rel, err := o.at(name)
	if err != nil {
		return nil, err
	}
	d, err := o.openDir(rel, name)
	if err != nil {
		return nil, o.fail(name, err)
	}
	return d, nil
}

func (o *FS) openDir(rel, name string) (*dir, error) {
	f, err := o.open(rel, name, os.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &dir{o, name, fd}, nil
}

// ReadDir implements [fsops.FS].
func (o *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	d, err := o.OpenDir(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir()
}

// Close implements [fsops.Dir].
func (d *dir) Close() error {
	fd := d.fd
	d.fd = -1 // by now the number may be another's
	if err := unix.Close(fd); err != nil {
		return &fs.PathError{Op: "close", Path: d.name, Err: err}
	}
	return nil
}

// ReadDir implements [fsops.Dir].
func (d *dir) ReadDir() ([]fs.DirEntry, error) {
	found, err := d.list()
	if err != nil {
		return nil, d.files.fail(d.name, &fs.PathError{Op: "readdir", Path: d.name, Err: err})
	}
	entries := make([]fs.DirEntry, len(found))
	for i := range found {
		entries[i] = &found[i]
	}
	return entries, nil
}

// entry is a directory entry that is described through the root.
type entry struct {
	dir  *dir
	name string
	mode fs.FileMode // type bits
}

func (e *entry) Name() string               { return e.name }
func (e *entry) IsDir() bool                { return e.mode.IsDir() }
func (e *entry) Type() fs.FileMode          { return e.mode }
func (e *entry) Info() (fs.FileInfo, error) { return e.dir.files.Lstat(path.Join(e.dir.name, e.name)) }
func (e *entry) String() string             { return fs.FormatDirEntry(e) }

// Open implements [fsops.Dir].
func (d *dir) Open(name string) (io.ReadCloser, error) {
	fd, err := d.open(name)
	if err != nil {
		return nil, d.files.fail(path.Join(d.name, name), err)
	}
	return &dirFile{fd: fd, dir: d, name: name}, nil
}

func (d *dir) open(name string) (int, error) {
	failed := func(err error) (int, error) {
		full := path.Join(d.name, name)
		if errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) { // a socket; a device that is not there
			return -1, special(full, 0)
		}
		return -1, &fs.PathError{Op: "open", Path: full, Err: err}
	}
	if name == "" || name == "." || name == ".." || strings.IndexByte(name, '/') >= 0 {
		return failed(unix.EINVAL) // it is no entry's name, and could lead out of the directory
	}
	fd, err := retried(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return failed(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return failed(err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		_ = unix.Close(fd) // nothing was read
		return -1, wantRegular(path.Join(d.name, name), typeOf(st.Mode))
	}
	return fd, nil
}

// typeOf is the type bits of a mode, which has 16 bits on macOS.
func typeOf[M uint16 | uint32](mode M) fs.FileMode {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return 0
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	case unix.S_IFCHR:
		return fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		return fs.ModeDevice
	default:
		return fs.ModeIrregular
	}
}

// dirFile is a regular file that was opened from a directory. One goroutine
// reads it.
type dirFile struct {
	fd   int // -1 once it is closed
	dir  *dir
	name string

	waited time.Duration
}

func (f *dirFile) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	// What is ready at once on Linux is at most 2 GB, and on macOS more fails.
	p = p[:min(len(p), 1<<30)]
	n, err := f.read(p)
	if errors.Is(err, unix.EAGAIN) {
		if n, err = f.wait(p); errors.Is(err, unix.EAGAIN) {
			return 0, waits(path.Join(f.dir.name, f.name))
		}
	}
	switch {
	case err != nil:
		return 0, &fs.PathError{Op: "read", Path: path.Join(f.dir.name, f.name), Err: err}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (f *dirFile) read(p []byte) (int, error) {
	return retried(func() (int, error) { return unix.Read(f.fd, p) })
}

// wait reads what a file that has nothing to say yet says within a while.
func (f *dirFile) wait(p []byte) (int, error) {
	ready := []unix.PollFd{{Fd: int32(f.fd), Events: unix.POLLIN}}
	since := time.Now()
	_, err := retried(func() (int, error) { return unix.Poll(ready, int(max(patience-f.waited, 0).Milliseconds())) })
	f.waited += time.Since(since)
	if err != nil {
		return 0, err
	}
	return f.read(p)
}

func (f *dirFile) Close() error {
	fd := f.fd
	f.fd = -1 // by now the number may be another's
	if err := unix.Close(fd); err != nil {
		return &fs.PathError{Op: "close", Path: path.Join(f.dir.name, f.name), Err: err}
	}
	return nil
}

// retried calls a system call again for as long as signals interrupt it.
func retried(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
