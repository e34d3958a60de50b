package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest/program"
)

// Where the agent is in a container.
const (
	guestDir     = "/.mcp-workspace"
	guestName    = "mcp-workspace-guest"
	guestProgram = guestDir + "/" + guestName
	guestMarker  = "complete" // written after the agent
)

// Names on the engine: the volume with the agent, and the container that fills
// it, each followed by the agent's digest.
const (
	volumePrefix = namePrefix + "guest-"
	helperPrefix = namePrefix + "fill-"
)

// staleHelper is the age from which a helper is taken to be left over. Filling
// takes milliseconds, over a slow connection seconds. A test changes it.
var staleHelper = time.Minute

// pollInterval is how often something is looked at that engines have no event
// for in common.
const pollInterval = 50 * time.Millisecond

// guestMount mounts the volume with the agent. NoCopy keeps the engine from
// filling an empty one with what an image has there.
func guestMount(digest string, readOnly bool) mount.Mount {
	return mount.Mount{
		Type: mount.TypeVolume, Source: volumePrefix + digest, Target: guestDir, ReadOnly: readOnly,
		VolumeOptions: &mount.VolumeOptions{NoCopy: true, Labels: map[string]string{LabelGuest: digest}},
	}
}

// agent loads the agent for the engine's architecture: it is static and makes
// system calls only, so the kernel decides, whatever the image is made for. The
// name of an image that the engine is expected to have may save it a question.
func (b *Backend) agent(ctx context.Context, imageName string, progress func(string)) (program.Program, error) {
	b.mu.Lock()
	arch, loaded := b.arch, b.program
	b.mu.Unlock()
	if loaded != nil {
		return *loaded, nil
	}
	if arch == "" {
		var err error
		if arch, err = b.architecture(ctx, imageName); err != nil {
			return program.Program{}, err
		}
	}
	p, err := program.Load(ctx, program.Options{Path: b.cfg.GuestPath, Arch: arch, Progress: progress})
	if err != nil {
		return program.Program{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arch, b.program = arch, &p
	return p, nil
}

// architecture is that of the engine's machine, as Go names it.
func (b *Backend) architecture(ctx context.Context, imageName string) (string, error) {
	if b.cfg.Differences.SlowVersion && imageName != "" && strings.HasPrefix(b.engine.DaemonHost(), "unix://") {
		// At a socket of this machine an image of its architecture says enough. (A
		// socket may also be another machine's, forwarded.)
		have, err := within(ctx, quickLimit, func(ctx context.Context) (image.InspectResponse, error) { return b.engine.ImageInspect(ctx, imageName) })
		if err == nil && have.Os == "linux" && have.Architecture == runtime.GOARCH {
			return have.Architecture, nil
		}
	}
	v, err := within(ctx, quickLimit, func(ctx context.Context) (types.Version, error) { return b.engine.ServerVersion(ctx) })
	if err != nil {
		return "", b.failed(ctx, "open", "say its version", err)
	}
	if v.Os != "linux" {
		return "", backends.Errorf(backends.CodeUnsupported, "open", "",
			"%s runs %s containers; switch it to Linux containers", b.cfg.Differences.Engine, v.Os)
	}
	return v.Arch, nil
}

// short is the part of a digest that names are made of.
func short(p program.Program) string { return p.Digest[:12] }

// maxCopies is how many times the agent is copied for one container. Another
// program may prune the volume right after the first time.
const maxCopies = 3

// removeHelper has an engine remove a helper. The volumes that its image declares
// go with it; the agent's has a name, and stays.
var removeHelper = container.RemoveOptions{Force: true, RemoveVolumes: true}

// fill sees to it that the volume which the container id has mounted holds the
// agent. It tells whether it did not before.
func (b *Backend) fill(ctx context.Context, id, image string, agent program.Program) (filled bool, err error) {
	for copies := 0; ; {
		complete, err := b.guestComplete(ctx, id)
		if err != nil || complete {
			return filled, err
		}
		if copies >= maxCopies {
			return filled, backends.Errorf(backends.CodeInvalidArgument, "open", "", "the guest agent cannot be brought into a container of the image %s: "+
				"it was copied to %s %d times and is not there; see whether the image declares a volume at / or at a place above that, and use another --image",
				image, guestDir, copies)
		}
		filled = true
		helper, err := b.createHelper(ctx, image, short(agent))
		switch {
		case nameTaken(err):
			err = b.awaitHelper(ctx, helperPrefix+short(agent))
		case err != nil:
			return filled, b.failed(ctx, "open", "prepare the volume with the guest agent", err)
		default:
			copies++
			err = b.copyAgent(ctx, helper, agent)
		}
		if err != nil {
			return filled, err
		}
	}
}

// guestComplete tells whether the agent is in the volume that the container has.
func (b *Backend) guestComplete(ctx context.Context, id string) (bool, error) {
	_, err := within(ctx, quickLimit, func(ctx context.Context) (container.PathStat, error) {
		return b.engine.ContainerStatPath(ctx, id, guestDir+"/"+guestMarker)
	})
	switch {
	case err == nil:
		return true, nil
	case cerrdefs.IsNotFound(err) && ctx.Err() == nil:
		// The container or the file: the answer has no body to tell.
		if _, err := b.inspect(ctx, "open", id); err != nil {
			return false, err
		}
		return false, nil
	default:
		return false, b.failed(ctx, "open", "look for the guest agent", err)
	}
}

// createHelper makes the container that the volume is filled through. It is never
// started, and its name is the lock.
func (b *Backend) createHelper(ctx context.Context, image, digest string) (id string, err error) {
	labels := ownLabels()
	labels[LabelHelper] = "true"
	made, err := b.createAs(ctx,
		&container.Config{Image: image, Entrypoint: []string{guestProgram}, Cmd: []string{"version"}, Labels: labels},
		&container.HostConfig{NetworkMode: "none", LogConfig: container.LogConfig{Type: "none"}, Mounts: []mount.Mount{guestMount(digest, false)}},
		helperPrefix+digest)
	return made.ID, err
}

// copyAgent puts the agent into the helper's volume and removes the helper.
func (b *Backend) copyAgent(ctx context.Context, helper string, agent program.Program) error {
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupLimit)
		defer cancel()
		if err := b.engine.ContainerRemove(ctx, helper, removeHelper); err != nil && !isGone(err) {
			b.log.Warn("the container that the guest agent was copied through could not be removed", "container", helper, "error", err)
		}
	}()
	// Somebody else may have been here between the last look and the lock, and
	// the agent may be running from there by now.
	if complete, err := b.guestComplete(ctx, helper); err != nil || complete {
		return notGone(err)
	}
	archive, err := agentArchive(agent)
	if err != nil {
		return err
	}
	err = doWithin(ctx, staleHelper, func(ctx context.Context) error {
		return b.engine.CopyToContainer(ctx, helper, guestDir, archive, container.CopyToContainerOptions{})
	})
	archive = nil
	debug.FreeOSMemory() // some 20 MB that are not needed again
	if isGone(err) && ctx.Err() == nil {
		return nil
	}
	return b.failed(ctx, "open", "take the guest agent", err)
}

