//go:build linux || darwin

package procs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// prompt is how long something may take that waits for nothing.
const prompt = 10 * time.Second

// capture collects what a command prints.
type capture struct{ stdout, stderr bytes.Buffer }

func (c *capture) write(s backends.Stream, p []byte) {
	if s == backends.Stderr {
		c.stderr.Write(p)
	} else {
		c.stdout.Write(p)
	}
}

var base = []string{"PATH=" + os.Getenv("PATH")}

// runIn runs cmd in dir and collects its output.
func runIn(t *testing.T, dir string, cmd backends.Command) (backends.Exit, *capture, error) {
	t.Helper()
	var c capture
	cmd.Output = c.write
	exit, err := Run(t.Context(), cmd, Options{Env: base, Dir: dir})
	return exit, &c, err
}

// script runs a script that must end by itself with code 0.
func script(t *testing.T, dir, text string) *capture {
	t.Helper()
	exit, c, err := runIn(t, dir, backends.Command{Script: text})
	if err != nil || exit.Code != 0 {
		t.Fatalf("%s: exit %+v, error %v, stderr %q", text, exit, err, c.stderr.String())
	}
	return c
}

func wantCode(t *testing.T, err error, want backends.Code) {
	t.Helper()
	if got := backends.CodeOf(err); got != want {
		t.Fatalf("error %v has code %q, want %q", err, got, want)
	}
}

// alive tells whether pid runs; a zombie does not.
func alive(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && len(out) > 0 && out[0] != 'Z'
}

// pidIn reads the process id that a command writes to file as a whole line,
// waiting for it to do so.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	var pid int
	eventually(t, file+" to hold a process id", func() bool {
		b, err := os.ReadFile(file)
		if err != nil || !bytes.HasSuffix(b, []byte("\n")) {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(b)))
		return err == nil
	})
	return pid
}

// eventually waits for something that no event tells of.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(prompt); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// heap returns the bytes of live memory.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// killAtEnd ends a process that a test let live.
func killAtEnd(t *testing.T, pid int) {
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
}

func TestExitCodes(t *testing.T) {
	for _, code := range []int{0, 1, 2, 3, 42, 124, 125, 126, 127, 128, 130, 254, 255} {
		exit, _, err := runIn(t, "/", backends.Command{Script: fmt.Sprintf("exit %d", code)})
		if err != nil || exit.Code != code || exit.Signal != "" {
			t.Errorf("exit %d: got %+v, %v", code, exit, err)
		}
	}
}

func TestSignalIsCodeAndName(t *testing.T) {
	for name, want := range map[string]backends.Exit{
		"KILL": {Code: 137, Signal: "SIGKILL"},
		"TERM": {Code: 143, Signal: "SIGTERM"},
		"SEGV": {Code: 139, Signal: "SIGSEGV"},
		"PIPE": {Code: 141, Signal: "SIGPIPE"},
	} {
		exit, _, err := runIn(t, "/", backends.Command{Script: "kill -" + name + " $$; sleep 10"})
		if err != nil || exit != want {
			t.Errorf("SIG%s: got %+v, %v", name, exit, err)
		}
	}
}

