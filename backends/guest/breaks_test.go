//go:build linux

package guest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

// half is content whose second half never comes, until it is told to end.
type half struct {
	came chan struct{} // closed when the first half has been taken
	end  chan struct{}
	sent bool
}

func newHalf() *half { return &half{came: make(chan struct{}), end: make(chan struct{})} }

func (h *half) Read(p []byte) (int, error) {
	if !h.sent {
		h.sent = true
		return copy(p, strings.Repeat("new", 10_000)), nil
	}
	close(h.came)
	<-h.end
	return 0, errors.New("the other half does not come")
}

// inFlight starts calls that do not end by themselves, and returns when they are
// under way. Each sends how it ended. A file that is being read is read on once
// broken is closed.
func inFlight(t *testing.T, c *guest.Client, dir string, broken <-chan struct{}) (ended map[string]chan error, command int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, 8<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	ended = map[string]chan error{}
	start := func(name string, call func() error) {
		end := make(chan error, 1)
		ended[name] = end
		go func() { end <- call() }()
	}
	start("run", func() error {
		_, err := c.Run(t.Context(), backends.Command{Script: "echo $$ >pid; exec sleep 300"})
		return err
	})
	start("run with input", func() error {
		input := newHalf()
		defer close(input.end)
		_, err := c.Run(t.Context(), backends.Command{Argv: []string{"cat"}, Stdin: input})
		return err
	})
	content := newHalf()
	start("write", func() error {
		defer close(content.end)
		_, err := c.Write(t.Context(), backends.WriteRequest{Path: "f", Content: content})
		return err
	})
	file, _, err := c.Open(t.Context(), "big")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(file, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	searching := make(chan struct{})
	var once sync.Once
	start("grep", func() error {
		for {
			once.Do(func() { close(searching) })
			if _, err := c.Grep(t.Context(), backends.GrepRequest{Pattern: "a.*b.*c.*d", Path: "/usr/share", Mode: backends.GrepCount, Limit: 1}); err != nil {
				return err
			}
		}
	})
	<-content.came
	<-searching
	command = pidIn(t, filepath.Join(dir, "pid"))
	start("open", func() error {
		defer file.Close()
		<-broken
		_, err := io.Copy(io.Discard, file)
		return err
	})
	return ended, command
}

func TestAgentIsKilled(t *testing.T) {
	before := runtime.NumGoroutine()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := startAgent()
	if err != nil {
		t.Fatal(err)
	}
	c, err := guest.Connect(t.Context(), p, guest.Setup{WorkingDir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	broken := make(chan struct{})
	ended, command := inFlight(t, c, dir, broken)
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	close(broken)
	for name, end := range ended {
		select {
		case err := <-end:
			wantCode(t, name, err, backends.CodeUnavailable)
		case <-time.After(patience):
			t.Errorf("%s hangs", name)
		}
	}
	<-c.Done()
	_, err = c.Stat(t.Context(), "f")
	wantCode(t, "a later call", err, backends.CodeUnavailable)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	<-p.ended
	eventually(t, "the command to end", func() bool { return !alive(command) })
	if text, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(text) != "old" {
		t.Errorf("the file that was being written is %q, %v", text, err)
	}
	eventually(t, "all goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

func TestHostIsGone(t *testing.T) {
	dir := t.TempDir()
	p, err := startAgent()
	if err != nil {
		t.Fatal(err)
	}
	c, err := guest.Connect(t.Context(), p, guest.Setup{WorkingDir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var stubborn sync.WaitGroup
	for i := range 5 {
		stubborn.Go(func() {
			_, err := c.Run(t.Context(), backends.Command{Script: fmt.Sprintf(
				`trap "" TERM HUP; sh -c 'echo $$ >child%d; while :; do echo; sleep 0.01; done' & echo $$ >leader%[1]d; wait; sleep 300`, i)})
			wantCode(t, "Run", err, backends.CodeUnavailable)
		})
	}
	var pids []int
	for i := range 5 {
		pids = append(pids, pidIn(t, fmt.Sprintf("%s/child%d", dir, i)), pidIn(t, fmt.Sprintf("%s/leader%d", dir, i)))
	}
	// Both pipes end, as those of a process that was killed do.
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	<-p.ended
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d goes on", pid)
		}
	}
	stubborn.Wait()
}

func TestAgentIsStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for keep-alives")
	}
	t.Parallel()
	dir := t.TempDir()
	c, p := connect(t, guest.Setup{WorkingDir: dir})
	broken := make(chan struct{})
	ended, _ := inFlight(t, c, dir, broken)
	if err := unix.Kill(p.cmd.Process.Pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	close(broken)
	defer func() {
		if err := unix.Kill(p.cmd.Process.Pid, unix.SIGKILL); err != nil {
			t.Error(err)
		}
	}()
	stopped := time.Now()
	// Content without end fills all that is between here and the agent.
	ctx, cancel := context.WithCancel(t.Context())
	filling := make(chan error, 1)
	taken := &counting{}
	go func() {
		_, err := c.Write(ctx, backends.WriteRequest{Path: "f", Content: taken})
		filling <- err
	}()
	eventually(t, "the pipe to be full", taken.stuck)
	promptly := func(what string, call func(context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		end := make(chan error, 1)
		go func() { end <- call(ctx) }()
		cancel()
		select {
		case err := <-end:
			wantCode(t, what, err, backends.CodeCancelled)
		case <-time.After(5 * time.Second): // long before the keep-alive fails
			t.Errorf("%s does not heed its cancellation", what)
		}
	}
	promptly("Stat", func(ctx context.Context) error { _, err := c.Stat(ctx, "f"); return err })
	promptly("Read", func(ctx context.Context) error {
		_, err := c.Read(ctx, backends.ReadRequest{Path: "f"})
		return err
	})
	promptly("Open", func(ctx context.Context) error { _, _, err := c.Open(ctx, "f"); return err })
	promptly("Run", func(ctx context.Context) error {
		_, err := c.Run(ctx, backends.Command{Script: "true"})
		return err
	})
	promptly("Write", func(ctx context.Context) error {
		_, err := c.Write(ctx, backends.WriteRequest{Path: "f", Content: strings.NewReader("x")})
		return err
	})
	cancel()
	select {
	case err := <-filling:
		wantCode(t, "the write that is under way", err, backends.CodeCancelled)
	case <-time.After(5 * time.Second):
		t.Error("the write that is under way does not heed its cancellation")
	}
	for name, end := range ended {
		select {
		case err := <-end:
			wantCode(t, name, err, backends.CodeUnavailable)
		case <-time.After(patience):
			t.Errorf("%s hangs", name)
		}
	}
	if took := time.Since(stopped); took > 25*time.Second {
		t.Errorf("it took %s", took)
	}
}

// counting is content without end that knows how much was taken of it.
type counting struct {
	mu          sync.Mutex
	taken, seen int
}

func (c *counting) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken += len(p)
	return len(p), nil
}

// stuck tells whether nothing was taken since it was last asked.
func (c *counting) stuck() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := c.taken == c.seen && c.taken > 0
	c.seen = c.taken
	return same
}

// The caller's own reader fails: the error is the reader's, and the session is
// none the worse.
func TestReaderFails(t *testing.T) {
	dir := t.TempDir()
	c, _ := connect(t, guest.Setup{WorkingDir: dir})
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := errors.New("the disk of the caller is broken")
	for range 100 {
		content := func() io.Reader { return io.MultiReader(strings.NewReader(strings.Repeat("x", 200_000)), failing{own}) }
		if _, err := c.Write(t.Context(), backends.WriteRequest{Path: "f", Content: content()}); !errors.Is(err, own) {
			t.Fatalf("Write: %v", err)
		}
		if _, err := c.Run(t.Context(), backends.Command{Argv: []string{"cat"}, Stdin: content()}); !errors.Is(err, own) || backends.CodeOf(err) != backends.CodeInternal {
			t.Fatalf("Run: %v", err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(text) != "old" {
		t.Errorf("%q, %v", text, err)
	}
	eventually(t, "the streams to be closed", func() bool { return c.Streams() == 0 })
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
