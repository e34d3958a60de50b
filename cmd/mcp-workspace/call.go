package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/cobra"

	"github.com/mcp-workspace/mcp-workspace/tools"
)

func callCommand() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use:   "call TOOL [key=value … | JSON]",
		Short: "Call one tool and print what it answers, or with - calls from standard input",
		Long: `Call one tool and print the text it answers. The exit status is 1 when the tool
fails.

With - in place of a tool, calls are read from standard input as JSON lines,

    {"tool": "write_file", "arguments": {"path": "a.txt", "content": "hello\n"}}

and made in order over one connection. For each its result is printed as MCP
has it, as one JSON line.`,
		Example: `  mcp-workspace call ls
  mcp-workspace call grep pattern=TODO output_mode=content --backend local --root .
  mcp-workspace call write_file '{"path": "a.txt", "content": "hello\n"}' --store file:docs --name demo`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("name the tool to call, for instance mcp-workspace call ls; or - to read calls from standard input")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "-" {
				if len(args) > 1 {
					return fmt.Errorf("%q is not expected behind -: the calls come from standard input", args[1])
				}
				return s.withServer(cmd, func(srv *server.MCPServer) error {
					return callLines(cmd.Context(), srv, os.Stdin, os.Stdout)
				})
			}
			return s.withServer(cmd, func(srv *server.MCPServer) error {
				arguments, err := callArguments(tools.EditFormat(s.editFormat), args[0], args[1:])
				if err != nil {
					return err
				}
				return callOnce(cmd.Context(), srv, args[0], arguments, os.Stdout)
			})
		},
	}
	s.addFlags(cmd)
	return cmd
}

// callArguments reads the arguments of a call: one JSON object, or key=value.
func callArguments(format tools.EditFormat, tool string, args []string) (any, error) {
	if len(args) == 1 && strings.HasPrefix(strings.TrimSpace(args[0]), "{") {
		var object map[string]any
		if err := json.Unmarshal([]byte(args[0]), &object); err != nil {
			return nil, fmt.Errorf("the arguments are not a JSON object: %w", err)
		}
		return object, nil
	}
	return tools.ParseArguments(format, tool, args)
}

// callOnce makes one call and prints its text.
func callOnce(ctx context.Context, srv *server.MCPServer, tool string, arguments any, out io.Writer) error {
	result, err := callTool(ctx, srv, tool, arguments)
	if err != nil {
		return err
	}
	for _, content := range result.Content {
		switch c := content.(type) {
		case mcp.TextContent:
			_, err = io.WriteString(out, strings.TrimSuffix(c.Text, "\n")+"\n")
		case mcp.ImageContent:
			_, err = fmt.Fprintf(out, "(%s, %d bytes of base64)\n", c.MIMEType, len(c.Data))
		}
		if err != nil {
			return err
		}
	}
	if result.IsError {
		return exitError{}
	}
	return nil
}

// maxCallLine is the longest line that call - takes, in bytes.
const maxCallLine = 256 << 20

// callLines makes the calls that in has, and writes their results to out. It
// goes on after a call that fails, and fails in the end.
func callLines(ctx context.Context, srv *server.MCPServer, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxCallLine)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	failed := false
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		result, err := callLine(ctx, srv, line)
		if err != nil {
			result = mcp.NewToolResultError(fmt.Sprintf("Error: line %d: %v", n, err))
		}
		failed = failed || result.IsError
		if err := enc.Encode(result); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading calls: %w", err)
	}
	if failed {
		return exitError{}
	}
	return nil
}

func callLine(ctx context.Context, srv *server.MCPServer, line []byte) (*mcp.CallToolResult, error) {
	var c struct {
		Tool      string         `json:"tool"`
		Arguments map[string]any `json:"arguments"`
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return nil, fmt.Errorf("not a call such as {\"tool\": \"ls\", \"arguments\": {}}: %w", err)
	}
	if dec.More() {
		return nil, errors.New("more than one call; write one a line")
	}
	return callTool(ctx, srv, c.Tool, c.Arguments)
}

// callTool makes one call through the server, as a client without any
// capability would.
func callTool(ctx context.Context, srv *server.MCPServer, tool string, arguments any) (*mcp.CallToolResult, error) {
	request, err := json.Marshal(mcp.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION,
		ID:      mcp.NewRequestId(int64(1)),
		Request: mcp.Request{Method: string(mcp.MethodToolsCall)},
		Params:  mcp.CallToolParams{Name: tool, Arguments: arguments},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the call: %w", err)
	}
	switch r := srv.HandleMessage(ctx, request).(type) {
	case mcp.JSONRPCResponse:
		if result, ok := r.Result.(*mcp.CallToolResult); ok {
			return result, nil
		}
		return nil, fmt.Errorf("the server answered with %T", r.Result)
	case mcp.JSONRPCError:
		return nil, fmt.Errorf("%s", r.Error.Message)
	default:
		return nil, fmt.Errorf("the server answered with %T", r)
	}
}
