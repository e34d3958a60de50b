package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/cobra"

	"github.com/mcp-workspace/mcp-workspace/internal/version"
	"github.com/mcp-workspace/mcp-workspace/sessions"
	"github.com/mcp-workspace/mcp-workspace/tools"
	"github.com/mcp-workspace/mcp-workspace/transports"
)

func stdioCommand() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use:   "stdio",
		Short: "Serve MCP on standard input and output (the default)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveStdio(cmd, s, os.Stdin, os.Stdout)
		},
	}
	s.addFlags(cmd)
	return cmd
}

func serveStdio(cmd *cobra.Command, s *settings, in io.Reader, out io.Writer) error {
	return s.withServer(cmd, func(srv *server.MCPServer) error {
		stdio := &transports.Stdio{Server: srv, InOrder: s.inOrder, Logger: s.logger()}
		err := stdio.Serve(cmd.Context(), in, out)
		if errors.Is(err, transports.ErrShutdown) {
			return nil // asked to stop by a signal
		}
		return err
	})
}

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
	ctx := cmd.Context()
	backend, session, err := s.session(ctx, s.logger())
	if err != nil {
		return err
	}
	defer func() {
		// Also when ctx has ended: what was asked for is still done.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		if closing := errors.Join(session.Close(ctx), backend.Close()); closing != nil {
			err = fmt.Errorf("ending the session: %w", closing)
		}
	}()
	srv, err := newServer(tools.Options{
		Rules:      rules,
		Fallback:   tools.Fallback(s.askFallback),
		Tools:      s.tools,
		EditFormat: tools.EditFormat(s.editFormat),
		Structured: s.structured,
		Profile:    tools.Profile(s.profile),
		Texts:      s.texts,
	}, session)
	if err != nil {
		return err
	}
	return serve(srv)
}

// newServer is an MCP server with the tools, for one session.
func newServer(opts tools.Options, session *sessions.Session) (*server.MCPServer, error) {
	srv := server.NewMCPServer("mcp-workspace", version.String(),
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithElicitation(),
		server.WithInstructions(tools.Instructions),
	)
	opts.Connection = func(context.Context) (*tools.Connection, error) { return session.Tools(), nil }
	return srv, tools.Register(srv, opts)
}
