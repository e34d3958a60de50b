package program

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile locks a file against other processes; held is false when another one
// has it locked and wait is not set.
func lockFile(f *os.File, wait bool) (held bool, err error) {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func unlockFile(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}

// endGo ends a go command: Windows has no way to ask a process.
func endGo(p *os.Process) error { return p.Kill() }
