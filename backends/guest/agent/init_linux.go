package agent

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// endPatience is how long the container's processes have to end by themselves
// when the container is stopped. Engines kill the container after 10 s.
const endPatience = 3 * time.Second

// Init is the first process of a container: it reaps what is orphaned, ends what
// agents that are killed leave of their commands, and ends with the container. SIGTERM and SIGINT end it, once every other process has
// been sent the same and has had 3 s; SIGHUP, SIGUSR1 and SIGUSR2 are passed on.
// It returns the exit status.
func Init() int {
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, unix.SIGCHLD, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2)
	var until <-chan time.Time
	if err := keepLedger(); err != nil {
		fmt.Fprintln(os.Stderr, "commands of agents that are killed may go on:", err) // for docker logs, where there are any
	}
	reap()
	for {
		select {
		case <-until:
			return 0
		case s := <-signals:
			switch s {
			case unix.SIGCHLD:
				if !reap() && until != nil {
					return 0
				}
			case unix.SIGTERM, unix.SIGINT:
				if until == nil {
					until = time.After(endPatience)
				}
				passOn(s.(syscall.Signal))
				if !reap() {
					return 0
				}
			default:
				passOn(s.(syscall.Signal))
			}
		}
	}
}

// passOn sends s to every process of the container but this one. There may be
// none.
func passOn(s syscall.Signal) { _ = unix.Kill(-1, s) }

// reap takes the exit status of every child that has ended, and tells whether
// there are others.
func reap() bool {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil: // ECHILD
			return false
		case pid == 0:
			return true
		}
	}
}
