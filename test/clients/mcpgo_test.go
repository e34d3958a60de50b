package clients

import (
	"context"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func TestMCPGo(t *testing.T) {
	for _, version := range []string{mcp.LATEST_LEGACY_PROTOCOL_VERSION, mcp.LATEST_PROTOCOL_VERSION} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			t.Run("state", func(t *testing.T) {
				steps := append(fileSteps(), executeStep())
				checkClient(t, steps, driveMCPGo(t, version, state(t), steps))
			})
			t.Run("local", func(t *testing.T) {
				steps := append(fileSteps(), executeStep())
				checkClient(t, steps, driveMCPGo(t, version, local(t, t.TempDir()), steps))
			})
		})
	}
}

func driveMCPGo(t *testing.T, version string, command []string, steps []step) report {
	t.Helper()
	c, err := client.NewStdioMCPClient(command[0], nil, command[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return driveClient(t, c, version, steps)
}

// driveClient opens a connection, makes the calls and closes it.
func driveClient(t *testing.T, c *client.Client, version string, steps []step) report {
	t.Helper()
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	server, err := handshake(ctx, c, version)
	if err != nil {
		t.Fatal(err)
	}
	r := report{Server: server.ServerInfo.Name, Version: server.ProtocolVersion}
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		r.Tools = append(r.Tools, tool.Name)
	}
	for _, s := range steps {
		var call mcp.CallToolRequest
		call.Params.Name, call.Params.Arguments = s.Tool, s.Arguments
		result, err := c.CallTool(ctx, call)
		if err != nil {
			t.Fatalf("%s: %v", s.Tool, err)
		}
		r.Results = append(r.Results, answerOf(result))
	}
	return r
}

func handshake(ctx context.Context, c *client.Client, version string) (*mcp.InitializeResult, error) {
	var init mcp.InitializeRequest
	init.Params.ProtocolVersion = version
	init.Params.ClientInfo = mcp.Implementation{Name: "mcp-go-test", Version: "1"}
	return c.Initialize(ctx, init)
}

func answerOf(result *mcp.CallToolResult) answer {
	a := answer{IsError: result.IsError}
	for _, part := range result.Content {
		if text, ok := part.(mcp.TextContent); ok {
			a.Text += text.Text
		}
	}
	if result.Meta != nil {
		a.Code, _ = result.Meta.AdditionalFields["mcp-workspace/code"].(string)
	}
	return a
}
