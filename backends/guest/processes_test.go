//go:build linux

package guest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

// Where agents like this one fail, and where each of it is held against a real
// agent. What is quoted is a claim of backendtest, which TestContract runs.
//
//	the command ends, a child holds its pipes    "a background child that holds the output does not hold up the call and goes on"
//	output that comes after the exit             TestOutputAfterTheExit
//	100 MB of output and a slow reader           TestMuchOutputAndASlowReader
//	a command that ignores SIGTERM               "a command over its time that ignores signals is stopped"
//	double forks and setsid                      TestDoubleForks
//	descendants of what was stopped              "cancelling stops …", "a timeout stops everything the command started"
//	an exit by signal                            "a command that SIGKILL ended has that code and name", and others
//	500 commands at once                         Test500CommandsAtOnce
//	a process id that is used again              TestProcessIDUsedAgain in cmd/mcp-workspace-guest
//	standard input at its end                    "without a reader standard input is at its end"
//	10,000 commands, and nothing left            TestTenThousandCommands in cmd/mcp-workspace-guest

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// eventually waits for what has no event to wait for.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// alive tells whether there is a process pid that is no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// pidIn waits for a process to have written its id.
func pidIn(t *testing.T, file string) (pid int) {
	t.Helper()
	eventually(t, file, func() bool {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.HasSuffix(text, []byte("\n")) {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	return pid
}

// resident is a process's memory in bytes.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kB, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kB << 10
}

// heap is what this process uses, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // no heap has 2^63 bytes
}

func wantCode(t *testing.T, what string, err error, want backends.Code) {
	t.Helper()
	if backends.CodeOf(err) != want {
		t.Errorf("%s: %v (%s), want %s", what, err, backends.CodeOf(err), want)
	}
}

func TestOutputAfterTheExit(t *testing.T) {
	dir := t.TempDir()
	c, _ := connect(t, guest.Setup{WorkingDir: dir})
	var got bytes.Buffer
	exit, err := c.Run(t.Context(), backends.Command{
		// More than a pipe holds, once the command has gone.
		Script: `mkfifo go; (echo $BASHPID >pid; read -r x <go; head -c 1000000 /dev/zero; echo "$?" >printed) & echo early; exit 3`,
		Output: func(_ backends.Stream, p []byte) { got.Write(p) },
	})
	if err != nil || exit.Code != 3 || got.String() != "early\n" {
		t.Fatalf("%+v, %v, %q", exit, err, got.String())
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	if status := pidIn(t, filepath.Join(dir, "printed")); status != 0 {
		t.Errorf("the child that prints on was ended with %d", status)
	}
	if got.String() != "early\n" {
		t.Errorf("%d bytes came after Run had returned", got.Len()-len("early\n"))
	}
}

func TestMuchOutputAndASlowReader(t *testing.T) {
	const size = 100 << 20
	c, p := connect(t, guest.Setup{WorkingDir: t.TempDir()})
	if _, err := c.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("small\n")}); err != nil {
		t.Fatal(err)
	}
	ownBefore, itsBefore := heap(), resident(t, p.cmd.Process.Pid)
	var got, own, its int64
	reads := 0
	exit, err := c.Run(t.Context(), backends.Command{
		Argv: []string{"head", "-c", strconv.Itoa(size), "/dev/zero"},
		Output: func(_ backends.Stream, data []byte) {
			if got += int64(len(data)); got%(4<<20) >= int64(len(data)) {
				return
			}
			// While this reader does not read, everything between it and the
			// command is full, and other calls are answered.
			for range 20 {
				if _, err := c.Read(t.Context(), backends.ReadRequest{Path: "f"}); err != nil {
					t.Error(err)
				}
				reads++
			}
			own, its = max(own, heap()-ownBefore), max(its, resident(t, p.cmd.Process.Pid)-itsBefore)
		},
	})
	if err != nil || exit.Code != 0 || got != size || reads == 0 {
		t.Fatalf("%+v, %v, %d bytes, %d reads", exit, err, got, reads)
	}
	if own > 8<<20 || its > 24<<20 {
		t.Errorf("%d bytes of memory here and %d in the agent for %d of output", own, its, size)
	}
}

