// Command mcp-workspace gives any MCP client a workspace: files to read, write,
// edit and search, and, where the backend has them, commands to run.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-workspace/mcp-workspace/internal/version"
)

func main() { os.Exit(execute()) }

// execute runs the command that was given and returns the exit status.
func execute() int {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	// A client that has gone is an error of writing to it, after which there is
	// still something to clean up. The signal is taken and not ignored, because
	// the commands that are run would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if err := rootCommand().ExecuteContext(ctx); err != nil {
		if !errors.Is(err, errToolFailed) {
			fmt.Fprintln(os.Stderr, "mcp-workspace:", oneLine(err))
		}
		return 1
	}
	return 0
}

// endSignals are what asks this program to end. A hang-up does unless whoever
// started it has said otherwise, as nohup does.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// errToolFailed ends the process with status 1 when what went wrong has been
// printed.
var errToolFailed = errors.New("the tool failed")

// oneLine is the text of err on one line, which is what programs that start
// this one show of it.
func oneLine(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			if n := len(lines); n > 0 {
				lines[n-1] = strings.TrimSuffix(lines[n-1], ".")
			}
			lines = append(lines, line)
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "; "), ":; ", ": ")
}

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
	root.Version = version.String()
	root.SetVersionTemplate("mcp-workspace {{.Version}}\n")
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(stdioCommand(), serveCommand(), callCommand(), workspacesCommand(), runtimesCommand(), permissionsCommand(), tokenCommand(), versionCommand(), containersTopic())
	groupHelp(root)
	return root
}
