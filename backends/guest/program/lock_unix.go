//go:build unix

package program

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks a file against other processes; held is false when another one
// has it locked and wait is not set.
func lockFile(f *os.File, wait bool) (held bool, err error) {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}

func unlockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// endGo asks a go command to end; it ends its compilers first.
func endGo(p *os.Process) error { return p.Signal(os.Interrupt) }
