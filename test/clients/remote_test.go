package clients

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// The transports of a server on the network, as requests name them.
const (
	streamable = "http"
	sse        = "sse"
)

// The newest version of either era.
const (
	sessionEra   = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	statelessEra = mcp.LATEST_PROTOCOL_VERSION
)

// remote is a server on the network, and how one gets in.
type remote struct {
	root    string // URL without a slash at the end
	headers map[string]string
}

// endpoint is the URL for a transport.
func (r remote) endpoint(transport string) string {
	if transport == sse {
		return r.root + "/sse"
	}
	return r.root + "/mcp"
}

// open starts a server that lets everybody in.
func open(t *testing.T, args ...string) remote {
	t.Helper()
	return remote{root: testenv.Serve(t, slices.Concat([]string{"--no-auth"}, args)...)}
}

// guarded starts a server that lets in who has the token, which is in the
// headers.
func guarded(t *testing.T, args ...string) remote {
	t.Helper()
	token := "mcpws_" + rand.Text()
	config := fmt.Sprintf("principals:\n  alice:\n    tokens: [\"sha256:%x\"]\n", sha256.Sum256([]byte(token)))
	file := writeFile(t, "config.yaml", config)
	root := testenv.Serve(t, slices.Concat([]string{"--config", file}, args)...)
	return remote{root: root, headers: map[string]string{"Authorization": "Bearer " + token}}
}

func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// onBoth runs a test against a server of its own that lets everybody in, and
// against one that wants a token.
func onBoth(t *testing.T, args []string, run func(*testing.T, remote)) {
	t.Helper()
	t.Run("open", func(t *testing.T) { run(t, open(t, args...)) })
	t.Run("token", func(t *testing.T) { run(t, guarded(t, args...)) })
}

// networkSteps are fileSteps, a command, and a request and a result as large as
// they get: some clients read no more than 1 MiB at once.
func networkSteps() []step {
	line := strings.Repeat(`"x`, 400) + "\n" // 1,200 bytes as JSON
	return append(fileSteps(), executeStep(),
		step{Tool: "write_file", Arguments: map[string]any{"path": "large.txt", "content": strings.Repeat(line, 2000)},
			want: []string{"Wrote 2000 lines to "}},
		step{Tool: "read_file", Arguments: map[string]any{"path": "large.txt"},
			want: []string{"   700\t\"x", " more lines)"}, not: []string{"   900\t"}})
}

// networkClient is a client program as it is used over the network.
type networkClient struct {
	name      string
	program   string
	run       runtimeOf
	mode      string
	transport string
	version   string // of the protocol that they agree on; empty where the client does not tell
}

var networkClients = []networkClient{
	{"TypeScript SDK", "programs/sdk.mjs", node, "", streamable, sessionEra},
	{"TypeScript SDK, SSE", "programs/sdk.mjs", node, "", sse, ""},
	{"TypeScript client", "programs/client.mjs", node, statelessEra, streamable, statelessEra},
	{"TypeScript client, legacy", "programs/client.mjs", node, "legacy", streamable, sessionEra},
	{"TypeScript client, SSE", "programs/client.mjs", node, "legacy", sse, sessionEra},
	{"Python SDK", "programs/mcp_client.py", python, "auto", streamable, statelessEra},
	{"Python SDK, legacy", "programs/mcp_client.py", python, "legacy", streamable, sessionEra},
	{"Python SDK, SSE", "programs/mcp_client.py", python, "legacy", sse, sessionEra},
	{"FastMCP", "programs/fastmcp_client.py", python, "auto", streamable, statelessEra},
	{"FastMCP, SSE", "programs/fastmcp_client.py", python, "auto", sse, sessionEra},
}

// drive has the client make calls of a server.
func (c networkClient) drive(t *testing.T, to remote, steps []step, answers []string) report {
	t.Helper()
	return drive(t, c.run(t, c.program), request{
		URL: to.endpoint(c.transport), Transport: c.transport, Headers: to.headers, Steps: steps, Mode: c.mode, Answers: answers,
	})
}

func TestClientProgramsOverTheNetwork(t *testing.T) {
	for _, client := range networkClients {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, nil, func(t *testing.T, to remote) {
				steps := networkSteps()
				got := client.drive(t, to, steps, nil)
				checkClient(t, steps, got)
				checkVersion(t, client.version, got)
			})
		})
	}
}

func checkVersion(t *testing.T, want string, got report) {
	t.Helper()
	if got.Version != want {
		t.Errorf("they spoke version %q, not %q", got.Version, want)
	}
}

func TestPydanticAIAgentOverTheNetwork(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, to remote) {
		steps := fileSteps()[:4] // write, edit, grep, read
		got := drive(t, python(t, "programs/agent.py"), request{URL: to.endpoint(streamable), Headers: to.headers, Steps: steps})
		if got.Server != "done" {
			t.Errorf("the run ended with %q", got.Server)
		}
		check(t, steps, got)
	})
}
