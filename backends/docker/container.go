package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/internal/version"
)

// plan is a container that is to be made.
type plan struct {
	id    string // its name
	image string
	guest string // the agent's digest, shortened
	spec  backends.Spec
}

// describe says to the engine what p is.
func (b *Backend) describe(ctx context.Context, p plan) (*container.Config, *container.HostConfig, error) {
	o := b.cfg.Options
	dir := b.cfg.WorkingDir
	if dir == "" {
		info, err := within(ctx, quickLimit, func(ctx context.Context) (string, error) {
			image, err := b.engine.ImageInspect(ctx, p.image)
			if err != nil || image.Config == nil {
				return "", err
			}
			return image.Config.WorkingDir, nil
		})
		if err != nil {
			return nil, nil, err
		}
		dir = workingDir(info)
	}
	user, userns, err := b.user(ctx)
	if err != nil {
		return nil, nil, err
	}
	labels := ownLabels()
	labels[LabelWorkspace] = "true"
	labels[LabelWorkingDir] = dir
	labels[LabelGuest] = p.guest
	labels[LabelVersion] = version.String()
	labels[LabelOwner] = p.spec.Owner
	labels[LabelScope] = b.cfg.Scope
	labels[LabelName] = p.spec.Name
	config := &container.Config{
		Image:      p.image,
		Labels:     labels,
		User:       user,
		Entrypoint: []string{guestProgram},
		Cmd:        []string{"init"}, // also keeps the image's own from being passed on
		StopSignal: "SIGTERM",        // an image for a server may have another, which the agent does not end on
	}
	stop := stopSeconds
	config.StopTimeout = &stop
	if !b.cfg.Differences.HealthchecksStay {
		config.Healthcheck = &container.HealthConfig{Test: []string{"NONE"}}
	}
	noInit := false // an engine may be configured to put its own process 1 before ours
	pids := o.PidsLimit
	if pids == nil {
		limit := int64(DefaultPids)
		pids = &limit
	}
	host := &container.HostConfig{
		NetworkMode:    container.NetworkMode(b.networkMode()),
		LogConfig:      container.LogConfig{Type: "none"}, // nothing writes there
		SecurityOpt:    []string{"no-new-privileges"},
		Init:           &noInit,
		ReadonlyRootfs: o.ReadOnly,
		CapDrop:        o.CapDrop,
		Binds:          o.Binds,
		Tmpfs:          o.Tmpfs,
		ExtraHosts:     o.AddHosts,
		Runtime:        o.OCIRuntime,
		UsernsMode:     userns,
		Mounts:         append([]mount.Mount{guestMount(p.guest, true)}, o.Mounts...),
		Resources: container.Resources{
			Memory:         o.Memory,
			NanoCPUs:       o.NanoCPUs,
			PidsLimit:      pids,
			DeviceRequests: o.GPUs,
		},
	}
	return config, host, nil
}

// stopSeconds is how long the agent gets to end when the engine stops the
// container. It needs milliseconds.
const stopSeconds = 10

func (b *Backend) networkMode() string {
	switch network := b.cfg.Options.Network; {
	case network != "" && network != "bridge":
		return network
	case b.cfg.Differences.DefaultNetwork != "":
		return b.cfg.Differences.DefaultNetwork
	default:
		return "bridge"
	}
}

// workingDir is the directory that an image or a container gives for one.
func workingDir(configured string) string {
	if configured == "" {
		return "/"
	}
	return configured
}

// errGone means that there is no container of that name.
var errGone = errors.New("no such container")

// inspect describes the container called id. It answers errGone when there is
// none.
func (b *Backend) inspect(ctx context.Context, op, id string) (container.InspectResponse, error) {
	info, err := within(ctx, quickLimit, func(ctx context.Context) (container.InspectResponse, error) {
		return b.engine.ContainerInspect(ctx, id)
	})
	switch {
	case err != nil && ctx.Err() == nil && isGone(err):
		return info, errGone
	case err != nil:
		return info, b.failed(ctx, op, "describe "+id, err)
	case info.ContainerJSONBase == nil || info.State == nil || info.Config == nil || info.HostConfig == nil:
		return info, backends.Errorf(backends.CodeUnavailable, op, "", "%s gave no full description of %s", b.cfg.Differences.Engine, id)
	}
	return info, nil
}

// ownLabels are all labels that this program reads, empty. A container has the
// labels of its image unless it is given others, and an image may have ours: that
// of someone else, who means no good, or one committed from a workspace.
func ownLabels() map[string]string {
	labels := map[string]string{}
	for _, label := range []string{LabelWorkspace, LabelOwner, LabelName, LabelWorkingDir, LabelGuest, LabelVersion, LabelScope, LabelHelper} {
		labels[label] = ""
	}
	return labels
}

// ours tells whether the container is a workspace of this program, called id. A
// ref is a name: the engine would take an id, or the start of one, as well.
func ours(info container.InspectResponse, id string) bool {
	return isWorkspace(info.Config.Labels, info.Mounts) && strings.TrimPrefix(info.Name, "/") == id
}

// isWorkspace tells whether a container of this description is a workspace. The
// label alone may come from its image; the agent's volume, as workspaces have it,
// cannot.
func isWorkspace(labels map[string]string, mounts []container.MountPoint) bool {
	return labels[LabelWorkspace] == "true" && slices.ContainsFunc(mounts, func(m container.MountPoint) bool {
		return m.Destination == guestDir && strings.HasPrefix(m.Name, volumePrefix) && !m.RW
	})
}

// find is inspect for a ref: it answers only with a workspace of this program.
func (b *Backend) find(ctx context.Context, op string, ref backends.Ref) (container.InspectResponse, error) {
	if err := b.open(); err != nil {
		return container.InspectResponse{}, err
	}
	if err := b.checkRef(op, ref); err != nil {
		return container.InspectResponse{}, err
	}
	info, err := b.inspect(ctx, op, ref.ID)
	if err != nil {
		return info, err
	}
	if !ours(info, ref.ID) {
		return container.InspectResponse{}, notOurs(op, ref)
	}
	return info, nil
}

func notOurs(op string, ref backends.Ref) error {
	return backends.Errorf(backends.CodePermission, op, "", "%s is not a workspace of this program", ref)
}

func gone(op string, ref backends.Ref) error {
	return &backends.Error{Code: backends.CodeUnavailable, Op: op, Err: backends.ErrGone,
		Message: fmt.Sprintf("there is no workspace %s: its container is gone: it has been removed, or never was", ref)}
}
