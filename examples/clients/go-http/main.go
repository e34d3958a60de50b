// Command go-http is a small MCP client of `mcp-workspace serve`: it writes, edits,
// finds and reads a file in the workspace of a name, which is made when there is
// none.
//
//	export MCP_URL=https://mcp.example.com/mcp MCP_TOKEN=mcpws_…
//	go run ./examples/clients/go-http notes
//	go run ./examples/clients/go-http notes 2025-11-25   # the same workspace, in a session
//
// Without MCP_URL it calls a server on this machine, and without MCP_TOKEN one
// that was started with --no-auth.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: go-http WORKSPACE [PROTOCOL-VERSION]")
		os.Exit(2)
	}
	version := mcp.LATEST_PROTOCOL_VERSION // has no sessions: each request says all that there is to know
	if len(os.Args) == 3 {
		version = os.Args[2]
	}
	url := cmp.Or(os.Getenv("MCP_URL"), "http://127.0.0.1:8080/mcp")
	if err := run(context.Background(), url, os.Getenv("MCP_TOKEN"), os.Args[1], version); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, token, workspace, version string) (err error) {
	// They go with every request. Mcp-Workspace-Ref in place of the name takes a
	// workspace that exists.
	headers := map[string]string{"Mcp-Workspace-Name": workspace}
	if token != "" {
		headers["Authorization"] = "Bearer " + token
	}
	c, err := client.NewStreamableHttpClient(url, transport.WithHTTPHeaders(headers))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }() // ends the session, if there is one
	if err := c.Start(ctx); err != nil {
		return err
	}

	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = version
	hello.Params.ClientInfo = mcp.Implementation{Name: "example-go-http", Version: "1"}
	server, err := c.Initialize(ctx, hello)
	if err != nil {
		return err
	}
	fmt.Println("connected to", server.ServerInfo.Name, "by", server.ProtocolVersion)

	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return err
	}
	names := make([]string, 0, len(tools.Tools))
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
	}
	fmt.Println("tools:", strings.Join(names, " "))

	for _, step := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"write_file", map[string]any{"path": "greeting.txt", "content": "hello\nworld\n"}},
		{"edit_file", map[string]any{"path": "greeting.txt", "old_string": "world", "new_string": "workspace"}},
		{"grep", map[string]any{"pattern": "work", "output_mode": "content"}},
		{"read_file", map[string]any{"path": "greeting.txt"}},
	} {
		text, ref, err := call(ctx, c, step.tool, step.arguments)
		if err != nil {
			return err
		}
		fmt.Printf("\n%s in %s\n%s\n", step.tool, ref, text)
	}
	return nil
}

// call returns the text of a tool's answer, and the ref of the workspace that it
// is from; a failed tool is an error.
func call(ctx context.Context, c *client.Client, tool string, arguments map[string]any) (text string, ref any, err error) {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, arguments
	result, err := c.CallTool(ctx, request)
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	for _, part := range result.Content {
		if t, ok := part.(mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	if result.IsError {
		return "", nil, fmt.Errorf("%s: %s", tool, b.String())
	}
	return b.String(), result.Meta.GetMetaField("mcp-workspace/ref"), nil
}
