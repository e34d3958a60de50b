// Command mcp-workspace gives any MCP client a workspace: files to read, write,
// edit and search, and, where the backend has them, commands to run.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	// A client that has gone is an error of writing to it, after which there is
	// still something to clean up.
	signal.Ignore(syscall.SIGPIPE)
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		if !errors.As(err, new(exitError)) {
			fmt.Fprintln(os.Stderr, "mcp-workspace:", err)
		}
		os.Exit(1)
	}
}

// exitError ends the process with status 1 when what went wrong has been said.
type exitError struct{}

func (exitError) Error() string { return "failed" }

func rootCommand() *cobra.Command {
	root := stdioCommand()
	root.Use = "mcp-workspace"
	root.Short = "A workspace for any MCP client"
	root.Long = `mcp-workspace gives any MCP client a workspace: files to read, write, edit and
search, and, where the backend has them, commands to run.

Without a command it serves MCP on standard input and output.

Every flag can also be set by an environment variable (MCP_WORKSPACE_ and its
name in upper case, "_" for "-") and by a key of the YAML file that --config
names. A flag beats the environment, which beats the file.`
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(stdioCommand(), callCommand(), permissionsCommand(), versionCommand())
	return root
}
