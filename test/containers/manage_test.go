package containers

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// another is the other engine.
var another = map[string]string{"docker": "podman", "podman": "docker"}

// listedRefs are the refs that workspaces list --json prints.
func listedRefs(t *testing.T, got outcome) []string {
	t.Helper()
	var list []description
	if err := json.Unmarshal([]byte(got.stdout), &list); err != nil || got.code != 0 || got.stderr != "" {
		t.Fatalf("list ended with %d (%v) and printed %s%s", got.code, err, got.stdout, got.stderr)
	}
	var refs []string
	for _, w := range list {
		refs = append(refs, w.Ref)
	}
	return refs
}

func TestWorkspacesAreListedInspectedAndDestroyed(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		name := named(t, e)
		ref := refOf(e, name)
		start(t, e, "--name="+name, "--network=none", "--memory=256m", "--cpus=1.5", "--user=1000:1000").must(t, "ls", nil)

		t.Run("the table", func(t *testing.T) {
			got := command(t, e, "workspaces", "list")
			lines := strings.Split(got.stdout, "\n")
			if got.code != 0 || got.stderr != "" || strings.Join(strings.Fields(lines[0]), " ") != "REF STATUS IMAGE OWNER DIRECTORY CREATED" {
				t.Fatalf("it ended with %d and printed %s%s", got.code, got.stdout, got.stderr)
			}
			row := regexp.MustCompile(`^` + ref + ` +running +` + regexp.QuoteMeta(e.Debian) + ` +- +/workspace +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`)
			if !slices.ContainsFunc(lines, row.MatchString) {
				t.Errorf("no row is like %s in\n%s", row, got.stdout)
			}
			if !slices.IsSorted(lines[1 : len(lines)-1]) {
				t.Errorf("it is not sorted:\n%s", got.stdout)
			}
		})
		t.Run("the JSON", func(t *testing.T) {
			if refs := listedRefs(t, command(t, e, "workspaces", "list", "--json")); !slices.Contains(refs, ref) {
				t.Errorf("%s is not in %q", ref, refs)
			}
			if refs := listedRefs(t, command(t, e, "workspaces", "list", "--json", "--backend="+e.Provider)); !slices.Contains(refs, ref) {
				t.Errorf("%s is not in %q", ref, refs)
			}
		})
		t.Run("settings for one backend are no hindrance", func(t *testing.T) {
			env := append(environment(t, e), "MCP_WORKSPACE_IMAGE="+e.Busybox, "MCP_WORKSPACE_MEMORY=1g")
			if refs := listedRefs(t, commandWith(t, env, "workspaces", "list", "--json")); !slices.Contains(refs, ref) {
				t.Errorf("%s is not in %q", ref, refs)
			}
		})
		t.Run("one of them", func(t *testing.T) {
			got := inspected(t, e, name)
			if got.Ref != ref || got.Name != name || got.Status != "running" || got.Image != e.Debian || got.User != "1000:1000" ||
				got.Memory != 256<<20 || got.CPUs != 1.5 || got.Pids != 2048 || got.WorkingDir != "/workspace" || len(got.ContainerID) != 64 {
				t.Errorf("inspect says %+v", got)
			}
			text := command(t, e, "workspaces", "inspect", ref)
			for _, want := range []string{"ref +" + ref, "status +running", "memory +268435456 bytes at most", "processors +1.5 at most", "user +1000:1000", "network +none", "label +io.mcp-workspace.workspace=true"} {
				if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(text.stdout) {
					t.Errorf("no line is like %q in\n%s%s", want, text.stdout, text.stderr)
				}
			}
		})
		t.Run("a stopped one", func(t *testing.T) {
			if err := e.Client(t).ContainerStop(t.Context(), "mcpws-"+name, container.StopOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := inspected(t, e, name); got.Status != "stopped" {
				t.Errorf("inspect says %+v", got)
			}
			if got := command(t, e, "workspaces", "list"); !regexp.MustCompile(ref + ` +stopped `).MatchString(got.stdout) {
				t.Errorf("list prints\n%s", got.stdout)
			}
		})
		t.Run("several are destroyed, also after one that cannot be", func(t *testing.T) {
			other := named(t, e)
			start(t, e, "--name="+other, "--network=none").must(t, "ls", nil)
			got := command(t, e, "workspaces", "destroy", ref, e.Provider+":a b", refOf(e, other))
			if got.code != 1 || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, "a b") {
				t.Errorf("it ended with %d and said %s", got.code, got.stderr)
			}
			refs := listedRefs(t, command(t, e, "workspaces", "list", "--json"))
			if slices.Contains(refs, ref) || slices.Contains(refs, refOf(e, other)) {
				t.Errorf("they are still there: %q", refs)
			}
			destroy(t, e, ref) // again
		})
		t.Run("mistakes", func(t *testing.T) {
			for _, c := range []struct {
				args []string
				want string
			}{
				{[]string{"inspect"}, "name the workspace by its ref"},
				{[]string{"inspect", ref, ref}, "name the workspace by its ref"},
				{[]string{"destroy"}, "name the workspace by its ref"},
				{[]string{"destroy", "--backend=" + another[e.Provider], ref}, "--backend is " + another[e.Provider] + ", but " + ref},
				{[]string{"destroy", "state:demo"}, "--store"},
				{[]string{"lst"}, `did you mean "list"`},
				{[]string{"prune", "--stopped-for=-1h"}, "--stopped-for"},
				{[]string{"prune", "--stopped-for=long"}, "stopped-for"},
			} {
				refusal(t, command(t, e, append([]string{"workspaces"}, c.args...)...), c.want)
			}
		})
	})
}

