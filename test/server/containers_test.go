package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// uniquely is a principal's name that no other test has: what it makes in an
// engine is told by it.
func uniquely(name string) string {
	random := make([]byte, 6)
	_, _ = rand.Read(random) // documented never to fail
	return name + "-" + hex.EncodeToString(random)
}

// onContainers is the configuration of a server with containers, which start in
// a directory of the test's own: by that label they are removed at the end, and
// LeavesNothing finds what is not.
func onContainers(t *testing.T, e *engines.Engine) string {
	t.Helper()
	dir := "/" + uniquely("serve")
	label := docker.LabelWorkingDir + "=" + dir
	e.LeavesNothing(t, engines.Made{Label: label})
	t.Cleanup(func() { removeAll(t, e, label) })
	return fmt.Sprintf("backend: %s\nimage: %s\nnetwork: none\nworking-dir: %s\n", e.Provider, e.Busybox, dir)
}

func removeAll(t *testing.T, e *engines.Engine, label string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // the test's has ended
	defer cancel()
	found, err := e.Client(t).ContainerList(ctx, container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", label))})
	if err != nil {
		t.Error(err)
	}
	for _, c := range found {
		if err := e.Client(t).ContainerRemove(ctx, c.ID, container.RemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
			t.Errorf("removing %s: %v", c.Names, err)
		}
	}
}

// inspect describes the container of a ref.
func inspect(t *testing.T, e *engines.Engine, ref string) container.InspectResponse {
	t.Helper()
	_, id, _ := strings.Cut(ref, ":")
	info, err := e.Client(t).ContainerInspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func running(t *testing.T, e *engines.Engine, ref string) bool {
	t.Helper()
	return inspect(t, e, ref).State.Running
}

// untouched is what starting, stopping or entering a container changes.
func untouched(t *testing.T, e *engines.Engine, ref string) string {
	t.Helper()
	info := inspect(t, e, ref)
	return fmt.Sprintf("%s %v started %s ended %s, %d processes", info.State.Status, info.State.Running, info.State.StartedAt, info.State.FinishedAt, len(info.ExecIDs))
}

// ofOwner are the containers of a principal.
func ofOwner(t *testing.T, e *engines.Engine, owner string) []container.Summary {
	t.Helper()
	found, err := e.Client(t).ContainerList(t.Context(), container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("label", docker.LabelOwner+"="+owner))})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