// A daemon forks twice, so that its parent is not the command, and may make a
// session of its own. Only the latter says that it wants to outlive the command.
func TestDoubleForks(t *testing.T) {
	for name, tc := range map[string]struct {
		daemon string
		lives  bool
	}{
		"an orphan is stopped with its command":           {`(sh -c 'echo $$ >pid; exec sleep 300' &)`, false},
		"an orphan that ignores signals is stopped too":   {`(sh -c 'trap "" TERM HUP INT; echo $$ >pid; while :; do sleep 1; done' &)`, false},
		"a daemon with a session of its own is left":      {`(setsid sh -c 'echo $$ >pid; exec sleep 300' &)`, true},
		"a daemon that forked again after setsid is left": {`(setsid sh -c 'sh -c "echo \$\$ >pid; exec sleep 300" & exit' &)`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c, p := connect(t, guest.Setup{WorkingDir: dir})
			_, err := c.Run(t.Context(), backends.Command{
				Script: tc.daemon + `; until [ -s pid ]; do sleep 0.01; done; exec sleep 300`, Timeout: time.Second})
			wantCode(t, "Run", err, backends.CodeTimeout)
			pid := pidIn(t, filepath.Join(dir, "pid"))
			if alive(pid) != tc.lives {
				t.Errorf("alive after the stop: %v", alive(pid))
			}
			if !tc.lives {
				return
			}
			// Also when the whole session ends.
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			<-p.ended
			if !alive(pid) {
				t.Error("it ended with the session")
			}
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Error(err)
			}
		})
	}
}

func Test500CommandsAtOnce(t *testing.T) {
	const n = 500
	dir := t.TempDir()
	c, p := connect(t, guest.Setup{WorkingDir: dir})
	if err := unix.Mkfifo(filepath.Join(dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	var started, ended sync.WaitGroup
	started.Add(n)
	for i := range n {
		ended.Go(func() {
			var got bytes.Buffer
			in, out := io.Pipe()
			exit, err := c.Run(t.Context(), backends.Command{
				Argv:  []string{"sh", "-c", "echo up; cat; exit $1", "sh", strconv.Itoa(i % 256)},
				Stdin: in,
				Output: func(_ backends.Stream, b []byte) {
					if got.Len() == 0 {
						go func() {
							started.Done()
							started.Wait() // all are there at the same time
							_, err := fmt.Fprintf(out, "input of %d\n", i)
							if err == nil {
								err = out.Close()
							}
							if err != nil {
								t.Error(err)
							}
						}()
					}
					got.Write(b)
				},
			})
			if want := fmt.Sprintf("up\ninput of %d\n", i); err != nil || exit.Code != i%256 || got.String() != want {
				t.Errorf("command %d: %+v, %v, %q", i, exit, err, got.String())
			}
		})
	}
	ended.Wait()
	eventually(t, "the streams to be closed", func() bool { return c.Streams() == 0 })
	eventually(t, "the agent to have no children", func() bool { return children(t, p.cmd.Process.Pid) == 0 })
	t.Logf("the agent has %d KB and %d threads afterwards", resident(t, p.cmd.Process.Pid)>>10, threads(t, p.cmd.Process.Pid))
}

func threads(t *testing.T, pid int) int {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}

// children counts a process's children, zombies included.
func children(t *testing.T, pid int) (n int) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatal("the kernel does not list children", err)
	}
	for _, task := range tasks {
		list, err := os.ReadFile(task)
		if os.IsNotExist(err) {
			continue // the thread has ended
		}
		if err != nil {
			t.Fatal(err)
		}
		n += len(strings.Fields(string(list)))
	}
	return n
}

// A command is stopped though nobody takes the output that it has written.
func TestStopOfACommandWhoseOutputIsNotRead(t *testing.T) {
	dir := t.TempDir()
	c, _ := connect(t, guest.Setup{WorkingDir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	blocked, read := make(chan struct{}, 1000), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx, backends.Command{Script: "echo $$ >pid; exec yes", Output: func(backends.Stream, []byte) {
			blocked <- struct{}{}
			<-read
		}})
		ended <- err
	}()
	<-blocked
	pid := pidIn(t, filepath.Join(dir, "pid"))
	cancel()
	eventually(t, "the command to be stopped", func() bool { return !alive(pid) })
	if _, err := c.Stat(t.Context(), "."); err != nil { // others are not held up
		t.Error(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("Run returned during a call of Output: %v", err)
	default:
	}
	close(read)
	wantCode(t, "Run", <-ended, backends.CodeCancelled)
	eventually(t, "the stream to be closed", func() bool { return c.Streams() == 0 })
}
