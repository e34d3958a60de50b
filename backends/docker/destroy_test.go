package docker_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

func TestDestroyWorksInEveryState(t *testing.T) { onBoth(t, testDestroyWorksInEveryState) }

func testDestroyWorksInEveryState(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	for _, c := range []struct {
		name string
		to   func(ctx context.Context, id string) error
	}{
		{"running", func(context.Context, string) error { return nil }},
		{"paused", func(ctx context.Context, id string) error { return b.Engine().ContainerPause(ctx, id) }},
		{"stopped", func(ctx context.Context, id string) error {
			return b.Engine().ContainerStop(ctx, id, container.StopOptions{})
		}},
		{"gone", func(ctx context.Context, id string) error {
			return b.Engine().ContainerRemove(ctx, id, container.RemoveOptions{Force: true})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := create(t, b, backends.Spec{})
			if err := c.to(t.Context(), ws.Ref().ID); err != nil {
				t.Fatal(err)
			}
			if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
				t.Errorf("Destroy: %v", err)
			}
			if _, err := b.Engine().ContainerInspect(t.Context(), ws.Ref().ID); !docker.IsGone(err) {
				t.Errorf("the container is still there (%v)", err)
			}
		})
	}
	t.Run("by several at once", func(t *testing.T) {
		ws := create(t, b, backends.Spec{})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
					t.Errorf("Destroy: %v", err)
				}
			})
		}
		wg.Wait()
	})
}

func TestDestroyTakesAnonymousVolumesAndLeavesNamedOnes(t *testing.T) {
	onBoth(t, testDestroyTakesAnonymousVolumesAndLeavesNamedOnes)
}

func testDestroyTakesAnonymousVolumesAndLeavesNamedOnes(t *testing.T, engine *engines.Engine) {
	named := engine.UniqueName(t, "named-")
	options, err := docker.Flags{Mounts: []string{"/anonymous", named + ":/named"}}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	b := newBackend(t, engine, docker.Config{Options: options})
	t.Cleanup(func() {
		if err := b.Engine().VolumeRemove(context.Background(), named, true); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { destroyAll(t, engine, b.Scope()) })
	ws := create(t, b, backends.Spec{})
	run(t, ws, "echo 1 >/anonymous/f; echo 2 >/named/f")
	volumes := map[string]string{}
	for _, m := range inspect(t, b, ws.Ref().ID).Mounts {
		volumes[m.Destination] = m.Name
	}
	if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Engine().VolumeInspect(t.Context(), volumes["/anonymous"]); !docker.IsGone(err) {
		t.Errorf("the anonymous volume is still there (%v)", err)
	}
	for _, name := range []string{named, volumes[docker.GuestDir]} {
		if _, err := b.Engine().VolumeInspect(t.Context(), name); err != nil {
			t.Errorf("the volume %s: %v", name, err)
		}
	}
	if again := create(t, b, backends.Spec{}); run(t, again, "cat /named/f") != "2" {
		t.Error("the named volume does not hold what was written to it")
	}
	if !strings.HasPrefix(volumes[docker.GuestDir], docker.VolumePrefix) {
		t.Errorf("the agent is in %q", volumes[docker.GuestDir])
	}
}
