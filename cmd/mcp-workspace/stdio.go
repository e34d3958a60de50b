package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mark3labs/mcp-go/server"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/mcp-workspace/mcp-workspace/transports"
)

func stdioCommand() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use:   "stdio",
		Short: "Serve MCP on standard input and output (the default)",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if isatty.IsTerminal(os.Stdin.Fd()) {
				_, _ = fmt.Fprintln(os.Stderr, "mcp-workspace speaks MCP here, for a client that starts it; to try it by hand: mcp-workspace call ls")
			}
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
