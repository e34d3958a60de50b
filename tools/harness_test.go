package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/local"
	"github.com/mcp-workspace/mcp-workspace/backends/state"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

// bench is a server with one connection, called as a client calls it.
type bench struct {
	t    *testing.T
	srv  *server.MCPServer
	conn *Connection
	ctx  context.Context
}

func onState(t *testing.T, opts Options) *bench {
	t.Helper()
	b, err := state.New(t.Context(), state.Config{Store: "memory"})
	if err != nil {
		t.Fatal(err)
	}
	return newBench(t, b, opts)
}

func onLocal(t *testing.T, root string, opts Options) *bench {
	t.Helper()
	b, err := local.New(local.Config{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	return newBench(t, b, opts)
}

func newBench(t *testing.T, b backends.Backend, opts Options) *bench {
	t.Helper()
	t.Cleanup(func() { b.Close() })
	lazy := backends.Create(b, backends.Spec{})
	t.Cleanup(func() { lazy.Close() })
	conn := NewConnection(lazy)
	if opts.Rules == nil {
		opts.Rules = permissive(t)
	}
	opts.Connection = func(context.Context, Asked) (*Connection, func(), error) { return conn, nil, nil }
	srv := server.NewMCPServer("test", "0", server.WithToolCapabilities(false), server.WithResourceCapabilities(false, false), server.WithElicitation(), server.WithHooks(&server.Hooks{}))
	if err := Register(srv, opts); err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, srv: srv, conn: conn, ctx: t.Context()}
}

type args = map[string]any

// request sends a message and returns what comes back.
func (b *bench) request(method string, params any) mcp.JSONRPCMessage {
	b.t.Helper()
	msg, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.srv.HandleMessage(b.ctx, msg)
}

func (b *bench) call(tool string, a args) *mcp.CallToolResult {
	b.t.Helper()
	return b.callWith(map[string]any{"name": tool, "arguments": a})
}

func (b *bench) callWith(params map[string]any) *mcp.CallToolResult {
	b.t.Helper()
	switch r := b.request("tools/call", params).(type) {
	case mcp.JSONRPCResponse:
		return r.Result.(*mcp.CallToolResult)
	default:
		b.t.Fatalf("no result but %+v", r)
		return nil
	}
}

// ok makes a call that must succeed, and returns its text.
func (b *bench) ok(tool string, a args) string {
	b.t.Helper()
	r := b.call(tool, a)
	if r.IsError {
		b.t.Fatalf("%s %v failed: %s", tool, a, text(r))
	}
	return text(r)
}

// fails makes a call that must fail with code and say each of says.
func (b *bench) fails(code backends.Code, tool string, a args, says ...string) string {
	b.t.Helper()
	r := b.call(tool, a)
	got := text(r)
	if !r.IsError || fact(r, "code") != string(code) {
		b.t.Fatalf("%s %v: want %s, got %v: %s", tool, a, code, fact(r, "code"), got)
	}
	if !strings.HasPrefix(got, "Error: ") {
		b.t.Errorf("%s %v: the text does not begin with Error: but is %q", tool, a, got)
	}
	for _, s := range says {
		if !strings.Contains(got, s) {
			b.t.Errorf("%s %v: %q does not say %q", tool, a, got, s)
		}
	}
	return got
}

func text(r *mcp.CallToolResult) string {
	var parts []string
	for _, c := range r.Content {
		if t, ok := c.(mcp.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func fact(r *mcp.CallToolResult, name string) any {
	if r.Meta == nil {
		return nil
	}
	return r.Meta.AdditionalFields[metaPrefix+name]
}

func rules(t *testing.T, yaml string) *permissions.Ruleset {
	t.Helper()
	r, err := permissions.Parse("test.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return r
}
