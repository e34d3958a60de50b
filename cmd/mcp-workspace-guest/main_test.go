//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "guest")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "mcp-workspace-guest")
	return path, build(path, runtime.GOARCH)
})

// build makes the program as a release does.
func build(path, arch string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func TestMain(m *testing.M) {
	status := m.Run()
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path)) // of the system's temporary directory
	}
	os.Exit(status)
}

// container is a process id namespace whose first process is the program.
type container struct {
	t       *testing.T
	program string
	unshare *exec.Cmd
	init    int // its id outside
}

func startContainer(t *testing.T) *container {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	c := &container{t: t, program: path}
	c.unshare = exec.Command("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", path, "init")
	var stderr bytes.Buffer
	c.unshare.Stderr = &stderr
	if err := c.unshare.Start(); err != nil {
		t.Skip("no unshare: ", err)
	}
	ended := make(chan struct{})
	var waited error
	go func() {
		waited = c.unshare.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		if c.init != 0 {
			_ = unix.Kill(c.init, unix.SIGKILL) // it may have ended
		} else {
			_ = c.unshare.Process.Kill()
		}
		<-ended
	})
	for until := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", c.unshare.Process.Pid))
		if pid, convErr := strconv.Atoi(strings.TrimSpace(string(list))); err == nil && convErr == nil {
			if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && exe == path {
				c.init = pid
				return c
			}
		}
		select {
		case <-ended:
			t.Skipf("process ids cannot be had apart here: %v: %s", waited, stderr.String())
		default:
		}
		if time.Now().After(until) {
			t.Fatal("init did not start")
		}
	}
}

// session is a connection to an agent in a container.
type session struct {
	*guest.Client
	pid    int // outside
	cmd    *exec.Cmd
	stderr *bytes.Buffer
	ended  chan struct{}
}

// pipes is both ends of a process as one stream.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

func (p pipes) Close() error { return errors.Join(p.WriteCloser.Close(), p.ReadCloser.Close()) }

func (c *container) serve(dir string) *session {
	c.t.Helper()
	cmd := exec.Command("nsenter", "--target", strconv.Itoa(c.init), "--pid", "--mount", "--", c.program, "serve")
	s := &session{cmd: cmd, stderr: &bytes.Buffer{}, ended: make(chan struct{})}
	cmd.Stderr = s.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	out, outTheirs, err := os.Pipe() // not StdoutPipe, which Wait closes
	if err != nil {
		c.t.Fatal(err)
	}
	cmd.Stdout = outTheirs
	if err := cmd.Start(); err != nil {
		c.t.Skip("no nsenter: ", err)
	}
	if err := outTheirs.Close(); err != nil {
		c.t.Error(err)
	}
	go func() {
		_ = cmd.Wait() // the tests look at what is left of it instead
		close(s.ended)
	}()
	s.Client, err = guest.Connect(c.t.Context(), pipes{out, in}, guest.Setup{WorkingDir: dir}, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = s.Close() // some tests have ended it
		<-s.ended
	})
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
	if err != nil {
		c.t.Fatal(err)
	}
	if s.pid, err = strconv.Atoi(strings.TrimSpace(string(list))); err != nil {
		c.t.Fatal(err)
	}
	return s
}

// processes lists what is in the container: name, state and parent of each, as
// seen from inside.
func (c *container) processes() map[int]string {
	c.t.Helper()
	dirs, err := filepath.Glob(fmt.Sprintf("/proc/%d/root/proc/[0-9]*", c.init))
	if err != nil {
		c.t.Fatal(err)
	}
	found := map[int]string{}
	for _, dir := range dirs {
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			c.t.Fatal(err)
		}
		found[pid] = string(stat)
	}
	return found
}

func (c *container) eventually(what string, ok func() bool) {
	c.t.Helper()
	for until := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			c.t.Fatalf("waited in vain for %s; there are %v", what, c.processes())
		}
	}
}

// resident is a process's memory in KB.
func resident(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kB, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB
}

func descriptors(t *testing.T, pid int) int {
	t.Helper()
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

var goroutine = regexp.MustCompile(`(?m)^goroutine \d+ `)

// goroutines ends an agent, and counts what it then had, as Go prints it.
func (s *session) goroutines(t *testing.T) int {
	t.Helper()
	if err := unix.Kill(s.pid, unix.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	n := len(goroutine.FindAllString(s.stderr.String(), -1))
	if n == 0 {
		t.Fatalf("no goroutines in %q", s.stderr.String())
	}
	return n
}

func TestSize(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		path := filepath.Join(t.TempDir(), "guest")
		if err := build(path, arch); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d KB", arch, info.Size()>>10)
		if info.Size() > 6e6 {
			t.Errorf("%s: %d bytes, want 6 MB at most", arch, info.Size())
		}
	}
}

func TestUsage(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"sreve"}, {"serve", "x"}} {
		out, err := exec.Command(path, args...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.HasPrefix(string(out), "usage: ") {
			t.Errorf("%q: %v, %q", args, err, out)
		}
	}
	out, err := exec.Command(path, "version").Output()
	line, _ := bufio.NewReader(bytes.NewReader(out)).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "mcp-workspace-guest ") || !strings.HasSuffix(line, fmt.Sprintf(", protocol %d\n", guest.ProtocolVersion)) {
		t.Errorf("%q, %v", line, err)
	}
}
