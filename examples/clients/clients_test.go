package clients

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// timeout ends an example that hangs; each takes a second or two.
const timeout = 2 * time.Minute

func TestMain(m *testing.M) { testenv.Main(m) }

// entry is how clients name a server to start.
type entry struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func TestConfigurations(t *testing.T) {
	for file, key := range map[string]string{
		"claude-desktop/claude_desktop_config.json": "mcpServers",
		"claude-code/.mcp.json":                     "mcpServers",
		"vscode/.vscode/mcp.json":                   "servers",
		"cursor/.cursor/mcp.json":                   "mcpServers",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var config map[string]map[string]entry
			if err := json.Unmarshal(content, &config); err != nil {
				t.Fatal(err)
			}
			if len(config) != 1 || len(config[key]) != 1 {
				t.Fatalf("not one server under %q: %+v", key, config)
			}
			server, ok := config[key]["workspace"]
			if !ok {
				t.Fatalf("no server named workspace: %+v", config)
			}
			if server.Type != "stdio" && file != "claude-desktop/claude_desktop_config.json" {
				t.Errorf("type is %q, not stdio", server.Type)
			}
			start(t, append([]string{server.Command}, server.Args...))
		})
	}
}

func TestClaudeMCPAdd(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("claude-code/add.sh")
	if err != nil {
		t.Fatal(err)
	}
	line := strings.TrimSpace(strings.TrimPrefix(string(content), "#!/bin/sh\n"))
	added, server, ok := strings.Cut(line, " -- ")
	if !ok || added != "claude mcp add workspace" || strings.Contains(line, "\n") {
		t.Fatalf("not one `claude mcp add NAME -- COMMAND`: %q", line)
	}
	start(t, strings.Fields(strings.ReplaceAll(server, `"`, "")))
}

// placeholder is what a client, a shell or the reader fills in.
var placeholder = regexp.MustCompile(`\$\{?(PWD|workspaceFolder|userHome)\b\}?|/Users/you`)

// start runs a server as desktop clients do, with "/" as its current directory,
// and lists its tools.
func start(t *testing.T, command []string) {
	t.Helper()
	dir := t.TempDir()
	for i, arg := range command {
		command[i] = placeholder.ReplaceAllLiteralString(arg, dir)
		if strings.ContainsAny(command[i], "${}") {
			t.Fatalf("%q is filled in by no client that the test knows", arg)
		}
		if root := filepath.Clean(command[i]); i > 0 && command[i-1] == "--root" {
			if err := os.MkdirAll(root, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	fromRoot := func(ctx context.Context, name string, env, args []string) (*exec.Cmd, error) {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Env, cmd.Dir = append(os.Environ(), env...), "/"
		return cmd, nil
	}
	c, err := client.NewStdioMCPClientWithOptions(command[0], nil, command[1:], transport.WithCommandFunc(fromRoot))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		t.Fatalf("%q: %v", command, err)
	}
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tools.Tools) != 7 {
		t.Errorf("%q offers %d tools, not 7", command, len(tools.Tools))
	}
}

func TestPrograms(t *testing.T) {
	for name, command := range map[string]func(*testing.T) []string{
		"go":         func(t *testing.T) []string { return goProgram(t, "go") },
		"typescript": typeScriptProgram,
		"python":     pythonProgram,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := command(t)
			t.Run("mcp-workspace", func(t *testing.T) { checkProgram(t, program, nil) })
			t.Run("command in arguments", func(t *testing.T) {
				local := []string{"mcp-workspace", "--backend", "local", "--root", t.TempDir(), "--permissions", "permissive"}
				checkProgram(t, slices.Concat(program, local), nil)
			})
			t.Run("command in MCP_SERVER", func(t *testing.T) {
				checkProgram(t, program, []string{"MCP_SERVER=mcp-workspace --backend state"})
			})
		})
	}
}

// checkProgram runs an example, holds what it prints against what it does, and
// returns it.
func checkProgram(t *testing.T, command, env []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", command, err, out, stderr.String())
	}
	for _, want := range []string{
		"connected to mcp-workspace",
		"tools: ", "write_file", "execute",
		"Wrote 2 lines to ",
		"replaced 1 occurrence",
		"greeting.txt:2: workspace",
		"     1\thello\n     2\tworkspace",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in what it printed:\n%s", want, out)
		}
	}
	return string(out)
}

// TestProgramOverHTTP runs the example that calls a server on the network, in both
// eras: the name leads both to one workspace.
func TestProgramOverHTTP(t *testing.T) {
	t.Parallel()
	program := goProgram(t, "go-http")
	token := "mcpws_" + rand.Text()
	config := filepath.Join(t.TempDir(), "config.yaml")
	principal := fmt.Sprintf("principals:\n  alice:\n    tokens: [\"sha256:%x\"]\n", sha256.Sum256([]byte(token)))
	if err := os.WriteFile(config, []byte(principal), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"MCP_URL=" + testenv.Serve(t, "--config", config) + "/mcp", "MCP_TOKEN=" + token}
	workspace := regexp.MustCompile(`read_file in (state:\S+)`)
	found := map[string]bool{}
	for version, arguments := range map[string][]string{
		mcp.LATEST_PROTOCOL_VERSION:        {"notes"},
		mcp.LATEST_LEGACY_PROTOCOL_VERSION: {"notes", mcp.LATEST_LEGACY_PROTOCOL_VERSION},
	} {
		out := checkProgram(t, slices.Concat(program, arguments), env)
		ref := workspace.FindStringSubmatch(out)
		if ref == nil || !strings.Contains(out, "connected to mcp-workspace by "+version+"\n") {
			t.Fatalf("it printed\n%s", out)
		}
		found[ref[1]] = true
	}
	if len(found) != 1 {
		t.Errorf("one name led to %v", found)
	}
}

func goProgram(t *testing.T, name string) []string {
	t.Helper()
	program, err := testenv.Build(t.Context(), t.TempDir(), "./examples/clients/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return []string{program}
}

func typeScriptProgram(t *testing.T) []string {
	t.Helper()
	modules, err := testenv.NodeModules("test/clients")
	if err != nil {
		t.Fatal(err)
	}
	if modules == "" {
		testenv.Missing(t, "the pinned npm packages")
	}
	var example struct{ Dependencies, DevDependencies map[string]string }
	readJSON(t, "typescript/package.json", &example)
	for _, versions := range []map[string]string{example.Dependencies, example.DevDependencies} {
		for name, version := range versions {
			var installed struct{ Version string }
			readJSON(t, filepath.Join(modules, name, "package.json"), &installed)
			if installed.Version != version {
				t.Errorf("the example asks for %s %s, the tests install %s", name, version, installed.Version)
			}
		}
	}
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main.ts", "package.json"} {
		content, err := os.ReadFile(filepath.Join("typescript", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return []string{filepath.Join(modules, ".bin", "tsx"), filepath.Join(dir, "main.ts")}
}

func pythonProgram(t *testing.T) []string {
	t.Helper()
	interpreter, err := testenv.Python("test/clients")
	if err != nil {
		t.Fatal(err)
	}
	if interpreter == "" {
		testenv.Missing(t, "the pinned Python packages")
	}
	wanted, err := os.ReadFile("python/requirements.txt")
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := os.ReadFile("../../test/clients/requirements.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(wanted)) {
		if !strings.Contains(string(pinned), "\n"+line) {
			t.Errorf("the example asks for %q, the tests install another version", strings.TrimSpace(line))
		}
	}
	return []string{interpreter, "python/main.py"}
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
