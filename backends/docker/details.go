package docker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Details describe one workspace for a person.
type Details struct {
	backends.Info
	ContainerID string
	ImageID     string // the image's digest on the engine
	State       string // the engine's own word: running, exited, paused, …
	ExitCode    int    // of one that has stopped
	OutOfMemory bool   // it may have been stopped for want of memory
	Started     time.Time
	Finished    time.Time // zero while it runs
	User        string    // "" is root
	Runtime     string    // OCI runtime
	NetworkMode string
	Networks    []Network
	Mounts      []Mount
	Limits      Limits
	ReadOnly    bool // root file system
	CapDrop     []string
	GuestDigest string // first 12 hex digits
	Version     string // of the program that made it
	Labels      map[string]string
}

// Network is a network that a workspace is on.
type Network struct{ Name, Address string }

// Mount is what is mounted in a workspace, the guest agent's volume left out.
type Mount struct {
	Type     string // bind, volume, tmpfs
	Source   string // directory of the engine's machine, or name of the volume
	Target   string
	ReadOnly bool
}

// Limits are what a workspace may use; 0 is no limit.
type Limits struct {
	Memory int64   // bytes
	CPUs   float64 // processors
	Pids   int64   // processes and threads
}

// Inspect describes one workspace. One that is gone is CodeUnavailable, a
// container that is not this program's CodePermission.
func (b *Backend) Inspect(ctx context.Context, ref backends.Ref) (Details, error) {
	info, err := b.find(ctx, "inspect", ref)
	if errors.Is(err, errGone) {
		return Details{}, gone("inspect", ref)
	}
	if err != nil {
		return Details{}, err
	}
	labels := info.Config.Labels
	d := Details{
		Info:        infoOf(ref, info),
		ContainerID: info.ID,
		ImageID:     info.Image,
		State:       info.State.Status,
		OutOfMemory: outOfMemory(info.State),
		Started:     when(info.State.StartedAt),
		User:        info.Config.User,
		Runtime:     info.HostConfig.Runtime,
		NetworkMode: string(info.HostConfig.NetworkMode),
		Mounts:      mountsOf(info),
		Limits:      limitsOf(info.HostConfig),
		ReadOnly:    info.HostConfig.ReadonlyRootfs,
		CapDrop:     info.HostConfig.CapDrop,
		GuestDigest: labels[LabelGuest],
		Version:     labels[LabelVersion],
		Labels:      maps.Clone(labels),
	}
	for label := range ownLabels() {
		if d.Labels[label] == "" {
			delete(d.Labels, label) // it only keeps the image's out
		}
	}
	if !info.State.Running {
		d.ExitCode, d.Finished = info.State.ExitCode, when(info.State.FinishedAt)
	}
	if info.NetworkSettings != nil {
		for _, name := range slices.Sorted(maps.Keys(info.NetworkSettings.Networks)) {
			if n := info.NetworkSettings.Networks[name]; n != nil {
				d.Networks = append(d.Networks, Network{name, n.IPAddress})
			}
		}
	}
	return d, nil
}

// Describe tells what List tells of one workspace. One that is gone is
// CodeUnavailable, a container that is not this program's CodePermission.
func (b *Backend) Describe(ctx context.Context, ref backends.Ref) (backends.Info, error) {
	info, err := b.find(ctx, "describe", ref)
	if errors.Is(err, errGone) {
		return backends.Info{}, gone("describe", ref)
	}
	if err != nil {
		return backends.Info{}, err
	}
	return infoOf(ref, info), nil
}

// infoOf is the container of ref as listings have it.
func infoOf(ref backends.Ref, info container.InspectResponse) backends.Info {
	labels := info.Config.Labels
	return backends.Info{
		Ref:        ref,
		Name:       labels[LabelName],
		Owner:      labels[LabelOwner],
		Status:     status(info.State.Status),
		Image:      info.Config.Image,
		WorkingDir: labels[LabelWorkingDir],
		Created:    when(info.Created),
	}
}

func mountsOf(info container.InspectResponse) []Mount {
	var mounts []Mount
	for _, m := range info.Mounts {
		if m.Destination == guestDir {
			continue
		}
		source := m.Source
		if m.Type == "volume" {
			source = m.Name
		}
		mounts = append(mounts, Mount{string(m.Type), source, m.Destination, !m.RW})
	}
	for dir, options := range info.HostConfig.Tmpfs {
		if !slices.ContainsFunc(mounts, func(m Mount) bool { return m.Target == dir }) {
			mounts = append(mounts, Mount{"tmpfs", "", dir, slices.Contains(strings.Split(options, ","), "ro")})
		}
	}
	slices.SortFunc(mounts, func(x, y Mount) int { return strings.Compare(x.Target, y.Target) })
	return mounts
}

func limitsOf(host *container.HostConfig) Limits {
	limits := Limits{Memory: host.Memory, CPUs: float64(host.NanoCPUs) / 1e9}
	if host.NanoCPUs == 0 && host.CPUQuota > 0 && host.CPUPeriod > 0 {
		limits.CPUs = float64(host.CPUQuota) / float64(host.CPUPeriod) // as Podman keeps it
	}
	if host.PidsLimit != nil && *host.PidsLimit > 0 {
		limits.Pids = *host.PidsLimit
	}
	return limits
}

// when reads a time of the engine's; the zero time for none.
func when(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() <= 1 {
		return time.Time{}
	}
	return t
}
