package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/pkg/jsonmessage"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker/pull"
	"github.com/mcp-workspace/mcp-workspace/runtimes"
)

// HasImage tells whether the engine has the image.
func (b *Backend) HasImage(ctx context.Context, ref string) (bool, error) {
	_, err := within(ctx, quickLimit, func(ctx context.Context) (image.InspectResponse, error) { return b.engine.ImageInspect(ctx, ref) })
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() == nil && (cerrdefs.IsNotFound(err) || imageMissing(err)):
		return false, nil
	default:
		return false, b.failed(ctx, "image", "look for the image "+ref, err)
	}
}

// ImageUser implements [runtimes.Builder].
func (b *Backend) ImageUser(ctx context.Context, ref string) (string, error) {
	have, err := within(ctx, quickLimit, func(ctx context.Context) (image.InspectResponse, error) { return b.engine.ImageInspect(ctx, ref) })
	if err != nil || have.Config == nil {
		return "", b.failed(ctx, "image", "describe the image "+ref, err)
	}
	return have.Config.User, nil
}

// Pull fetches an image from its registry. Progress may be nil.
func (b *Backend) Pull(ctx context.Context, ref string, progress func(string)) error {
	if progress == nil {
		progress = func(string) {}
	}
	return b.failed(ctx, "image", "pull "+ref, pull.Image(ctx, b.engine, ref, "", progress))
}

// Build implements [runtimes.Builder]. A build that fails is CodeUnavailable with
// what the engine says of it.
func (b *Backend) Build(ctx context.Context, tag string, tar io.Reader, labels map[string]string, progress func(string)) error {
	return b.build(ctx, runtimes.BuildOptions{}, tag, tar, labels, progress)
}

// WithBuildOptions implements [runtimes.OptionBuilder].
func (b *Backend) WithBuildOptions(o runtimes.BuildOptions) runtimes.Builder {
	return &optionBuilder{b, o}
}

// optionBuilder is a Backend whose builds have options.
type optionBuilder struct {
	*Backend
	options runtimes.BuildOptions
}

// Build implements [runtimes.Builder].
func (b *optionBuilder) Build(ctx context.Context, tag string, tar io.Reader, labels map[string]string, progress func(string)) error {
	return b.build(ctx, b.options, tag, tar, labels, progress)
}

var _ runtimes.OptionBuilder = (*Backend)(nil)

// build has no limit of its own: what a build does takes as long as it takes.
func (b *Backend) build(ctx context.Context, o runtimes.BuildOptions, tag string, tar io.Reader, labels map[string]string, progress func(string)) error {
	before, unlisted := b.imageIDs(ctx)
	if unlisted != nil {
		b.log.Warn("the engine cannot list its images, so those of a build that fails will stay", "error", unlisted)
	}
	args := map[string]*string{}
	for name, value := range o.Args {
		args[name] = &value
	}
	// The classic builder: BuildKit needs a session with the client.
	response, err := b.engine.ImageBuild(ctx, tar, build.ImageBuildOptions{
		Tags: []string{tag}, Labels: labels, BuildArgs: args, NetworkMode: o.Network,
		Remove: true, ForceRemove: true, Version: build.BuilderV1,
	})
	if err != nil {
		return b.failed(ctx, "build", "build "+tag, err)
	}
	defer response.Body.Close()
	var made steps
	err = followBuild(response.Body, func(line string) {
		made.hear(line)
		if progress != nil {
			progress(line)
		}
	})
	if err != nil && unlisted == nil {
		b.removeSteps(ctx, made.ids, before)
	}
	return b.failed(ctx, "build", "build "+tag, err)
}

// maxBuildLine bounds a line of a build, in bytes; the rest of it makes others.
const maxBuildLine = 4096

// followBuild passes the lines of a build on and answers with its failure.
func followBuild(r io.Reader, progress func(string)) error {
	var line strings.Builder
	flush := func() {
		if line.Len() > 0 {
			progress(line.String())
		}
		line.Reset()
	}
	defer flush()
	for messages := json.NewDecoder(r); ; {
		var m jsonmessage.JSONMessage
		if err := messages.Decode(&m); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the progress of the build: %w", err)
		}
		if m.Error != nil {
			flush()
			return backends.Errorf(backends.CodeUnavailable, "build", "", "%.2000s", m.Error.Message)
		}
		for _, c := range m.Stream {
			if c != '\n' {
				line.WriteRune(c)
			}
			if c == '\n' || line.Len() >= maxBuildLine {
				flush()
			}
		}
		if m.Status != "" {
			flush()
			progress(m.Status)
		}
	}
}
