package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/cobra"

	"github.com/mcp-workspace/mcp-workspace/internal/version"
	"github.com/mcp-workspace/mcp-workspace/permissions"
	"github.com/mcp-workspace/mcp-workspace/sessions"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// closeTime is how long the end of a session may take.
const closeTime = 30 * time.Second

// withServer runs serve with an MCP server whose one session works as s says,
// and closes the session afterwards.
func (s *settings) withServer(cmd *cobra.Command, serve func(*server.MCPServer) error) (err error) {
	if err := s.load(cmd.Flags()); err != nil {
		return err
	}
	rules, err := s.ruleset()
	if err != nil {
		return err
	}
	// The backend, which may make files, comes after all that can be wrong.
	var session *sessions.Session
	srv, err := s.newServer(rules, tools.Options{Connection: func(_ context.Context, asked tools.Asked) (*tools.Connection, func(), error) {
		return session.Connection(asked)
	}})
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	backend, session, err := s.session(ctx, s.logger())
	if err != nil {
		return err
	}
	defer func() {
		s.noteKept(session.Tools().Ref())
		// Also when ctx has ended: what was asked for is still done.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		closing := errors.Join(session.Close(ctx), backend.Close())
		if closing == nil {
			return
		}
		closing = fmt.Errorf("ending the session: %w", closing)
		if errors.Is(err, errToolFailed) {
			err = closing // which has not been said yet
		} else {
			err = errors.Join(err, closing)
		}
	}()
	return serve(srv)
}

// noteKept tells how a workspace is found again that has no name.
func (s *settings) noteKept(ref string) {
	keeps := registry[s.backend].keeps
	if ref != "" && s.name == "" && s.ref == "" && !s.destroyOnExit && keeps != nil && keeps(s) {
		s.logger().Info("the workspace is kept; --ref finds it again, or give it a --name", "ref", ref)
	}
}

// newServer is an MCP server with the tools: opts, completed by what the
// settings say.
func (s *settings) newServer(rules *permissions.Ruleset, opts tools.Options, more ...server.ServerOption) (*server.MCPServer, error) {
	srv := server.NewMCPServer("mcp-workspace", version.String(), append([]server.ServerOption{
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithInstructions(tools.Instructions),
		server.WithHooks(&server.Hooks{}), // for tools.Register
	}, more...)...)
	opts.Rules = rules
	opts.Fallback = tools.Fallback(s.askFallback)
	opts.Tools = s.tools
	opts.EditFormat = tools.EditFormat(s.editFormat)
	opts.Structured = s.structured
	opts.Profile = tools.Profile(s.profile)
	opts.Texts = s.texts
	opts.NoBackground = registry[s.backend].noBackground
	opts.Logger = s.logger()
	err := tools.Register(srv, opts)
	switch {
	case errors.Is(err, tools.ErrNoneOffered):
		return nil, s.wrong("permissions", "denies every tool that would be offered; allow one, or offer others with --tools")
	case err != nil && s.given(descriptions):
		return nil, s.wrong(descriptions, "cannot be used: %s", strings.TrimPrefix(err.Error(), descriptions+": "))
	}
	return srv, err
}
