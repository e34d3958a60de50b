// Package tools is what a model sees of a workspace: seven tools, with their
// schemas, descriptions and renderings, each held against the ruleset before
// it touches anything.
//
// The package speaks MCP through mcp-go and reaches files only through
// [backends.Workspace]. It knows no backend and no transport.
package tools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

// Fallback is what becomes of an operation that the ruleset wants asked about
// when the client cannot be asked.
type Fallback string

// The fallbacks.
const (
	FallbackDeny  Fallback = "deny"  // permission_denied, as by a rule
	FallbackError Fallback = "error" // approval_required, with how to allow it
)

// EditFormat selects the editing tool.
type EditFormat string

// The edit formats.
const (
	EditByString EditFormat = "str_replace" // edit_file
	EditByLine   EditFormat = "hashline"    // hashline_edit, and read_file shows line hashes
)

// Options say which tools a server offers, and how.
type Options struct {
	// Connection finds the connection that a request came over, in the workspace
	// that it asks for. The function that comes with it is called when the
	// request has been handled; it may be nil.
	Connection func(ctx context.Context, asked Asked) (*Connection, func(), error)
	// WorkspaceArgument gives every tool the argument that names a workspace by
	// its ref.
	WorkspaceArgument bool
	// Rules that every call is held against.
	Rules *permissions.Ruleset
	// Fallback when Rules ask and the client cannot; empty means FallbackError.
	Fallback Fallback
	// Tools to offer by name; empty offers all.
	Tools []string
	// EditFormat; empty means EditByString.
	EditFormat EditFormat
	// Structured adds structuredContent and output schemas.
	Structured bool
	// Profile of the descriptions; empty means ProfileCoding.
	Profile Profile
	// Texts replace descriptions, by tool.
	Texts map[string]Text
	// NoBackground tells that what a command leaves running in the background
	// ends with it.
	NoBackground bool
	// MaxOutput and MaxFile are how many bytes a command may print, and a file
	// that a tool writes may have; 0 means 1 GiB, and no limit but the
	// backend's.
	MaxOutput, MaxFile int64
	// Observe hears of every call; may be nil.
	Observe Observer
	// Logger hears of every call, at debug level: what for, how long, and with
	// what code it failed. Never of content. Nil discards.
	Logger *slog.Logger
}

// toolset is Options in force.
type toolset struct {
	Options
}

// definitions are all tools there are, in the order in which they are listed.
func definitions(format EditFormat) []definition {
	edit := editFile
	if format == EditByLine {
		edit = hashlineEdit
	}
	return []definition{ls, readFile, writeFile, edit, glob, grep, execute}
}

// Names lists the tools of an edit format.
func Names(format EditFormat) []string {
	var names []string
	for _, d := range definitions(format) {
		names = append(names, d.name)
	}
	return names
}

// ErrNoneOffered says that the rules deny all tools there would be.
var ErrNoneOffered = errors.New("the ruleset denies every tool")

// Register adds the tools to srv. It fails when opts name a tool or an
// argument that does not exist, and with [ErrNoneOffered]. Tools whose operation
// the rules deny outright are not listed; where srv has hooks
// ([server.WithHooks]), which that needs, a call of one is told so.
func Register(srv *server.MCPServer, opts Options) error {
	defs, denied, err := selected(opts)
	if err != nil {
		return err
	}
	if len(defs) == 0 {
		return ErrNoneOffered
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	set := &toolset{opts}
	for _, d := range defs {
		tool, err := d.describe(opts)
		if err != nil {
			return err
		}
		srv.AddTool(tool, set.handler(d))
	}
	if hooks := srv.GetHooks(); hooks != nil {
		for _, d := range denied {
			srv.AddTool(mcp.Tool{Name: d.name, RawInputSchema: d.inputSchema(Text{}, opts.WorkspaceArgument)}, set.handler(d))
		}
		hooks.AddAfterListTools(func(_ context.Context, _ any, _ *mcp.ListToolsRequest, listed *mcp.ListToolsResult) {
			listed.Tools = slices.DeleteFunc(listed.Tools, func(tool mcp.Tool) bool {
				return slices.ContainsFunc(denied, func(d definition) bool { return d.name == tool.Name })
			})
		})
	}
	set.addResource(srv)
	return nil
}

// selected are the tools that opts offer, and those that they would if the rules
// did not deny what these do.
func selected(opts Options) (offered, denied []definition, err error) {
	all := definitions(opts.EditFormat)
	names := Names(opts.EditFormat)
	known := func(name, where string) error {
		if slices.Contains(names, name) {
			return nil
		}
		return fmt.Errorf("%s: there is no tool %q; the tools are %s", where, name, strings.Join(names, ", "))
	}
	for _, name := range opts.Tools {
		if err := known(name, "tools"); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(opts.Texts)) {
		// Texts for the other edit format's tool are kept for when it is used.
		if name != editFile.name && name != hashlineEdit.name {
			if err := known(name, "descriptions"); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, d := range append(all, editFile, hashlineEdit) {
		if _, err := d.text(opts); err != nil {
			return nil, nil, err
		}
	}
	for _, d := range all {
		switch {
		case len(opts.Tools) > 0 && !slices.Contains(opts.Tools, d.name):
		case opts.Rules.Offered(d.operation):
			offered = append(offered, d)
		default:
			denied = append(denied, d)
		}
	}
	return offered, denied, nil
}

// handler answers calls of one tool.
func (s *toolset) handler(d definition) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := &call{ctx: ctx, set: s, tool: d.name, req: req}
		c.event = Event{Tool: d.name, Operation: d.operation, ExitCode: -1, Started: time.Now()}
		ans, err := c.serve(d)
		took := time.Since(c.event.Started)
		var res *mcp.CallToolResult
		var ask *askError
		switch {
		case err == nil:
			s.Logger.DebugContext(ctx, "call answered", "tool", d.name, "took", took)
			c.event.Outcome = OutcomeOK
			res = s.result(c, ans)
		case errors.As(err, &ask):
			s.Logger.DebugContext(ctx, "call put to the person", "tool", d.name, "why", ask.decision.Why)
			c.event.Outcome = OutcomeAsked
			res = c.askPerson(ask)
		default:
			code := backends.CodeOf(err)
			s.Logger.DebugContext(ctx, "call failed", "tool", d.name, "took", took, "code", code)
			c.event.Outcome = string(code)
			c.event.Foreign = c.conn == nil && errors.Is(err, backends.ErrGone)
			res = s.failed(c, err)
		}
		if s.Observe != nil {
			s.Observe(ctx, c.ended(d, took))
		}
		return res, nil
	}
}

// serve runs one call to its answer.
func (c *call) serve(d definition) (*answer, error) {
	arguments, err := c.ask()
	if err != nil {
		return nil, err
	}
	if !c.set.Rules.Offered(d.operation) {
		return nil, c.deniedOutright(d.operation)
	}
	conn, done, err := c.set.Connection(c.ctx, c.asked)
	if err != nil {
		return nil, err
	}
	if done != nil {
		defer done()
	}
	c.conn = conn
	var others []string
	if c.set.WorkspaceArgument {
		others = []string{workspaceArgument}
	}
	args, err := d.decode(arguments, others...)
	if err != nil {
		return nil, err
	}
	if err := c.redeem(); err != nil {
		return nil, err
	}
	if err := c.openWorkspace(); err != nil {
		return nil, err
	}
	return d.run(c, args)
}
