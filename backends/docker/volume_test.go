package docker_test

import (
	"context"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// withOwnAgent is a backend with an agent that no other test has, whose volume is
// removed when the test ends.
func withOwnAgent(t *testing.T, engine *engines.Engine, image string) (b *docker.Backend, digest string) {
	t.Helper()
	b = newBackend(t, engine, docker.Config{GuestPath: ownAgent(t), Image: image})
	digest, err := b.GuestDigest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		destroyAll(t, engine, b.Scope())
		if err := b.Engine().VolumeRemove(context.Background(), docker.VolumePrefix+digest, true); err != nil {
			t.Error(err)
		}
	})
	return b, digest
}

// helpers are the containers that fill the volume of an agent.
func helpers(t *testing.T, b *docker.Backend, digest string) int {
	t.Helper()
	list, err := b.Engine().ContainerList(t.Context(), container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("name", docker.HelperPrefix+digest))})
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestVolumeIsFilledOnceByManyAtOnce(t *testing.T) { onBoth(t, testVolumeIsFilledOnceByManyAtOnce) }

func testVolumeIsFilledOnceByManyAtOnce(t *testing.T, engine *engines.Engine) {
	b, digest := withOwnAgent(t, engine, engine.Busybox)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			ws, err := b.Create(t.Context(), backends.Spec{})
			if err != nil {
				t.Errorf("Create: %v", err)
				return
			}
			if _, err := ws.Stat(t.Context(), "."); err != nil {
				t.Errorf("Stat: %v", err)
			}
			if err := ws.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := helpers(t, b, digest); n != 0 {
		t.Errorf("%d containers that fill the volume are left", n)
	}
}

func TestHelperOfSomebodyElseIsWaitedFor(t *testing.T) {
	onBoth(t, testHelperOfSomebodyElseIsWaitedFor)
}

func testHelperOfSomebodyElseIsWaitedFor(t *testing.T, engine *engines.Engine) {
	b, digest := withOwnAgent(t, engine, engine.Busybox)
	name := docker.HelperPrefix + digest
	made, err := b.Engine().ContainerCreate(t.Context(), &container.Config{Image: engine.Busybox, Cmd: []string{"/bin/sh"}, Labels: map[string]string{docker.LabelHelper: "true"}},
		&container.HostConfig{NetworkMode: "none"}, nil, nil, name)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		ws, err := b.Create(t.Context(), backends.Spec{})
		if err == nil {
			err = ws.Close()
		}
		done <- err
	}()
	// Its container is there before it can be waiting.
	for list, err := b.List(t.Context()); len(list) == 0; list, err = b.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-done:
		t.Fatalf("Create did not wait: %v", err)
	default:
	}
	if err := b.Engine().ContainerRemove(t.Context(), made.ID, container.RemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("Create: %v", err)
	}
}

func TestContainerInTheHelpersPlaceIsLeftAlone(t *testing.T) {
	onBoth(t, testContainerInTheHelpersPlaceIsLeftAlone)
}

func testContainerInTheHelpersPlaceIsLeftAlone(t *testing.T, engine *engines.Engine) {
	b, digest := withOwnAgent(t, engine, engine.Busybox)
	createForeign(t, b, docker.HelperPrefix+digest, engine.Busybox)
	_, err := b.Create(t.Context(), backends.Spec{})
	wantCode(t, "Create", err, backends.CodeUnavailable, docker.HelperPrefix+digest)
	if n := helpers(t, b, digest); n != 1 {
		t.Errorf("there are %d containers of that name, want the foreign one", n)
	}
	if list, err := b.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("left %+v, %v", list, err)
	}
}

func TestUnusedVolumesArePruned(t *testing.T) { onBoth(t, testUnusedVolumesArePruned) }

func testUnusedVolumesArePruned(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{GuestPath: ownAgent(t)})
	digest, err := b.GuestDigest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ws := create(t, b, backends.Spec{})
	there := func() bool {
		_, err := b.Engine().VolumeInspect(t.Context(), docker.VolumePrefix+digest)
		if err != nil && !docker.IsGone(err) {
			t.Fatal(err)
		}
		return err == nil
	}
	if _, err := b.Prune(t.Context(), docker.Prune{}); err != nil || !there() {
		t.Errorf("Prune took a volume that is in use (%v)", err)
	}
	if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Prune(t.Context(), docker.Prune{}); err != nil || there() {
		t.Errorf("Prune left a volume that nobody uses (%v)", err)
	}
}
