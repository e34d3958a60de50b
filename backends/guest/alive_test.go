//go:build linux

package guest_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

// impatient connects to an agent with little patience.
func impatient(t *testing.T, agent io.ReadWriteCloser, between, ping, operation time.Duration) *guest.Client {
	t.Helper()
	c, err := guest.ConnectPatient(t.Context(), agent, guest.Setup{WorkingDir: t.TempDir()}, between, ping, operation)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if p, ok := agent.(*process); ok {
			<-p.ended
		}
	})
	return c
}

// all makes every call at once, and hands each outcome to check.
func all(t *testing.T, c *guest.Client, check func(op string, err error)) {
	var calls sync.WaitGroup
	for op, call := range operations(t.Context(), c) {
		calls.Go(func() { check(op, call()) })
	}
	calls.Wait()
}

// An agent that reads and answers nothing, though its multiplexer answers, is
// found out, and ends every call.
func TestAgentThatAnswersNothing(t *testing.T) {
	agent := lying(t, func(_ guest.Op, stream net.Conn) { _, _ = io.Copy(io.Discard, stream) }) // ends with the session
	c := impatient(t, agent, 50*time.Millisecond, 500*time.Millisecond, time.Hour)
	all(t, c, func(op string, err error) {
		wantCode(t, op, err, backends.CodeUnavailable)
		if err != nil && !strings.Contains(err.Error(), "stopped answering") {
			t.Errorf("%s: %v", op, err)
		}
	})
	select {
	case <-c.Done():
	case <-time.After(patience):
		t.Error("the session goes on")
	}
}

// An agent that answers pings, and nothing else, ends a call on files when an
// answer would long have come. The session goes on: of another call the answer
// may come yet.
func TestAgentThatAnswersPingsOnly(t *testing.T) {
	const limit = time.Second
	var pings atomic.Int64
	agent := speaking(t, func(stream net.Conn) {
		head := make([]byte, 6) // kind, length, operation
		if _, err := io.ReadFull(stream, head); err != nil {
			return
		}
		switch guest.Op(head[5]) {
		case guest.OpSetup:
			_, _ = stream.Write(setUp) // the host may have gone
		case guest.OpPing:
			pings.Add(1)
			_, _ = stream.Write(reply(struct{}{})) // likewise
		default:
			<-t.Context().Done()
		}
	})
	c := impatient(t, agent, 20*time.Millisecond, patience, limit)
	command := make(chan error, 1)
	go func() {
		_, err := c.Run(t.Context(), backends.Command{Script: "sleep 1000"})
		command <- err
	}()
	calls := operations(t.Context(), c)
	delete(calls, "Run")
	// Larger than what a stream holds of what nobody takes.
	calls["large Edit"] = func() error {
		_, err := c.Edit(t.Context(), backends.EditRequest{Path: "f", Old: "a", New: strings.Repeat("b", 8<<20)})
		return err
	}
	calls["Write without end"] = func() error {
		_, err := c.Write(t.Context(), backends.WriteRequest{Path: "f", Content: &counting{}})
		return err
	}
	var ended sync.WaitGroup
	for op, call := range calls {
		ended.Go(func() {
			err := call()
			wantCode(t, op, err, backends.CodeUnavailable)
			if err != nil && !strings.Contains(err.Error(), "has not answered this call for 1s") {
				t.Errorf("%s: %v", op, err)
			}
		})
	}
	done := make(chan struct{})
	go func() { ended.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("a call hangs")
	}
	select {
	case err := <-command:
		t.Errorf("the command was ended by %v", err)
	case <-c.Done():
		t.Error("the session has ended")
	default:
	}
	if pings.Load() == 0 {
		t.Error("the agent was never asked")
	}
}

// A command that says nothing goes on for as long as the agent answers, through
// any number of pings.
func TestSilentCommandGoesOn(t *testing.T) {
	p, err := startAgent()
	if err != nil {
		t.Fatal(err)
	}
	c := impatient(t, p, 5*time.Millisecond, patience, 100*time.Millisecond)
	exit, err := c.Run(t.Context(), backends.Command{Argv: []string{"sleep", "2"}})
	if err != nil || exit.Code != 0 {
		t.Errorf("%+v, %v", exit, err)
	}
	// Nor is a write cut whose content comes slowly.
	slow := &slowly{pieces: 5, pause: 150 * time.Millisecond}
	if _, err := c.Write(t.Context(), backends.WriteRequest{Path: "f", Content: slow}); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(c.WorkingDir(), "f")); err != nil || string(text) != "piece\npiece\npiece\npiece\npiece\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// slowly is content that comes in pieces.
type slowly struct {
	pieces int
	pause  time.Duration
}

func (s *slowly) Read(p []byte) (int, error) {
	if s.pieces--; s.pieces < 0 {
		return 0, io.EOF
	}
	time.Sleep(s.pause)
	return copy(p, "piece\n"), nil
}

// A stopped agent is said to be that, and one that goes on in time is none the
// worse.
func TestStoppedAgentIsNamed(t *testing.T) {
	p, err := startAgent()
	if err != nil {
		t.Fatal(err)
	}
	c := impatient(t, p, 20*time.Millisecond, 2*time.Second, time.Hour)
	signal := func(s unix.Signal) {
		t.Helper()
		if err := unix.Kill(p.cmd.Process.Pid, s); err != nil {
			t.Fatal(err)
		}
	}
	stop := func() {
		t.Helper()
		signal(unix.SIGSTOP)
		eventually(t, "each of its threads to stop", func() bool {
			threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
			return err == nil && !slices.ContainsFunc(threads, func(thread string) bool {
				stat, err := os.ReadFile(thread)
				return err != nil || !strings.Contains(string(stat), ") T ")
			})
		})
	}
	stop()
	ended := make(chan error, 1)
	stat := func() { _, err := c.Stat(t.Context(), "."); ended <- err }
	go stat()
	time.Sleep(500 * time.Millisecond) // through several pings' time, and less than one may take
	signal(unix.SIGCONT)
	if err := <-ended; err != nil {
		t.Errorf("Stat of an agent that goes on: %v", err)
	}
	stop()
	defer signal(unix.SIGKILL)
	go stat()
	select {
	case err := <-ended:
		wantCode(t, "Stat", err, backends.CodeUnavailable)
		if err != nil && !strings.Contains(err.Error(), "stopped answering") {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Error("Stat hangs")
	}
}
