package server

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// foreign makes a container that no server has made, and returns its id. With
// these labels it looks as if.
func foreign(t *testing.T, e *engines.Engine, labels map[string]string, run bool) (name, id string) {
	t.Helper()
	name = e.UniqueName(t, "mcpws-")
	c := e.Client(t)
	made, err := c.ContainerCreate(t.Context(), &container.Config{Image: e.Busybox, Cmd: []string{"sleep", "1000"}, Labels: labels}, &container.HostConfig{NetworkMode: "none"}, nil, nil, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.ContainerRemove(context.Background(), made.ID, container.RemoveOptions{Force: true}); err != nil {
			t.Error(err)
		}
	})
	if run {
		if err := c.ContainerStart(t.Context(), made.ID, container.StartOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return name, made.ID
}

// TestContainersThatAreNotTheCallersDoNotExist, whoever made them, and nothing
// is done to them.
func TestContainersThatAreNotTheCallersDoNotExist(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, e *engines.Engine) {
		s := onEngine(t, e)
		p := start(t, s.options)
		bob := p.as(s.bob)
		bob.must(t, "ls", nil) // which opens the engine, and is not what is tested
		ours := map[string]string{docker.LabelWorkspace: "true", docker.LabelWorkingDir: "/workspace"}
		ofAlice := map[string]string{docker.LabelWorkspace: "true", docker.LabelOwner: s.alice.name, docker.LabelWorkingDir: "/workspace"}
		for what, c := range map[string]struct {
			labels map[string]string
			run    bool
		}{
			"another program's, running":            {nil, true},
			"another program's, stopped":            {nil, false},
			"this program's without owner, running": {ours, true},
			"this program's without owner, stopped": {ours, false},
			"alice's, running":                      {ofAlice, true},
			"alice's, stopped":                      {ofAlice, false},
		} {
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				name, id := foreign(t, e, c.labels, c.run)
				ref := e.Provider + ":" + name
				before := untouched(t, e, ref)
				for guess, ref := range map[string]string{
					"its name":           ref,
					"its id":             e.Provider + ":" + id,
					"its short id":       e.Provider + ":" + id[:12],
					"its id, mcpws-":     e.Provider + ":mcpws-" + id,
					"with a slash":       e.Provider + ":/" + name,
					"without provider":   name,
					"of state":           "state:" + name,
					"in upper case":      e.Provider + ":" + strings.ToUpper(name),
					"a space after it":   e.Provider + ":" + name + " ",
					"a path behind it":   e.Provider + ":" + name + "/../x",
					"without prefix":     e.Provider + ":" + strings.TrimPrefix(name, "mcpws-"),
					"escaped":            e.Provider + ":%6dcpws-" + strings.TrimPrefix(name, "mcpws-"),
					"provider uppercase": strings.ToUpper(e.Provider) + ":" + name,
				} {
					for way, with := range ways {
						nothing := ghost(ref)
						if guess == "in upper case" {
							nothing = e.Provider + ":" + strings.ToUpper(ghost(name))
						}
						got := with(bob, ref).send(t, "tools/call", toolParams("execute", args{"command": "kill -9 -1; id"}))
						same(t, shape(got, ref, strings.TrimSpace(ref)), shape(with(bob, nothing).send(t, "tools/call", toolParams("execute", args{"command": "kill -9 -1; id"})), nothing, strings.TrimSpace(nothing)))
						if a, err := answerOf(got); err == nil && !a.failed {
							t.Errorf("%s by %s is not refused: %v", guess, way, a)
						}
					}
				}
				for _, a := range attemptsByRef() {
					nothing := ghost(ref)
					same(t, shape(a.try(t, bob, ref), ref), shape(a.try(t, bob, nothing), nothing))
				}
				if after := untouched(t, e, ref); after != before {
					t.Errorf("it was %s, and is %s", before, after)
				}
			})
		}
	})
}

