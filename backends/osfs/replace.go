//go:build linux || darwin

package osfs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Files that are being written have names like .mcp-workspace-7Q….tmp, next to
// what they replace. One that is left after a crash can be deleted.
const (
	tempPrefix = ".mcp-workspace-"
	tempSuffix = ".tmp"
)

// Replace implements [fsops.FS].
//
// The new content is written to a file beside the old one, brought to the disk,
// and renamed: whoever reads sees the old bytes or the new, also after a power
// failure. (Which of them, the file system decides for the last few seconds:
// waiting for the directory too would double the time of every write.)
//
// A file that cannot be renamed onto is overwritten in place instead: one that
// is a mount of its own or lies in a directory where nothing can be made, and
// one with an owner that a new file cannot be given. Others may then see it half
// written; a failure still puts the old content back, from a copy. Extended
// attributes and access lists are kept only in place, and set-id bits never.
//
// A file with other hard links loses its connection to them: the others may be
// outside the root, where nothing is written.
func (o *FS) Replace(name string, mode fs.FileMode, content func(io.Writer) error) error {
	rel, err := o.at(name)
	if err != nil {
		return err
	}
	dir, err := o.openRoot(path.Dir(rel), path.Dir(name))
	if err != nil {
		return o.fail(name, err)
	}
	defer dir.Close()
	r := replacement{name: name, dir: dir, base: path.Base(rel), mode: mode, content: content}
	return o.fail(name, r.run())
}

// replacement is one Replace.
type replacement struct {
	name    string
	dir     *os.Root // where it happens
	base    string
	mode    fs.FileMode
	content func(io.Writer) error
	old     fs.FileInfo // nil when there is no file yet
	renamed bool
}

func (r *replacement) run() error {
	old, err := r.dir.Lstat(r.base)
	switch {
	case err == nil:
		if err := wantRegular(r.name, old.Mode()); err != nil {
			return err
		}
		if err := r.writable(); err != nil {
			return err
		}
		r.old = old
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}

	tempName := tempPrefix + rand.Text() + tempSuffix
	temp, err := r.dir.OpenFile(tempName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil && r.old != nil && (cannotRename(err) || errors.Is(err, fs.ErrNotExist)) { // as /proc answers
		if temp, err = scratch(r.name); err != nil {
			return err
		}
		defer temp.Close()
		if err := r.content(temp); err != nil {
			return err
		}
		return r.overwrite(temp)
	}
	if err != nil {
		return err
	}
	defer func() {
		temp.Close()
		if !r.renamed {
			_ = r.dir.Remove(tempName) // a failure leaves what a crash would
		}
	}()
	if err := r.content(temp); err != nil {
		return err
	}
	if r.old == nil {
		// Whatever the umask is. A file system without modes refuses it.
		if err := temp.Chmod(r.mode.Perm()); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.ENOTSUP) {
			return err
		}
	} else if !r.takesAfter(temp) {
		return r.overwrite(temp)
	}
	if err := toDisk(temp); err != nil {
		return err
	}
	err = r.dir.Rename(tempName, r.base)
	switch {
	case err == nil:
		r.renamed = true
		return nil
	case errors.Is(err, fs.ErrExist): // a directory has appeared there
		return &fs.PathError{Op: "rename", Path: r.name, Err: syscall.EISDIR}
	case r.old != nil && cannotRename(err):
		return r.overwrite(temp)
	}
	return err
}

// writable fails when the old file may not be written. A rename does not ask.
func (r *replacement) writable() error {
	dir, err := r.dir.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Faccessat(int(dir.Fd()), r.base, unix.W_OK, unix.AT_EACCESS); err != nil {
		return &fs.PathError{Op: "write", Path: r.name, Err: err}
	}
	return nil
}

// cannotRename tells whether err means that a file beside the old one cannot be
// made or renamed onto it, though the old one itself may be writable.
func cannotRename(err error) bool {
	for _, errno := range []error{syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.EBUSY, syscall.EXDEV} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// takesAfter gives temp the old file's owner and mode, and tells whether it can
// then stand in for it.
func (r *replacement) takesAfter(temp *os.File) bool {
	old := r.old.Sys().(*syscall.Stat_t)
	info, err := temp.Stat()
	if err != nil {
		return false
	}
	if is := info.Sys().(*syscall.Stat_t); is.Uid != old.Uid || is.Gid != old.Gid {
		if temp.Chown(int(old.Uid), int(old.Gid)) != nil {
			return false
		}
	}
	return temp.Chmod(r.old.Mode().Perm()) == nil
}

// overwrite writes the content of src over the old file.
func (r *replacement) overwrite(src *os.File) error {
	dst, err := openRegular(r.name, os.O_RDWR, func(flag int) (*os.File, error) { return r.dir.OpenFile(r.base, flag, 0) })
	if err != nil {
		return err
	}
	defer dst.Close()
	if info, err := dst.Stat(); err != nil || !os.SameFile(info, r.old) {
		return errors.Join(err, &fs.PathError{Op: "write", Path: r.name, Err: syscall.ELOOP}) // or another file
	}
	backup, err := scratch(r.name)
	if err != nil {
		return err
	}
	defer backup.Close()
	if _, err := io.Copy(backup, dst); err != nil {
		return fmt.Errorf("no copy can be kept in case the write fails: %w", err)
	}
	err = put(dst, src)
	if err != nil {
		if again := put(dst, backup); again != nil {
			return fmt.Errorf("%w; and the old content could not be put back: %w", err, again)
		}
	}
	return err
}

// put makes the content of src, from its start, that of dst.
func put(dst, src *os.File) error {
	for _, f := range []*os.File{dst, src} {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	n, err := io.Copy(dst, src)
	if err != nil {
		return err
	}
	if err := dst.Truncate(n); err != nil {
		return err
	}
	return toDisk(dst)
}

// toDisk brings f to the disk, where its file system has one.
func toDisk(f *os.File) error {
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}
	return nil
}

// scratchDirs are where a file without a name may be made, the usual place
// excepted. A container whose file system is read-only has the last of them,
// in memory.
var scratchDirs = []string{"/var/tmp", "/dev/shm"}

// scratch makes a file without a name, to write name in place.
func scratch(name string) (*os.File, error) {
	var errs []error
	for _, dir := range append([]string{os.TempDir()}, scratchDirs...) {
		f, err := os.CreateTemp(dir, tempPrefix+"*"+tempSuffix)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := os.Remove(f.Name()); err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
	err := errors.Join(errs...)
	code := backends.CodePermission
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		code = backends.CodeTooLarge
	case errors.Is(err, syscall.EROFS):
		code = backends.CodeReadOnly
	}
	return nil, &backends.Error{Code: code, Op: "write", Path: name, Err: err, Message: fmt.Sprintf(
		"can only be written in place, which takes a temporary file for the case that it fails, and none can be made in %s; make one of them writable",
		strings.Join(append([]string{os.TempDir()}, scratchDirs...), ", "))}
}
