package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/mcp-workspace/mcp-workspace/internal/version"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "mcp-workspace %s %s/%s %s\n", version.String(), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return err
		},
	}
}
