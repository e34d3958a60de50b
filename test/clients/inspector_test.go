package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
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
// for every request, or opens a session of its own where the server runs.
type inspector struct {
	command []string
}

// started is how the Inspector's configuration names a server to start.
func started(server []string) map[string]any {
	return map[string]any{"type": "stdio", "command": server[0], "args": server[1:]}
}

// newInspector returns an Inspector that speaks one era of the protocol with
// a server, which is as in its configuration file: "legacy" opens with
// initialize, "modern" does not.
func newInspector(t *testing.T, era string, server map[string]any) inspector {
	t.Helper()
	modules := nodeModules(t)
	node := testenv.Node(modules)
	if node == "" {
		t.Skip("the Inspector needs Node.js 22, which the lock file has for Linux only")
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"workspace": server}})
	if err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, "mcp.json", string(config))
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
				testInspector(t, era, started(local(t, t.TempDir())), append(fileSteps(), executeStep()))
			})
			t.Run("state in a file", func(t *testing.T) {
				server := append(state(t), "--store", "file:"+t.TempDir(), "--name", "inspector")
				testInspector(t, era, started(server), append(fileSteps(), executeStep()))
			})
		})
	}
}

// The Inspector's sessions each have a workspace of their own, unless they name
// one. With a token it makes fewer calls: each costs a start of Node.js.
func TestInspectorOverTheNetwork(t *testing.T) {
	for _, c := range []struct{ name, era, kind, transport string }{
		{"Streamable HTTP with sessions", "legacy", "streamable-http", streamable},
		{"Streamable HTTP without", "modern", "streamable-http", streamable},
		{"SSE", "legacy", "sse", sse},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := func(t *testing.T, to remote, steps []step) {
				headers := map[string]string{"Mcp-Workspace-Name": "inspector"}
				maps.Copy(headers, to.headers)
				testInspector(t, c.era, map[string]any{"type": c.kind, "url": to.endpoint(c.transport), "headers": headers}, steps)
			}
			t.Run("open", func(t *testing.T) { run(t, open(t), append(fileSteps(), executeStep())) })
			t.Run("token", func(t *testing.T) { run(t, guarded(t), fileSteps()[:2]) })
		})
	}
}

// testInspector lists the tools and makes the calls. With --strict the
// Inspector also refuses a tool schema that clients are known to choke on.
func testInspector(t *testing.T, era string, server map[string]any, steps []step) {
	i := newInspector(t, era, server)
	var r report
	var list struct{ Tools []struct{ Name string } }
	i.run(t, &list, "--method", "tools/list", "--strict")
	for _, tool := range list.Tools {
		r.Tools = append(r.Tools, tool.Name)
	}
	for _, s := range steps {
		r.Results = append(r.Results, i.call(t, s))
	}
	check(t, steps, r)
}
