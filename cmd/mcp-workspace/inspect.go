package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
)

// inspectedWorkspace is what is known of one workspace.
type inspectedWorkspace struct {
	listedWorkspace
	*inspectedContainer
}

type inspectedContainer struct {
	ContainerID string             `json:"container_id"`
	ImageID     string             `json:"image_id"`
	State       string             `json:"state"`
	ExitCode    int                `json:"exit_code,omitempty"`
	OutOfMemory bool               `json:"out_of_memory,omitempty"`
	Started     *time.Time         `json:"started,omitempty"`
	Finished    *time.Time         `json:"finished,omitempty"`
	User        string             `json:"user,omitempty"`
	Runtime     string             `json:"oci_runtime,omitempty"`
	Network     string             `json:"network"`
	Networks    []inspectedNetwork `json:"networks,omitempty"`
	Mounts      []inspectedMount   `json:"mounts,omitempty"`
	Memory      int64              `json:"memory,omitempty"` // bytes
	CPUs        float64            `json:"cpus,omitempty"`
	Pids        int64              `json:"pids_limit,omitempty"`
	ReadOnly    bool               `json:"read_only,omitempty"`
	CapDrop     []string           `json:"cap_drop,omitempty"`
	GuestDigest string             `json:"guest_digest,omitempty"`
	Version     string             `json:"made_by_version,omitempty"`
	Labels      map[string]string  `json:"labels,omitempty"`
}

type inspectedNetwork struct {
	Name    string `json:"name"`
	Address string `json:"address,omitempty"`
}

type inspectedMount struct {
	Type     string `json:"type"`
	Source   string `json:"source,omitempty"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"read_only,omitempty"`
}

// inspect describes a workspace as well as its backend can.
func inspect(ctx context.Context, b backends.Backend, ref backends.Ref) (inspectedWorkspace, error) {
	if engine, ok := b.(*docker.Backend); ok {
		details, err := engine.Inspect(ctx, ref)
		return inspectedWorkspace{listed(details.Info), ofContainer(details)}, err
	}
	infos, err := b.List(ctx)
	if err != nil {
		return inspectedWorkspace{}, err
	}
	for _, i := range infos {
		if i.Ref == ref {
			return inspectedWorkspace{listedWorkspace: listed(i)}, nil
		}
	}
	return inspectedWorkspace{}, backends.Errorf(backends.CodeUnavailable, "inspect", "", "there is no workspace %s", ref)
}

func ofContainer(d docker.Details) *inspectedContainer {
	c := &inspectedContainer{
		ContainerID: d.ContainerID, ImageID: d.ImageID, State: d.State, ExitCode: d.ExitCode, OutOfMemory: d.OutOfMemory,
		Started: known(d.Started), Finished: known(d.Finished), User: d.User, Runtime: d.Runtime, Network: d.NetworkMode,
		Memory: d.Limits.Memory, CPUs: d.Limits.CPUs, Pids: d.Limits.Pids, ReadOnly: d.ReadOnly, CapDrop: d.CapDrop,
		GuestDigest: d.GuestDigest, Version: d.Version, Labels: d.Labels,
	}
	for _, n := range d.Networks {
		c.Networks = append(c.Networks, inspectedNetwork(n))
	}
	for _, m := range d.Mounts {
		c.Mounts = append(c.Mounts, inspectedMount(m))
	}
	return c
}

// printable is text without what a terminal would obey: labels and names of
// images are anybody's.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// known is t, or nil when it is no time.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// print prints a line for each thing that there is to say.
func (w inspectedWorkspace) print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(key, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			_, _ = fmt.Fprintf(table, "%s\t%s\n", key, printable(text)) // Flush has its failure
		}
	}
	moment := func(key string, t *time.Time) {
		if t != nil {
			line(key, "%s", t.Local().Format(time.DateTime))
		}
	}
	line("ref", "%s", w.Ref)
	line("name", "%s", w.Name)
	line("owner", "%s", w.Owner)
	line("status", "%s", w.Status)
	line("directory", "%s", w.WorkingDir)
	moment("created", w.Created)
	if c := w.inspectedContainer; c != nil {
		line("image", "%s", w.Image)
		line("image id", "%s", c.ImageID)
		line("container id", "%s", c.ContainerID)
		moment("started", c.Started)
		moment("finished", c.Finished)
		if c.Finished != nil {
			line("exit code", "%d", c.ExitCode)
		}
		if c.OutOfMemory {
			line("ended", "perhaps for want of memory")
		}
		line("user", "%s", c.User)
		line("network", "%s", c.Network)
		for _, n := range c.Networks {
			line("address", "%s", strings.TrimSpace(n.Address+" on "+n.Name))
		}
		for _, m := range c.Mounts {
			access := "read and write"
			if m.ReadOnly {
				access = "read only"
			}
			line("mount", "%s %s at %s (%s)", m.Type, m.Source, m.Target, access)
		}
		if c.Memory > 0 {
			line("memory", "%d bytes at most", c.Memory)
		}
		if c.CPUs > 0 {
			line("processors", "%g at most", c.CPUs)
		}
		if c.Pids > 0 {
			line("processes", "%d at most", c.Pids)
		}
		if c.ReadOnly {
			line("root", "read only")
		}
		line("dropped", "%s", strings.Join(c.CapDrop, ", "))
		line("runtime", "%s", c.Runtime)
		line("guest agent", "%s", c.GuestDigest)
		line("made by", "%s", c.Version)
		for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
			line("label", "%s=%s", key, c.Labels[key])
		}
	}
	return table.Flush()
}
