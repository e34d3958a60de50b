//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// kinds are commands that end in all ways there are.
var kinds = []func(ctx context.Context, s *session) (backends.Exit, error){
	func(ctx context.Context, s *session) (backends.Exit, error) {
		return s.Run(ctx, backends.Command{Argv: []string{"true"}})
	},
	func(ctx context.Context, s *session) (backends.Exit, error) {
		return s.Run(ctx, backends.Command{Script: "cat; exit 3", Stdin: strings.NewReader("input"), Merge: true})
	},
	func(ctx context.Context, s *session) (backends.Exit, error) { // an orphan for init
		return s.Run(ctx, backends.Command{Script: "(sleep 0.01 &)"})
	},
	func(ctx context.Context, s *session) (backends.Exit, error) { // a daemon for init
		return s.Run(ctx, backends.Command{Script: "(setsid sleep 0.01 &) & exit 0"})
	},
	func(ctx context.Context, s *session) (backends.Exit, error) {
		return s.Run(ctx, backends.Command{Script: "kill -9 $$"})
	},
	func(ctx context.Context, s *session) (backends.Exit, error) {
		return s.Run(ctx, backends.Command{Argv: []string{"no-such-program"}})
	},
	func(ctx context.Context, s *session) (backends.Exit, error) {
		return s.Run(ctx, backends.Command{Argv: []string{"true"}, Dir: "no-such-directory"})
	},
	func(ctx context.Context, s *session) (backends.Exit, error) {
		return s.Run(ctx, backends.Command{Argv: []string{"sleep", "100"}, Timeout: time.Millisecond})
	},
	func(ctx context.Context, s *session) (backends.Exit, error) {
		return s.Run(ctx, backends.Command{Argv: []string{"head", "-c", "100000", "/dev/zero"}, MaxOutput: 1000})
	},
	func(ctx context.Context, s *session) (backends.Exit, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		return s.Run(ctx, backends.Command{Script: "echo; sleep 100 & sleep 100", Output: func(backends.Stream, []byte) { cancel() }})
	},
}

func TestTenThousandCommands(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 500
	}
	c := startContainer(t)
	s := c.serve(t.TempDir())
	for _, run := range kinds { // what is made once is not left over
		_, _ = run(t.Context(), s)
	}
	only := func() bool { return len(c.processes()) == 2 } // init and the agent
	c.eventually("the first processes to be gone", only)
	fds, initFDs := descriptors(t, s.pid), descriptors(t, c.init)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				exit, err := kinds[i%int64(len(kinds))](t.Context(), s)
				want := []backends.Code{"", "", "", "", "", "", backends.CodeNotFound, backends.CodeTimeout, backends.CodeTooLarge, backends.CodeCancelled}[i%10]
				if backends.CodeOf(err) != want || i%10 == 4 && exit.Signal != "SIGKILL" {
					t.Errorf("command %d: %+v, %v", i, exit, err)
				}
			}
		})
	}
	workers.Wait()
	c.eventually("all processes to be gone and reaped", only)
	c.eventually("all descriptors to be closed", func() bool { return descriptors(t, s.pid) <= fds && descriptors(t, c.init) <= initFDs })
	t.Logf("%d KB resident in init, %d KB in the agent", resident(t, c.init), resident(t, s.pid))

	idle := c.serve(t.TempDir()).goroutines(t)
	if got := s.goroutines(t); got > idle+3 { // the one thread that starts, and the runtime's
		t.Errorf("%d goroutines, and %d in an agent that has run nothing:\n%s", got, idle, s.stderr.String())
	}
}

