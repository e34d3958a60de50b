package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker/pull"
)

// Create makes a container, or attaches to the one of spec.Name, pulling or
// building the image when it is missing.
//
// Given up half way, a container without a name, or a temporary one, is removed in
// the background, and another is left for the next Create to finish. A container of that
// name that this program did not make, or made for another owner, is
// CodePermission.
func (b *Backend) Create(ctx context.Context, spec backends.Spec) (backends.Workspace, error) {
	if err := b.open(); err != nil {
		return nil, err
	}
	if spec.Name != "" {
		if err := backends.ValidName(spec.Name); err != nil {
			return nil, err
		}
	}
	progress := newProgress(spec.Progress)
	defer progress.end()
	deadline := time.Now().Add(heavyLimit)
	for {
		id := namePrefix + spec.Name
		if spec.Name == "" {
			id = newID()
		} else {
			ws, err := b.adopt(ctx, id, spec)
			if !errors.Is(err, errGone) {
				return ws, err
			}
		}
		ws, err := b.make(ctx, id, spec, progress.tell)
		if err == nil && spec.Made != nil {
			spec.Made()
		}
		if !nameTaken(err) && !errors.Is(err, errGone) {
			return ws, err
		}
		if time.Now().After(deadline) {
			return nil, backends.Errorf(backends.CodeUnavailable, "create", "",
				"%s says that there is a container %s already and that there is none, for %v now; see %s ps --all", b.cfg.Differences.Engine, id, heavyLimit, b.cfg.Differences.Command)
		}
		// Engines reserve a name some time before there is a container.
		if err := pause(ctx, pollInterval); err != nil {
			return nil, b.failed(ctx, "create", "create "+id, err)
		}
	}
}

// adopt attaches to the container of a name. It answers errGone when there is
// none.
func (b *Backend) adopt(ctx context.Context, id string, spec backends.Spec) (backends.Workspace, error) {
	info, err := b.inspect(ctx, "create", id)
	if err != nil {
		return nil, err
	}
	if !ours(info, id) {
		return nil, backends.Errorf(backends.CodePermission, "create", "",
			"there is a container %s already that is not a workspace of this program; use another --name", id)
	}
	if info.Config.Labels[LabelOwner] != spec.Owner {
		return nil, backends.Errorf(backends.CodePermission, "create", "", "there is a workspace %s already that is not yours; use another --name", b.ref(id))
	}
	mend := fmt.Sprintf("leave the flag out, use another --name, or remove it first, with its files: mcp-workspace workspaces destroy %s", b.ref(id))
	if err := b.checkAsked(ctx, "create", mend, info); err != nil {
		return nil, err
	}
	b.checkImage(info)
	ws, err := b.attach(ctx, "create", info)
	return ws, keepsMounts(err, fmt.Sprintf("another --name, or remove it first, with its files: mcp-workspace workspaces destroy %s", b.ref(id)))
}

// make makes a container and connects to it. It answers an error that nameTaken
// knows, or errGone, when somebody else was there first.
func (b *Backend) make(ctx context.Context, id string, spec backends.Spec, progress func(string)) (backends.Workspace, error) {
	if err := b.checkSources(); err != nil {
		return nil, err
	}
	image, err := b.image(ctx, progress)
	if err != nil {
		return nil, err
	}
	agent, err := b.agent(ctx, image, progress)
	if err != nil {
		return nil, err
	}
	p := plan{id: id, image: image, guest: short(agent), spec: spec}
	made, err := b.createContainer(ctx, p)
	if imageMissing(err) && ctx.Err() == nil && (b.cfg.Runtime == nil || !b.cfg.Runtime.IsBuilt()) { // nobody has published one that is built
		if p.image, err = b.fetchImage(ctx, image, progress); err != nil {
			return nil, err
		}
		made, err = b.createContainer(ctx, p)
	}
	if nameTaken(err) && ctx.Err() == nil {
		return nil, err
	}
	if err != nil {
		return nil, b.failed(ctx, "create", fmt.Sprintf("create a container from %q", p.image), err)
	}
	ws, err := b.bringUp(ctx, made)
	if err != nil {
		return nil, b.abandon(ctx, made, spec, err)
	}
	return ws, nil
}

