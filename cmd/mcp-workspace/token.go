package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcp-workspace/mcp-workspace/transports/auth"
)

func tokenCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "token",
		Short: "Make a bearer token for serve",
		Long: `Make a bearer token. It is printed once and kept nowhere: give it to the client,
and put its hash into the configuration file of the server:

  principals:
    alice:
      tokens: ["sha256:…"]

The client sends the token itself, never the hash, with each request:

  Authorization: Bearer mcpws_…

The server reads its configuration when it starts. All tokens that it does not
know are answered alike; what was probably wrong with one is in its log, in the
line "a token was refused".`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			token, hash := auth.NewToken()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "token: %s\nhash:  %s\n", token, hash)
			return err
		},
	}
}
