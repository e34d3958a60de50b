package tools

import (
	"context"
	"time"

	"github.com/mcp-workspace/mcp-workspace/permissions"
)

// Event is what became of one call, for logs, metrics and an audit. It holds no
// content: nothing that was read, written or printed.
type Event struct {
	Tool      string
	Operation permissions.Operation
	// Ref of the workspace, or the one that the call asked for and did not reach.
	Ref string
	// Foreign tells that the call was refused because the one that it asked for
	// is not the caller's, or is gone, or never was.
	Foreign bool
	// Target is the path or the command of the call as the client wrote it, cut
	// to 4,000 characters; "" when the arguments could not be read.
	Target string
	// Decision of the ruleset, and the rule or default that it came from; empty
	// when the call failed before it was asked about.
	Decision permissions.Action
	Rule     string
	// Approved tells that a person has allowed what the ruleset asks about.
	Approved bool
	// Outcome is "ok", "asked" when the call has been put to the person and
	// will be made again with the answer, or the code of its failure.
	Outcome string
	// ExitCode is that of a command that ran to its end; -1 otherwise.
	ExitCode int
	Started  time.Time
	Took     time.Duration
}

// Outcomes that are no code of a failure.
const (
	OutcomeOK    = "ok"
	OutcomeAsked = "asked"
)

// Observer hears of every call when it has ended, on the goroutine that
// answers it.
type Observer func(ctx context.Context, e Event)

// maxTarget bounds Event.Target, in characters.
const maxTarget = 4000

// ended completes the call's event.
func (c *call) ended(d definition, took time.Duration) Event {
	c.mu.Lock()
	e := c.event
	c.mu.Unlock()
	e.Took = took
	e.Ref = clip(valid(c.asked.Ref), 200)
	if c.conn != nil && c.conn.Ref() != "" {
		e.Ref = c.conn.Ref()
	}
	name := "path"
	if d.operation == permissions.Execute {
		name = "command"
	}
	if given, ok := c.req.Params.Arguments.(map[string]any); ok {
		target, _ := given[name].(string)
		e.Target = clip(target, maxTarget)
	}
	return e
}
