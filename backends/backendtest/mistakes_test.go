package backendtest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/backendtest"
	"github.com/mcp-workspace/mcp-workspace/backends/local"
	"github.com/mcp-workspace/mcp-workspace/backends/state"
)

// mistakeVariable names, in a child process, the mistake that it is to make.
const mistakeVariable = "BACKENDTEST_MISTAKE"

// TestSuiteFindsMistakes holds backends that are right but for one thing
// against the suite, which has to fail in the cases about that thing. A suite
// that fails cannot be run inside a test that passes, so each is run in a
// child process by TestMistake.
func TestSuiteFindsMistakes(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run", "^TestMistake$/"+pattern(m.subject)+"/"+pattern(m.fails...))
			cmd.Env = append(os.Environ(), mistakeVariable+"="+m.name)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				t.Fatalf("the suite ended with %v, want it to fail:\n%s", err, out)
			}
			for _, claim := range m.fails {
				line := "--- FAIL: TestMistake/" + testName(m.subject) + "/" + testName(claim) + " ("
				if !strings.Contains(string(out), line) {
					t.Errorf("the case %q did not fail:\n%s", claim, out)
				}
			}
		})
	}
}

// testName is how go test writes the name of a subtest.
func testName(name string) string { return strings.ReplaceAll(name, " ", "_") }

// pattern is an element of go test's -run that names subtests.
func pattern(names ...string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(testName(name))
	}
	return "^(" + strings.Join(quoted, "|") + ")$"
}

// TestMistake runs the suite against a backend with the mistake that the
// environment names.
func TestMistake(t *testing.T) {
	name := os.Getenv(mistakeVariable)
	if name == "" {
		t.Skip("run by TestSuiteFindsMistakes")
	}
	i := slices.IndexFunc(mistakes, func(m mistake) bool { return m.name == name })
	if i < 0 {
		t.Fatalf("no mistake is called %q", name)
	}
	h := backendtest.Harness{
		New: func(t *testing.T) backends.Backend {
			b, err := state.New(t.Context(), state.Config{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.Close() })
			return mistakes[i].of(b)
		},
		Destroys: true,
		Fresh:    true,
		Prompt:   time.Second,
	}
	if mistakes[i].commands {
		h.Commands, h.Confined, h.Destroys, h.Fresh = true, true, false, false
		h.New = func(t *testing.T) backends.Backend {
			b, err := local.New(local.Config{Root: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.Close() })
			t.Cleanup(leftBehind.Wait)
			return mistakes[i].of(b)
		}
	}
	backendtest.Run(t, h)
}

// mistake is one way for a backend to be wrong.
type mistake struct {
	name     string
	of       func(backends.Backend) backends.Backend
	subject  string   // where the suite must find it
	fails    []string // cases there that must fail
	commands bool     // it is made by a backend that runs commands
}

// inWorkspaces makes a mistake of one in the workspaces of a backend.
func inWorkspaces(wrap func(backends.Workspace) backends.Workspace) func(backends.Backend) backends.Backend {
	return func(b backends.Backend) backends.Backend { return workspacesWrong{b, wrap} }
}

type workspacesWrong struct {
	backends.Backend
	wrap func(backends.Workspace) backends.Workspace
}

func (b workspacesWrong) Create(ctx context.Context, spec backends.Spec) (backends.Workspace, error) {
	ws, err := b.Backend.Create(ctx, spec)
	if err != nil {
		return nil, err
	}
	return b.wrap(ws), nil
}

func (b workspacesWrong) Attach(ctx context.Context, ref backends.Ref) (backends.Workspace, error) {
	ws, err := b.Backend.Attach(ctx, ref)
	if err != nil {
		return nil, err
	}
	return b.wrap(ws), nil
}

