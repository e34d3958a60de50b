package runtimes_test

import (
	"context"
	"io"
	"sync/atomic"
	"testing"

	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/backends/podman"
	"github.com/mcp-workspace/mcp-workspace/runtimes"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// onEachEngine runs a test on a real Docker Engine and on a real Podman.
func onEachEngine(t *testing.T, test func(t *testing.T, e *engines.Engine, b *engineBuilder)) {
	t.Helper()
	for _, engine := range []struct {
		name  string
		start func(testing.TB) *engines.Engine
		open  func(context.Context, docker.Config) (*docker.Backend, error)
	}{{"docker", engines.Docker, docker.New}, {"podman", engines.Podman, podman.New}} {
		t.Run(engine.name, func(t *testing.T) {
			e := engine.start(t)
			c := e.Client(t)
			b, err := engine.open(t.Context(), docker.Config{Client: c})
			if err != nil {
				t.Fatal(err)
			}
			test(t, e, &engineBuilder{Client: c, engine: b, Builder: b, count: &counts{}})
		})
	}
}

// engineBuilder is the builder that the program uses, and counts what it is
// asked for.
type engineBuilder struct {
	*client.Client
	runtimes.Builder
	engine *docker.Backend
	count  *counts
}

// counts are the calls of a builder and of those made from it.
type counts struct{ builds, pulls atomic.Int64 }

func (b *engineBuilder) WithBuildOptions(o runtimes.BuildOptions) runtimes.Builder {
	with := *b
	with.Builder = b.engine.WithBuildOptions(o)
	return &with
}

func (b *engineBuilder) Pull(ctx context.Context, ref string, progress func(string)) error {
	b.count.pulls.Add(1)
	return b.Builder.Pull(ctx, ref, progress)
}

func (b *engineBuilder) Build(ctx context.Context, tag string, tar io.Reader, labels map[string]string, progress func(string)) error {
	b.count.builds.Add(1)
	return b.Builder.Build(ctx, tag, tar, labels, progress)
}
