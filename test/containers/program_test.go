package containers

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, "./cmd/mcp-workspace-guest") }

// callTimeout ends a call that hangs. The longest that a test asks for takes a
// few seconds on a machine with nothing else to do.
const callTimeout = 2 * time.Minute

// onBoth runs a test on both engines, at the same time.
func onBoth(t *testing.T, test func(*testing.T, *engines.Engine)) {
	for name, engine := range map[string]func(testing.TB) *engines.Engine{"docker": engines.Docker, "podman": engines.Podman} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, engine(t))
		})
	}
}

// args are the arguments of a tool call.
type args map[string]any

// server is a run of the program, and a client that is connected to it.
type server struct {
	*client.Client
	cmd    *exec.Cmd
	said   *said // to standard error
	killed bool  // by the test
}

// said is what a program writes, safe to look at while it does.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(data)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// launch is how a server is started.
type launch struct {
	engine *engines.Engine
	flags  []string
	env    []string        // beside what finds the engine
	adjust func(*exec.Cmd) // may be nil
}

// start starts a server on the engine, with its Debian image unless the flags
// name another, and connects to it. It is ended with the test.
func start(t *testing.T, e *engines.Engine, flags ...string) *server {
	t.Helper()
	return launch{engine: e, flags: flags}.start(t)
}

func (l launch) arguments() []string {
	flags := append([]string{"--backend=" + l.engine.Provider}, l.flags...)
	if !slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(f, "--image") || strings.HasPrefix(f, "--config") }) {
		flags = append(flags, "--image="+l.engine.Debian)
	}
	return flags
}

func (l launch) start(t *testing.T) *server {
	t.Helper()
	s, err := l.connect(t)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// connect is start for tests that expect it to fail, and for goroutines.
func (l launch) connect(t *testing.T) (*server, error) {
	s := &server{said: &said{}}
	command := func(_ context.Context, command string, _, arguments []string) (*exec.Cmd, error) {
		s.cmd = exec.Command(command, arguments...)
		s.cmd.Env = append(environment(t, l.engine), l.env...)
		s.cmd.Dir = "/" // as desktop clients do
		s.cmd.Stderr = s.said
		if l.adjust != nil {
			l.adjust(s.cmd)
		}
		return s.cmd, nil
	}
	var err error
	if s.Client, err = client.NewStdioMCPClientWithOptions(testenv.Server(t), nil, l.arguments(), transport.WithCommandFunc(command)); err != nil {
		return nil, err
	}
	t.Cleanup(func() { s.end(t) })
	ctx, cancel := context.WithTimeout(t.Context(), callTimeout)
	defer cancel()
	if err := s.Start(ctx); err != nil { // it runs; only now are notifications passed on
		return nil, err
	}
	var init mcp.InitializeRequest
	init.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	init.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if _, err = s.Initialize(ctx, init); err != nil {
		return nil, errors.Join(err, s.Close(), errors.New(s.said.String()))
	}
	return s, nil
}

// end closes the connection and waits for the program, which must have no
// complaints unless the test has killed it. The second time does nothing.
func (s *server) end(t *testing.T) {
	t.Helper()
	if err := s.Close(); err != nil && !s.killed {
		t.Errorf("the server ended with %v and said: %s", err, s.said)
	}
}

// kill ends the program as kill -9 does.
func (s *server) kill(t *testing.T) {
	t.Helper()
	s.killed = true
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.end(t)
}

// answer is what a tool answered.
type answer struct {
	text   string
	code   string // of the failure; "" when there was none
	ref    string
	failed bool
	exit   int // of execute; 0 when there was none
}

// call calls a tool. An answer there has to be, a failure it may be.
func (s *server) call(t *testing.T, tool string, a args) answer {
	t.Helper()
	got, err := s.try(t.Context(), tool, a)
	if err != nil {
		t.Fatalf("%s %v had no answer: %v; the server said: %s", tool, a, err, s.said)
	}
	return got
}

// try is call for goroutines and for calls that may get no answer.
func (s *server) try(ctx context.Context, tool string, a args) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, map[string]any(a)
	result, err := s.CallTool(ctx, req)
	if err != nil {
		return answer{}, err
	}
	return answerOf(result), nil
}

