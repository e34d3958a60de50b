package containers

import (
	"context"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// foreign makes a container that is not this program's, with labels that may
// look as if it were.
func foreign(t *testing.T, e *engines.Engine, prefix string, labels map[string]string) (name, id string) {
	t.Helper()
	name = e.UniqueName(t, prefix)
	c := e.Client(t)
	made, err := c.ContainerCreate(t.Context(), &container.Config{Image: e.Busybox, Cmd: []string{"sleep", "1000"}, Labels: labels},
		&container.HostConfig{NetworkMode: "none"}, nil, nil, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.ContainerRemove(context.Background(), made.ID, container.RemoveOptions{Force: true}); err != nil {
			t.Errorf("somebody else's container: %v", err)
		}
	})
	if err := c.ContainerStart(t.Context(), made.ID, container.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	return name, made.ID
}

// refusal checks that the program ended with one line that holds the texts.
func refusal(t *testing.T, got outcome, texts ...string) {
	t.Helper()
	if got.code != 1 || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 {
		t.Errorf("it ended with %d\nstdout: %s\nstderr: %s", got.code, got.stdout, got.stderr)
	}
	for _, text := range texts {
		if !strings.Contains(got.stderr, text) {
			t.Errorf("no %q in: %s", text, got.stderr)
		}
	}
}

func TestContainersOfOthersAreRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		plain, _ := foreign(t, e, "foreign-", nil)
		likeOurs, _ := foreign(t, e, "mcpws-story-", map[string]string{docker.LabelWorkspace: "false", docker.LabelName: "x"})
		helper, _ := foreign(t, e, "mcpws-story-", map[string]string{docker.LabelHelper: "true"})
		// One of ours has one ref only, which is its name: the engine would take
		// its id, and the start of that, as well.
		name := named(t, e)
		own := start(t, e, "--name="+name, "--network=none")
		own.must(t, "write_file", args{"path": "a", "content": "mine"})
		id := made(t, e, docker.LabelName, name)[0].ID
		for what, ref := range map[string]string{
			"unlabelled": plain, "with another label": likeOurs, "a helper of ours": helper, "the id of one of ours": id, "the start of that id": id[:12],
		} {
			t.Run(what, func(t *testing.T) {
				ref := e.Provider + ":" + ref
				s := start(t, e, "--ref="+ref)
				s.refused(t, "permission_denied", "ls", nil, ref, "not a workspace of this program")
				s.refused(t, "permission_denied", "execute", args{"command": "true"})
				for _, verb := range []string{"inspect", "destroy"} {
					refusal(t, command(t, e, "workspaces", verb, ref), ref, "not a workspace of this program")
				}
				// Nor is it removed at the end of a connection.
				refused := launch{engine: e, flags: []string{"--ref=" + ref, "--destroy-on-exit"}}.start(t)
				refused.refused(t, "permission_denied", "ls", nil)
				refused.killed = true // it may complain, and does not have to
				refused.end(t)
			})
		}
		own.must(t, "read_file", args{"path": "a"})
		t.Run("a name that somebody else has taken", func(t *testing.T) {
			s := start(t, e, "--name="+strings.TrimPrefix(likeOurs, "mcpws-"))
			s.refused(t, "permission_denied", "ls", nil, likeOurs, "another --name")
		})
		for _, name := range []string{plain, likeOurs, helper} {
			if info, err := e.Client(t).ContainerInspect(t.Context(), name); err != nil || !info.State.Running {
				t.Errorf("%s is not as it was: %+v, %v", name, info.State, err)
			}
		}
	})
}

func TestRefsThatAreNoneAreRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		other := another[e.Provider]
		for _, c := range []struct{ ref, start, call, manage string }{
			// start: the start is refused with this; call: it starts, and calls are.
			{"", "--ref", "", "not a workspace ref"},
			{"demo", "--ref", "", "not a workspace ref"},
			{e.Provider + ":", "--ref", "", "not a workspace ref"},
			{":demo", "--ref", "", "not a workspace ref"},
			{other + ":mcpws-demo", "--backend " + other, "", ""},
			{"nothing:demo", "--ref", "", "backends are docker, local, podman, state"},
			{strings.ToUpper(e.Provider) + ":mcpws-demo", "--ref", "", "backends are"},
			{e.Provider + ":../containers/x", "", "no workspace ref", "no workspace ref"},
			{e.Provider + ":mcpws-demo/../x", "", "no workspace ref", "no workspace ref"},
			{e.Provider + ":mcpws-demo?force=1", "", "no workspace ref", "no workspace ref"},
			{e.Provider + ":mcpws-demo#x", "", "no workspace ref", "no workspace ref"},
			{e.Provider + ":mcpws demo", "", "no workspace ref", "no workspace ref"},
			{e.Provider + ":mcpws-démo", "", "no workspace ref", "no workspace ref"},
			{e.Provider + ":mcpws-demo\nx", "", "no workspace ref", "no workspace ref"},
			{e.Provider + ":%2e%2e", "", "no workspace ref", "no workspace ref"},
			{e.Provider + ":-rf", "", "no workspace ref", "no workspace ref"},
			{e.Provider + ":" + strings.Repeat("x", 300), "", "no workspace ref", "no workspace ref"},
		} {
			t.Run(c.ref, func(t *testing.T) {
				if c.start != "" {
					refusal(t, command(t, e, "--backend="+e.Provider, "--ref="+c.ref), c.start)
				}
				if c.call != "" {
					start(t, e, "--ref="+c.ref).refused(t, "invalid_argument", "ls", nil, c.call)
				}
				if c.manage != "" {
					for _, verb := range []string{"inspect", "destroy"} {
						refusal(t, command(t, e, "workspaces", verb, c.ref), c.manage)
					}
				}
			})
		}
	})
}
