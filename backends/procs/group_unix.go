//go:build linux || darwin

package procs

import (
	"time"

	"golang.org/x/sys/unix"
)

// stopGroup ends the process group of a leader that has not been reaped, where
// its session cannot be seen: SIGTERM, and SIGKILL once the leader has ended or
// grace is over. It returns 1 when the leader could not be killed.
func stopGroup(leader int, exited <-chan struct{}, grace time.Duration) (left int) {
	// Failing means that nothing is left to signal; what counts is whether the
	// leader ends.
	_ = unix.Kill(-leader, unix.SIGTERM)
	_ = unix.Kill(-leader, unix.SIGCONT) // one that is stopped would not see it
	ended := within(exited, grace)
	_ = unix.Kill(-leader, unix.SIGKILL)
	if ended || within(exited, killGrace) {
		return 0
	}
	return 1
}

// within waits for c to be closed, for d at most.
func within(c <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}
