package procs

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// holdings is what a process can leak.
type holdings struct{ fds, goroutines, children int }

func held(t *testing.T) holdings {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ps", "-o", "pid=", "--ppid", strconv.Itoa(os.Getpid())).Output()
	if err != nil {
		t.Fatal(err)
	}
	return holdings{len(fds), runtime.NumGoroutine(), strings.Count(string(out), "\n")}
}

func TestNothingIsLeftBehind(t *testing.T) {
	kinds := []backends.Command{
		{Argv: []string{"true"}},
		{Argv: []string{"true"}, Merge: true, Stdin: strings.NewReader("x")},
		{Argv: []string{"no-such-program"}},
		{Argv: []string{"true"}, Dir: "no-such-directory"},
		{Argv: []string{"/etc/passwd"}},
		{Argv: []string{"sh", "-c", "kill -9 $$"}},
		{Argv: []string{"sleep", "100"}, Timeout: 2 * time.Millisecond},
		{Argv: []string{"head", "-c", "100000", "/dev/zero"}, MaxOutput: 1000},
	}
	run := func(n int) {
		for i := range n {
			cmd := kinds[i%len(kinds)]
			_, _ = Run(t.Context(), cmd, Options{Env: base}) // each kind's result has its own test
		}
	}
	run(len(kinds))
	before := held(t)
	run(2000)
	var after holdings
	eventually(t, "goroutines to end", func() bool {
		after = held(t)
		return after.fds <= before.fds && after.goroutines <= before.goroutines && after.children <= before.children
	})
}

// A process is signalled through a descriptor, and only as long as it is of the
// session: neither a stranger that got the id since, nor one that detached.
func TestMembersAreOfTheSession(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = Run(ctx, backends.Command{Script: `setsid sleep 100 & echo $! >detached; sleep 100 & echo $! >child; echo $$ >leader; wait`},
			Options{Env: base, Dir: dir})
	}()
	leader, child, detached := pidIn(t, dir+"/leader"), pidIn(t, dir+"/child"), pidIn(t, dir+"/detached")
	killAtEnd(t, detached)
	eventually(t, "setsid", func() bool { s, ok := readStat(detached); return ok && s.session == detached })
	ms, err := members(leader)
	if err != nil {
		t.Fatal(err)
	}
	defer ms.close()
	got := map[int]bool{}
	for _, m := range ms {
		got[m.pid] = true
		if m.fd < 0 {
			t.Error("no descriptor")
		}
	}
	if len(got) != 2 || !got[leader] || !got[child] {
		t.Errorf("members %v, want %d and %d", got, leader, child)
	}
	cancel()
	<-done
	// Its descriptor still names the old process, whoever has the id now.
	for _, m := range ms {
		eventually(t, "the process to be gone", func() bool { return unix.PidfdSendSignal(m.fd, 0, nil, 0) == unix.ESRCH })
	}
}

// The leader's id is kept by its zombie until everything else was stopped.
func TestLeaderIsReapedLast(t *testing.T) {
	dir := t.TempDir()
	var zombie, gone int
	_, err := Run(t.Context(), backends.Command{
		Script: `sh -c 'trap "" TERM; while :; do sleep 0.02; echo tick; done' & echo $$ >leader; exec sleep 100`,
		Output: func(backends.Stream, []byte) {
			pid, err := os.ReadFile(dir + "/leader")
			if err != nil {
				return
			}
			// The child goes on printing while it is being waited for, when
			// SIGTERM has ended the leader.
			data, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
			switch {
			case err != nil:
				gone++
			case strings.Contains(string(data), ") Z "):
				zombie++
			}
		},
		Timeout: 300 * time.Millisecond,
	}, Options{Env: base, Dir: dir})
	wantCode(t, err, backends.CodeTimeout)
	if zombie == 0 || gone > 0 {
		t.Errorf("a zombie %d times, gone %d times", zombie, gone)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pidIn(t, dir+"/leader"))); err == nil {
		t.Error("the leader was not reaped")
	}
}

func TestStopWithoutProc(t *testing.T) {
	for name, text := range map[string]string{
		"gentle":   `sleep 100 & echo $! >pid; wait`,
		"stubborn": `trap '' TERM; sh -c 'echo $$ >pid; exec sleep 100' & wait; sleep 100`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command("sh", "-c", text)
			cmd.Dir = dir
			cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			exited := make(chan struct{})
			go func() {
				defer close(exited)
				if err := awaitExit(cmd.Process.Pid); err != nil {
					t.Error(err)
				}
			}()
			pid := pidIn(t, dir+"/pid")
			if left := stopGroup(cmd.Process.Pid, exited, 300*time.Millisecond); left != 0 {
				t.Errorf("%d left", left)
			}
			_ = cmd.Wait()
			eventually(t, "the child to end", func() bool { return !alive(pid) })
		})
	}
}

func TestStatOfAnAwkwardName(t *testing.T) {
	dir := t.TempDir()
	name := dir + "/a) Z 1 2 3"
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, "100")
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Error("it ended well though it was killed")
		}
	}()
	if s, ok := readStat(cmd.Process.Pid); !ok || s.session != cmd.Process.Pid {
		t.Errorf("%+v, %v", s, ok)
	}
}

func TestCommandInheritsThreeBlockingDescriptors(t *testing.T) {
	leaked, err := unix.Dup(2) // without close-on-exec, as inherited ones are
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leaked)
	if err := closeOnExec(); err != nil {
		t.Fatal(err)
	}
	// The fourth is the directory that the shell reads for the pattern.
	show := []string{"sh", "-c", "cd /proc/$$; echo fd/*; cat fdinfo/[012]"}
	for _, cmd := range []backends.Command{
		{Argv: show},
		{Argv: show, Merge: true, Stdin: strings.NewReader("")},
	} {
		_, c, err := runIn(t, "/", cmd)
		if err != nil || !strings.HasPrefix(c.stdout.String(), "fd/0 fd/1 fd/2 fd/3\npos:") {
			t.Errorf("%v, %q", err, c.stdout.String())
		}
		for line := range strings.Lines(c.stdout.String()) {
			if octal, ok := strings.CutPrefix(line, "flags:\t"); ok {
				if flags, err := strconv.ParseInt(strings.TrimSpace(octal), 8, 64); err != nil || flags&unix.O_NONBLOCK != 0 {
					t.Errorf("%v, %q", err, line)
				}
			}
		}
	}
}

// printTo is set in a process that runs a command which prints into this FIFO.
const printTo = "MCP_WORKSPACE_TEST_PRINT_TO"

func TestCommandEndsWithAServerThatIsKilled(t *testing.T) {
	if fifo := os.Getenv(printTo); fifo != "" {
		// With threads that come and go, as any of them may have started it.
		for range 10 {
			go func() { runtime.LockOSThread() }()
		}
		_, err := Run(t.Context(), backends.Command{Script: "exec >" + fifo + "; echo up; exec sleep 1000"}, Options{Env: base})
		t.Fatal(err)
	}
	fifo := t.TempDir() + "/fifo"
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	server.Env = append(os.Environ(), printTo+"="+fifo)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.ReadFull(f, make([]byte, len("up\n"))); err != nil {
		t.Fatal(err)
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // says that it was killed
	// Its end closes the FIFO.
	if err := f.SetReadDeadline(time.Now().Add(prompt)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(f); err != nil {
		t.Errorf("the command goes on: %v", err)
	}
}