// TestEnginesThatAreAway: what answers is listed; when nothing does, that is an
// error that names each.
func TestEnginesThatAreAway(t *testing.T) {
	missing := "unix://" + filepath.Join(t.TempDir(), "none.sock")
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		name := named(t, e)
		start(t, e, "--name="+name, "--network=none").must(t, "ls", nil)
		other := map[string]string{"docker": "CONTAINER_HOST=", "podman": "DOCKER_HOST="}[e.Provider] + missing
		env := append(environment(t, e), other)
		if refs := listedRefs(t, commandWith(t, env, "workspaces", "list", "--json")); !slices.Contains(refs, refOf(e, name)) {
			t.Errorf("with the other engine away, there are %q", refs)
		}
		if got := commandWith(t, env, "workspaces", "prune", "--stopped-for=1000h"); got.code != 0 || got.stderr != "" {
			t.Errorf("prune ended with %d and said %s", got.code, got.stderr)
		}
		away := append(environment(t, e), "DOCKER_HOST="+missing, "CONTAINER_HOST="+missing)
		for _, verb := range []string{"list", "prune"} {
			refusal(t, commandWith(t, away, "workspaces", verb), "DOCKER_HOST", "CONTAINER_HOST", missing)
		}
		for _, verb := range []string{"inspect", "destroy"} {
			refusal(t, commandWith(t, away, "workspaces", verb, refOf(e, name)), missing)
		}
	})
}

// TestPruneRemovesWhatDoesNotRun, on engines of the test's own: on others it
// would remove what is not the test's.
func TestPruneRemovesWhatDoesNotRun(t *testing.T) {
	for name, own := range map[string]func(*testing.T) *engines.Engine{
		"docker": func(t *testing.T) *engines.Engine { return &engines.OwnDocker(t, engines.Own{}).Engine },
		"podman": ownPodman,
	} {
		t.Run(name, func(t *testing.T) {
			e := own(t)
			env := environment(t, e)
			at := "--backend=" + e.Provider
			if got := commandWith(t, env, "workspaces", "list", at); got.stdout != "no workspaces\n" {
				t.Errorf("an empty engine has %s%s", got.stdout, got.stderr)
			}
			names := map[string]string{}
			for _, state := range []string{"running", "stopped", "paused"} {
				names[state] = named(t, e)
				start(t, e, "--name="+names[state], "--network=none", "--image="+e.Busybox).must(t, "ls", nil)
			}
			c := e.Client(t)
			if err := c.ContainerStop(t.Context(), "mcpws-"+names["stopped"], container.StopOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := c.ContainerPause(t.Context(), "mcpws-"+names["paused"]); err != nil {
				t.Fatal(err)
			}
			others, _ := foreign(t, e, "mcpws-story-", nil)
			if err := c.ContainerKill(t.Context(), others, "KILL"); err != nil {
				t.Fatal(err)
			}
			if got := commandWith(t, env, "workspaces", "prune", at, "--stopped-for=1h"); got.code != 0 || got.stdout != "" || got.stderr != "" {
				t.Errorf("what has just stopped was removed: %+v", got)
			}
			got := commandWith(t, env, "workspaces", "prune", at)
			if got.code != 0 || got.stdout != "removed "+refOf(e, names["stopped"])+"\n" || got.stderr != "" {
				t.Errorf("prune printed %+v", got)
			}
			refs := listedRefs(t, commandWith(t, env, "workspaces", "list", "--json", at))
			want := []string{refOf(e, names["running"]), refOf(e, names["paused"])}
			if slices.Sort(want); !slices.Equal(refs, want) {
				t.Errorf("there are %q, not %q", refs, want)
			}
			if got := commandWith(t, env, "workspaces", "prune", at, "--json"); got.stdout != "[]\n" {
				t.Errorf("with nothing to remove, --json printed %s%s", got.stdout, got.stderr)
			}
			for _, ref := range refs {
				destroy(t, e, ref)
			}
			left := volumes(t, e)
			if len(left) != 1 {
				t.Errorf("volumes of the agent: %q", left)
			}
			if got := commandWith(t, env, "workspaces", "prune", at); got.code != 0 || got.stderr != "" {
				t.Errorf("prune ended with %d and said %s", got.code, got.stderr)
			}
			if left := volumes(t, e); len(left) != 0 {
				t.Errorf("volumes of the agent that nobody uses: %q", left)
			}
		})
	}
}

func volumes(t *testing.T, e *engines.Engine) []string {
	t.Helper()
	return strings.Fields(e.CLI(t, "volume", "ls", "--quiet", "--filter", "name=mcpws-guest-"))
}
