package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// clientTimeout ends a client that hangs; a run takes a second or two.
const clientTimeout = 2 * time.Minute

// runtimeOf returns the command that runs a client program.
type runtimeOf func(t *testing.T, program string) []string

// node runs an .mjs program beside the pinned packages, where Node.js looks
// for them.
func node(t *testing.T, program string) []string {
	t.Helper()
	modules := nodeModules(t)
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, filepath.Base(program))
	if err := os.WriteFile(copied, source, 0o600); err != nil {
		t.Fatal(err)
	}
	command, err := exec.LookPath("node")
	if err != nil {
		testenv.Missing(t, "Node.js")
	}
	return []string{command, copied}
}

func nodeModules(t *testing.T) string {
	t.Helper()
	modules, err := testenv.NodeModules("test/clients")
	if err != nil {
		t.Fatal(err)
	}
	if modules == "" {
		testenv.Missing(t, "the pinned npm packages")
	}
	return modules
}

func python(t *testing.T, program string) []string {
	t.Helper()
	interpreter, err := testenv.Python("test/clients")
	if err != nil {
		t.Fatal(err)
	}
	if interpreter == "" {
		testenv.Missing(t, "the pinned Python packages")
	}
	return []string{interpreter, program}
}

// drive gives a client program the server to start and the calls to make.
func drive(t *testing.T, program []string, req request) report {
	t.Helper()
	input, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, output(t, program, input))
}

// output runs a client to its end and returns what it printed.
func output(t *testing.T, command []string, input []byte) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &stderr
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", command, err, out, stderr.Bytes())
	}
	return out
}

func TestClientPrograms(t *testing.T) {
	for _, client := range []struct {
		name    string
		program string
		mode    string
		run     runtimeOf
	}{
		{"TypeScript SDK", "programs/sdk.mjs", "", node},
		{"Python SDK", "programs/mcp_client.py", "auto", python},
		{"Python SDK, legacy", "programs/mcp_client.py", "legacy", python},
		{"FastMCP", "programs/fastmcp_client.py", "", python},
	} {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			run := func(name string, server []string, execute step) {
				t.Run(name, func(t *testing.T) {
					steps := append(fileSteps(), execute)
					checkClient(t, steps, drive(t, client.run(t, client.program), request{Command: server, Steps: steps, Mode: client.mode}))
				})
			}
			run("state", state(t), executeStep())
			run("state, structured", append(state(t), "--structured"), executeStep())
			run("local", local(t, t.TempDir()), executeStep())
		})
	}
}

// state is the command of a server over an in-memory document.
func state(t *testing.T) []string {
	return []string{testenv.Server(t), "--backend", "state"}
}

// local is the command of a server over a directory that allows what a test
// needs without asking anyone.
func local(t *testing.T, dir string) []string {
	return []string{testenv.Server(t), "--backend", "local", "--root", dir, "--permissions", "permissive"}
}

// A whole agent run: the toolset lists the tools, the model calls them and
// reads what they answered.
func TestPydanticAIAgent(t *testing.T) {
	t.Parallel()
	steps := fileSteps()[:4] // write, edit, grep, read
	got := drive(t, python(t, "programs/agent.py"), request{Command: state(t), Steps: steps})
	if got.Server != "done" {
		t.Errorf("the run ended with %q", got.Server)
	}
	check(t, steps, got)
}
