package audit

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// ServerOptions make the tools of an MCP server fail while the log cannot be
// written, when it is required; otherwise there are none. A call is refused
// before it does anything when the last line could not be written and still
// cannot. The first call to meet the failure has been done by the time its
// line is due; its answer is withheld.
//
// Lines of calls must go through [Log.Call], with the context of the call.
func (l *Log) ServerOptions() []server.ServerOption {
	if l == nil || !l.cfg.Required {
		return nil
	}
	return []server.ServerOption{server.WithToolHandlerMiddleware(l.require)}
}

// unlogged is where the line of a call notes that it could not be written.
type unlogged struct{ set bool }

type unloggedKey struct{}

func noteUnlogged(ctx context.Context) {
	if u, ok := ctx.Value(unloggedKey{}).(*unlogged); ok {
		u.set = true
	}
}

func (l *Log) require(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if writable := l.Ready() == nil; !writable {
			return refusal("nothing was done: this server does nothing that it cannot log, and its audit log cannot be written. Tell whoever runs it"), nil
		}
		u := &unlogged{}
		res, err := next(context.WithValue(ctx, unloggedKey{}, u), req)
		if u.set {
			return refusal("the call was made and its answer is withheld: this server answers nothing that it cannot log, and its audit log cannot be written. Tell whoever runs it"), nil
		}
		return res, err
	}
}

// refusal is a failed result as the tools write one. The cause is for whoever
// runs the server: it names a file of the server's machine.
func refusal(why string) *mcp.CallToolResult {
	res := mcp.NewToolResultError("Error: " + why)
	res.Meta = &mcp.Meta{AdditionalFields: map[string]any{"mcp-workspace/code": "internal"}}
	return res
}
