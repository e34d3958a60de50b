package docker_test

import (
	"context"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/volume"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// changed makes an image of engine.Busybox with what a Dockerfile may say.
func changed(t *testing.T, engine *engines.Engine, changes ...string) string {
	t.Helper()
	c := engine.Client(t)
	made, err := c.ContainerCreate(t.Context(), &container.Config{Image: engine.Busybox, Cmd: []string{"/bin/sh"}}, &container.HostConfig{NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	name := "localhost/mcpws-test/changed:" + unique()
	_, commitErr := c.ContainerCommit(t.Context(), made.ID, container.CommitOptions{Reference: name, Changes: changes, Config: &container.Config{}})
	if err := c.ContainerRemove(t.Context(), made.ID, container.RemoveOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if commitErr != nil {
		t.Fatal(commitErr)
	}
	t.Cleanup(func() {
		if _, err := c.ImageRemove(context.Background(), name, image.RemoveOptions{Force: true}); err != nil {
			t.Errorf("removing the image: %v", err)
		}
	})
	return name
}

// A container has the labels of its image: one that was committed from a
// workspace has all of ours.
func TestLabelsOfTheImageMeanNothing(t *testing.T) { onBoth(t, testLabelsOfTheImageMeanNothing) }

func testLabelsOfTheImageMeanNothing(t *testing.T, engine *engines.Engine) {
	scope := unique()
	b := newBackend(t, engine, docker.Config{GuestPath: ownAgent(t), Image: changed(t, engine,
		"LABEL "+docker.LabelWorkspace+"=true "+docker.LabelOwner+"=somebody "+docker.LabelName+"=other "+docker.LabelHelper+"=true "+docker.LabelScope+"="+scope)})
	ws := create(t, b, backends.Spec{})
	info, err := b.Engine().ContainerInspect(t.Context(), ws.Ref().ID)
	if err != nil {
		t.Fatal(err)
	}
	if labels := info.Config.Labels; labels[docker.LabelHelper] != "" || labels[docker.LabelOwner] != "" || labels[docker.LabelName] != "" || labels[docker.LabelScope] != b.Scope() {
		t.Errorf("the workspace has the labels %v", labels)
	}
	if d, err := b.Inspect(t.Context(), ws.Ref()); err != nil || d.Owner != "" || d.Labels[docker.LabelWorkspace] != "true" {
		t.Errorf("it is described as %+v, %v", d, err)
	} else if _, there := d.Labels[docker.LabelHelper]; there {
		t.Errorf("it is described with labels that it has not: %v", d.Labels)
	}
	name := unique()
	for range 2 {
		again, err := b.Create(t.Context(), backends.Spec{Name: name})
		if err != nil {
			t.Fatalf("a workspace with a name: %v", err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}

	foreign := newBackend(t, engine, docker.Config{Scope: scope, Image: b.Image()})
	id := engine.UniqueName(t, "foreign-")
	createForeign(t, foreign, id, b.Image())
	ref := backends.Ref{Provider: b.Provider(), ID: id}
	_, err = foreign.Attach(t.Context(), ref)
	wantCode(t, "Attach to another container of the image", err, backends.CodePermission)
	wantCode(t, "Destroy of another container of the image", foreign.Destroy(t.Context(), ref), backends.CodePermission)
	if list, err := foreign.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("List has another container of the image, or none of it: %+v, %v", list, err)
	}
	if removed, err := foreign.Prune(t.Context(), docker.Prune{}); err != nil || len(removed) != 0 {
		t.Errorf("Prune took another container of the image: %v, %v", removed, err)
	}
	if _, err := b.Engine().ContainerInspect(t.Context(), id); err != nil {
		t.Errorf("the other container of the image: %v", err)
	}
}

// An engine makes the volumes that an image declares for each container of it,
// and fills them with what the image has there.
func TestVolumesOfTheImageAreNotLeft(t *testing.T) {
	own := engines.OwnDocker(t, engines.Own{})
	engine := &own.Engine
	for place, fits := range map[string]bool{"/data": true, docker.GuestDir: true, "/workspace": true, "/": false} {
		t.Run(place, func(t *testing.T) {
			b := newBackend(t, engine, docker.Config{GuestPath: ownAgent(t), Image: changed(t, engine, "VOLUME "+place)})
			ws, err := b.Create(t.Context(), backends.Spec{})
			switch {
			case fits && err != nil:
				t.Fatal(err)
			case fits:
				if err := ws.Close(); err != nil {
					t.Error(err)
				}
				if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
					t.Error(err)
				}
			case err == nil:
				t.Error("there is a workspace with a volume over all of it")
			}
			volumes, err := b.Engine().VolumeList(t.Context(), volume.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range volumes.Volumes {
				if !strings.HasPrefix(v.Name, docker.VolumePrefix) {
					t.Errorf("the volume %s is left", v.Name)
				}
			}
			left, err := b.Engine().ContainerList(t.Context(), container.ListOptions{All: true})
			if err != nil || len(left) != 0 {
				t.Errorf("%d containers are left (%v)", len(left), err)
			}
		})
	}
}
