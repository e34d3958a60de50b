//go:build linux || darwin

package procs

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bufferSize is how much is read from a pipe at once: half of what a pipe
// holds, so that the command can go on writing meanwhile.
const bufferSize = 32 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// pump hands on what comes from r until its end, or until the read deadline
// says that the command has exited; then what the command left in the pipe is
// handed on too, and delivered is called. Whatever a child prints after that is
// discarded, until the last one has closed its end.
func pump(r *os.File, write func([]byte), delivered func()) {
	defer r.Close()
	held := pumpUntilExit(r, write)
	delivered()
	if held {
		_, _ = io.Copy(io.Discard, r) // nobody is left to tell of a failure
	}
}

// pumpUntilExit is the part of pump before delivered. It tells whether someone
// still holds the other end.
func pumpUntilExit(r *os.File, write func([]byte)) (held bool) {
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	for {
		n, err := r.Read(buf[:])
		if n > 0 {
			write(buf[:n])
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			return pumpRest(r, buf[:], write)
		default:
			return false
		}
	}
}

// pumpRest hands on exactly what is in the pipe now. Reading until the pipe is
// empty would not end while a child keeps writing.
func pumpRest(r *os.File, buf []byte, write func([]byte)) (held bool) {
	if r.SetReadDeadline(time.Time{}) != nil {
		return false
	}
	for left := buffered(r); left > 0; {
		n, err := r.Read(buf[:min(left, len(buf))])
		if n > 0 {
			write(buf[:n])
		}
		if err != nil {
			return false
		}
		left -= n
	}
	return true
}

// buffered returns how many bytes can be read from r without waiting.
func buffered(r *os.File) int {
	conn, err := r.SyscallConn()
	if err != nil {
		return 0
	}
	var n int
	if err := conn.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), fionread) }); err != nil {
		return 0
	}
	if err != nil {
		return 0
	}
	return n
}

// nullDevice is [os.DevNull]; a test puts other things in its place.
var nullDevice = os.DevNull

// noInput is an input that has ended. It is /dev/null rather than a closed pipe:
// programs that search their input when it is a pipe (rg, for one) then search
// the directory instead. Where commands have put something else there, which may
// keep who opens it waiting or have content, it is the pipe after all, so that
// commands can mend that.
func noInput() (*os.File, error) {
	fd, err := unix.Open(nullDevice, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err == nil {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && unix.SetNonblock(fd, false) == nil {
			return os.NewFile(uintptr(fd), nullDevice), nil
		}
		_ = unix.Close(fd) // nothing was read
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return r, w.Close()
}

// feed copies r to w and closes w at the end of r. A command that stops reading
// is no error. After an error w is left open: closing it would tell the command
// that its input was complete.
func feed(w *os.File, r io.Reader) error {
	buf := make([]byte, bufferSize)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return nil //nolint:nilerr // the command has stopped reading
			}
		}
		switch {
		case err == io.EOF:
			return w.Close()
		case err != nil:
			return err
		}
	}
}