func TestProgramsThatCannotBeExecuted(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", "echo hi\n", 0o644)
	write("noformat", "\x00\x01\x02\x03 no program", 0o755)
	write("nointerpreter", "#!/no/such/interpreter\n", 0o755)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		cmd  backends.Command
		code int
		says string
	}{
		{"missing program", backends.Command{Argv: []string{"no-such-program"}}, 127, "no-such-program: command not found\n"},
		{"missing path", backends.Command{Argv: []string{"./no/such"}}, 127, "./no/such: No such file or directory\n"},
		{"empty name", backends.Command{Argv: []string{""}}, 127, ": command not found\n"},
		{"missing interpreter", backends.Command{Argv: []string{"./nointerpreter"}}, 127, "interpreter"},
		{"not executable", backends.Command{Argv: []string{"./plain"}}, 126, "./plain: Permission denied\n"},
		{"not executable, in PATH", backends.Command{Argv: []string{"plain"}, Env: []string{"PATH=" + dir}}, 126, "plain: Permission denied\n"},
		{"directory", backends.Command{Argv: []string{"./folder"}}, 126, "./folder: Is a directory\n"},
		{"no program at all", backends.Command{Argv: []string{"./noformat"}}, 126, "./noformat: Exec format error\n"},
		{"below a file", backends.Command{Argv: []string{"./plain/x"}}, 126, "./plain/x: Not a directory\n"},
		{"missing program, script", backends.Command{Script: "no-such-program"}, 127, "no-such-program"},
		{"not executable, script", backends.Command{Script: "./plain"}, 126, "Permission denied"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			exit, c, err := runIn(t, dir, tc.cmd)
			if err != nil || exit.Code != tc.code {
				t.Fatalf("got %+v, %v", exit, err)
			}
			if !strings.Contains(c.stderr.String(), tc.says) || c.stdout.Len() > 0 {
				t.Errorf("stderr %q, stdout %q", c.stderr.String(), c.stdout.String())
			}
			tc.cmd.Merge = true
			if _, c, err = runIn(t, dir, tc.cmd); err != nil || !strings.Contains(c.stdout.String(), tc.says) || c.stderr.Len() > 0 {
				t.Errorf("merged: stderr %q, stdout %q, %v", c.stderr.String(), c.stdout.String(), err)
			}
		})
	}
}

