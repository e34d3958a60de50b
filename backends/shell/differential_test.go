package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// sample is a script of the corpus: testdata/scripts/*.sh hold them one after
// the other, each after a line "#--- name". A line "#--- differs: why" in one
// tells that this shell is known to answer otherwise.
type sample struct {
	name, script, differs string
}

func corpus(t testing.TB) []sample {
	t.Helper()
	files, err := filepath.Glob("testdata/scripts/*.sh")
	if err != nil || len(files) == 0 {
		t.Fatalf("the corpus is missing: %v", err)
	}
	var out []sample
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		family := strings.TrimSuffix(filepath.Base(file), ".sh")
		for _, part := range strings.Split("\n"+string(text), "\n#--- ")[1:] {
			first, rest, _ := strings.Cut(part, "\n")
			if why, ok := strings.CutPrefix(first, "differs: "); ok {
				out[len(out)-1].differs = why
				out[len(out)-1].script += rest
				continue
			}
			out = append(out, sample{name: family + "/" + first, script: rest})
		}
	}
	return out
}

// outcome is what a script did.
type outcome struct {
	out, err string
	code     int
	files    map[string]entry
}

// sampleEnv is what scripts of the corpus get on both sides.
var sampleEnv = []string{"LC_ALL=C.UTF-8", "TZ=UTC", "USER=root", "LOGNAME=root"}

// onBash runs a script by bash and GNU's tools in dir.
func onBash(t testing.TB, script, dir string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + dir, "PWD=" + dir}, sampleEnv...)
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	code := cmd.ProcessState.ExitCode()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return outcome{out.String(), errs.String(), code, listOS(t, dir)}
}

// onShell runs a script by this shell in dir.
func onShell(t testing.TB, script, dir string) outcome {
	t.Helper()
	files := newFiles(t, dir)
	var out, errs bytes.Buffer
	exit, err := Run(t.Context(), backends.Command{Script: script, Timeout: 20 * time.Second, Env: sampleEnv, Output: func(s backends.Stream, b []byte) {
		if s == backends.Stdout {
			out.Write(b)
		} else {
			errs.Write(b)
		}
	}}, Options{Files: files, Dir: dir})
	if err != nil {
		fmt.Fprintf(&errs, "Run: %v\n", err)
	}
	return outcome{out.String(), errs.String(), exit.Code, listFS(t, files, dir)}
}

// needsBash skips a test where there is no bash to compare with.
func needsBash(t testing.TB) {
	t.Helper()
	if out, err := exec.Command("bash", "-c", "ls --version; sed --version").Output(); err != nil || !bytes.Contains(out, []byte("GNU")) {
		t.Skip("there is no bash with GNU's tools to compare with")
	}
	syscall.Umask(0o022)
}

// TestDifferential holds this shell against bash and GNU's tools: the same
// standard output, exit code and files.
func TestDifferential(t *testing.T) {
	needsBash(t)
	samples := corpus(t)
	agreed, ran := 0, 0
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			ran++
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			want := onBash(t, s.script, dir)
			got := onShell(t, s.script, dir)
			problem := compare(got, want)
			switch {
			case problem == "" && s.differs != "":
				t.Errorf("it is said to differ (%s), and does not", s.differs)
			case problem != "" && s.differs == "":
				t.Errorf("script:\n%s\n%s\nstderr here: %s\nstderr there: %s", s.script, problem, got.err, want.err)
			case problem == "":
				agreed++
			}
		})
	}
	t.Logf("%d of %d scripts agree", agreed, ran)
	if agreed*100 < ran*95 {
		t.Errorf("fewer than 95%% agree")
	}
}

// compare says what differs, or "".
func compare(got, want outcome) string {
	var b strings.Builder
	if got.out != want.out {
		fmt.Fprintf(&b, "stdout is   %q\nshould be   %q\n", got.out, want.out)
	}
	if got.code != want.code {
		fmt.Fprintf(&b, "exit code is %d, should be %d\n", got.code, want.code)
	}
	names := maps.Clone(got.files)
	maps.Copy(names, want.files)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		g, w := got.files[name], want.files[name]
		if g != w {
			fmt.Fprintf(&b, "%s is %+v, should be %+v\n", name, g, w)
		}
	}
	return b.String()
}
