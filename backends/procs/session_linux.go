package procs

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fionread asks how many bytes a pipe holds.
const fionread = unix.TIOCINQ

// endsWithParent has the kernel kill what is started when the thread that
// started it ends.
func endsWithParent(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	attr.Pdeathsig = syscall.SIGKILL
	return attr
}

// awaitExit waits until child pid has ended, and leaves it to be reaped. Where
// the kernel has descriptors of processes (from 5.3 on) it takes no thread: a
// thread a command would be kept for good, and counts as a process in a
// container's limit of those.
func awaitExit(pid int) error {
	if awaitReadable(pid) == nil {
		return nil
	}
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}

// AwaitEnd waits until process pid, of whomever it is a child, has ended. It fails
// with ESRCH when there is no such process, and where the kernel has no
// descriptors of processes (before 5.3).
func AwaitEnd(pid int) error { return awaitReadable(pid) }

// awaitReadable waits for a descriptor of process pid to be readable, which it is
// when the process has ended.
func awaitReadable(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return err
	}
	f := os.NewFile(uintptr(fd), "process") // watched by the runtime, as it does not block
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var pollErr error
	err = conn.Read(func(fd uintptr) bool {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		if err == unix.EINTR {
			n, err = unix.Poll(fds, 0)
		}
		pollErr = err
		return n > 0 || err != nil
	})
	return errors.Join(err, pollErr)
}

// stopSession sends SIGTERM to every process of leader's session, and SIGKILL
// to those that are left after grace, until there are none. It returns how many
// could not be killed.
//
// The leader must not have been reaped: its id is safe to signal only as long as
// its zombie holds it. The other processes are signalled through descriptors,
// because their ids may be given to another process at any time.
func stopSession(leader int, exited <-chan struct{}, grace time.Duration) (left int) {
	termUntil := time.Now().Add(grace)
	told := map[identity]bool{}
	for {
		ms, err := members(leader)
		if err != nil {
			return stopGroup(leader, exited, time.Until(termUntil))
		}
		if len(ms) == 0 {
			return 0
		}
		for _, m := range ms {
			if !told[m.identity] {
				told[m.identity] = true
				m.signal(unix.SIGTERM)
				m.signal(unix.SIGCONT) // one that is stopped would not see it
			}
		}
		ms.await(termUntil)
		ms.close()
		if time.Now().After(termUntil) {
			break
		}
	}

	// The leader's whole group at once: no member can fork away from that.
	left, err := killMembers(leader, func() { _ = unix.Kill(-leader, unix.SIGKILL) })
	if err != nil {
		return stopGroup(leader, exited, 0)
	}
	return left
}

// EndSession kills what is left of a command whose leader was killed together with
// the process that ran it; see [Options.Track]. It returns how many processes could
// not be killed, and fails where they cannot be seen.
func EndSession(leader int) (left int, err error) {
	return killMembers(leader, func() {}) // the group's id may be another's by now
}

// killMembers kills the processes of a session until there are none, for killGrace
// at most. Each round begins with first.
func killMembers(leader int, first func()) (left int, err error) {
	for until := time.Now().Add(killGrace); ; {
		first()
		ms, err := members(leader)
		if err != nil {
			return 0, err
		}
		if len(ms) == 0 || time.Now().After(until) {
			ms.close()
			return len(ms), nil
		}
		for _, m := range ms {
			m.signal(unix.SIGKILL)
		}
		// Not for long: those that are left may have forked.
		ms.await(time.Now().Add(50 * time.Millisecond))
		ms.close()
	}
}

// identity is what tells a process from a later one with the same id.
type identity struct {
	pid   int
	start string
}

// member is a live process of a session.
type member struct {
	identity
	fd int // of the process; -1 where the kernel has none
}

func (m member) signal(sig unix.Signal) {
	// Failing means that the process has ended, or is not ours to signal; which
	// of the two shows in what is left.
	if m.fd >= 0 {
		_ = unix.PidfdSendSignal(m.fd, sig, nil, 0)
		return
	}
	_ = unix.Kill(m.pid, sig)
}

type memberList []member

func (ms memberList) close() {
	for _, m := range ms {
		if m.fd >= 0 {
			unix.Close(m.fd)
		}
	}
}

// await returns when all members have ended, or at the time until.
func (ms memberList) await(until time.Time) {
	fds := make([]unix.PollFd, len(ms))
	for i, m := range ms {
		if m.fd < 0 { // no event to wait for: look again soon
			time.Sleep(min(10*time.Millisecond, time.Until(until)))
			return
		}
		fds[i] = unix.PollFd{Fd: int32(m.fd), Events: unix.POLLIN}
	}
	for len(fds) > 0 {
		left := time.Until(until)
		if left <= 0 {
			return
		}
		_, err := unix.Poll(fds, int(left/time.Millisecond)+1)
		if err != nil && err != unix.EINTR {
			return
		}
		fds = slices.DeleteFunc(fds, func(fd unix.PollFd) bool { return fd.Revents != 0 })
	}
}

// members returns the live processes of session sid. It fails where /proc is
// missing or shows other processes than ours.
func members(sid int) (memberList, error) {
	names, err := processes()
	if err != nil {
		return nil, err
	}
	var ms memberList
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s, ok := readStat(pid); !ok || s.session != sid {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			fd = -1
		}
		// The id may have been another process's by the time it was opened. If
		// it still is of this session now, so is what the descriptor names.
		s, ok := readStat(pid)
		if !ok || s.session != sid {
			if fd >= 0 {
				unix.Close(fd)
			}
			continue
		}
		ms = append(ms, member{identity: identity{pid: pid, start: s.start}, fd: fd})
	}
	return ms, nil
}

// processes lists /proc, if it is that of our own process ids.
func processes() ([]string, error) {
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return nil, err
	}
	if self != strconv.Itoa(os.Getpid()) {
		return nil, errors.New("/proc is that of another process id namespace")
	}
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// stat is what matters of /proc/PID/stat.
type stat struct {
	session int
	start   string // in clock ticks since boot
}

// readStat describes a process that is alive. One whose first thread has ended
// while others go on looks like a zombie, and is not one.
func readStat(pid int) (stat, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	// The name before the last ")" may hold anything, spaces and ")" included.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	// From the third field of proc(5) on: state 0, session 3, threads 17, start 19.
	if len(fields) < 20 {
		return stat{}, false
	}
	dead := fields[0][0] == 'X' || fields[0][0] == 'Z' && (string(fields[17]) == "1" || string(fields[17]) == "0")
	session, err := strconv.Atoi(string(fields[3]))
	return stat{session: session, start: string(fields[19])}, err == nil && !dead
}
