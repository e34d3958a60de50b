package docker

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Destroy removes a workspace's container, whatever its state, with its files
// and its anonymous volumes. Named volumes and what was mounted stay.
func (b *Backend) Destroy(ctx context.Context, ref backends.Ref) error {
	info, err := b.find(ctx, "destroy", ref)
	if errors.Is(err, errGone) {
		return nil
	}
	if err != nil {
		return err
	}
	return b.remove(ctx, "destroy", ref, info.ID)
}

// remove removes a container by its id, so that another one that has taken its
// name meanwhile stays. While somebody else is at it, it waits.
func (b *Backend) remove(ctx context.Context, op string, ref backends.Ref, id string) error {
	deadline := time.Now().Add(settleLimit)
	for {
		err := doWithin(ctx, heavyLimit, func(ctx context.Context) error {
			return b.engine.ContainerRemove(ctx, id, container.RemoveOptions{RemoveVolumes: true, Force: true})
		})
		switch {
		case err == nil || ctx.Err() == nil && isGone(err):
			return nil
		case ctx.Err() != nil || !cerrdefs.IsConflict(err) || time.Now().After(deadline):
			return b.failed(ctx, op, "remove "+ref.ID, err)
		}
		if err := pause(ctx, pollInterval); err != nil {
			return b.failed(ctx, op, "remove "+ref.ID, err)
		}
	}
}

// List describes the workspaces of this program on the engine, of Config.Scope
// where that is set, by id, whoever owns them.
func (b *Backend) List(ctx context.Context) ([]backends.Info, error) {
	found, err := b.workspaces(ctx, "list")
	if err != nil {
		return nil, err
	}
	list := make([]backends.Info, 0, len(found))
	for _, c := range found {
		list = append(list, backends.Info{
			Ref:        b.ref(nameOf(c.Names)),
			Name:       c.Labels[LabelName],
			Owner:      c.Labels[LabelOwner],
			Status:     status(c.State),
			Image:      c.Image,
			WorkingDir: c.Labels[LabelWorkingDir],
			Created:    time.Unix(c.Created, 0),
		})
	}
	return list, nil
}

// ListOwned is List for the workspaces of one owner; "" owns those that were
// made without one.
func (b *Backend) ListOwned(ctx context.Context, owner string) ([]backends.Info, error) {
	all, err := b.List(ctx)
	return slices.DeleteFunc(all, func(i backends.Info) bool { return i.Owner != owner }), err
}

// workspaces are the containers of this program and Config.Scope, by name.
func (b *Backend) workspaces(ctx context.Context, op string) ([]container.Summary, error) {
	found, err := b.containers(ctx, op, filters.Arg("label", LabelWorkspace+"=true"))
	found = slices.DeleteFunc(found, func(c container.Summary) bool {
		return !isWorkspace(c.Labels, c.Mounts) || nameOf(c.Names) == "" || b.cfg.Scope != "" && c.Labels[LabelScope] != b.cfg.Scope
	})
	slices.SortFunc(found, func(x, y container.Summary) int { return cmp.Compare(nameOf(x.Names), nameOf(y.Names)) })
	return found, err
}

// containers are those of the engine, in any state, that the filters let pass.
func (b *Backend) containers(ctx context.Context, op string, having ...filters.KeyValuePair) ([]container.Summary, error) {
	if err := b.open(); err != nil {
		return nil, err
	}
	found, err := within(ctx, quickLimit, func(ctx context.Context) ([]container.Summary, error) {
		return b.engine.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(having...)})
	})
	return found, b.failed(ctx, op, "list its containers", err)
}

// nameOf is a container's own name; others are links to it.
func nameOf(names []string) string {
	for _, name := range names {
		if name = strings.TrimPrefix(name, "/"); !strings.Contains(name, "/") {
			return name
		}
	}
	return ""
}

// status is an engine's word for a state, with one word for all that can be
// started again.
func status(state string) string {
	switch state {
	case "exited", "stopped", "created", "configured", "initialized":
		return "stopped"
	default:
		return state
	}
}
