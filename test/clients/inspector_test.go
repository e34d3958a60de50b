package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// toolFailed is the Inspector's exit code for a result with isError.
const toolFailed = 5

// inspector is the MCP Inspector's command line, which starts the server anew
// for every request.
type inspector struct {
	command []string
}

// newInspector returns an Inspector that speaks one era of the protocol:
// "legacy" opens with initialize, "modern" does not.
func newInspector(t *testing.T, era string, server []string) inspector {
	t.Helper()
	modules := nodeModules(t)
	node := testenv.Node(modules)
	if node == "" {
		t.Skip("the Inspector needs Node.js 22, which the lock file has for Linux only")
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"workspace": map[string]any{"type": "stdio", "command": server[0], "args": server[1:]},
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	return inspector{[]string{node, filepath.Join(modules, ".bin", "mcp-inspector"), "--cli", "--config", file,
		"--server", "workspace", "--protocol-era", era, "--format", "json", "--quiet"}}
}

// run makes one request and decodes its result.
func (i inspector) run(t *testing.T, result any, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	command := slices.Concat(i.command, args)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != toolFailed) {
		t.Fatalf("%q: %v\n%s%s", args, err, out, stderr.Bytes())
	}
	answer := struct {
		Result any `json:"result"`
	}{result}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%q: %v\n%s%s", args, err, out, stderr.Bytes())
	}
}

func (i inspector) call(t *testing.T, s step) answer {
	t.Helper()
	args, err := json.Marshal(s.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	var result struct {
		Content []struct{ Text string }
		IsError bool
		Meta    map[string]any `json:"_meta"`
	}
	i.run(t, &result, "--method", "tools/call", "--tool-name", s.Tool, "--tool-args-json", string(args))
	a := answer{IsError: result.IsError}
	for _, part := range result.Content {
		a.Text += part.Text
	}
	a.Code, _ = result.Meta["mcp-workspace/code"].(string)
	return a
}

func TestInspector(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			t.Run("local", func(t *testing.T) {
				testInspector(t, era, local(t, t.TempDir()), executeStep())
			})
			t.Run("state in a file", func(t *testing.T) {
				server := append(state(t), "--store", "file:"+t.TempDir(), "--name", "inspector")
				testInspector(t, era, server, executeStep())
			})
		})
	}
}

// testInspector lists the tools and calls each. With --strict the Inspector
// also refuses a tool schema that clients are known to choke on.
func testInspector(t *testing.T, era string, server []string, execute step) {
	i := newInspector(t, era, server)
	var r report
	var list struct{ Tools []struct{ Name string } }
	i.run(t, &list, "--method", "tools/list", "--strict")
	for _, tool := range list.Tools {
		r.Tools = append(r.Tools, tool.Name)
	}
	steps := append(fileSteps(), execute)
	for _, s := range steps {
		r.Results = append(r.Results, i.call(t, s))
	}
	check(t, steps, r)
}