// createContainer asks the engine for p's container. Engines finish what they
// have begun when a client goes away, so the request is not cancelled: who gives
// up leaves it to be finished in the background, where a container that does not
// stay is removed again.
func (b *Backend) createContainer(ctx context.Context, p plan) (id string, err error) {
	config, host, err := b.describe(ctx, p)
	if err != nil {
		return "", err
	}
	type result struct {
		id  string
		err error
	}
	done := make(chan result, 1)
	go func() {
		made, err := b.createAs(context.WithoutCancel(ctx), config, host, p.id)
		for _, warning := range made.Warnings {
			b.log.Warn("the engine warns about a new container", "container", p.id, "warning", warning)
		}
		done <- result{made.ID, err}
	}()
	select {
	case r := <-done:
		return r.id, r.err
	case <-ctx.Done():
		b.cleanUp(func(ctx context.Context) {
			if r := <-done; r.err == nil && !stays(p.spec) {
				b.discard(ctx, r.id, true)
			}
		})
		return "", context.Cause(ctx)
	}
}

// createAs asks the engine for a container, again where Podman fails because
// another request has just made a volume that it was about to make.
func (b *Backend) createAs(ctx context.Context, config *container.Config, host *container.HostConfig, name string) (container.CreateResponse, error) {
	for try := 0; ; try++ {
		made, err := within(ctx, heavyLimit, func(ctx context.Context) (container.CreateResponse, error) {
			return b.engine.ContainerCreate(ctx, config, host, nil, nil, name)
		})
		if err == nil || try > 2 || !strings.Contains(err.Error(), "volume already exists") {
			return made, err
		}
	}
}

// bringUp starts a container that has just been created and connects to it.
// Somebody who asked for the same name may be doing so as well.
func (b *Backend) bringUp(ctx context.Context, id string) (backends.Workspace, error) {
	info, err := b.inspect(ctx, "create", id)
	if err != nil {
		return nil, err
	}
	return b.attach(ctx, "create", info)
}

// abandon leaves nothing of a creation that failed, so that the next one may have
// other flags, or, of one with a name that was given up, what the next one finds.
// A container that somebody else has found by its name and works in is left.
func (b *Backend) abandon(ctx context.Context, id string, spec backends.Spec, cause error) error {
	givenUp := ctx.Err() != nil
	switch {
	case !stays(spec) && givenUp:
		b.cleanUp(func(ctx context.Context) { b.discard(ctx, id, true) })
	case !givenUp:
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupLimit)
		defer cancel()
		b.discard(ctx, id, !stays(spec) || b.unused(ctx, id))
	}
	return cause
}

// unused tells whether it is known that nobody works in a container.
func (b *Backend) unused(ctx context.Context, id string) bool {
	info, err := b.inspect(ctx, "create", id)
	if err != nil {
		return false
	}
	inUse, err := b.inUse(ctx, info)
	return err == nil && !inUse
}

// stays tells whether the next Create, or somebody else's, may find what this one
// leaves half made.
func stays(spec backends.Spec) bool { return spec.Name != "" && !spec.Temporary }

// discard removes a container that nobody has used.
func (b *Backend) discard(ctx context.Context, id string, force bool) {
	err := b.engine.ContainerRemove(ctx, id, container.RemoveOptions{RemoveVolumes: true, Force: force})
	if err != nil && !isGone(err) && force {
		b.log.Warn("a container that was given up half way could not be removed; workspaces prune does it", "container", id, "error", err)
	}
}

// image is what new containers are made of; a runtime's is built when it is
// missing.
func (b *Backend) image(ctx context.Context, progress func(string)) (string, error) {
	if b.cfg.Runtime != nil {
		return b.cfg.Runtime.Ensure(ctx, b, progress)
	}
	if b.cfg.Image == "" {
		return "", backends.Errorf(backends.CodeInvalidArgument, "create", "", "no image is configured to make a workspace from; name one with --image or --runtime")
	}
	return b.cfg.Image, nil
}

// fetchImage answers with the name under which the engine has the image, pulled
// if it must be.
func (b *Backend) fetchImage(ctx context.Context, image string, progress func(string)) (string, error) {
	if local := b.cfg.Differences.LocalImages; local != "" && !namesRegistry(image) {
		has, err := b.HasImage(ctx, local+image)
		if err != nil {
			return "", err
		}
		if has {
			return local + image, nil
		}
	}
	progress("pulling the image " + image)
	if err := pull.Image(ctx, b.engine, image, "", progress); err != nil {
		return "", b.failed(ctx, "create", "pull "+image, err)
	}
	return image, nil
}

// namesRegistry tells whether the name of an image begins with a registry.
func namesRegistry(image string) bool {
	first, _, more := strings.Cut(image, "/")
	return more && (first == "localhost" || strings.ContainsAny(first, ".:"))
}

// progress passes on what a creation says until it is over.
type progress struct {
	mu    sync.Mutex
	over  bool
	heard func(string)
}

func newProgress(heard func(string)) *progress { return &progress{heard: heard} }

func (p *progress) tell(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.heard != nil && !p.over {
		p.heard(message)
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
