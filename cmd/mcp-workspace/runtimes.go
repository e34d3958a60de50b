package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/runtimes"
)

func runtimesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runtimes",
		Short: "List and build the environments that containers can have",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(runtimesListCommand(), runtimesBuildCommand())
	return cmd
}

func runtimesListCommand() *cobra.Command {
	s := &settings{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the runtimes: those of the catalogue and those of the configuration file",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.load(cmd.Flags()); err != nil {
				return err
			}
			set := s.containers.runtimes.Set()
			if !asJSON {
				return printRuntimes(cmd.OutOrStdout(), set)
			}
			found := make([]listedRuntime, len(set))
			for i, r := range set {
				found[i] = listRuntime(r)
			}
			return printJSON(cmd.OutOrStdout(), found)
		},
	}
	s.addFlags(cmd)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func runtimesBuildCommand() *cobra.Command {
	s := &settings{}
	var pull, asJSON bool
	cmd := &cobra.Command{
		Use:   "build NAME",
		Short: "Build or pull the image of a runtime before it is needed",
		Long: `Build the image of a runtime, or pull it, where the engine does not have it yet,
and print its name. What the engine says meanwhile goes to standard error. Without
--backend it is done by the first engine that answers.`,
		Example: `  mcp-workspace runtimes build python-web
  mcp-workspace runtimes build node-react --backend podman --pull`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("build takes the name of one runtime, for instance %s python-web; runtimes list shows them", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := s.load(cmd.Flags()); err != nil {
				return err
			}
			r, err := s.containers.runtimes.Set().Lookup(args[0])
			if err != nil {
				return err
			}
			image, err := s.buildRuntime(cmd, r, pull)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					Name  string `json:"name"`
					Image string `json:"image"`
				}{r.Name, image})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), image)
			return err
		},
	}
	s.addFlags(cmd)
	addJSONFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&pull, "pull", false, "pull the image, or the base, also when it is there, and build on that")
	return cmd
}

// buildRuntime makes the image with the backend that was chosen; where none
// was, with the first engine that can be reached.
func (s *settings) buildRuntime(cmd *cobra.Command, r *runtimes.Runtime, pull bool) (image string, err error) {
	names := containerBackends()
	if s.given("backend") {
		if !slices.Contains(names, s.backend) {
			return "", s.wrong("backend", "is %s, which has no images; the backends that have are %s", s.backend, strings.Join(names, ", "))
		}
		names = []string{s.backend}
	}
	ensure := r.Ensure
	if pull {
		ensure = r.Refresh
	}
	var away []error
	for _, name := range names {
		reached := false
		err = s.atBackend(cmd.Context(), name, func(ctx context.Context, b backends.Backend) error {
			reached = true
			builder, ok := b.(runtimes.Builder)
			if !ok {
				return fmt.Errorf("the backend %s cannot build images", name)
			}
			image, err = ensure(ctx, builder, func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) })
			return err
		})
		if reached || backends.CodeOf(err) != backends.CodeUnavailable {
			return image, err
		}
		away = append(away, err)
	}
	return "", errors.Join(away...)
}

// listedRuntime is a runtime as it is listed. The values of build arguments are
// left out: they may hold passwords.
type listedRuntime struct {
	Name         string             `json:"name"`
	Description  string             `json:"description,omitempty"`
	Image        string             `json:"image"` // of a runtime that is built: its tag
	Base         string             `json:"base,omitempty"`
	Packages     *runtimes.Packages `json:"packages,omitempty"`
	Setup        []string           `json:"setup,omitempty"`
	Env          map[string]string  `json:"env,omitempty"`
	WorkingDir   string             `json:"working_dir,omitempty"`
	BuildArgs    []string           `json:"build_args,omitempty"`
	BuildNetwork string             `json:"build_network,omitempty"`
}

func listRuntime(r *runtimes.Runtime) listedRuntime {
	l := listedRuntime{
		Name: r.Name, Description: r.Description, Image: r.Tag(), Base: r.Base, Setup: r.Setup, Env: r.Env,
		WorkingDir: r.Dir(), BuildArgs: slices.Sorted(maps.Keys(r.BuildArgs)), BuildNetwork: r.BuildNetwork,
	}
	if r.IsBuilt() {
		l.Packages = &r.Packages
	}
	return l
}

func printRuntimes(out io.Writer, set runtimes.Set) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tIMAGE\tDIRECTORY\tDESCRIPTION")
	for _, r := range set {
		image := r.Image
		if r.IsBuilt() {
			image = "built on " + r.Base
		}
		fmt.Fprintln(table, strings.Join([]string{r.Name, image, r.Dir(), cmp.Or(r.Description, "-")}, "\t"))
	}
	return table.Flush()
}
