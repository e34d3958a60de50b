package procs

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fionread asks how many bytes a pipe holds (FIONREAD in <sys/filio.h>).
const fionread = 0x4004667f

// endsWithParent changes nothing: this system has no such thing.
func endsWithParent(attr *syscall.SysProcAttr) *syscall.SysProcAttr { return attr }

// awaitExit waits until child pid has ended, and leaves it to be reaped. (Here
// waitid also returns when a process is merely stopped.)
func awaitExit(pid int) error {
	kq, err := unix.Kqueue()
	if err != nil {
		return err
	}
	defer unix.Close(kq)
	unix.CloseOnExec(kq)
	var change unix.Kevent_t
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change.Fflags = unix.NOTE_EXIT
	for {
		_, err := unix.Kevent(kq, []unix.Kevent_t{change}, make([]unix.Kevent_t, 1), nil)
		switch err {
		case unix.EINTR:
		case unix.ESRCH: // it had ended before
			return nil
		default:
			return err
		}
	}
}

// stopSession ends the process group of leader; its session cannot be listed
// here.
func stopSession(leader int, exited <-chan struct{}, grace time.Duration) (left int) {
	return stopGroup(leader, exited, grace)
}
