package docker

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Prune says what [Backend.Prune] takes away.
type Prune struct {
	// StoppedFor is how long a workspace must have been stopped. 0 takes all
	// that do not run.
	StoppedFor time.Duration
	// Owner, when it is not nil, keeps other owners' workspaces.
	Owner *string
}

// Prune removes workspaces that have been stopped for long, with their files; and
// what is of no use to anybody: volumes with a guest agent that no container has,
// and containers that were to fill one and were left over. Running and paused
// workspaces stay. It answers with the workspaces that were removed; where some
// could not be, it goes on with the others and joins the errors.
func (b *Backend) Prune(ctx context.Context, what Prune) ([]backends.Ref, error) {
	found, err := b.workspaces(ctx, "prune")
	if err != nil {
		return nil, err
	}
	var removed []backends.Ref
	var errs []error
	for _, c := range found {
		id := nameOf(c.Names)
		if what.Owner != nil && c.Labels[LabelOwner] != *what.Owner {
			continue
		}
		if s := status(c.State); s != "stopped" && s != "dead" {
			continue
		}
		switch gone, err := b.pruneOne(ctx, b.ref(id), what.StoppedFor); {
		case err != nil:
			errs = append(errs, err)
		case gone:
			removed = append(removed, b.ref(id))
		}
	}
	errs = append(errs, b.pruneHelpers(ctx), b.pruneVolumes(ctx))
	return removed, errors.Join(errs...)
}

// pruneOne removes a workspace that still does not run and has not for long
// enough.
func (b *Backend) pruneOne(ctx context.Context, ref backends.Ref, stoppedFor time.Duration) (removed bool, err error) {
	info, err := b.find(ctx, "prune", ref)
	if errors.Is(err, errGone) {
		return false, nil
	}
	if err != nil || info.State.Running {
		return false, err
	}
	since := when(info.State.FinishedAt)
	if since.IsZero() {
		since = when(info.Created)
	}
	if b.age(ctx, since) < stoppedFor {
		return false, nil
	}
	err = doWithin(ctx, heavyLimit, func(ctx context.Context) error {
		// Without force: one that has been started again by now stays.
		return b.engine.ContainerRemove(ctx, info.ID, container.RemoveOptions{RemoveVolumes: true, Force: info.State.Dead})
	})
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() == nil && (isGone(err) || cerrdefs.IsConflict(err)):
		return false, nil
	default:
		return false, b.failed(ctx, "prune", "remove "+ref.ID, err)
	}
}

// pruneHelpers removes containers that were to fill a volume and were left over.
func (b *Backend) pruneHelpers(ctx context.Context) error {
	found, err := b.containers(ctx, "prune", filters.Arg("label", LabelHelper+"=true"))
	errs := []error{err}
	for _, c := range found {
		// An image may have the label too.
		if c.Labels[LabelHelper] != "true" || !strings.HasPrefix(nameOf(c.Names), helperPrefix) || b.age(ctx, time.Unix(c.Created, 0)) < staleHelper {
			continue
		}
		err := doWithin(ctx, heavyLimit, func(ctx context.Context) error {
			return b.engine.ContainerRemove(ctx, c.ID, removeHelper)
		})
		if err != nil && !isGone(err) && !cerrdefs.IsConflict(err) {
			errs = append(errs, b.failed(ctx, "prune", "remove "+nameOf(c.Names), err))
		}
	}
	return errors.Join(errs...)
}

// guestVolume are the names of our volumes.
var guestVolume = regexp.MustCompile(`^` + regexp.QuoteMeta(volumePrefix) + `[0-9a-f]{12}$`)

// pruneVolumes removes volumes with an agent that no container has. The engine
// refuses for one that has just been taken into use.
func (b *Backend) pruneVolumes(ctx context.Context) error {
	found, err := within(ctx, quickLimit, func(ctx context.Context) (volume.ListResponse, error) {
		return b.engine.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("name", volumePrefix), filters.Arg("dangling", "true"))})
	})
	if err != nil {
		return b.failed(ctx, "prune", "list its volumes", err)
	}
	var errs []error
	for _, v := range found.Volumes {
		if !guestVolume.MatchString(v.Name) {
			continue
		}
		err := doWithin(ctx, quickLimit, func(ctx context.Context) error { return b.engine.VolumeRemove(ctx, v.Name, false) })
		if err != nil && !isGone(err) && !cerrdefs.IsConflict(err) {
			errs = append(errs, b.failed(ctx, "prune", "remove the volume "+v.Name, err))
		}
	}
	return errors.Join(errs...)
}
