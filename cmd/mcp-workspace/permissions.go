package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/internal/config"
	"github.com/mcp-workspace/mcp-workspace/internal/suggest"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

func permissionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permissions",
		Short: "Show a ruleset, or what it says of an operation",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(permissionsShowCommand(), permissionsCheckCommand())
	return cmd
}

func permissionsShowCommand() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Print a preset, or the ruleset in force, as a ruleset file",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%q is not expected: show takes one ruleset", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.load(cmd.Flags()); err != nil {
				return err
			}
			load := s.ruleset
			if len(args) == 1 {
				if s.loaded.Source("permissions") == config.Flag {
					return errors.New("NAME and --permissions both say which ruleset to show; give one of them")
				}
				load = func() (*permissions.Ruleset, error) { return permissions.Load(args[0]) }
			}
			rules, err := load()
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), rules.YAML())
			return err
		},
	}
	s.addFlags(cmd)
	return cmd
}

func permissionsCheckCommand() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use:   "check OPERATION TARGET",
		Short: "Say whether an operation on a path, or a command, is allowed, and which rule decides",
		Long: `Print allow, ask or deny, then which rule decides, then on what. The target of
execute is a command, of any other operation a path.

The check sees the text only: what symlinks lead to, and what a shell pattern
stands for, is known once there is a workspace.`,
		Example: `  mcp-workspace permissions check read config/.env
  mcp-workspace permissions check execute 'git status; rm -rf /'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("check takes an operation and a target, in quotes where it has blanks; for instance %s execute 'git status'", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.load(cmd.Flags()); err != nil {
				return err
			}
			rules, err := s.ruleset()
			if err != nil {
				return err
			}
			d, err := s.check(rules, permissions.Operation(args[0]), args[1])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s\n%s of %s\n", d.Action, d.Why, d.Operation, d.Target)
			return err
		},
	}
	s.addFlags(cmd)
	return cmd
}

func (s *settings) check(rules *permissions.Ruleset, op permissions.Operation, target string) (permissions.Decision, error) {
	none := permissions.Decision{}
	if !slices.Contains(permissions.Operations(), op) {
		var names []string
		for _, o := range permissions.Operations() {
			names = append(names, string(o))
		}
		return none, fmt.Errorf("%q is no operation%s; the operations are %s", op, suggest.DidYouMean(string(op), names), strings.Join(names, ", "))
	}
	dir, err := s.checkDir()
	if err != nil {
		return none, err
	}
	if op == permissions.Execute {
		return rules.Command(target, textual{dir}), nil
	}
	p, err := backends.CleanPath(dir, target)
	if err != nil {
		return none, err
	}
	return rules.Path(op, p, p), nil
}

// checkDir is the working directory that a workspace would have.
func (s *settings) checkDir() (string, error) {
	switch {
	case s.workingDir != "":
		return s.workingDir, nil
	case s.root != "":
		return s.loaded.Abs("root", s.root)
	default:
		return "/workspace", nil
	}
}

// textual is the view of a shell on no workspace at all.
type textual struct{ dir string }

func (t textual) Dir() string                      { return t.dir }
func (textual) Resolve(path string) (string, bool) { return path, false }
func (textual) Expand(string) ([]string, bool)     { return nil, false }
