package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-workspace/mcp-workspace/internal/suggest"
)

// flagError says what to write instead of a flag that does not parse.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var empty *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		return fmt.Errorf("%w%s; see %s --help for the flags there are", err, suggest.DidYouMean(unknown.GetSpecifiedName(), names), cmd.CommandPath())
	case errors.As(err, &invalid) && invalid.GetFlag().Value.Type() == "bool":
		return fmt.Errorf("--%s is %q; it takes true or false", invalid.GetFlag().Name, invalid.GetValue())
	case errors.As(err, &empty):
		return fmt.Errorf("--%s has no value; write --%[1]s=VALUE", empty.GetSpecifiedName())
	default:
		return err
	}
}

// noArguments refuses words behind a command that takes none, and names the
// command that was probably meant.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if names == nil {
		return fmt.Errorf("%q is not expected behind %s, which takes flags only", args[0], cmd.CommandPath())
	}
	return fmt.Errorf("there is no command %q%s; %s has %s", args[0], suggest.DidYouMean(args[0], names), cmd.CommandPath(), strings.Join(names, ", "))
}