func TestDirectoryToStartIn(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]backends.Code{
		"no-such":    backends.CodeNotFound,
		"file":       backends.CodeNotDirectory,
		"file/below": backends.CodeNotDirectory,
	} {
		exit, c, err := runIn(t, dir, backends.Command{Argv: []string{"true"}, Dir: name})
		wantCode(t, err, want)
		if exit != (backends.Exit{}) || c.stderr.Len() > 0 {
			t.Errorf("%s: exit %+v, stderr %q", name, exit, c.stderr.String())
		}
	}
	for _, name := range []string{"", "sub", filepath.Join(dir, "sub")} {
		_, c, err := runIn(t, dir, backends.Command{Argv: []string{"sh", "-c", "pwd; echo $PWD"}, Dir: name})
		want := filepath.Join(dir, "sub")
		if name == "" {
			want = dir
		}
		if got := c.stdout.String(); err != nil || got != want+"\n"+want+"\n" {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

func TestRequestsThatCannotBeMeant(t *testing.T) {
	for name, cmd := range map[string]backends.Command{
		"nothing":           {},
		"both forms":        {Argv: []string{"true"}, Script: "true"},
		"NUL in argument":   {Argv: []string{"echo", "a\x00b"}},
		"NUL in script":     {Script: "echo a\x00b"},
		"NUL in directory":  {Script: "true", Dir: "a\x00b"},
		"NUL in variable":   {Script: "true", Env: []string{"A=a\x00b"}},
		"no variable":       {Script: "true", Env: []string{"A"}},
		"variable unnamed":  {Script: "true", Env: []string{"=A"}},
		"negative time":     {Script: "true", Timeout: -1},
		"empty argument 0.": {Argv: []string{}, Script: ""},
	} {
		_, _, err := runIn(t, "/", cmd)
		if backends.CodeOf(err) != backends.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestArgvIsLiteral(t *testing.T) {
	args := []string{"$HOME", "*", "a b", "", "-n", "--", "line\nbreak", `quo"te'`, "`id`", "\xff\xfe", "ä", ";", "\\"}
	exit, c, err := runIn(t, "/", backends.Command{Argv: append([]string{"printf", `%s\001`}, args...)})
	if err != nil || exit.Code != 0 {
		t.Fatal(exit, err)
	}
	if got, want := c.stdout.String(), strings.Join(args, "\x01")+"\x01"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestScriptThatLooksLikeAnOption(t *testing.T) {
	for _, sh := range []string{"", "/bin/sh"} {
		var c capture
		exit, err := Run(t.Context(), backends.Command{Script: "-x", Output: c.write}, Options{Env: base, Shell: sh})
		if err != nil || exit.Code != 127 {
			t.Errorf("shell %q: %+v, %v, %q", sh, exit, err, c.stderr.String())
		}
	}
}

func TestScriptNeedsNoPath(t *testing.T) {
	var c capture
	exit, err := Run(t.Context(), backends.Command{Script: "echo ${PATH-unset} >/dev/null; echo hi", Output: c.write}, Options{})
	if err != nil || exit.Code != 0 || c.stdout.String() != "hi\n" {
		t.Fatal(exit, err, c.stdout.String())
	}
}

func TestBashIsPreferred(t *testing.T) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("there is no bash here")
	}
	if got := script(t, "/", "a=(1 2 3); [[ ${#a[@]} == 3 ]] && echo ${BASH##*/}").stdout.String(); got != "bash\n" {
		t.Error(got)
	}
}

func TestNoShell(t *testing.T) {
	saved := shells
	defer func() { shells = saved }()
	shells = []string{"/no/such/sh"}
	_, _, err := runIn(t, "/", backends.Command{Script: "true"})
	wantCode(t, err, backends.CodeUnsupported)
}

func TestScriptBeyondWhatTheSystemTakes(t *testing.T) {
	_, _, err := runIn(t, "/", backends.Command{Script: ": " + strings.Repeat("x", 4<<20)})
	wantCode(t, err, backends.CodeTooLarge)
}

func TestEnvironment(t *testing.T) {
	var c capture
	exit, err := Run(t.Context(), backends.Command{
		Argv:   []string{"env"},
		Env:    []string{"A=3", "NEW=n", "EMPTY=", "NEW=last"},
		Output: c.write,
	}, Options{Env: append([]string{"A=1", "B=2"}, base...), Dir: "/"})
	if err != nil || exit.Code != 0 {
		t.Fatal(exit, err)
	}
	want := map[string]bool{"A=3": true, "B=2": true, "NEW=last": true, "EMPTY=": true, "PWD=/": true, base[0]: true}
	for line := range strings.Lines(c.stdout.String()) {
		if kv := strings.TrimSuffix(line, "\n"); !want[kv] {
			t.Errorf("%q is in the environment", kv)
		} else {
			delete(want, kv)
		}
	}
	for kv := range want {
		t.Errorf("%q is not in the environment", kv)
	}
}

func TestPathIsTheCommandsOwn(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, d, "tool"), []byte("#!/bin/sh\necho "+d+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		dir + "/one:" + dir + "/two":    "one\n",
		dir + "/two:" + dir + "/one":    "two\n",
		"two":                           "two\n", // relative to the directory it starts in
		"./one":                         "one\n",
		dir + "/none:" + dir + "/two":   "two\n",
		filepath.Join(dir, "one") + ":": "one\n",
	} {
		_, c, err := runIn(t, dir, backends.Command{Argv: []string{"tool"}, Env: []string{"PATH=" + path}})
		if err != nil || c.stdout.String() != want {
			t.Errorf("PATH=%s: %q, %q, %v", path, c.stdout.String(), c.stderr.String(), err)
		}
	}
}

func TestStdinIsAtItsEnd(t *testing.T) {
	if got := script(t, "/", "wc -c; [ -t 0 ] || echo no terminal").stdout.String(); strings.TrimSpace(got) != "0\nno terminal" {
		t.Errorf("%q", got)
	}
}

func TestStdinIsCopied(t *testing.T) {
	in := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16)
	exit, c, err := runIn(t, "/", backends.Command{Argv: []string{"cat"}, Stdin: bytes.NewReader(in)})
	if err != nil || exit.Code != 0 || !bytes.Equal(c.stdout.Bytes(), in) {
		t.Fatalf("%+v, %v, %d of %d bytes", exit, err, c.stdout.Len(), len(in))
	}
}

// endless is an input without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestStdinThatIsNeverRead(t *testing.T) {
	r, w := io.Pipe() // one that never answers
	defer w.Close()
	for name, in := range map[string]io.Reader{"endless": endless{}, "silent": r} {
		start := time.Now()
		exit, _, err := runIn(t, "/", backends.Command{Argv: []string{"true"}, Stdin: in})
		if err != nil || exit.Code != 0 || time.Since(start) > prompt {
			t.Errorf("%s: %+v, %v after %s", name, exit, err, time.Since(start))
		}
	}
}