func TestDaemonsAreReaped(t *testing.T) {
	c := startContainer(t)
	dir := t.TempDir()
	s := c.serve(dir)
	exit, err := s.Run(t.Context(), backends.Command{Script: `mkfifo end; for i in 1 2 3 4 5; do
		(setsid sh -c '(sh -c "echo \$\$ >pid.$1; read x <end" &) & exit' sh $i &)
	done; for i in 1 2 3 4 5; do until [ -s pid.$i ]; do sleep 0.01; done; done`})
	if err != nil || exit.Code != 0 {
		t.Fatal(exit, err)
	}
	c.eventually("what stands between init and the daemons to be gone", func() bool { return len(c.processes()) == 2+5 })
	for pid, stat := range c.processes() {
		// After the name: state, parent.
		fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
		if strings.Contains(stat, "(sh)") && (fields[1] != "1" || fields[0] == "Z") {
			t.Errorf("daemon %d: %s", pid, stat)
		}
	}
	// They live on without the agent, and end when they want to.
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	<-s.ended
	c.eventually("the agent to be gone", func() bool { return len(c.processes()) == 1+5 })
	end, err := os.OpenFile(filepath.Join(dir, "end"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := end.Close(); err != nil {
		t.Error(err)
	}
	c.eventually("the daemons to be reaped", func() bool { return len(c.processes()) == 1 })
}

// An agent that is killed takes with it what runs: the commands, and what they have
// started that did not detach. What does not belong to a command that runs stays.
func TestKilledAgentLeavesNoCommands(t *testing.T) {
	c := startContainer(t)
	dir := t.TempDir()
	s, other := c.serve(dir), c.serve(dir)
	// Of commands that have ended, and of another agent.
	exit, err := s.Run(t.Context(), backends.Command{Script: "sleep 301 >/dev/null 2>&1 &"})
	if err != nil || exit.Code != 0 {
		t.Fatal(exit, err)
	}
	const command = `
		sh -c 'trap "" TERM HUP; while :; do sleep 303; done' &
		(sleep 304 | cat) &
		setsid sleep 302 &
		echo >"$1"; sleep 305; sleep 306`
	ended := make(chan error, 2)
	for name, agent := range map[string]*session{"first": s, "second": other} {
		go func() {
			_, err := agent.Run(t.Context(), backends.Command{Argv: []string{"sh", "-c", command, "sh", filepath.Join(dir, name)}})
			ended <- err
		}()
		c.eventually("the command to run", func() bool {
			_, err := os.Stat(filepath.Join(dir, name))
			return err == nil && c.sleeping("305") >= 1
		})
	}
	c.eventually("all to run", func() bool {
		return c.sleeping("301") == 1 && c.sleeping("302") == 2 && c.sleeping("303") == 2 && c.sleeping("304") == 2 && c.sleeping("305") == 2
	})
	if err := unix.Kill(s.pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; backends.CodeOf(err) != backends.CodeUnavailable {
		t.Errorf("the command ended with %v", err)
	}
	c.eventually("the first agent's command to be ended", func() bool {
		return c.sleeping("303") == 1 && c.sleeping("304") == 1 && c.sleeping("305") == 1
	})
	if c.sleeping("301") != 1 || c.sleeping("302") != 2 {
		t.Error("what had detached, or was of a command that had ended, was ended too")
	}
	// Init, an agent, its command of seven processes, and three that stay.
	c.eventually("the rest to be reaped", func() bool { return len(c.processes()) == 2+7+3 })
	if exit, err := other.Run(t.Context(), backends.Command{Argv: []string{"true"}}); err != nil || exit.Code != 0 {
		t.Errorf("the other agent: %+v, %v", exit, err)
	}
}

// sleeping counts the processes that sleep for so many seconds.
func (c *container) sleeping(seconds string) (n int) {
	for pid := range c.processes() {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/proc/%d/cmdline", c.init, pid))
		if err == nil && string(line) == "sleep\x00"+seconds+"\x00" {
			n++
		}
	}
	return n
}

// Whatever is written where agents tell process 1 of their commands, it goes on,
// and heeds the agents.
func TestLedgerOfNonsense(t *testing.T) {
	c := startContainer(t)
	var ledger *os.File
	c.eventually("init to keep the ledger", func() (ok bool) {
		var err error
		ledger, err = os.OpenFile(fmt.Sprintf("/proc/%d/fd/100", c.init), os.O_WRONLY, 0)
		return err == nil
	})
	defer ledger.Close()
	for _, nonsense := range []string{"\n", "x", "\x00\n", "1 1\n", "-1 -1\n", "0 0\n", "2 1\n", "2 -1\n", "1 2\n", "99999999999 2\n", "7", " 7\n",
		strings.Repeat("9", 100_000) + "\n", strings.Repeat("4000000 4000001\n", 10_000)} {
		if _, err := io.WriteString(ledger, nonsense); err != nil {
			t.Fatalf("%.20q: %v", nonsense, err)
		}
	}
	s := c.serve(t.TempDir())
	ended := make(chan error, 1)
	go func() {
		_, err := s.Run(t.Context(), backends.Command{Script: "sleep 401 & sleep 402"})
		ended <- err
	}()
	c.eventually("the command to run", func() bool { return c.sleeping("401") == 1 && c.sleeping("402") == 1 })
	if err := unix.Kill(s.pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; backends.CodeOf(err) != backends.CodeUnavailable {
		t.Errorf("the command ended with %v", err)
	}
	c.eventually("the command to be ended", func() bool { return len(c.processes()) == 1 })
}

// While a command is being stopped, one of its processes ends, and its id goes to
// a process that has nothing to do with it.
func TestProcessIDUsedAgain(t *testing.T) {
	c := startContainer(t)
	dir := t.TempDir()
	s := c.serve(dir)
	_, err := s.Run(t.Context(), backends.Command{Timeout: 300 * time.Millisecond, Script: `
		sleep 300 & child=$!
		echo $child >child
		trap 'wait $child; echo $((child-1)) >/proc/sys/kernel/ns_last_pid; setsid sleep 300 & echo $! >again; trap "" TERM' TERM
		until [ -s again ]; do sleep 0.01; done
		echo $BASHPID >stubborn
		while :; do sleep 0.1; done`})
	if backends.CodeOf(err) != backends.CodeTimeout {
		t.Fatal(err)
	}
	read := func(name string) int {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(string(bytes.TrimSpace(text)))
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	child, again, stubborn := read("child"), read("again"), read("stubborn")
	if child != again {
		t.Skipf("the id %d was not used again, but %d", child, again)
	}
	stat, ok := c.processes()[again]
	if !ok || !strings.Contains(stat, "(sleep)") {
		t.Errorf("the process that got the id was stopped: %q", stat)
	}
	if stat, ok := c.processes()[stubborn]; ok {
		t.Errorf("the command is still there: %s", stat)
	}
}

// Init passes signals on and ends the container when it is told to.
func TestInitEnds(t *testing.T) {
	for name, signal := range map[string]unix.Signal{"SIGTERM": unix.SIGTERM, "SIGINT": unix.SIGINT} {
		for _, ends := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s and processes that end by themselves %v", name, ends), func(t *testing.T) {
				t.Parallel()
				c := startContainer(t)
				dir := t.TempDir()
				s := c.serve(dir)
				trap := `trap 'echo told >told; exit' TERM INT USR1; `
				if !ends {
					trap = `trap 'echo told >told' TERM INT USR1; `
				}
				// Its output is its own: that of the command ends with the agent.
				exit, err := s.Run(t.Context(), backends.Command{Script: fmt.Sprintf("exec setsid -f sh -c %q >/dev/null 2>&1", trap+`echo up >up; while :; do sleep 0.05; done`)})
				if err != nil || exit.Code != 0 {
					t.Fatal(exit, err)
				}
				there := func(name string) func() bool {
					return func() bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
				}
				c.eventually("the daemon", there("up"))
				if err := unix.Kill(c.init, signal); err != nil {
					t.Fatal(err)
				}
				c.eventually("init to end", func() bool { _, err := os.Stat(fmt.Sprintf("/proc/%d/exe", c.init)); return err != nil })
				if !there("told")() {
					t.Error("the daemon was not told")
				}
				select {
				case <-s.Done():
				case <-time.After(patience):
					t.Error("the session goes on")
				}
			})
		}
	}
}
