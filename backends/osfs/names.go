//go:build linux || darwin

package osfs

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Lstat implements [fsops.FS].
func (o *FS) Lstat(name string) (fs.FileInfo, error) {
	rel, err := o.rel(name)
	if err != nil {
		return nil, err
	}
	first := !strings.Contains(rel, "/") // every look-up begins with one
	if first && o.Gone() {
		return nil, goneError(o.path)
	}
	if first || o.dir == nil {
		info, err := o.root.Lstat(rel)
		return info, o.fail(name, err)
	}
	f, err := o.open(rel, name, oPath|unix.O_NOFOLLOW)
	if err != nil {
		return nil, o.fail(name, err)
	}
	defer f.Close()
	return f.Stat()
}

// Readlink implements [fsops.FS].
func (o *FS) Readlink(name string) (string, error) {
	rel, err := o.rel(name)
	if err != nil {
		return "", err
	}
	if o.dir == nil {
		text, err := o.root.Readlink(rel)
		return text, o.fail(name, err)
	}
	f, err := o.open(rel, name, oPath|unix.O_NOFOLLOW)
	if err != nil {
		return "", o.fail(name, err)
	}
	defer f.Close()
	text := make([]byte, unix.PathMax) // the longest there is
	n, err := unix.Readlinkat(int(f.Fd()), "", text)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(text[:n]), nil
}

// MkdirAll implements [fsops.FS].
func (o *FS) MkdirAll(name string) error {
	rel, err := o.at(name)
	if err != nil {
		return err
	}
	if o.dir != nil {
		return o.fail(name, o.mkdirAll(rel, name))
	}
	err = o.root.MkdirAll(rel, 0o777) // less what the umask takes
	if errors.Is(err, fs.ErrExist) {
		err = &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
	}
	return o.fail(name, err)
}

// mkdirAll makes directory rel and the parents it lacks, through no symlink.
func (o *FS) mkdirAll(rel, name string) error {
	there, err := o.open(rel, name, oPath|unix.O_DIRECTORY)
	if err == nil {
		there.Close()
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) || rel == "." {
		return err
	}
	if err := o.mkdirAll(path.Dir(rel), name); err != nil {
		return err
	}
	parent, err := o.open(path.Dir(rel), name, oPath|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer parent.Close()
	err = unix.Mkdirat(int(parent.Fd()), path.Base(rel), 0o777) // less what the umask takes
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist): // made by another meanwhile; or a file or symlink is there
		if there, err = o.open(rel, name, oPath|unix.O_DIRECTORY); err == nil {
			there.Close()
		}
		return err
	}
	return &fs.PathError{Op: "mkdir", Path: name, Err: err}
}