// TestAnothersStoppedWorkspaceIsNotStarted by attempts at it, nor is a running
// one entered or stopped.
func TestAnothersStoppedWorkspaceIsNotStarted(t *testing.T) {
	t.Parallel()
	e := engines.Docker(t)
	s := onEngine(t, e)
	p := start(t, s.options)
	alice, bob := p.as(s.alice), p.as(s.bob)
	up := alice.write(t, "diary.txt", "diary of alice\n").ref
	down := alice.withHeader("Mcp-Workspace-Name", "down").write(t, "diary.txt", "diary of alice\n").ref
	if err := e.Client(t).ContainerStop(t.Context(), strings.TrimPrefix(down, "docker:"), container.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{up, down} {
		before := untouched(t, e, ref)
		refuseAll(t, bob, ref)
		if after := untouched(t, e, ref); after != before {
			t.Errorf("it was %s, and is %s", before, after)
		}
	}
	// The first call may find that its connection has ended.
	eventually(t, "alice has it started again", func() bool {
		return strings.Contains(alice.withHeader("Mcp-Workspace-Ref", down).call(t, "read_file", args{"path": "diary.txt"}).text, "diary of alice")
	})
}

// TestAttachingWhileAWorkspaceIsDestroyed tells others nothing at any moment,
// and its owner that it is gone.
func TestAttachingWhileAWorkspaceIsDestroyed(t *testing.T) {
	t.Parallel()
	e := engines.Docker(t)
	s := onEngine(t, e)
	s.flags = []string{"--destroy-on-exit"}
	p := start(t, s.options)
	session := p.as(s.alice).open(t)
	ref := session.write(t, "diary.txt", "diary of alice\n").ref
	look := func(c caller, ref string) (answer, error) {
		return c.withHeader("Mcp-Workspace-Ref", ref).try(t.Context(), "read_file", args{"path": "diary.txt"})
	}
	nothing := ghost(ref)
	never, err := look(p.as(s.bob), nothing)
	if err != nil {
		t.Fatal(err)
	}
	want := shape(never.reply, nothing)

	over := make(chan struct{})
	var all sync.WaitGroup
	began := make(chan struct{}, 4)
	for range 2 {
		all.Go(func() { // others
			for first := true; until(t.Context(), over); first = false {
				got, err := look(p.as(s.bob), ref)
				if err != nil {
					t.Errorf("no answer: %v", err)
					return
				}
				if is := shape(got.reply, ref); is != want {
					t.Errorf("while it is destroyed it is answered with\n%s\nnot with\n%s", is, want)
					return
				}
				if first {
					began <- struct{}{}
				}
			}
		})
		all.Go(func() { // the owner
			for first := true; until(t.Context(), over); first = false {
				got, err := look(p.as(s.alice), ref)
				if err != nil || got.failed && got.code != "unavailable" || !got.failed && !strings.Contains(got.text, "diary of alice") {
					t.Errorf("its owner is answered with %v, %v", got, err)
					return
				}
				if first {
					began <- struct{}{}
				}
			}
		})
	}
	for range cap(began) {
		select {
		case <-began:
		case <-time.After(callWithin):
			t.Fatal("the attempts do not begin")
		}
	}
	session.close(t)
	eventually(t, "the container is gone", func() bool { return len(ofOwner(t, e, s.alice.name)) == 0 })
	close(over)
	all.Wait()
	got, err := look(p.as(s.alice), ref)
	if err != nil || got.code != "unavailable" {
		t.Errorf("its owner is answered with %v, %v", got, err)
	}
	if len(ofOwner(t, e, s.alice.name)) != 0 {
		t.Error("there is a container again")
	}
}

// onEngines runs a test on both engines.
func onEngines(t *testing.T, test func(*testing.T, *engines.Engine)) {
	t.Helper()
	for name, engine := range map[string]func(testing.TB) *engines.Engine{"docker": engines.Docker, "podman": engines.Podman} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, engine(t))
		})
	}
}