func answerOf(result *mcp.CallToolResult) answer {
	got := answer{failed: result.IsError}
	for _, part := range result.Content {
		if text, ok := part.(mcp.TextContent); ok {
			got.text += text.Text
		}
	}
	if result.Meta != nil {
		fields := result.Meta.AdditionalFields
		got.code, _ = fields["mcp-workspace/code"].(string)
		got.ref, _ = fields["mcp-workspace/ref"].(string)
		exit, _ := fields["mcp-workspace/exit_code"].(float64)
		got.exit = int(exit)
	}
	return got
}

// must calls a tool that has to succeed, and returns its text.
func (s *server) must(t *testing.T, tool string, a args) string {
	t.Helper()
	got := s.call(t, tool, a)
	if got.failed || got.code != "" || got.exit != 0 {
		t.Fatalf("%s %v failed (code %q, exit %d): %s", tool, a, got.code, got.exit, got.text)
	}
	return got.text
}

// run executes a command that has to succeed, and returns its output.
func (s *server) run(t *testing.T, command string) string {
	t.Helper()
	return s.must(t, "execute", args{"command": command})
}

// refused calls a tool that has to fail with a code, and with each of the texts
// in its answer.
func (s *server) refused(t *testing.T, code, tool string, a args, texts ...string) {
	t.Helper()
	got := s.call(t, tool, a)
	if got.code != code || !got.failed {
		t.Errorf("%s %v answered with the code %q, not %q: %s", tool, a, got.code, code, got.text)
	}
	for _, text := range texts {
		if !strings.Contains(got.text, text) {
			t.Errorf("%s %v: no %q in the answer: %s", tool, a, text, got.text)
		}
	}
}

// environment finds the engine, and the guest agent, which the server that tests
// are run with has not in itself.
func environment(t *testing.T, e *engines.Engine) []string {
	t.Helper()
	return append(e.Env(), "MCP_WORKSPACE_GUEST="+testenv.Program(t, "mcp-workspace-guest"))
}

// outcome is how a run of the program ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// command runs the program to its end, with the variables that find the engine.
func command(t *testing.T, e *engines.Engine, arguments ...string) outcome {
	t.Helper()
	return commandWith(t, environment(t, e), arguments...)
}

func commandWith(t *testing.T, env []string, arguments ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout) // also in cleanups
	defer cancel()
	cmd := exec.CommandContext(ctx, testenv.Server(t), arguments...)
	cmd.Env, cmd.Dir = env, "/"
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// named returns a --name of the test's own. The workspace of that name is
// destroyed at the end, by the program, and nothing of it may be left.
func named(t *testing.T, e *engines.Engine) string {
	t.Helper()
	id := e.UniqueName(t, "mcpws-story-")
	t.Cleanup(func() { destroy(t, e, e.Provider+":"+id) })
	return strings.TrimPrefix(id, "mcpws-")
}

// refOf is the ref of the workspace of a name.
func refOf(e *engines.Engine, name string) string { return e.Provider + ":mcpws-" + name }

func destroy(t *testing.T, e *engines.Engine, ref string) {
	t.Helper()
	if got := command(t, e, "workspaces", "destroy", ref); got.code != 0 || got.stderr != "" {
		t.Errorf("destroying %s ended with %d: %s", ref, got.code, got.stderr)
	}
}

// unnamed returns a working directory of the test's own, which tells its
// workspaces from others where they have no names. Nothing of them may be left
// at the end.
func unnamed(t *testing.T, e *engines.Engine) (dir string) {
	t.Helper()
	name := e.UniqueName(t, "story-")
	dir = "/" + name
	e.LeavesNothing(t, engines.Made{Label: docker.LabelWorkingDir + "=" + dir})
	return dir
}

// made are the containers whose label has the value, running or not.
func made(t *testing.T, e *engines.Engine, label, value string) []container.Summary {
	t.Helper()
	found, err := e.Client(t).ContainerList(t.Context(), container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", label+"="+value))})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// eventually waits until what holds, which has no event of its own.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("still not after 30 s: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// writeFile makes a file of the machine for a test.
func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
