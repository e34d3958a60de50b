package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/internal/config"
)

func workspacesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workspaces",
		Short: "List, inspect and remove workspaces",
		Long: `List, inspect and remove the workspaces that this program made and that outlive
it. Without --backend, list and prune look at every engine that answers, or with
--store at the documents there; inspect and destroy go by the ref.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(workspacesListCommand(), workspacesInspectCommand(), workspacesDestroyCommand(), workspacesPruneCommand())
	return cmd
}

func workspacesListCommand() *cobra.Command {
	s := &settings{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List workspaces",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := []listedWorkspace{}
			err := s.eachBackend(cmd, func(ctx context.Context, b backends.Backend) error {
				infos, err := b.List(ctx)
				for _, i := range infos {
					found = append(found, listed(i))
				}
				return err
			})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), found)
			}
			return printWorkspaces(cmd.OutOrStdout(), found)
		},
	}
	s.addFlags(cmd)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func workspacesInspectCommand() *cobra.Command {
	s := &settings{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "inspect REF",
		Short:   "Describe one workspace",
		Example: "  mcp-workspace workspaces inspect docker:mcpws-demo",
		Args:    oneRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.atRef(cmd, args[0], func(ctx context.Context, b backends.Backend, ref backends.Ref) error {
				details, err := inspect(ctx, b, ref)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), details)
				}
				return details.print(cmd.OutOrStdout())
			})
		},
	}
	s.addFlags(cmd)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func workspacesDestroyCommand() *cobra.Command {
	s := &settings{}
	cmd := &cobra.Command{
		Use:     "destroy REF…",
		Short:   "Remove workspaces and their files for good",
		Example: "  mcp-workspace workspaces destroy docker:mcpws-demo",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return oneRef(cmd, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, text := range args { // before the first one is gone
				if _, err := backends.ParseRef(text); err != nil {
					return err
				}
			}
			var errs []error
			for _, text := range args {
				err := s.atRef(cmd, text, func(ctx context.Context, b backends.Backend, ref backends.Ref) error { return b.Destroy(ctx, ref) })
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", text, err))
				}
			}
			return errors.Join(errs...)
		},
	}
	s.addFlags(cmd)
	return cmd
}

func workspacesPruneCommand() *cobra.Command {
	s := &settings{}
	var stoppedFor time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove workspaces that do not run, with their files, and what nobody uses",
		Long: `Remove the containers of workspaces that do not run, with their files, and what
was left over of the guest agent: volumes of versions that no workspace uses. What
runs or is paused stays, and so do documents of the backend state.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if stoppedFor < 0 {
				return fmt.Errorf("--stopped-for is %s; it takes a duration such as 24h", stoppedFor)
			}
			removed := []string{}
			err := s.eachBackend(cmd, func(ctx context.Context, b backends.Backend) error {
				engine, ok := b.(*docker.Backend)
				if !ok {
					return nil
				}
				refs, err := engine.Prune(ctx, docker.Prune{StoppedFor: stoppedFor})
				for _, ref := range refs {
					removed = append(removed, ref.String())
				}
				return err
			})
			if asJSON {
				return errors.Join(printJSON(cmd.OutOrStdout(), removed), err)
			}
			for _, ref := range removed {
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), "removed", ref); err != nil {
					return err
				}
			}
			return err
		},
	}
	s.addFlags(cmd)
	addJSONFlag(cmd, &asJSON)
	cmd.Flags().DurationVar(&stoppedFor, "stopped-for", 0, "only what has not run for this `long`, such as 24h")
	return cmd
}

func addJSONFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON")
}

func oneRef(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name the workspace by its ref, for instance %s docker:mcpws-demo; workspaces list shows them", cmd.CommandPath())
	}
	return nil
}

