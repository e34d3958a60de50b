package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// ledgerFD is the descriptor of process 1 that agents write to: a pipe, which whoever
// is of the same user as process 1 can open through /proc. It is far from those
// that a program has by itself.
const ledgerFD = 100

// ledger tells process 1 which commands an agent runs. When an agent is killed, the
// leaders of its commands are killed with it by the kernel, and process 1 ends
// what they have started and is still of their sessions, which the agent itself
// would have done. What goes on: what an agent had started in the moment in which it
// was killed, before it could write that down, and everything where process 1 is
// another program, or of another user.
type ledger struct {
	log *slog.Logger

	mu   sync.Mutex
	pipe *int // its descriptor, once process 1 has been found to keep one
}

func newLedger(log *slog.Logger) *ledger { return &ledger{log: log} }

// track writes down that the command of a leader runs, and then that it has ended.
func (l *ledger) track(leader int) (ended func()) {
	l.write(leader)
	return func() { l.write(-leader) }
}

func (l *ledger) write(leader int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pipe == nil {
		fd, err := openLedger() // again and again: process 1 may be just starting
		if err != nil {
			l.log.Debug("process 1 cannot be told of commands", "error", err)
			return
		}
		l.pipe = &fd
	}
	// Process 1 reads all the time: a pipe that stays full has been filled by
	// somebody else.
	if err := writeEntry(*l.pipe, os.Getpid(), leader); err != nil {
		l.log.Debug("process 1 was not told of a command", "error", err)
	}
}

// openLedger opens the ledger of process 1.
func openLedger() (fd int, err error) {
	path := fmt.Sprintf("/proc/1/fd/%d", ledgerFD)
	target, err := os.Readlink(path)
	if err != nil {
		return -1, err
	}
	if !strings.HasPrefix(target, "pipe:") || !sameProgram("/proc/1/exe", "/proc/self/exe") {
		return -1, errors.New("it keeps no ledger")
	}
	return unix.Open(path, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
}

func sameProgram(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// room is how long an entry waits for room in the pipe, in milliseconds: whoever
// has filled it must not hold commands up.
const room = 500

// writeEntry writes one entry, which the kernel keeps in one piece.
func writeEntry(fd, agent, leader int) error {
	for waited := false; ; {
		_, err := unix.Write(fd, fmt.Appendf(nil, "%d %d\n", agent, leader))
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN) && !waited:
			waited = true
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, room) // the next write tells
		default:
			return err
		}
	}
}

func (l *ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pipe != nil {
		_ = unix.Close(*l.pipe) // nothing is buffered
		l.pipe = nil
	}
}
