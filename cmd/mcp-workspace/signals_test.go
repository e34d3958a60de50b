//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestASignalEndsTheServer: with status 0, and what was asked for at the end
// is done.
func TestASignalEndsTheServer(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			continue // under nohup it is for the children, too
		}
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := program{args: []string{"--store=file:" + dir, "--destroy-on-exit"}}.start(t)
			s.call(t, "ls", `{}`)
			if got := documents(t, dir); len(got) != 1 {
				t.Fatalf("there are the documents %q", got)
			}
			sendSignal(t, s.Cmd, sig)
			if code := s.end(t); code != 0 || s.stderr.Len() != 0 {
				t.Errorf("it ended with %d and said %s", code, s.stderr.String())
			}
			if got := documents(t, dir); len(got) != 0 {
				t.Errorf("there are the documents %q", got)
			}
		})
	}
}

func sendSignal(t *testing.T, cmd *exec.Cmd, sig os.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// lifeline is a FIFO whose reader sees the end when the last process that was
// given the other side has ended.
type lifeline struct {
	path string
	file *os.File
}

func newLifeline(t *testing.T, dir string) *lifeline {
	t.Helper()
	l := &lifeline{path: filepath.Join(dir, "lifeline")}
	if err := syscall.Mkfifo(l.path, 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

// begun waits until a command has taken hold of the lifeline and written a
// line to it.
func (l *lifeline) begun(t *testing.T) {
	t.Helper()
	var err error
	if l.file, err = os.Open(l.path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.file.Close() })
	if line := make([]byte, len("begun\n")); func() error { _, err := io.ReadFull(l.file, line); return err }() != nil {
		t.Fatalf("the command did not begin: %q", line)
	}
}

// ended waits until no process holds on to the lifeline.
func (l *lifeline) ended(t *testing.T) {
	t.Helper()
	if rest, err := io.ReadAll(l.file); err != nil || len(rest) != 0 {
		t.Errorf("the lifeline ended with %q, %v", rest, err)
	}
}

// longCommand holds on to the lifeline in a child and a grandchild.
const longCommand = `exec 3>lifeline; sleep 600 & sh -c 'sleep 600 & echo begun >&3; wait'`

// TestASignalStopsRunningCommands, and all that they have started.
func TestASignalStopsRunningCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	life := newLifeline(t, dir)
	s := program{args: inDirectory(dir)}.start(t)
	s.send(t, toolCall(1, "execute", `{"command":"`+longCommand+`","timeout":600}`))
	life.begun(t)
	sendSignal(t, s.Cmd, syscall.SIGTERM)
	life.ended(t)
	if code := s.end(t); code != 0 {
		t.Errorf("it ended with %d and said %s", code, s.stderr.String())
	}
}

// TestAClientThatIsGoneStopsRunningCommands: it is noticed with the next
// answer. See TestDestroyOnExit for why it is not parallel.
func TestAClientThatIsGoneStopsRunningCommands(t *testing.T) {
	dir := t.TempDir()
	life := newLifeline(t, dir)
	s := program{args: inDirectory(dir)}.start(t)
	s.send(t, toolCall(1, "execute", `{"command":"`+longCommand+`","timeout":600}`))
	life.begun(t)
	s.stdout.Close()
	s.send(t, toolCall(2, "ls", `{}`))
	life.ended(t)
	if code := s.end(t); code != 1 {
		t.Errorf("it ended with %d and said %s", code, s.stderr.String())
	}
}

// TestASignalStopsACall.
func TestASignalStopsACall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	life := newLifeline(t, dir)
	cmd := program{args: append([]string{"call", "execute", "timeout=600", "command=" + longCommand}, inDirectory(dir)...)}.command(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	life.begun(t)
	sendSignal(t, cmd, syscall.SIGTERM)
	life.ended(t)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
}

// TestASignalEndsCallsFromStandardInput, though a read of it cannot be
// interrupted.
func TestASignalEndsCallsFromStandardInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := program{args: []string{"call", "-", "--destroy-on-exit", "--store=file:" + dir}}.command(t)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, `{"tool": "ls"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stdout, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	sendSignal(t, cmd, syscall.SIGTERM)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "stopped before the end of the calls") {
		t.Errorf("it ended with %v and said %s", err, stderr.String())
	}
	if got := documents(t, dir); len(got) != 0 {
		t.Errorf("there are the documents %q", got)
	}
}

// TestCommandsDieOfClosedPipes as they do in a shell, although the server does
// not.
func TestCommandsDieOfClosedPipes(t *testing.T) {
	t.Parallel()
	got := run(t, append([]string{"call", "execute", "command={ yes; echo $? >&2; } | head -n 1"}, inDirectory(t.TempDir())...)...)
	lines := strings.Fields(got)
	slices.Sort(lines)
	if !slices.Equal(lines, []string{"141", "y"}) {
		t.Errorf("the command printed %q", got)
	}
}

// TestAFileIsReadFromAPipe: a configuration may come from a shell's <(…).
func TestAFileIsReadFromAPipe(t *testing.T) {
	t.Parallel()
	p := program{args: []string{"call", "ls", "--config=/dev/stdin"}, stdin: "nonsense: 1\n"}
	if got := p.run(t); !strings.Contains(got.stderr, "/dev/stdin:1: nonsense is no setting") {
		t.Errorf("it answered %+v", got)
	}
}