func TestStdinThatFails(t *testing.T) {
	broken := errors.New("broken")
	in := io.MultiReader(strings.NewReader("half"), errReader{broken})
	_, c, err := runIn(t, "/", backends.Command{Script: "cat; echo complete", Stdin: in})
	wantCode(t, err, backends.CodeInternal)
	if !errors.Is(err, broken) || strings.Contains(c.stdout.String(), "complete") {
		t.Errorf("%v, %q", err, c.stdout.String())
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestStreamsAreApartAndComplete(t *testing.T) {
	const n = 16384 // lines of 64 bytes: 1 MB to each
	text := fmt.Sprintf(`i=0; while [ $i -lt %d ]; do
		printf 'o%%062d\n' $i; printf 'e%%062d\n' $i >&2; i=$((i+1)); done`, n)
	c := script(t, "/", text)
	for s, got := range map[string]string{"o": c.stdout.String(), "e": c.stderr.String()} {
		var want strings.Builder
		for i := range n {
			fmt.Fprintf(&want, "%s%062d\n", s, i)
		}
		if got != want.String() {
			t.Errorf("stream %s: %d bytes, want %d", s, len(got), want.Len())
		}
	}
}

func TestMergeKeepsTheOrder(t *testing.T) {
	exit, c, err := runIn(t, "/", backends.Command{Merge: true,
		Script: `i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); echo $i >&2; i=$((i+1)); done`})
	if err != nil || exit.Code != 0 || c.stderr.Len() > 0 {
		t.Fatal(exit, err, c.stderr.String())
	}
	var want strings.Builder
	for i := range 2000 {
		fmt.Fprintln(&want, i)
	}
	if c.stdout.String() != want.String() {
		t.Error("the order was lost")
	}
}

func TestChildThatHoldsTheOutput(t *testing.T) {
	dir := t.TempDir()
	start := time.Now()
	c := script(t, dir, `sh -c 'echo $$ >pid; until [ -e go ]; do sleep 0.01; done
		i=0; while [ $i -lt 3000 ]; do echo late late late late late late; i=$((i+1)); done; echo alive >survived; exec sleep 100' &
		until [ -s pid ]; do sleep 0.01; done; head -c 50000 /dev/zero; echo early`)
	if took := time.Since(start); took > prompt {
		t.Errorf("took %s", took)
	}
	killAtEnd(t, pidIn(t, dir+"/pid"))
	if c.stdout.Len() != 50000+len("early\n") || !bytes.HasSuffix(c.stdout.Bytes(), []byte("early\n")) {
		t.Errorf("%d bytes before the exit", c.stdout.Len())
	}
	// It goes on, and what it prints (more than a pipe holds) neither stops it
	// nor reaches anyone.
	if err := os.WriteFile(dir+"/go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child to have printed", func() bool { _, err := os.Stat(dir + "/survived"); return err == nil })
	if !alive(pidIn(t, dir+"/pid")) || strings.Contains(c.stdout.String(), "late") {
		t.Error("the child was ended, or its output was delivered")
	}
}

func TestChildThatNeverStopsPrinting(t *testing.T) {
	dir := t.TempDir()
	start := time.Now()
	c := script(t, dir, `yes & echo $! >pid; sleep 0.1; echo early >&2`)
	killAtEnd(t, pidIn(t, dir+"/pid"))
	if took := time.Since(start); took > prompt || c.stderr.String() != "early\n" || c.stdout.Len() == 0 {
		t.Errorf("took %s; %q", took, c.stderr.String())
	}
}

func TestMuchOutputAndASlowReader(t *testing.T) {
	const size = 100 << 20
	var peak, got int64
	before := heap()
	exit, err := Run(t.Context(), backends.Command{
		Script: fmt.Sprintf("head -c %d /dev/zero", size),
		Output: func(_ backends.Stream, p []byte) {
			if got += int64(len(p)); got%(8<<20) < int64(len(p)) {
				time.Sleep(10 * time.Millisecond) // the slow reader itself
				peak = max(peak, heap()-before)
			}
		},
	}, Options{Env: base})
	if err != nil || exit.Code != 0 || got != size {
		t.Fatalf("%+v, %v, %d bytes", exit, err, got)
	}
	if peak > 8<<20 {
		t.Errorf("%d bytes of memory for %d of output", peak, size)
	}
}

func TestTimeout(t *testing.T) {
	dir := t.TempDir()
	start := time.Now()
	exit, c, err := runIn(t, dir, backends.Command{Timeout: 200 * time.Millisecond,
		Script: "echo before; echo and >&2; sleep 100; echo after"})
	wantCode(t, err, backends.CodeTimeout)
	if strings.Contains(err.Error(), "everything it started") || !strings.Contains(err.Error(), "session") {
		t.Errorf("%q promises too much: what has detached goes on", err)
	}
	if exit.Code != 124 || exit.Signal != "" || c.stdout.String() != "before\n" || c.stderr.String() != "and\n" {
		t.Errorf("%+v, %q, %q", exit, c.stdout.String(), c.stderr.String())
	}
	if took := time.Since(start); took < 200*time.Millisecond || took > 200*time.Millisecond+stopGrace {
		t.Errorf("took %s", took)
	}
}

func TestTimeoutOfOneThatIgnoresSIGTERM(t *testing.T) {
	dir := t.TempDir()
	exit, c, err := runIn(t, dir, backends.Command{Timeout: 200 * time.Millisecond,
		Script: `trap 'echo ignored' TERM; echo $$ >pid; while :; do sleep 0.05; done`})
	wantCode(t, err, backends.CodeTimeout)
	if exit.Code != 124 || !strings.Contains(c.stdout.String(), "ignored") {
		t.Errorf("%+v, %q", exit, c.stdout.String())
	}
	if alive(pidIn(t, dir+"/pid")) {
		t.Error("it is still alive")
	}
}

func TestStopReachesAllButTheDetached(t *testing.T) {
	cases := []struct {
		name, script string
		survives     bool
	}{
		{"plain child", `sleep 100 & echo $! >pid; wait`, false},
		{"grandchild of a double fork", `(sh -c 'echo $$ >pid; exec sleep 100' &) ; sleep 100`, false},
		{"child that ignores SIGTERM", `sh -c 'trap "" TERM; echo $$ >pid; exec sleep 100' & wait`, false},
		{"child in a process group of its own", `set -m; sleep 100 & echo $! >pid; wait`, false},
		{"stopped child", `sleep 100 & echo $! >pid; kill -STOP $!; wait`, false},
		{"child of timeout, which makes a process group", `timeout 100 sh -c 'echo $$ >pid; exec sleep 100'; :`, false},
		{"child whose parent ended on SIGTERM", `sh -c 'trap "" TERM; echo $$ >pid; while :; do sleep 0.05; done' & exec sleep 100`, false},
		{"child in a session of its own", `setsid sh -c 'echo $$ >pid; exec sleep 100' & wait`, true},
		{"child with nohup", `nohup sh -c 'echo $$ >pid; exec sleep 100' & wait`, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, err := Run(ctx, backends.Command{Script: tc.script}, Options{Env: base, Dir: dir})
				done <- err
			}()
			pid := pidIn(t, dir+"/pid")
			killAtEnd(t, pid)
			cancel()
			select {
			case err := <-done:
				wantCode(t, err, backends.CodeCancelled)
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			case <-time.After(prompt):
				t.Fatal("not stopped")
			}
			if alive(pid) != tc.survives {
				t.Errorf("alive is %v", !tc.survives)
			}
		})
	}
}

