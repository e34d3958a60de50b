//go:build linux || darwin

package osfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
)

// Open implements [fsops.FS].
func (o *FS) Open(name string) (fsops.File, error) {
	rel, err := o.at(name)
	if err != nil {
		return nil, err
	}
	f, err := openRegular(name, os.O_RDONLY, func(flag int) (*os.File, error) { return o.open(rel, name, flag) })
	if err != nil {
		return nil, o.fail(name, err)
	}
	if f.SetReadDeadline(time.Time{}) == nil {
		return &hesitant{file: f}, nil
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
		err = wantRegular(name, info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// wantRegular fails when name, which has this mode, is no regular file.
func wantRegular(name string, mode fs.FileMode) error {
	switch {
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

// patience is how long the reads of a file together wait for it to have
// something to say.
const patience = time.Second

// hesitant is a file that calls itself regular and can still keep a reader
// waiting, as /proc/kmsg does. One goroutine reads it.
type hesitant struct {
	file   *os.File
	waited time.Duration
}

func (h *hesitant) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := h.file.SetReadDeadline(time.Now().Add(max(patience-h.waited, time.Millisecond))); err != nil {
		return 0, err
	}
	raw, err := h.file.SyscallConn()
	if err != nil {
		return 0, err
	}
	var n int
	var failed error
	var since time.Time // when it had nothing to say
	err = raw.Read(func(fd uintptr) bool {
		n, failed = retried(func() (int, error) { return unix.Read(int(fd), p) })
		if !errors.Is(failed, unix.EAGAIN) {
			return true
		}
		if since.IsZero() {
			since = time.Now()
		}
		return false
	})
	if !since.IsZero() {
		h.waited += time.Since(since)
	}
	switch {
	case err != nil:
		return 0, h.fail(err)
	case failed != nil:
		return 0, &fs.PathError{Op: "read", Path: h.file.Name(), Err: failed}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (h *hesitant) ReadAt(p []byte, off int64) (int, error) {
	n, err := h.file.ReadAt(p, off)
	return n, h.fail(err)
}

func (h *hesitant) fail(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.EAGAIN) {
		return waits(h.file.Name())
	}
	return err
}

func waits(name string) error {
	return backends.Errorf(backends.CodeInvalidArgument, "read", name, "waits for something to happen before it can be read; it is not a file of text")
}

func (h *hesitant) Stat() (fs.FileInfo, error) { return h.file.Stat() }
func (h *hesitant) Close() error               { return h.file.Close() }
