//go:build unix && !aix && !solaris

package state

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// lockFile opens and locks the file name, made if need be, and waits for
// whoever has it locked. Closing it, or the end of the process, unlocks it.
func lockFile(name string) (*os.File, error) { return flock(name, syscall.LOCK_EX) }

// tryLockFile is lockFile that fails with errLocked instead of waiting.
func tryLockFile(name string) (*os.File, error) {
	f, err := flock(name, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errLocked
	}
	return f, err
}

func flock(name string, how int) (*os.File, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		for {
			err = syscall.Flock(int(f.Fd()), how)
			if !errors.Is(err, syscall.EINTR) {
				break
			}
		}
		if err == nil {
			var same bool
			if same, err = isStill(f, name); same {
				return f, nil
			}
		}
		f.Close()
		if err != nil {
			return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
		}
		// The document was destroyed, and its lock file with it, while this
		// one was waiting: what it holds now keeps nobody away.
	}
}

// isStill tells whether f is the file that name leads to.
func isStill(f *os.File, name string) (bool, error) {
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(opened, there), err
}

// inode returns the number that tells a replaced file from its predecessor.
func inode(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Ino)
	}
	return 0
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
