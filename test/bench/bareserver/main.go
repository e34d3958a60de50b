// Command bareserver is the least an MCP server written with mcp-go can be:
// one tool that answers a text it has in memory. The benchmarks hold the
// server's own cost against it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	file := flag.String("text", "", "file whose content read_file answers")
	flag.Parse()
	if err := serve(*file); err != nil {
		fmt.Fprintln(os.Stderr, "bareserver:", err)
		os.Exit(1)
	}
}

func serve(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := string(content)
	s := server.NewMCPServer("bareserver", "1")
	s.AddTool(mcp.NewTool("read_file", mcp.WithString("path", mcp.Required())),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(text), nil
		})
	return server.ServeStdio(s)
}