func TestStopOfAForkBomb(t *testing.T) {
	dir := t.TempDir()
	// Each generation starts the next and ends, so no list of processes is
	// ever current.
	if err := os.WriteFile(dir+"/hop", []byte("#!/bin/sh\ntrap '' TERM\necho x >>log\n[ -e stop ] || ./hop &\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, _, err := runIn(t, dir, backends.Command{Timeout: 200 * time.Millisecond, Script: `./hop & ./hop & ./hop & trap '' TERM; wait; sleep 100`})
	wantCode(t, err, backends.CodeTimeout)
	before, err := os.Stat(dir + "/log")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // what is to be seen is that nothing happens
	after, err := os.Stat(dir + "/log")
	if err != nil || after.Size() != before.Size() {
		t.Errorf("it goes on (%v); told to stop: %v", err, os.WriteFile(dir+"/stop", nil, 0o644))
	}
}

func TestCancelledBeforeTheStart(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, backends.Command{Script: "touch started"}, Options{Env: base, Dir: dir})
	wantCode(t, err, backends.CodeCancelled)
	if _, err := os.Stat(dir + "/started"); err == nil {
		t.Error("it was started")
	}
}

func TestDeadlineOfTheCallerIsCancellation(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := Run(ctx, backends.Command{Script: "sleep 100", Timeout: time.Hour}, Options{Env: base})
	wantCode(t, err, backends.CodeCancelled)
}

func TestOutputLimit(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"endless":             `yes & echo $! >pid; wait`,
		"ends before the end": `sleep 100 & echo $! >pid; head -c 60000 /dev/zero`,
	} {
		os.Remove(dir + "/pid")
		exit, c, err := runIn(t, dir, backends.Command{Script: text, MaxOutput: 50000})
		wantCode(t, err, backends.CodeTooLarge)
		if c.stdout.Len() != 50000 {
			t.Errorf("%s: %+v, %d bytes", name, exit, c.stdout.Len())
		}
		if alive(pidIn(t, dir+"/pid")) {
			t.Errorf("%s: what it started is still alive", name)
		}
	}
	exit, c, err := runIn(t, dir, backends.Command{Script: "head -c 50000 /dev/zero", MaxOutput: 50000})
	if err != nil || exit.Code != 0 || c.stdout.Len() != 50000 {
		t.Errorf("exactly the limit: %+v, %v, %d bytes", exit, err, c.stdout.Len())
	}
}