// notGone passes over the helper being gone: it was taken for left over by
// somebody else, who fills the volume now.
func notGone(err error) error {
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// agentArchive is a tar of the agent and, after it, the marker.
func agentArchive(agent program.Program) (*bytes.Buffer, error) {
	executable, err := agent.Bytes()
	if err != nil {
		return nil, err
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, file := range []struct {
		name string
		mode int64
		data []byte
	}{{guestName, 0o555, executable}, {guestMarker, 0o444, []byte(agent.Digest + "\n")}} {
		header := &tar.Header{Name: file.name, Mode: file.mode, Size: int64(len(file.data)), Typeflag: tar.TypeReg, ModTime: time.Now()}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(file.data); err != nil {
			return nil, err
		}
	}
	return &archive, w.Close()
}

// awaitHelper waits until the helper that somebody else made is gone, and removes
// it when it is left over: when it is old, or, since clocks are set back, has been
// waited for so long.
func (b *Backend) awaitHelper(ctx context.Context, name string) error {
	var seen string // the id of the one that is waited for
	var since time.Time
	for {
		info, err := b.inspect(ctx, "open", name)
		switch {
		case errors.Is(err, errGone):
			return nil
		case err != nil:
			return err
		case info.Config.Labels[LabelHelper] != "true":
			return backends.Errorf(backends.CodeUnavailable, "open", "",
				"a container %s is in the way that this program did not make; rename or remove it", name)
		}
		if info.ID != seen {
			seen, since = info.ID, time.Now()
		}
		created, err := time.Parse(time.RFC3339Nano, info.Created)
		if err != nil || time.Since(since) > staleHelper || b.age(ctx, created) > staleHelper {
			// By its id: by now another one may have the name.
			err := doWithin(ctx, heavyLimit, func(ctx context.Context) error {
				return b.engine.ContainerRemove(ctx, info.ID, removeHelper)
			})
			if err != nil && !isGone(err) && !cerrdefs.IsConflict(err) {
				return b.failed(ctx, "open", "remove the container "+name, err)
			}
		}
		if err := pause(ctx, pollInterval); err != nil {
			return b.failed(ctx, "open", "fill the volume with the guest agent", err)
		}
	}
}

// age is how long ago the engine did something, by its own clock where it says.
func (b *Backend) age(ctx context.Context, since time.Time) time.Duration {
	now := time.Now()
	info, err := within(ctx, quickLimit, b.engine.Info)
	if err == nil {
		if there, err := time.Parse(time.RFC3339Nano, info.SystemTime); err == nil {
			now = there
		}
	}
	return now.Sub(since)
}

// pause waits, or ends with ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// isGone tells whether a request failed because there is no such container.
// Podman says it with the status of an internal error when the container goes
// away while it looks.
func isGone(err error) bool {
	return cerrdefs.IsNotFound(err) || err != nil && strings.Contains(strings.ToLower(err.Error()), "no such container")
}
