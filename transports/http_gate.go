package transports

import (
	"context"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/sessions"
)

// Gate decides when a request may be handled.
type Gate interface {
	// Enter waits until the request may be handled and answers with what to
	// call when it has been. It fails with a [*BusyError] when the server has
	// too much to do, or with the cause of ctx.
	Enter(ctx context.Context, principal, method string) (leave func(), err error)
}

// BusyError says that a request was not handled because there is too much to
// do.
type BusyError = sessions.BusyError

// gated is the method that a gate is asked for. A request is none of the
// notifications that go free, whatever it calls itself.
func gated(id []byte, method string) string {
	if id != nil && strings.HasPrefix(method, "notifications/") {
		return "unknown"
	}
	return method
}
