package sessions

import (
	"context"
	"time"
)

// Caller is what a transport knows of who makes a request, and which workspace
// the request names outside its body.
type Caller struct {
	// Principal has been authenticated; "" is the only user of a server
	// without authentication.
	Principal string
	// Session is the MCP session, which the transport has seen to be the
	// principal's; "" for protocol versions without sessions.
	Session string
	// RequestID is in the logs and in the answer's headers.
	RequestID string
	// Ref, Name, Image and Runtime are those of the request's headers, see
	// [tools.Asked].
	Ref, Name, Image, Runtime string
	// RetryAfter, when set, notes for the client when to try again. It has to
	// be called before the answer is written.
	RetryAfter func(time.Duration)
}

type callerKey struct{}

// WithCaller returns a context that carries c.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerFrom returns the Caller of a request; the zero Caller when the
// transport has none, as stdio.
func CallerFrom(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