// eachBackend runs do with the backend that was chosen; where none was, with
// every engine of containers that answers.
func (s *settings) eachBackend(cmd *cobra.Command, do func(context.Context, backends.Backend) error) error {
	if err := s.loadForAny(cmd.Flags()); err != nil {
		return err
	}
	ctx := cmd.Context()
	switch {
	case s.given("backend"):
		return s.atBackend(ctx, s.backend, do)
	case s.given("store"):
		return s.atBackend(ctx, "state", do)
	}
	var away []error
	names := containerBackends()
	for _, name := range names {
		switch err := s.atBackend(ctx, name, do); {
		case backends.CodeOf(err) == backends.CodeUnavailable:
			s.logger().Debug("an engine does not answer", "backend", name, "error", err)
			away = append(away, err)
		case err != nil:
			return err
		}
	}
	if len(away) == len(names) {
		return errors.Join(away...)
	}
	return nil
}

// atRef runs do with the backend that a ref is of.
func (s *settings) atRef(cmd *cobra.Command, text string, do func(context.Context, backends.Backend, backends.Ref) error) error {
	if s.loaded == nil {
		if err := s.loadForAny(cmd.Flags()); err != nil {
			return err
		}
	}
	ref, err := backends.ParseRef(text)
	if err != nil {
		return err
	}
	if !slices.Contains(backendNames(), ref.Provider) {
		return fmt.Errorf("%s is of no backend that there is; the backends are %s", text, strings.Join(backendNames(), ", "))
	}
	if s.loaded.Source("backend") == config.Flag && s.backend != ref.Provider {
		return s.wrong("backend", "is %s, but %s is of the backend %s", s.backend, text, ref.Provider)
	}
	if keeps := registry[ref.Provider].keeps; keeps != nil && !keeps(s) {
		return s.wrong("store", "is %q, which keeps no workspace between runs; name the one that %s is in, such as --store file:DIR", s.store, text)
	}
	return s.atBackend(cmd.Context(), ref.Provider, func(ctx context.Context, b backends.Backend) error { return do(ctx, b, ref) })
}

// atBackend opens a backend for do. Log lines of an engine are for those who ask.
func (s *settings) atBackend(ctx context.Context, name string, do func(context.Context, backends.Backend) error) (err error) {
	chosen := registry[name]
	if chosen.check != nil {
		if err := chosen.check(s); err != nil {
			return err
		}
	}
	opened, err := chosen.open(ctx, s, s.quietLogger())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	if deferred, ok := opened.(*backends.Deferred); ok {
		if opened, err = deferred.Backend(ctx); err != nil {
			opened = deferred
			return err
		}
	}
	return do(ctx, opened)
}

// quietLogger logs what --log-level asks for, and warnings otherwise.
func (s *settings) quietLogger() *slog.Logger {
	if !s.given("log-level") {
		quiet := *s
		quiet.logLevel = "warn"
		return quiet.logger()
	}
	return s.logger()
}

// listedWorkspace is a workspace as it is listed.
type listedWorkspace struct {
	Ref        string     `json:"ref"`
	Name       string     `json:"name,omitempty"`
	Owner      string     `json:"owner,omitempty"`
	Status     string     `json:"status"`
	Image      string     `json:"image,omitempty"`
	WorkingDir string     `json:"working_dir,omitempty"`
	Created    *time.Time `json:"created,omitempty"`
}

func listed(i backends.Info) listedWorkspace {
	return listedWorkspace{Ref: i.Ref.String(), Name: i.Name, Owner: i.Owner, Status: i.Status, Image: i.Image, WorkingDir: i.WorkingDir, Created: known(i.Created)}
}

func printJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func printWorkspaces(out io.Writer, found []listedWorkspace) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(out, "no workspaces")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	rows := []string{"REF\tSTATUS\tIMAGE\tOWNER\tDIRECTORY\tCREATED"}
	for _, w := range found {
		created := "-"
		if w.Created != nil {
			created = w.Created.Local().Format(time.DateTime)
		}
		rows = append(rows, strings.Join([]string{w.Ref, w.Status, printable(cmp.Or(w.Image, "-")), printable(cmp.Or(w.Owner, "-")), printable(cmp.Or(w.WorkingDir, "-")), created}, "\t"))
	}
	if _, err := fmt.Fprintln(table, strings.Join(rows, "\n")); err != nil {
		return err
	}
	return table.Flush()
}