// keeper is an [Options.OpenOutputFile] over a real file.
type keeper struct {
	path   string
	opened int
}

func (k *keeper) open() (string, io.WriteCloser, error) {
	k.opened++
	f, err := os.Create(k.path)
	return k.path, f, err
}

func TestOutputIsKeptWhole(t *testing.T) {
	dir := t.TempDir()
	for name, tc := range map[string]struct {
		cmd  backends.Command
		code backends.Code
		kept bool
	}{
		"much":     {backends.Command{Script: "head -c 300000 /dev/urandom; head -c 300000 /dev/urandom >&2", KeepAbove: 1000}, "", true},
		"merged":   {backends.Command{Script: "echo a; echo b >&2; head -c 300000 /dev/urandom; echo c >&2", KeepAbove: 3, Merge: true}, "", true},
		"little":   {backends.Command{Script: "head -c 1000 /dev/urandom", KeepAbove: 1000}, "", false},
		"one more": {backends.Command{Script: "head -c 1001 /dev/urandom", KeepAbove: 1000}, "", true},
		"timeout":  {backends.Command{Script: "head -c 5000 /dev/urandom; sleep 100", KeepAbove: 1000, Timeout: 300 * time.Millisecond}, backends.CodeTimeout, true},
		"limit":    {backends.Command{Script: "head -c 5000 /dev/urandom; sleep 100", KeepAbove: 1000, MaxOutput: 3000}, backends.CodeTooLarge, true},
		"off":      {backends.Command{Script: "head -c 5000 /dev/urandom"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			k := keeper{path: filepath.Join(dir, name)}
			var all bytes.Buffer
			tc.cmd.Output = func(_ backends.Stream, p []byte) { all.Write(p) }
			exit, err := Run(t.Context(), tc.cmd, Options{Env: base, OpenOutputFile: k.open})
			wantCode(t, err, tc.code)
			if !tc.kept {
				if exit.OutputFile != "" || k.opened != 0 {
					t.Errorf("%+v, opened %d times", exit, k.opened)
				}
				return
			}
			got, err := os.ReadFile(exit.OutputFile)
			if err != nil || k.opened != 1 || !bytes.Equal(got, all.Bytes()) {
				t.Errorf("%+v: %v, %d bytes kept of %d", exit, err, len(got), all.Len())
			}
		})
	}
}

