package engines

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endTimeout bounds how long a daemon may take to end: dockerd gives its
// containers 10 s each before it kills them.
const endTimeout = 45 * time.Second

// endProcess signals a process that is no child of this one and waits until it
// is gone.
func endProcess(ctx context.Context, pid int, signal syscall.Signal) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("pidfd_open: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.PidfdSendSignal(fd, signal, nil, 0); err != nil {
		return fmt.Errorf("pidfd_send_signal: %w", err)
	}
	deadline := time.Now().Add(endTimeout)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		left := time.Until(deadline)
		if left <= 0 {
			return fmt.Errorf("it did not end within %v", endTimeout)
		}
		// In slices, so that the context counts too.
		slice := int(min(left, time.Second).Milliseconds()) + 1
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, slice)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("poll: %w", err)
		}
		if n > 0 {
			return nil
		}
	}
}
