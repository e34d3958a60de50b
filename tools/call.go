package tools

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

// call is one tools/call on its way.
type call struct {
	ctx  context.Context
	set  *toolset
	conn *Connection
	ws   backends.Workspace
	tool string
	req  mcp.CallToolRequest
	// grant tells whether the approval that came with the call covers a key;
	// nil when none came. See approval.go.
	grant func(key string) bool
	asked Asked

	mu    sync.Mutex // a command's files are decided about from several goroutines
	event Event
}

// decided notes a decision of the rules; the strictest stays.
func (c *call) decided(d permissions.Decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rank := map[permissions.Action]int{permissions.Allow: 1, permissions.Ask: 2, permissions.Deny: 3}
	if rank[d.Action] >= rank[c.event.Decision] {
		c.event.Decision, c.event.Rule = d.Action, d.Why
	}
}

// deniedOutright answers a call of a tool that is not offered.
func (c *call) deniedOutright(op permissions.Operation) error {
	why := fmt.Sprintf("the ruleset denies every %s", op)
	c.decided(permissions.Decision{Action: permissions.Deny, Operation: op, Why: why})
	return backends.Errorf(backends.CodePermission, "", "", "%s: %s, so the tool is not offered. Do the work without it, or ask for the ruleset to be changed", c.tool, why)
}

// clean is p as the ruleset sees it: absolute and clean.
func (c *call) clean(p string) (string, error) {
	return backends.CleanPath(c.ws.WorkingDir(), p)
}

// show is an absolute path as short as it can be written back: relative to the
// working directory when it is below it.
func (c *call) show(abs string) string {
	dir := c.ws.WorkingDir()
	if abs == dir {
		return "."
	}
	if dir != "/" {
		dir += "/"
	}
	if rel, ok := strings.CutPrefix(abs, dir); ok && rel != "" {
		return rel
	}
	return abs
}

// named is a path as the caller wrote it, for an answer: it may be long, and
// hold anything.
func (c *call) named(p string) string { return clip(oneLine(valid(p)), 500) }

// allowLook holds a read, listing or search of p against the rules before
// anything is done, and tells whether a person had to approve it. Where the
// rules allow the path as it is written, following its symlinks is left to the
// operation itself; see allowFound.
func (c *call) allowLook(op permissions.Operation, p string) (approved bool, err error) {
	cleaned, err := c.clean(p)
	if err != nil {
		return false, err
	}
	d := c.set.Rules.Path(op, cleaned, cleaned)
	if d.Action != permissions.Ask {
		return false, c.allow(d, cleaned)
	}
	// Nobody is asked about what is denied at the end of a symlink.
	res, err := c.ws.Resolve(c.ctx, p)
	if err != nil {
		return false, err
	}
	return true, c.allowAt(op, res)
}

// allowFound holds where a path's symlinks have led against the rules, before
// the answer leaves.
func (c *call) allowFound(op permissions.Operation, res backends.Resolution) error {
	if res.Path == res.Resolved {
		return nil // allowLook has seen it
	}
	return c.allowAt(op, res)
}

// allowFailure is the error of a look at p. What went wrong at the end of a
// symlink is told only of what may be looked at.
func (c *call) allowFailure(op permissions.Operation, p string, err error) error {
	res, unresolved := c.ws.Resolve(c.ctx, p)
	if unresolved != nil {
		return err
	}
	if refused := c.allowFound(op, res); refused != nil {
		return refused
	}
	return err
}

// allowAt holds an operation on a path that is known in full against the rules.
func (c *call) allowAt(op permissions.Operation, res backends.Resolution) error {
	return c.allow(c.set.Rules.Path(op, res.Path, res.Resolved), pathTarget(res))
}

// allowChange holds a write or an edit of p against the rules, as written and
// where it leads. The operation must then insist on landing there.
func (c *call) allowChange(op permissions.Operation, p string) (backends.Resolution, error) {
	cleaned, err := c.clean(p)
	if err != nil {
		return backends.Resolution{}, err
	}
	// A path that is denied is denied also where it does not resolve.
	if d := c.set.Rules.Path(op, cleaned, cleaned); d.Action == permissions.Deny {
		return backends.Resolution{}, c.denied(d)
	}
	res, err := c.ws.Resolve(c.ctx, p)
	if err != nil {
		return res, err
	}
	return res, c.allowAt(op, res)
}
