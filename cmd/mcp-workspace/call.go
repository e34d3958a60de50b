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
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/cobra"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/internal/suggest"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

func callCommand() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use:   "call TOOL [key=value … | JSON]",
		Short: "Call one tool and print what it answers, or with - calls from standard input",
		Long: `Call one tool and print the text it answers. The exit status is 1 when the tool
fails. A command that ends with another exit code than 0 is an answer of execute
and no failure of it.

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
			if args[0] == "-" && len(args) > 1 {
				return fmt.Errorf("%q is not expected behind -: the calls come from standard input", args[1])
			}
			return s.withServer(cmd, func(srv *server.MCPServer) error {
				c := caller{server: srv, format: tools.EditFormat(s.editFormat)}
				if args[0] == "-" {
					return c.lines(cmd.Context(), os.Stdin, os.Stdout)
				}
				return c.once(cmd.Context(), args[0], args[1:], os.Stdout)
			})
		},
	}
	s.addFlags(cmd)
	return cmd
}

// caller calls tools as a client without any capability would.
type caller struct {
	server *server.MCPServer
	format tools.EditFormat
}

// once makes one call and prints its text.
func (c caller) once(ctx context.Context, tool string, args []string, out io.Writer) error {
	if err := c.offered(tool); err != nil {
		return err
	}
	arguments, err := c.arguments(tool, args)
	if err != nil {
		return err
	}
	result, err := c.call(ctx, tool, arguments)
	if err != nil {
		return err
	}
	for _, content := range result.Content {
		switch content := content.(type) {
		case mcp.TextContent:
			_, err = io.WriteString(out, strings.TrimSuffix(content.Text, "\n")+"\n")
		case mcp.ImageContent:
			_, err = fmt.Fprintf(out, "(%s, %d bytes of base64)\n", content.MIMEType, len(content.Data))
		}
		if err != nil {
			return err
		}
	}
	if result.IsError {
		return errToolFailed
	}
	return nil
}

// arguments reads the arguments of a call: one JSON object, or key=value.
func (c caller) arguments(tool string, args []string) (map[string]any, error) {
	if len(args) != 1 || !strings.HasPrefix(strings.TrimSpace(args[0]), "{") {
		return tools.ParseArguments(c.format, tool, args)
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(args[0]), &object); err != nil {
		return nil, fmt.Errorf("the arguments are not a JSON object: %w; write one, or key=value", err)
	}
	return object, nil
}

// maxCallLine is the longest line that call - takes, in bytes.
const maxCallLine = 256 << 20

// callLine is one line of standard input.
type callLine struct {
	number int
	text   []byte
}

// lines makes the calls that in has, in order, and writes their results to
// out. It goes on after a call that fails, and fails in the end.
func (c caller) lines(ctx context.Context, in io.Reader, out io.Writer) error {
	enc := json.NewEncoder(out)
	failed := false
	lines, ended := readLines(ctx, in)
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("stopped before the end of the calls: %w", context.Cause(ctx))
		case err := <-ended:
			if err == nil && failed {
				err = errToolFailed
			}
			return err
		case line := <-lines:
			result, err := c.line(ctx, line.text)
			if err != nil {
				result = notACall(fmt.Errorf("line %d: %w", line.number, err))
			}
			failed = failed || result.IsError
			if err := enc.Encode(result); err != nil {
				return err
			}
		}
	}
}

// readLines reads in a goroutine of its own, because a read cannot be
// interrupted, and leaves out blank lines. The second channel has what comes
// after the last line: nil at the end of in.
func readLines(ctx context.Context, in io.Reader) (<-chan callLine, <-chan error) {
	lines, ended := make(chan callLine), make(chan error)
	go func() {
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxCallLine)
		n := 1
		for ; scanner.Scan(); n++ {
			text := bytes.TrimSpace(scanner.Bytes())
			if len(text) == 0 {
				continue
			}
			select {
			case lines <- callLine{n, bytes.Clone(text)}:
			case <-ctx.Done():
				return
			}
		}
		err := scanner.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("line %d is longer than the %d MiB that a call may have", n, maxCallLine>>20)
		}
		select {
		case ended <- err:
		case <-ctx.Done():
		}
	}()
	return lines, ended
}

// notACall is the answer to a line that names no tool that can be called.
func notACall(err error) *mcp.CallToolResult {
	result := mcp.NewToolResultError("Error: " + err.Error())
	result.Meta = mcp.NewMetaFromMap(map[string]any{"mcp-workspace/code": backends.CodeInvalidArgument})
	return result
}

// line makes the call that one line is.
func (c caller) line(ctx context.Context, line []byte) (*mcp.CallToolResult, error) {
	var call struct {
		Tool      string         `json:"tool"`
		Arguments map[string]any `json:"arguments"`
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&call); err != nil {
		return nil, fmt.Errorf("not a call such as {\"tool\": \"ls\", \"arguments\": {}}: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more behind the call; write one call a line")
	}
	if err := c.offered(call.Tool); err != nil {
		return nil, err
	}
	return c.call(ctx, call.Tool, call.Arguments)
}

// offered says why there is no such tool, when there is none.
func (c caller) offered(tool string) error {
	names := tools.Names(c.format)
	switch {
	case c.server.GetTool(tool) != nil:
		return nil
	case slices.Contains(names, tool):
		return fmt.Errorf("the tool %q is not offered: --tools leaves it out", tool)
	default:
		return fmt.Errorf("there is no tool %q%s; the tools are %s", tool, suggest.DidYouMean(tool, names), strings.Join(names, ", "))
	}
}

// call makes one call through the server.
func (c caller) call(ctx context.Context, tool string, arguments map[string]any) (*mcp.CallToolResult, error) {
	request, err := json.Marshal(mcp.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION,
		ID:      mcp.NewRequestId(int64(1)),
		Request: mcp.Request{Method: string(mcp.MethodToolsCall)},
		Params:  mcp.CallToolParams{Name: tool, Arguments: arguments},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the call: %w", err)
	}
	switch r := c.server.HandleMessage(ctx, request).(type) {
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
