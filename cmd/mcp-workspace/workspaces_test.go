package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
)

// Workspaces in containers are tested where there are engines, in
// test/containers; these are documents, and what needs no workspace.

func TestWorkspacesOfAStore(t *testing.T) {
	t.Parallel()
	store := "--store=file:" + t.TempDir()
	for _, name := range []string{"b", "a"} {
		run(t, "call", "ls", store, "--name="+name)
	}
	at := []string{"--backend=state", store}
	table := strings.Split(run(t, append([]string{"workspaces", "list"}, at...)...), "\n")
	if len(table) != 4 || !strings.HasPrefix(table[1], "state:a ") || !strings.HasPrefix(table[2], "state:b ") {
		t.Errorf("list printed %q", table)
	}
	var listed []listedWorkspace
	if err := json.Unmarshal([]byte(run(t, append([]string{"workspaces", "list", "--json"}, at...)...)), &listed); err != nil || len(listed) != 2 || listed[0].Ref != "state:a" {
		t.Errorf("list --json printed %+v (%v)", listed, err)
	}
	if got := run(t, "workspaces", "inspect", "state:a", store); !strings.HasPrefix(got, "ref ") || !strings.Contains(got, "state:a") {
		t.Errorf("inspect printed %q", got)
	}
	run(t, "workspaces", "destroy", "state:a", "state:b", store)
	if got := run(t, append([]string{"workspaces", "list"}, at...)...); got != "no workspaces\n" {
		t.Errorf("list printed %q", got)
	}
	if got := run(t, append([]string{"workspaces", "list", "--json"}, at...)...); got != "[]\n" {
		t.Errorf("list --json printed %q", got)
	}
	got := program{args: []string{"workspaces", "inspect", "state:a", store}}.run(t)
	if got.code != 1 || !strings.Contains(got.stderr, "state:a") {
		t.Errorf("inspect of one that is gone answered %+v", got)
	}
}

func TestWorkspacesMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		env  []string
		want string
	}{
		{"no ref", []string{"inspect"}, nil, "name the workspace by its ref, for instance mcp-workspace workspaces inspect docker:mcpws-demo"},
		{"no refs", []string{"destroy"}, nil, "name the workspace by its ref"},
		{"no ref at all", []string{"inspect", "demo"}, nil, `"demo" is not a workspace ref`},
		{"an unknown backend", []string{"destroy", "x:demo"}, nil, "the backends are docker, local, podman, state"},
		{"another backend", []string{"destroy", "podman:demo", "--backend=docker"}, nil, "--backend is docker, but podman:demo is of the backend podman"},
		{"a store that keeps nothing", []string{"destroy", "state:demo"}, nil, `--store is "memory", which keeps no workspace between runs`},
		{"a directory of the user's", []string{"destroy", "local:/tmp"}, nil, "--root"},
		{"a setting that is wrong", []string{"list"}, []string{"MCP_WORKSPACE_MEMORY=lots", "MCP_WORKSPACE_BACKEND=docker"}, `MCP_WORKSPACE_MEMORY "lots": no amount of memory`},
		{"a duration that is none", []string{"prune", "--stopped-for=-1s"}, nil, "--stopped-for is -1s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := program{args: append([]string{"workspaces"}, c.args...), env: c.env}.run(t)
			if got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, c.want) || strings.Count(got.stderr, "\n") != 1 {
				t.Errorf("it answered %+v, and not %q", got, c.want)
			}
		})
	}
}

func TestWhatIsKnownOfAContainerIsPrinted(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	d := docker.Details{
		Info:        backends.Info{Ref: backends.Ref{Provider: "docker", ID: "mcpws-x"}, Name: "x", Status: "stopped", Image: "i", WorkingDir: "/w", Created: at},
		ContainerID: "c", ImageID: "sha256:1", State: "exited", ExitCode: 137, OutOfMemory: true, Started: at, Finished: at, User: "u", NetworkMode: "bridge",
		Networks: []docker.Network{{Name: "bridge", Address: "10.0.0.2"}, {Name: "none"}},
		Mounts:   []docker.Mount{{Type: "bind", Source: "/a", Target: "/b", ReadOnly: true}, {Type: "tmpfs", Target: "/t"}},
		Limits:   docker.Limits{Memory: 1024, CPUs: 1.5, Pids: 7}, ReadOnly: true, CapDrop: []string{"ALL"}, Labels: map[string]string{"k": "v"},
	}
	var out strings.Builder
	if err := (inspectedWorkspace{listed(d.Info), ofContainer(d)}).print(&out); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"ref docker:mcpws-x", "name x", "status stopped", "directory /w", "created 2026-01-02 03:04:05", "image i", "image id sha256:1", "container id c",
		"started 2026-01-02 03:04:05", "finished 2026-01-02 03:04:05", "exit code 137", "ended perhaps for want of memory", "user u", "network bridge",
		"address 10.0.0.2 on bridge", "address on none", "mount bind /a at /b (read only)", "mount tmpfs at /t (read and write)",
		"memory 1024 bytes at most", "processors 1.5 at most", "processes 7 at most", "root read only", "dropped ALL", "label k=v",
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("it printed\n%s", got)
	}
}
