package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// settleLimit is how long a container may take to get out of a state between two
// others.
const settleLimit = 30 * time.Second

// Attach opens a workspace, starting its container when it does not run. One
// that is paused is CodeUnavailable, with how to go on; one that was made without
// what Options ask for is CodeInvalidArgument.
func (b *Backend) Attach(ctx context.Context, ref backends.Ref) (backends.Workspace, error) {
	info, err := b.find(ctx, "attach", ref)
	if err == nil {
		if err := b.checkAsked(ctx, "attach", "leave the flag out, or make another workspace with it, without --ref", info); err != nil {
			return nil, err
		}
		ws, err2 := b.attach(ctx, "attach", info)
		if !errors.Is(err2, errGone) {
			return ws, keepsMounts(err2, "make another workspace, without --ref")
		}
		err = err2
	}
	if errors.Is(err, errGone) {
		return nil, gone("attach", ref)
	}
	return nil, err
}

// attach opens a container that is ours. It answers errGone when the container
// has been removed meanwhile.
func (b *Backend) attach(ctx context.Context, op string, info container.InspectResponse) (backends.Workspace, error) {
	for try := 0; ; try++ {
		var err error
		if info, err = b.running(ctx, op, info); err != nil {
			return nil, err
		}
		ws, err := b.connect(ctx, info)
		if err == nil || try > 0 || ctx.Err() != nil || backends.CodeOf(err) != backends.CodeUnavailable {
			return ws, err
		}
		// It may have been stopped between the two.
		again, inspectErr := b.inspect(ctx, op, info.ID)
		if inspectErr != nil {
			return nil, inspectErr
		}
		if again.State.Status == "running" && again.State.StartedAt == info.State.StartedAt {
			return nil, err
		}
		info = again
	}
}

// running sees to it that a container runs and answers with its description.
func (b *Backend) running(ctx context.Context, op string, info container.InspectResponse) (container.InspectResponse, error) {
	name := strings.TrimPrefix(info.Name, "/")
	deadline := time.Now().Add(settleLimit)
	for starts := 0; ; {
		var between bool
		switch state := info.State; state.Status {
		case "running":
			return info, nil
		case "paused":
			return info, b.paused(op, name)
		case "dead":
			return info, backends.Errorf(backends.CodeUnavailable, op, "",
				"the container %s is dead: %s could not remove it; remove it with %s rm -f %s", name, b.cfg.Differences.Engine, b.cfg.Differences.Command, name)
		case "created", "configured", "initialized", "exited", "stopped":
			if starts == 2 {
				return info, backends.Errorf(backends.CodeUnavailable, op, "",
					"the container %s stops as soon as it is started (exit code %d%s)", name, state.ExitCode, because(state.Error))
			}
			if err := b.prepare(ctx, op, info); err != nil {
				return info, err
			}
			err := b.start(ctx, op, info.ID)
			if between = errors.Is(err, errBetween); !between {
				if err != nil {
					return info, err
				}
				starts++
			}
		default: // restarting, removing, stopping
			between = true
		}
		if between {
			if time.Now().After(deadline) {
				return info, backends.Errorf(backends.CodeUnavailable, op, "", "the container %s has been %s for %v; see %s inspect %s",
					name, info.State.Status, settleLimit, b.cfg.Differences.Command, name)
			}
			if err := pause(ctx, pollInterval); err != nil {
				return info, b.failed(ctx, op, "start "+name, err)
			}
		}
		var err error
		if info, err = b.inspect(ctx, op, info.ID); err != nil {
			return info, err
		}
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func (b *Backend) paused(op, name string) error {
	return backends.Errorf(backends.CodeUnavailable, op, "", "the container %s is paused; let it go on with %s unpause %s",
		name, b.cfg.Differences.Command, name)
}

// prepare gets a container that has never run its agent, should whoever created
// it not have come that far.
func (b *Backend) prepare(ctx context.Context, op string, info container.InspectResponse) error {
	if ran := info.State.StartedAt; ran != "" && !strings.HasPrefix(ran, "0001-") {
		return nil
	}
	agent, err := b.agent(ctx, "", nil)
	if err != nil {
		return err
	}
	if made := info.Config.Labels[LabelGuest]; made != short(agent) {
		complete, err := b.guestComplete(ctx, info.ID)
		switch {
		case err != nil:
			return err
		case complete:
			return b.giveDir(ctx, info)
		}
		return backends.Errorf(backends.CodeUnavailable, op, "",
			"another version of this program began to make the container %s and did not finish; remove it with mcp-workspace workspaces destroy %s",
			strings.TrimPrefix(info.Name, "/"), b.ref(strings.TrimPrefix(info.Name, "/")))
	}
	if _, err = b.fill(ctx, info.ID, info.Config.Image, agent); err != nil {
		return err
	}
	return b.giveDir(ctx, info)
}

// errBetween means that a container could not be started because something else
// is being done to it.
var errBetween = errors.New("the container is changing")

// start starts a container; one that runs is no error. It answers errGone or
// errBetween when somebody else was faster.
func (b *Backend) start(ctx context.Context, op, id string) error {
	err := doWithin(ctx, heavyLimit, func(ctx context.Context) error {
		return b.engine.ContainerStart(ctx, id, container.StartOptions{})
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && isGone(err):
		// Some engines say the same of a network, or of a runtime.
		if _, inspectErr := b.inspect(ctx, op, id); inspectErr != nil {
			return inspectErr
		}
	case ctx.Err() == nil && (cerrdefs.IsConflict(err) || strings.Contains(err.Error(), "container state improper") || strings.Contains(err.Error(), "marked for removal")):
		return errBetween
	}
	return b.failed(ctx, op, "start the container", err)
}

// stateOf says in words why a container that does not answer does not, and what to
// do about one that has stopped, or "" when it runs.
func (b *Backend) stateOf(info container.InspectResponse, mend string) string {
	name := strings.TrimPrefix(info.Name, "/")
	switch state := info.State; {
	case state.Status == "paused":
		return b.paused("", name).Error()
	case state.Running && state.Status == "running":
		return ""
	case outOfMemory(state):
		return fmt.Sprintf("the container %s has been killed, perhaps for want of memory (exit code %d); %s", name, state.ExitCode, mend)
	case state.Status == "exited" || state.Status == "stopped":
		return fmt.Sprintf("the container %s has been stopped (exit code %d%s); %s", name, state.ExitCode, because(state.Error), mend)
	default:
		return fmt.Sprintf("the container %s is %s", name, state.Status)
	}
}

// outOfMemory tells whether a container may have been stopped for want of memory.
// Engines tell that some process was killed for it, which can have been a
// command's, long ago; one that did not end by SIGKILL was not stopped for that.
func outOfMemory(state *container.State) bool {
	return !state.Running && state.OOMKilled && state.ExitCode == 137
}