var mistakes = []mistake{
	{"loses the last byte", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return losesByte{ws} }),
		"files", []string{"the bytes come back as written: text", "the bytes come back as written: a big file"}, false},
	{"writes in two steps", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return twoSteps{ws} }),
		"files", []string{"a reader sees the old bytes or the new while a file is replaced"}, false},
	{"lists in reverse", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return reversed{ws} }),
		"list", []string{"directories come first, then the rest, each in byte order"}, false},
	{"forgets what a limit cut", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return forgetful{ws} }),
		"grep", []string{"a limit cuts what is shown and not the total"}, false},
	{"misses a file", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return missing{ws} }),
		"glob", []string{"patterns find what they describe, by path in byte order"}, false},
	{"ignores filters", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return unfiltered{ws} }),
		"filter", []string{"what a rule hides is not shown"}, false},
	{"ignores versions", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return unversioned{ws} }),
		"versions", []string{"an edit of a file that has changed is stale"}, false},
	{"loses updates", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return losesUpdates{ws} }),
		"concurrency", []string{"edits of different places in one file all land"}, false},
	{"ignores line endings", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return losesUpdates{ws} }),
		"edit", []string{"a line feed matches CRLF and is written as CRLF", "text that occurs more than once is not_unique, and told where"}, false},
	{"has errors without a type", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return untyped{ws} }),
		"kinds", []string{"Read of what is missing is not_found", "Read of a directory is is_directory"}, false},
	{"ignores cancellation", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return stubborn{ws} }),
		"cancellation", []string{"Write is cancelled when its context has ended", "a write whose context ends stops and leaves the file as it was"}, false},
	{"pretends to run commands", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return pretends{ws} }),
		"commands", []string{"a workspace that runs no commands says unsupported"}, false},
	{"creates on attach", func(b backends.Backend) backends.Backend { return creates{b} },
		"lifecycle", []string{"Attach to what never was is unavailable and makes nothing", "Attach to an environment that is gone is unavailable"}, false},
	{"creates on describe", func(b backends.Backend) backends.Backend { return describesAll{b} },
		"lifecycle", []string{"Describe of what never was is unavailable and makes nothing", "Describe of an environment that is gone is unavailable"}, false},
	{"describes half", func(b backends.Backend) backends.Backend { return describesHalf{b} },
		"lifecycle", []string{"Describe tells of one environment what List tells"}, false},
	{"describes any provider's", func(b backends.Backend) backends.Backend { return describesAny{b} },
		"lifecycle", []string{"Describe of another provider's ref is refused"}, false},
	{"forgets names", func(b backends.Backend) backends.Backend { return nameless{b} },
		"lifecycle", []string{"Create with one name answers with one environment", "Creates of one name at once share one environment"}, false},
	{"keeps what is destroyed", func(b backends.Backend) backends.Backend { return keeps{b} },
		"lifecycle", []string{"Destroy removes one environment and its files", "Read in an environment that is gone is unavailable"}, false},
	{"turns failures into exit codes", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return exitOne{ws} }),
		"kinds", []string{"Run of what is missing is not_found", "Run of a file is not_directory"}, true},
	{"mixes up exit codes", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return exitOne{ws} }),
		"commands", []string{"exit code 42 is the command's own", "a missing program is code 127 with the reason on standard error"}, true},
	{"has one stream only", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return oneStream{ws} }),
		"output", []string{"standard output and standard error arrive apart and complete"}, true},
	{"merges afterwards", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return mergesLate{ws} }),
		"output", []string{"merged output keeps the order in which it was written", "output arrives as it comes"}, true},
	{"prints after the end", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return &printsLate{Workspace: ws} }),
		"output", []string{"what a command prints just before its end arrives"}, true},
	{"leaves what it should stop", inWorkspaces(func(ws backends.Workspace) backends.Workspace { return leaves{ws} }),
		"stopping", []string{"cancelling stops a child", "cancelling stops grandchildren"}, true},
}

type losesByte struct{ backends.Workspace }

func (w losesByte) Write(ctx context.Context, req backends.WriteRequest) (backends.WriteResult, error) {
	content, err := io.ReadAll(req.Content)
	if err != nil {
		return backends.WriteResult{}, err
	}
	req.Content = bytes.NewReader(content[:max(len(content)-1, 0)])
	return w.Workspace.Write(ctx, req)
}

