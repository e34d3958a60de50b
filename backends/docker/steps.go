package docker

import (
	"context"
	"regexp"
	"slices"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
)

// Limits on removing what a build has left, which whoever waits for its failure
// waits for, too.
const (
	stepsLimit = 20 * time.Second
	maxSteps   = 1000
)

// steps are the images that the steps of a build have made. The engine keeps them
// when the build fails, and nobody would ever use or find them.
type steps struct {
	ids    []string
	cached bool // the next one was there
}

// stepImage is how engines name the image of a step: " ---> ID", after a line that
// says "Using cache" when it was there, and Podman "--> ID" and "--> Using cache ID".
var stepImage = regexp.MustCompile(`^ ?-{2,3}> (Using cache ?)?([0-9a-f]{11,64})?$`)

// hear takes a line of the build's output, which may as well be a command's.
func (s *steps) hear(line string) {
	m := stepImage.FindStringSubmatch(line)
	if m == nil {
		return
	}
	cached := s.cached || m[1] != ""
	s.cached = cached && m[2] == ""
	if m[2] != "" && !cached && len(s.ids) < maxSteps {
		s.ids = append(s.ids, m[2])
	}
}

// listTries is how often images are listed: Podman fails when somebody removes one
// meanwhile.
const listTries = 5

// imageIDs are all images there are.
func (b *Backend) imageIDs(ctx context.Context) (map[string]bool, error) {
	for try := 1; ; try++ {
		images, err := within(ctx, quickLimit, func(ctx context.Context) ([]image.Summary, error) {
			return b.engine.ImageList(ctx, image.ListOptions{All: true})
		})
		if err != nil && try < listTries && pause(ctx, pollInterval) == nil {
			continue
		}
		ids := map[string]bool{}
		for _, i := range images {
			ids[i.ID] = true
		}
		return ids, err
	}
}

// removeSteps removes images that a build which failed, or was given up, has made:
// what has a name, was there before or is used by somebody stays.
func (b *Backend) removeSteps(ctx context.Context, ids []string, before map[string]bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepsLimit)
	defer cancel()
	for _, id := range slices.Backward(ids) { // each is made of the one before
		if err := b.removeStep(ctx, id, before); err != nil {
			b.log.Warn("an image of a build that failed could not be removed", "image", id, "error", err)
		}
	}
}

func (b *Backend) removeStep(ctx context.Context, id string, before map[string]bool) error {
	for {
		found, err := b.engine.ImageInspect(ctx, id)
		switch {
		case cerrdefs.IsNotFound(err) || imageMissing(err):
			return nil
		case err != nil:
			return err
		case len(found.RepoTags) > 0 || before[found.ID]:
			return nil
		}
		_, err = b.engine.ImageRemove(ctx, found.ID, image.RemoveOptions{})
		if cerrdefs.IsConflict(err) && b.cfg.Differences.BuildsGoOn {
			err = b.takeFromBuild(ctx, found.ID)
		}
		if !cerrdefs.IsConflict(err) {
			return err
		}
		// The container of the step that was given up may not be gone yet.
		if pause(ctx, pollInterval) != nil {
			return err
		}
	}
}

// takeFromBuild removes an image, and the containers of the build that hold it.
// Those are not listed: where one is, somebody else uses the image.
func (b *Backend) takeFromBuild(ctx context.Context, id string) error {
	users, err := b.engine.ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("ancestor", id))})
	if err != nil || len(users) > 0 {
		return err
	}
	_, err = b.engine.ImageRemove(ctx, id, image.RemoveOptions{Force: true})
	return err
}
