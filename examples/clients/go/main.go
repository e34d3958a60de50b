// Command go is a small MCP client: it starts a workspace server over standard
// input and output, and writes, edits, finds and reads a file through it.
//
//	go run ./examples/clients/go                              # starts mcp-workspace
//	mkdir -p /tmp/demo
//	go run ./examples/clients/go mcp-workspace --backend local --root /tmp/demo --permissions permissive
//
// The server's command may also be given in MCP_SERVER, its words separated
// by spaces.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	if err := run(context.Background(), serverCommand()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func serverCommand() []string {
	if len(os.Args) > 1 {
		return os.Args[1:]
	}
	if words := strings.Fields(os.Getenv("MCP_SERVER")); len(words) > 0 {
		return words
	}
	return []string{"mcp-workspace"}
}

func run(ctx context.Context, command []string) (err error) {
	c, err := client.NewStdioMCPClient(command[0], nil, command[1:]...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if stderr, ok := client.GetStderr(c); ok {
		go func() { _, _ = io.Copy(os.Stderr, stderr) }() // what the server has to say, until it ends
	}

	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "example-go", Version: "1"}
	server, err := c.Initialize(ctx, hello)
	if err != nil {
		return err
	}
	fmt.Println("connected to", server.ServerInfo.Name)

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
		text, err := call(ctx, c, step.tool, step.arguments)
		if err != nil {
			return err
		}
		fmt.Printf("\n%s\n%s\n", step.tool, text)
	}
	return nil
}

// call returns the text of a tool's answer; a failed tool is an error.
func call(ctx context.Context, c *client.Client, tool string, arguments map[string]any) (string, error) {
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = tool, arguments
	result, err := c.CallTool(ctx, request)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, part := range result.Content {
		if t, ok := part.(mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	if result.IsError {
		return "", fmt.Errorf("%s: %s", tool, text.String())
	}
	return text.String(), nil
}