// failing is an output file that takes so many bytes.
type failing struct {
	room   int
	closed atomic.Int32
	atEnd  error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

func (f *failing) Close() error { f.closed.Add(1); return f.atEnd }

func TestOutputThatCannotBeKept(t *testing.T) {
	for name, tc := range map[string]struct {
		file *failing
		err  error
		why  error
	}{
		"cannot be made":    {nil, syscall.EROFS, syscall.EROFS},
		"full at the start": {&failing{room: 10}, nil, syscall.ENOSPC},
		"full on the way":   {&failing{room: 150000}, nil, syscall.ENOSPC},
		"full when closed":  {&failing{room: 1 << 30, atEnd: syscall.EDQUOT}, nil, syscall.EDQUOT},
	} {
		t.Run(name, func(t *testing.T) {
			var got int
			exit, err := Run(t.Context(), backends.Command{
				Script: "head -c 300000 /dev/zero; exit 3", KeepAbove: 1000,
				Output: func(_ backends.Stream, p []byte) { got += len(p) },
			}, Options{Env: base, OpenOutputFile: func() (string, io.WriteCloser, error) {
				if tc.err != nil {
					return "", nil, tc.err
				}
				return "kept", tc.file, nil
			}})
			if err != nil || exit != (backends.Exit{Code: 3, NotKept: tc.why.Error()}) || got != 300000 {
				t.Errorf("%+v, %v, %d bytes", exit, err, got)
			}
			if tc.file != nil && tc.file.closed.Load() != 1 {
				t.Errorf("closed %d times", tc.file.closed.Load())
			}
		})
	}
}

func TestManyAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			var c capture
			want := strconv.Itoa(i) + "\n"
			exit, err := Run(t.Context(), backends.Command{
				Argv: []string{"/bin/sh", "-c", "cat; exit $1", "sh", strconv.Itoa(i % 256)}, Stdin: strings.NewReader(want), Output: c.write,
			}, Options{Env: base})
			if err != nil || exit.Code != i%256 || c.stdout.String() != want {
				t.Errorf("command %d: %+v, %v, %q", i, exit, err, c.stdout.String())
			}
		})
	}
	wg.Wait()
}

func BenchmarkTrue(b *testing.B) {
	for b.Loop() {
		if exit, err := Run(b.Context(), backends.Command{Argv: []string{"true"}, Merge: true}, Options{Env: base}); err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
	}
}

func BenchmarkOutput(b *testing.B) {
	b.SetBytes(64 << 20)
	for b.Loop() {
		if exit, err := Run(b.Context(), backends.Command{Argv: []string{"head", "-c", "67108864", "/dev/zero"}}, Options{Env: base}); err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
	}
}

// Commands that may do so put all kinds of things in the place of /dev/null, and
// whoever opens a FIFO waits. Whatever is there, a command has an empty input.
func TestNoInputWhateverDevNullIs(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "null")
	defer func(device string) { nullDevice = device }(nullDevice)
	nullDevice = at
	for name, put := range map[string]func() error{
		"missing":     func() error { return nil },
		"a FIFO":      func() error { return syscall.Mkfifo(at, 0o666) },
		"a file":      func() error { return os.WriteFile(at, []byte("content"), 0o600) },
		"no access":   func() error { return os.WriteFile(at, nil, 0) },
		"a directory": func() error { return os.Mkdir(at, 0o755) },
		"a loop":      func() error { return os.Symlink("null", at) },
		"a symlink":   func() error { return os.Symlink("/dev/null", at) },
	} {
		if err := os.RemoveAll(at); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), prompt)
		var c capture
		done := make(chan struct{})
		go func() {
			defer close(done)
			exit, err := Run(ctx, backends.Command{Script: "cat; echo end", Timeout: prompt, Output: c.write}, Options{Env: base, Dir: dir})
			if err != nil || exit.Code != 0 || c.stdout.String() != "end\n" {
				t.Errorf("%s: %+v, %v, %q, %q", name, exit, err, &c.stdout, &c.stderr)
			}
		}()
		select {
		case <-done:
		case <-time.After(2 * prompt):
			t.Fatalf("%s: the command has not been started", name)
		}
		cancel()
	}
}