type twoSteps struct{ backends.Workspace }

func (w twoSteps) Write(ctx context.Context, req backends.WriteRequest) (backends.WriteResult, error) {
	content, err := io.ReadAll(req.Content)
	if err != nil {
		return backends.WriteResult{}, err
	}
	for _, size := range []int{len(content) / 2, len(content)} {
		req.Content = bytes.NewReader(content[:size])
		res, err := w.Workspace.Write(ctx, req)
		if err != nil || size == len(content) {
			return res, err
		}
	}
	panic("unreachable")
}

type reversed struct{ backends.Workspace }

func (w reversed) List(ctx context.Context, req backends.ListRequest) (backends.ListResult, error) {
	res, err := w.Workspace.List(ctx, req)
	slices.Reverse(res.Entries)
	return res, err
}

type forgetful struct{ backends.Workspace }

func (w forgetful) Grep(ctx context.Context, req backends.GrepRequest) (backends.GrepResult, error) {
	res, err := w.Workspace.Grep(ctx, req)
	if req.Limit > 0 {
		res.Total = min(res.Total, req.Limit)
	}
	return res, err
}

type missing struct{ backends.Workspace }

func (w missing) Glob(ctx context.Context, req backends.GlobRequest) (backends.GlobResult, error) {
	res, err := w.Workspace.Glob(ctx, req)
	if n := len(res.Paths); n > 5 {
		res.Paths, res.Total = res.Paths[:n-1], res.Total-1
	}
	return res, err
}

type unfiltered struct{ backends.Workspace }

func (w unfiltered) Glob(ctx context.Context, req backends.GlobRequest) (backends.GlobResult, error) {
	req.Filter = backends.Filter{}
	return w.Workspace.Glob(ctx, req)
}

type unversioned struct{ backends.Workspace }

func (w unversioned) Edit(ctx context.Context, req backends.EditRequest) (backends.EditResult, error) {
	req.IfVersion = ""
	return w.Workspace.Edit(ctx, req)
}

// losesUpdates edits as one would who has Open and Write only.
type losesUpdates struct{ backends.Workspace }

func (w losesUpdates) Edit(ctx context.Context, req backends.EditRequest) (backends.EditResult, error) {
	r, _, err := w.Open(ctx, req.Path)
	if err != nil {
		return backends.EditResult{}, err
	}
	content, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return backends.EditResult{}, err
	}
	time.Sleep(time.Millisecond) // the window in which another edit is lost
	edited := strings.ReplaceAll(string(content), req.Old, req.New)
	res, err := w.Write(ctx, backends.WriteRequest{Path: req.Path, Content: strings.NewReader(edited)})
	return backends.EditResult{Resolution: res.Resolution, Replaced: 1, Version: res.Version}, err
}

type untyped struct{ backends.Workspace }

func (w untyped) Read(ctx context.Context, req backends.ReadRequest) (backends.ReadResult, error) {
	res, err := w.Workspace.Read(ctx, req)
	if err != nil {
		err = errors.New(err.Error())
	}
	return res, err
}

type stubborn struct{ backends.Workspace }

func (w stubborn) Write(ctx context.Context, req backends.WriteRequest) (backends.WriteResult, error) {
	return w.Workspace.Write(context.WithoutCancel(ctx), req)
}

type pretends struct{ backends.Workspace }

func (w pretends) Run(context.Context, backends.Command) (backends.Exit, error) {
	return backends.Exit{}, nil
}

type creates struct{ backends.Backend }

func (b creates) Attach(ctx context.Context, ref backends.Ref) (backends.Workspace, error) {
	ws, err := b.Backend.Attach(ctx, ref)
	if backends.CodeOf(err) == backends.CodeUnavailable {
		return b.Create(ctx, backends.Spec{Name: ref.ID})
	}
	return ws, err
}

type describesAll struct{ backends.Backend }

