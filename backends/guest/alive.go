package guest

import (
	"context"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// patience is how long a Client waits for an agent.
type patience struct {
	between   time.Duration // from one ping to the next
	ping      time.Duration // for the answer to a ping
	operation time.Duration // for the next frame of an operation on files
}

// usualPatience is many times what the slowest of machines takes. An operation is
// given long because it may search all of a large disk.
var usualPatience = patience{between: 8 * time.Second, ping: 12 * time.Second, operation: 5 * time.Minute}

// writePatience is how long an agent may leave lying what is sent to it. The next
// ping notices before.
const writePatience = 30 * time.Second

// watch ends the session when the agent does not answer a ping: it was stopped,
// or its container was paused, or something that only reads is in its place. An
// agent that answers may let a command run for as long as it likes.
func (c *Client) watch() {
	for {
		select {
		case <-c.Done():
			return
		case <-time.After(c.patience.between):
		}
		frames := c.frames.Load()
		ctx, cancel := context.WithTimeout(context.Background(), c.patience.ping)
		// Whatever it answers, it is there. An agent of an older version does not
		// know the operation.
		_, err := call[struct{}](ctx, c, OpPing, struct{}{})
		late := ctx.Err() != nil
		cancel()
		// One that answers other calls has much to do, and is there.
		if err != nil && late && c.frames.Load() == frames {
			c.endSilent()
			return
		}
	}
}

// endSilent ends the session of an agent that does not answer.
func (c *Client) endSilent() {
	c.silent.Store(true)
	_ = c.mux.Close() // never fails
}

// silent is the failure of a call whose session was ended because the agent did
// not answer.
func silent() error {
	return backends.Errorf(backends.CodeUnavailable, "guest", "",
		"the guest agent has stopped answering, so what became of this call is not known: something in the container may have stopped the agent, or the machine is overloaded; look before you repeat the call, which starts another agent")
}

// unanswered is the failure of a call that should have been answered by now, by
// an agent that answers others.
func (r *request) unanswered() error {
	if r.op == OpRun {
		return backends.Errorf(backends.CodeUnavailable, "guest", "",
			"the guest agent has not ended the command in time, as it should have; something in the container may be speaking in its place")
	}
	return backends.Errorf(backends.CodeUnavailable, "guest", "",
		"the guest agent is there and has not answered this call for %v: the files may be on a mount that hangs, or it was asked for too much at once; see what is mounted, or ask for less",
		r.client.patience.operation)
}
