package docker_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/backends/podman"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// create makes a workspace that is closed when the test ends.
func create(t *testing.T, b backends.Backend, spec backends.Spec) backends.Workspace {
	t.Helper()
	ws, err := b.Create(t.Context(), spec)
	if err != nil {
		t.Fatalf("Create(%+v): %v", spec, err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	return ws
}

// run runs a script and answers with what it printed.
func run(t *testing.T, ws backends.Workspace, script string) string {
	t.Helper()
	var out strings.Builder
	exit, err := ws.Run(t.Context(), backends.Command{Script: script, Merge: true, Output: func(_ backends.Stream, data []byte) { out.Write(data) }})
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	if exit.Code != 0 {
		t.Fatalf("%s: exit code %d: %s", script, exit.Code, out.String())
	}
	return strings.TrimSpace(out.String())
}

func wantCode(t *testing.T, what string, err error, code backends.Code, words ...string) {
	t.Helper()
	if backends.CodeOf(err) != code {
		t.Errorf("%s: error %v (%s), want %s", what, err, backends.CodeOf(err), code)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q does not mention %q", what, err, w)
		}
	}
}

func inspect(t *testing.T, b *docker.Backend, id string) container.InspectResponse {
	t.Helper()
	info, err := b.Engine().ContainerInspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestContainersAreWhatIsPromised(t *testing.T) { onBoth(t, testContainersAreWhatIsPromised) }

func testContainersAreWhatIsPromised(t *testing.T, engine *engines.Engine) {
	t.Setenv("MCP_TEST_HOST_SECRET", "secret")
	b := newBackend(t, engine, docker.Config{Env: []string{"GIVEN=1"}})
	ws := create(t, b, backends.Spec{Owner: "somebody"})
	id := ws.Ref().ID
	info := inspect(t, b, id)
	if !strings.HasPrefix(id, "mcpws-") || len(id) != len("mcpws-")+12 {
		t.Errorf("the container is called %q", id)
	}
	if l := info.Config.Labels; l[docker.LabelWorkspace] != "true" || l[docker.LabelOwner] != "somebody" || l[docker.LabelWorkingDir] != "/workspace" {
		t.Errorf("the labels are %v", l)
	}
	if got := slices.Concat([]string(info.Config.Entrypoint), info.Config.Cmd); strings.Join(got, " ") != "/.mcp-workspace/mcp-workspace-guest init" {
		t.Errorf("process 1 is %q", got)
	}
	if h := info.HostConfig; h.LogConfig.Type != "none" || strings.Join(h.SecurityOpt, " ") != "no-new-privileges" ||
		h.PidsLimit == nil || *h.PidsLimit != docker.DefaultPids || h.PublishAllPorts || len(h.PortBindings) != 0 || h.Privileged {
		t.Errorf("the container's settings are %+v", h)
	}
	env := run(t, ws, "env")
	for _, want := range []string{"GIVEN=1", "TERM=dumb", "PYTHONUNBUFFERED=1", "NO_COLOR=1", "PAGER=cat", "LANG=C.UTF-8", "GIT_CONFIG_KEY_0=safe.directory"} {
		if !strings.Contains("\n"+env+"\n", "\n"+want+"\n") {
			t.Errorf("commands have no %s:\n%s", want, env)
		}
	}
	if strings.Contains(env, "MCP_TEST_HOST_SECRET") {
		t.Error("a variable of the host has reached a command")
	}
	if got := run(t, ws, "tr '\\0' ' ' </proc/1/cmdline; grep NoNewPrivs /proc/self/status"); got != "/.mcp-workspace/mcp-workspace-guest init NoNewPrivs:\t1" {
		t.Errorf("inside, process 1 and its privileges are %q", got)
	}
	if got := run(t, ws, "touch /.mcp-workspace/x 2>&1; rm -f /.mcp-workspace/mcp-workspace-guest 2>&1; mount -o remount,rw /.mcp-workspace 2>&1; ls /.mcp-workspace"); !strings.HasSuffix(got, "complete\nmcp-workspace-guest") ||
		strings.Count(got, "Read-only file system") < 2 {
		t.Errorf("root in the container on the agent's directory: %s", got)
	}
}

func TestEnvironmentOfTheImageBeatsDefaults(t *testing.T) {
	got := docker.DefaultEnv([]string{"TERM=vt100", "PAGER=less", "GIT_CONFIG_COUNT=2", "LC_ALL=de_DE.UTF-8", "NO_COLOR="})
	want := "PYTHONUNBUFFERED=1 GIT_CONFIG_KEY_2=safe.directory GIT_CONFIG_VALUE_2=* GIT_CONFIG_COUNT=3"
	if strings.Join(got, " ") != want {
		t.Errorf("defaults are %q, want %q", got, want)
	}
	if got := docker.DefaultEnv([]string{"GIT_CONFIG_COUNT=x"}); strings.Contains(strings.Join(got, " "), "GIT_CONFIG") {
		t.Errorf("a count of git's that is no number became %q", got)
	}
}

// The other process is this test's executable, told by the variable what to do.
const otherProcess = "MCP_WORKSPACE_TEST_CREATE"

func TestOtherProcess(t *testing.T) {
	provider, scope, ok := strings.Cut(os.Getenv(otherProcess), ":")
	if !ok {
		return // only for TestTwoProcessesShareOneName
	}
	engine := engines.Docker(t)
	if provider == podman.Provider {
		engine = engines.Podman(t)
	}
	b := newBackend(t, engine, docker.Config{Scope: scope})
	ws := create(t, b, backends.Spec{Name: "two-" + scope})
	run(t, ws, "echo >>/workspace/used")
	fmt.Println("ref", ws.Ref())
}

func TestTwoProcessesShareOneName(t *testing.T) { onBoth(t, testTwoProcessesShareOneName) }

func testTwoProcessesShareOneName(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	refs := map[string]int{}
	for range 3 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOtherProcess$", "-test.v")
			cmd.Env = append(os.Environ(), otherProcess+"="+engine.Provider+":"+b.Scope())
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("another process: %v\n%s", err, out)
			}
			for line := range strings.Lines(string(out)) {
				if ref, ok := strings.CutPrefix(line, "ref "); ok {
					mu.Lock()
					refs[strings.TrimSpace(ref)]++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if len(refs) != 1 || refs[engine.Provider+":mcpws-two-"+b.Scope()] != 3 {
		t.Fatalf("the refs are %v", refs)
	}
	ws := create(t, b, backends.Spec{Name: "two-" + b.Scope()})
	if got := run(t, ws, "wc -l </workspace/used"); got != "3" {
		t.Errorf("%s processes used the workspace, want 3", got)
	}
}

func TestNamesOfOthersAreRefused(t *testing.T) { onBoth(t, testNamesOfOthersAreRefused) }

func testNamesOfOthersAreRefused(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	name := "foreign-" + b.Scope()
	createForeign(t, b, docker.NamePrefix+name, engine.Busybox)
	_, err := b.Create(t.Context(), backends.Spec{Name: name})
	wantCode(t, "a name that a foreign container has", err, backends.CodePermission, "--name")

	create(t, b, backends.Spec{Name: "owned-" + b.Scope(), Owner: "alice"})
	for _, owner := range []string{"bob", ""} {
		_, err = b.Create(t.Context(), backends.Spec{Name: "owned-" + b.Scope(), Owner: owner})
		wantCode(t, "a name of alice's for "+owner, err, backends.CodePermission)
		if strings.Contains(err.Error(), "alice") {
			t.Errorf("%q tells whose it is", err)
		}
	}
	create(t, b, backends.Spec{Name: "owned-" + b.Scope(), Owner: "alice"})
}

func TestForeignContainersAreRefused(t *testing.T) { onBoth(t, testForeignContainersAreRefused) }

func testForeignContainersAreRefused(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	name := engine.UniqueName(t, "foreign-")
	createForeign(t, b, name, engine.Busybox)
	ref := backends.Ref{Provider: engine.Provider, ID: name}
	_, err := b.Attach(t.Context(), ref)
	wantCode(t, "Attach", err, backends.CodePermission)
	wantCode(t, "Destroy", b.Destroy(t.Context(), ref), backends.CodePermission)
	_, err = b.Inspect(t.Context(), ref)
	wantCode(t, "Inspect", err, backends.CodePermission)
	if info := inspect(t, b, name); info.State.Status != "created" {
		t.Errorf("the foreign container is %s now", info.State.Status)
	}

	ws := create(t, b, backends.Spec{})
	long := inspect(t, b, ws.Ref().ID).ID
	for _, id := range []string{long, long[:12]} {
		_, err := b.Attach(t.Context(), backends.Ref{Provider: engine.Provider, ID: id})
		wantCode(t, "Attach by the engine's own id", err, backends.CodePermission)
	}
	for _, id := range []string{"../images/x", "a/b", "mcpws-x?force=1", "mcpws-\n", "-x"} {
		_, err := b.Attach(t.Context(), backends.Ref{Provider: engine.Provider, ID: id})
		wantCode(t, fmt.Sprintf("Attach to %q", id), err, backends.CodeInvalidArgument)
		wantCode(t, fmt.Sprintf("Destroy of %q", id), b.Destroy(t.Context(), backends.Ref{Provider: engine.Provider, ID: id}), backends.CodeInvalidArgument)
	}
}

func TestCreationGivenUpLeavesNothingOrWhatTheNextOneFinds(t *testing.T) {
	onBoth(t, testCreationGivenUpLeavesNothingOrWhatTheNextOneFinds)
}

func testCreationGivenUpLeavesNothingOrWhatTheNextOneFinds(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	create(t, b, backends.Spec{}) // the agent is there from now on
	for _, after := range []time.Duration{0, 5, 20, 50, 100, 200, 400} {
		name := fmt.Sprintf("given-up-%d-%s", after, b.Scope())
		for _, spec := range []backends.Spec{{}, {Name: name}, {Name: "temporary-" + name, Temporary: true}} {
			ctx, cancel := context.WithTimeout(t.Context(), after*time.Millisecond)
			started := time.Now()
			ws, err := b.Create(ctx, spec)
			took := time.Since(started)
			cancel()
			if err == nil {
				if err := ws.Close(); err != nil {
					t.Error(err)
				}
				if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
					t.Error(err)
				}
				continue
			}
			wantCode(t, "Create", err, backends.CodeCancelled)
			if over := took - after*time.Millisecond; over > 3*time.Second {
				t.Errorf("given up after %v, it took %v", after*time.Millisecond, took)
			}
			if spec.Name != "" && !spec.Temporary {
				run(t, create(t, b, spec), "true")
			}
		}
	}
	b.AwaitCleanups()
	list, err := b.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	others := 0
	for _, info := range list {
		if !strings.HasPrefix(info.Name, "given-up-") {
			others++
		}
	}
	if others != 1 {
		t.Errorf("there are %d workspaces that are not to be found by their name, want the first one: %+v", others, list)
	}
}

func TestFailedCreationLeavesNothing(t *testing.T) { onBoth(t, testFailedCreationLeavesNothing) }

func testFailedCreationLeavesNothing(t *testing.T, engine *engines.Engine) {
	for _, c := range []struct {
		name  string
		flags docker.Flags
		words string
	}{
		{"a network that is not there", docker.Flags{Network: "no-such-network"}, "--network"},
		{"a directory that is not there", docker.Flags{Mounts: []string{"/no/such/dir:/mnt"}}, "--mount"},
		{"a user that is not there", docker.Flags{User: "nobody-of-that-name"}, "--user"},
		{"a runtime that is not there", docker.Flags{OCIRuntime: "no-such-runtime"}, "--oci-runtime"},
		{"less memory than there must be", docker.Flags{Memory: "1m"}, "--memory"},
		{"more processors than there are", docker.Flags{CPUs: "4000"}, "--cpus"},
		{"devices that are not there", docker.Flags{GPUs: "all"}, "--gpus"},
		{"a capability that is none", docker.Flags{CapDrop: []string{"NO_SUCH"}}, "--cap-drop"},
	} {
		if engine.Provider == podman.Provider && (c.flags.CPUs != "" || c.flags.GPUs != "" || c.flags.OCIRuntime != "") {
			continue // Podman takes more processors than there are, and podman.New refuses the others
		}
		t.Run(c.name, func(t *testing.T) {
			options, err := c.flags.Parse()
			if err != nil {
				t.Fatal(err)
			}
			b := newBackend(t, engine, docker.Config{Options: options})
			for _, name := range []string{"", "failed-" + b.Scope()} {
				_, err = b.Create(t.Context(), backends.Spec{Name: name})
				wantCode(t, "Create", err, backends.CodeInvalidArgument, c.words)
				t.Log(err)
			}
			if list, err := b.List(t.Context()); err != nil || len(list) != 0 {
				t.Errorf("left %+v, %v", list, err)
			}
		})
	}
}

func TestNoEngineIsUnavailableByItsAddress(t *testing.T) {
	host := "unix://" + t.TempDir() + "/none.sock"
	c, err := client.NewClientWithOpts(client.WithHost(host), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	b, err := docker.New(t.Context(), docker.Config{Client: c, Image: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	_, err = b.Create(t.Context(), backends.Spec{})
	wantCode(t, "Create", err, backends.CodeUnavailable, host)
	_, err = b.Attach(t.Context(), backends.Ref{Provider: docker.Provider, ID: "mcpws-x"})
	wantCode(t, "Attach", err, backends.CodeUnavailable, host)
	wantCode(t, "Destroy", b.Destroy(t.Context(), backends.Ref{Provider: docker.Provider, ID: "mcpws-x"}), backends.CodeUnavailable, host)
	_, err = b.List(t.Context())
	wantCode(t, "List", err, backends.CodeUnavailable, host)
}