func (b describesAll) Describe(ctx context.Context, ref backends.Ref) (backends.Info, error) {
	info, err := b.Backend.Describe(ctx, ref)
	if backends.CodeOf(err) != backends.CodeUnavailable {
		return info, err
	}
	ws, err := b.Create(ctx, backends.Spec{Name: ref.ID})
	if err != nil {
		return backends.Info{}, err
	}
	return b.Backend.Describe(ctx, ws.Ref())
}

type describesHalf struct{ backends.Backend }

func (b describesHalf) Describe(ctx context.Context, ref backends.Ref) (backends.Info, error) {
	info, err := b.Backend.Describe(ctx, ref)
	return backends.Info{Ref: info.Ref, Status: info.Status, WorkingDir: info.WorkingDir, Created: info.Created}, err
}

type describesAny struct{ backends.Backend }

func (b describesAny) Describe(ctx context.Context, ref backends.Ref) (backends.Info, error) {
	ref.Provider = b.Provider()
	return b.Backend.Describe(ctx, ref)
}

type nameless struct{ backends.Backend }

func (b nameless) Create(ctx context.Context, spec backends.Spec) (backends.Workspace, error) {
	spec.Name = ""
	return b.Backend.Create(ctx, spec)
}

type keeps struct{ backends.Backend }

func (b keeps) Destroy(context.Context, backends.Ref) error { return nil }

// leftBehind counts what runs on though it should have been stopped.
var leftBehind sync.WaitGroup

type exitOne struct{ backends.Workspace }

func (w exitOne) Run(ctx context.Context, cmd backends.Command) (backends.Exit, error) {
	exit, err := w.Workspace.Run(ctx, cmd)
	if err != nil || exit.Code != 0 {
		return backends.Exit{Code: 1}, nil //nolint:nilerr // the mistake that this one makes
	}
	return exit, nil
}

type oneStream struct{ backends.Workspace }

func (w oneStream) Run(ctx context.Context, cmd backends.Command) (backends.Exit, error) {
	cmd.Merge = true
	return w.Workspace.Run(ctx, cmd)
}

// mergesLate delivers all output at the end, standard error last.
type mergesLate struct{ backends.Workspace }

func (w mergesLate) Run(ctx context.Context, cmd backends.Command) (backends.Exit, error) {
	var out, errOut bytes.Buffer
	deliver := cmd.Output
	cmd.Merge = false
	cmd.Output = func(stream backends.Stream, data []byte) {
		if stream == backends.Stdout {
			out.Write(data)
		} else {
			errOut.Write(data)
		}
	}
	exit, err := w.Workspace.Run(ctx, cmd)
	if deliver != nil {
		deliver(backends.Stdout, out.Bytes())
		deliver(backends.Stdout, errOut.Bytes())
	}
	return exit, err
}

// printsLate calls the Output of one command while the next is running.
type printsLate struct {
	backends.Workspace
	mu   sync.Mutex
	last func(backends.Stream, []byte)
}

func (w *printsLate) Run(ctx context.Context, cmd backends.Command) (backends.Exit, error) {
	w.mu.Lock()
	last := w.last
	w.last = cmd.Output
	w.mu.Unlock()
	if last != nil {
		last(backends.Stdout, []byte("late"))
	}
	return w.Workspace.Run(ctx, cmd)
}

// leaves answers a cancellation at once and lets the command run for a while.
type leaves struct{ backends.Workspace }

func (w leaves) Run(ctx context.Context, cmd backends.Command) (backends.Exit, error) {
	if cmd.Timeout == 0 {
		cmd.Timeout = 4 * time.Second
	}
	type answer struct {
		exit backends.Exit
		err  error
	}
	ended := make(chan answer, 1)
	leftBehind.Go(func() {
		exit, err := w.Workspace.Run(context.WithoutCancel(ctx), cmd)
		ended <- answer{exit, err}
	})
	select {
	case a := <-ended:
		return a.exit, a.err
	case <-ctx.Done():
		return backends.Exit{}, &backends.Error{Code: backends.CodeCancelled, Op: "run", Message: "cancelled"}
	}
}
