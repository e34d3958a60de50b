package engines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"
)

// Made says which containers, volumes and networks of a shared engine a test
// has made. One of the two must be set; with both, either counts.
type Made struct {
	// Label is "key=value".
	Label string
	// NamePrefix is what the names begin with.
	NamePrefix string
}

// Thing is a container, volume or network of an engine.
type Thing struct {
	Kind string // "container", "volume" or "network"
	ID   string // a volume has its name here
	Name string
}

func (t Thing) String() string { return fmt.Sprintf("%s %s", t.Kind, t.Name) }

// LeavesNothing fails the test when, after it and the cleanups registered later
// than this call, something that it made is still there; what is left is
// removed. Call it before anything is made.
func (e *Engine) LeavesNothing(t testing.TB, made Made) {
	t.Helper()
	if made == (Made{}) {
		t.Fatal("engines.Made{} would mean what other tests have made")
	}
	c := e.Client(t)
	t.Cleanup(func() {
		// The test's own context has ended here.
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		left, err := Find(ctx, c, made)
		if err != nil {
			t.Errorf("looking for what the test left in %s: %v", e.Provider, err)
		}
		for _, thing := range left {
			t.Errorf("the test left %s in %s", thing, e.Provider)
			if err := remove(ctx, c, thing); err != nil {
				t.Errorf("removing %s: %v", thing, err)
			}
		}
	})
}

// Find returns what there is of a test in an engine: containers, running or
// not, first.
func Find(ctx context.Context, c *client.Client, made Made) ([]Thing, error) {
	containers, err := c.ContainerList(ctx, container.ListOptions{All: true})
	if err != nil {
		return nil, err
	}
	volumes, err := c.VolumeList(ctx, volume.ListOptions{})
	if err != nil {
		return nil, err
	}
	networks, err := c.NetworkList(ctx, network.ListOptions{Filters: filters.NewArgs()})
	if err != nil {
		return nil, err
	}
	var found []Thing
	for _, c := range containers {
		for _, name := range c.Names {
			if name = strings.TrimPrefix(name, "/"); made.is(name, c.Labels) {
				found = append(found, Thing{Kind: "container", ID: c.ID, Name: name})
				break
			}
		}
	}
	for _, v := range volumes.Volumes {
		if made.is(v.Name, v.Labels) {
			found = append(found, Thing{Kind: "volume", ID: v.Name, Name: v.Name})
		}
	}
	for _, n := range networks {
		if made.is(n.Name, n.Labels) {
			found = append(found, Thing{Kind: "network", ID: n.ID, Name: n.Name})
		}
	}
	return found, nil
}

func (m Made) is(name string, labels map[string]string) bool {
	if m.NamePrefix != "" && strings.HasPrefix(name, m.NamePrefix) {
		return true
	}
	key, value, _ := strings.Cut(m.Label, "=")
	got, ok := labels[key]
	return m.Label != "" && ok && got == value
}

func remove(ctx context.Context, c *client.Client, thing Thing) error {
	switch thing.Kind {
	case "container":
		return c.ContainerRemove(ctx, thing.ID, container.RemoveOptions{Force: true, RemoveVolumes: true})
	case "volume":
		return c.VolumeRemove(ctx, thing.ID, true)
	case "network":
		return c.NetworkRemove(ctx, thing.ID)
	}
	return errors.New("unknown kind " + thing.Kind)
}
