package docker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Stop implements [backends.Stopper]. A container that is paused is
// CodeUnavailable: whoever paused it wants it as it is.
func (b *Backend) Stop(ctx context.Context, ref backends.Ref) error {
	info, err := b.find(ctx, "stop", ref)
	deadline := time.Now().Add(settleLimit)
	for {
		switch {
		case errors.Is(err, errGone):
			return nil
		case err != nil:
			return err
		case status(info.State.Status) == "stopped", info.State.Status == "dead", info.State.Status == "removing":
			return nil
		case info.State.Status == "paused":
			return b.paused("stop", ref.ID)
		}
		// By its id: another one may have taken its name meanwhile.
		err = doWithin(ctx, heavyLimit, func(ctx context.Context) error {
			return b.engine.ContainerStop(ctx, info.ID, container.StopOptions{})
		})
		between := err != nil && (cerrdefs.IsConflict(err) || strings.Contains(err.Error(), "container state improper"))
		switch {
		case err == nil || ctx.Err() == nil && isGone(err):
			return nil
		case ctx.Err() != nil || !between || time.Now().After(deadline):
			return b.failed(ctx, "stop", "stop "+ref.ID, err)
		}
		if err := pause(ctx, pollInterval); err != nil {
			return b.failed(ctx, "stop", "stop "+ref.ID, err)
		}
		info, err = b.inspect(ctx, "stop", info.ID)
	}
}

// InUse implements [backends.Stopper]. Every connection is a process that was
// started by exec, whichever program holds it; a person's own exec counts as
// well.
func (b *Backend) InUse(ctx context.Context, ref backends.Ref) (bool, error) {
	info, err := b.find(ctx, "look", ref)
	if errors.Is(err, errGone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return b.inUse(ctx, info)
}

func (b *Backend) inUse(ctx context.Context, info container.InspectResponse) (bool, error) {
	if !info.State.Running {
		return false, nil
	}
	// Podman goes on listing processes that have ended, the newest last.
	for _, id := range slices.Backward(info.ExecIDs) {
		if closedExecs.has(id) {
			continue
		}
		exec, err := within(ctx, quickLimit, func(ctx context.Context) (container.ExecInspect, error) {
			return b.engine.ContainerExecInspect(ctx, id)
		})
		switch {
		case err != nil && ctx.Err() == nil && isGone(err):
		case err != nil:
			return false, b.failed(ctx, "look", "describe what runs in "+strings.TrimPrefix(info.Name, "/"), err)
		case exec.Running:
			return true, nil
		}
	}
	return false, nil
}

// closedExecs are those whose connection this process has closed, whichever of
// its Backends had it: the engine takes a moment to notice that they have ended.
var closedExecs recentExecs

// recentExecs remembers execs for a while. The zero value is empty.
type recentExecs struct {
	mu  sync.Mutex
	ids map[string]time.Time // since when
}

// Limits on what is remembered: many times what an engine takes to notice, which
// is past a minute only where it hangs.
const (
	execMemory    = 10 * time.Minute
	execsToForget = 1000
)

func (r *recentExecs) add(id string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids == nil {
		r.ids = map[string]time.Time{}
	}
	if len(r.ids) >= execsToForget {
		maps.DeleteFunc(r.ids, func(_ string, since time.Time) bool { return now.Sub(since) > execMemory })
	}
	r.ids[id] = now
}

func (r *recentExecs) has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.ids[id]
	return ok
}
