package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// open opens the file at the path, and takes its place as the log only when
// that worked.
func (l *Log) open() error {
	// Without O_NONBLOCK, opening a FIFO would wait for its reader.
	f, err := os.OpenFile(l.cfg.Path, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, fs.ErrPermission) {
		// A file that may be appended to and not read is a good place for this.
		f, err = os.OpenFile(l.cfg.Path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	}
	if err != nil {
		return fmt.Errorf("the audit log cannot be opened: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeCharDevice == 0 {
		err = fmt.Errorf("%s is not a file; name one, or - for standard error", l.cfg.Path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the audit log cannot be opened: %w", err), f.Close())
	}
	old := l.out
	l.out, l.opened, l.torn = f, info, endsTorn(f, info)
	if old != nil {
		if err := old.Close(); err != nil {
			l.cfg.Logger.Warn("closing the audit log that was moved away", "path", l.cfg.Path, "error", err)
		}
	}
	return nil
}

// endsTorn tells whether a file ends inside a line, as after a crash. What
// cannot be read counts as whole.
func endsTorn(f *os.File, info os.FileInfo) bool {
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	if n, err := f.ReadAt(last, info.Size()-1); n != 1 || err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	return last[0] != '\n'
}

// Reopen opens the file at the path anew, for a program that has moved the old
// one away and says so by a signal. When it fails, lines go on into the old
// file. On standard error and a nil Log nothing happens.
func (l *Log) Reopen() error {
	if l == nil || l.cfg.Path == "-" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		return errClosed
	}
	return l.open()
}

// follow reopens the file when the one at the path is another, so that rotation
// works also without a signal.
func (l *Log) follow() {
	if l.opened == nil {
		return
	}
	now, err := os.Stat(l.cfg.Path)
	if err == nil && os.SameFile(now, l.opened) {
		return
	}
	if err := l.open(); err != nil && time.Since(l.stuck) >= complainEvery {
		l.stuck = time.Now()
		l.cfg.Logger.Error("the audit log was moved away and cannot be opened anew; lines go on into the moved file",
			"path", l.cfg.Path, "error", err)
	}
}
