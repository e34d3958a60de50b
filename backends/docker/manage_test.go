package docker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

func TestInspectDescribesAWorkspace(t *testing.T) { onBoth(t, testInspectDescribesAWorkspace) }

func testInspectDescribesAWorkspace(t *testing.T, engine *engines.Engine) {
	dir := t.TempDir()
	options, err := docker.Flags{
		Memory: "128m", CPUs: "1.5", PidsLimit: "300", User: "1234:1234", CapDrop: []string{"NET_RAW"},
		Mounts: []string{dir + ":/src:ro"}, Tmpfs: []string{"/scratch"}, AddHosts: []string{"db:10.0.0.5"},
	}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	b := newBackend(t, engine, docker.Config{Options: options})
	started := time.Now()
	ws := create(t, b, backends.Spec{Name: "described-" + b.Scope(), Owner: "somebody"})
	d, err := b.Inspect(t.Context(), ws.Ref())
	if err != nil {
		t.Fatal(err)
	}
	if d.Ref != ws.Ref() || d.Name != "described-"+b.Scope() || d.Owner != "somebody" || d.Image != engine.Busybox ||
		d.WorkingDir != "/workspace" || d.Created.Sub(started).Abs() > time.Hour {
		t.Errorf("described as %+v", d.Info)
	}
	if d.State != "running" || d.Status != "running" || d.Started.IsZero() || !d.Finished.IsZero() || d.User != "1234:1234" || d.NetworkMode != "none" {
		t.Errorf("described as %+v", d)
	}
	if want := (docker.Limits{Memory: 128 << 20, CPUs: 1.5, Pids: 300}); d.Limits != want {
		t.Errorf("its limits are %+v, want %+v", d.Limits, want)
	}
	if want := []docker.Mount{{Type: "tmpfs", Target: "/scratch"}, {Type: "bind", Source: dir, Target: "/src", ReadOnly: true}}; !slices.Equal(d.Mounts, want) {
		t.Errorf("its mounts are %+v, want %+v", d.Mounts, want)
	}
	if !slices.ContainsFunc(d.CapDrop, func(c string) bool { return c == "CAP_NET_RAW" || c == "NET_RAW" }) {
		t.Errorf("without the capabilities %q", d.CapDrop)
	}
	if digest, err := b.GuestDigest(t.Context()); err != nil || d.GuestDigest != digest || d.Labels[docker.LabelOwner] != "somebody" {
		t.Errorf("its agent is %q and its labels are %v (%v)", d.GuestDigest, d.Labels, err)
	}
	if got := run(t, ws, "grep db /etc/hosts; id -u; grep CapBnd /proc/self/status"); got == "" {
		t.Errorf("inside: %q", got)
	}

	if err := b.Engine().ContainerStop(t.Context(), ws.Ref().ID, container.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	if d, err = b.Inspect(t.Context(), ws.Ref()); err != nil || d.Status != "stopped" || d.State != "exited" || d.Finished.IsZero() {
		t.Errorf("once stopped described as %+v, %v", d, err)
	}
	_, err = b.Inspect(t.Context(), backends.Ref{Provider: engine.Provider, ID: "mcpws-none-" + b.Scope()})
	wantCode(t, "Inspect of what never was", err, backends.CodeUnavailable)
}

func TestOwnersSeeTheirOwn(t *testing.T) { onBoth(t, testOwnersSeeTheirOwn) }

func testOwnersSeeTheirOwn(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	owned := map[string]backends.Ref{}
	for _, owner := range []string{"alice", "bob", ""} {
		owned[owner] = create(t, b, backends.Spec{Owner: owner}).Ref()
	}
	for owner, ref := range owned {
		list, err := b.ListOwned(t.Context(), owner)
		if err != nil || len(list) != 1 || list[0].Ref != ref || list[0].Owner != owner {
			t.Errorf("%q sees %+v, %v; want %v", owner, list, err, ref)
		}
	}
}

func TestPruneTakesWhatHasBeenStoppedForLong(t *testing.T) {
	onBoth(t, testPruneTakesWhatHasBeenStoppedForLong)
}

func testPruneTakesWhatHasBeenStoppedForLong(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	running, paused := create(t, b, backends.Spec{}), create(t, b, backends.Spec{})
	stopped, others := create(t, b, backends.Spec{Owner: "alice"}), create(t, b, backends.Spec{Owner: "bob"})
	if err := b.CreateOnly(t.Context(), backends.Spec{Name: "never-started-" + b.Scope(), Owner: "alice"}); err != nil {
		t.Fatal(err)
	}
	never := backends.Ref{Provider: engine.Provider, ID: docker.NamePrefix + "never-started-" + b.Scope()}
	for _, ws := range []backends.Workspace{stopped, others} {
		if err := b.Engine().ContainerStop(t.Context(), ws.Ref().ID, container.StopOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Engine().ContainerPause(t.Context(), paused.Ref().ID); err != nil {
		t.Fatal(err)
	}
	prune := func(what docker.Prune, want ...backends.Ref) {
		t.Helper()
		got, err := b.Prune(t.Context(), what)
		if err != nil {
			t.Fatalf("Prune: %v", err)
		}
		byID := func(x, y backends.Ref) int { return len(x.ID) - len(y.ID) }
		slices.SortFunc(got, byID)
		slices.SortFunc(want, byID)
		if !slices.Equal(got, want) {
			t.Errorf("Prune(%+v) removed %v, want %v", what, got, want)
		}
	}
	alice := "alice"
	prune(docker.Prune{StoppedFor: time.Hour})
	prune(docker.Prune{Owner: &alice}, stopped.Ref(), never)
	prune(docker.Prune{}, others.Ref())
	prune(docker.Prune{})
	list, err := b.List(t.Context())
	if err != nil || len(list) != 2 {
		t.Errorf("left are %+v, %v; want %v and %v", list, err, running.Ref(), paused.Ref())
	}
}
