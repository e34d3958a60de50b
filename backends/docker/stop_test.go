package docker_test

import (
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

func TestStopKeepsFilesAndTheNextAttachStarts(t *testing.T) {
	onBoth(t, testStopKeepsFilesAndTheNextAttachStarts)
}

func testStopKeepsFilesAndTheNextAttachStarts(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	ws := create(t, b, backends.Spec{})
	run(t, ws, "echo kept >kept")
	ended := inFlight(t, ws)
	stop(t, b, ws.Ref())
	wantCode(t, "the call in flight", outcome(t, ended), backends.CodeUnavailable)
	wantStatus(t, b, ws.Ref(), "stopped")
	stop(t, b, ws.Ref()) // again is fine
	again, err := b.Attach(t.Context(), ws.Ref())
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, again, "cat kept"); got != "kept" {
		t.Errorf("the file holds %q", got)
	}
	wantStatus(t, b, ws.Ref(), "running")
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func stop(t *testing.T, b *docker.Backend, ref backends.Ref) {
	t.Helper()
	if err := b.Stop(t.Context(), ref); err != nil {
		t.Fatalf("Stop: %v", err)
	}
}

func wantStatus(t *testing.T, b *docker.Backend, ref backends.Ref, want string) {
	t.Helper()
	if info, err := b.Describe(t.Context(), ref); err != nil || info.Status != want {
		t.Errorf("it is %q (%v), want %q", info.Status, err, want)
	}
}

func TestDescribeStartsNothing(t *testing.T) { onBoth(t, testDescribeStartsNothing) }

func testDescribeStartsNothing(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	ref := create(t, b, backends.Spec{}).Ref()
	stop(t, b, ref)
	for range 2 {
		wantStatus(t, b, ref, "stopped")
	}
	if inUse(t, b, ref) {
		t.Error("one that is stopped is in use")
	}
	wantStatus(t, b, ref, "stopped")
}

func TestStopOfWhatIsNotToBeStopped(t *testing.T) { onBoth(t, testStopOfWhatIsNotToBeStopped) }

func testStopOfWhatIsNotToBeStopped(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	never := backends.Ref{Provider: engine.Provider, ID: "mcpws-none-" + b.Scope()}
	stop(t, b, never)
	if inUse(t, b, never) {
		t.Error("what never was is in use")
	}
	wantCode(t, "Stop of another provider's", b.Stop(t.Context(), backends.Ref{Provider: "other", ID: never.ID}), backends.CodeInvalidArgument)

	name := engine.UniqueName(t, "foreign-")
	createForeign(t, b, name, engine.Busybox)
	foreign := backends.Ref{Provider: engine.Provider, ID: name}
	wantCode(t, "Stop of another's container", b.Stop(t.Context(), foreign), backends.CodePermission)
	_, err := b.InUse(t.Context(), foreign)
	wantCode(t, "InUse of another's container", err, backends.CodePermission)

	paused := create(t, b, backends.Spec{}).Ref()
	if err := b.Engine().ContainerPause(t.Context(), paused.ID); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "Stop of one that is paused", b.Stop(t.Context(), paused), backends.CodeUnavailable, "unpause")
	wantStatus(t, b, paused, "paused")
	if err := b.Engine().ContainerUnpause(t.Context(), paused.ID); err != nil {
		t.Fatal(err)
	}
}

func inUse(t *testing.T, b *docker.Backend, ref backends.Ref) bool {
	t.Helper()
	in, err := b.InUse(t.Context(), ref)
	if err != nil {
		t.Fatalf("InUse: %v", err)
	}
	return in
}

func TestAConnectionOfAnyoneIsUse(t *testing.T) { onBoth(t, testAConnectionOfAnyoneIsUse) }

func testAConnectionOfAnyoneIsUse(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	other := newBackend(t, engine, docker.Config{Scope: b.Scope()})
	ws, err := b.Create(t.Context(), backends.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	ref := ws.Ref()
	second, err := other.Attach(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	for name, use := range map[string]bool{"this one's": inUse(t, b, ref), "the other's": inUse(t, other, ref)} {
		if !use {
			t.Errorf("with two connections it is not in use, by %s word", name)
		}
	}
	if err := ws.Close(); err != nil {
		t.Fatal(err)
	}
	if !inUse(t, b, ref) {
		t.Error("with the other's connection it is not in use")
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	// At once: the engine may not have noticed yet.
	if inUse(t, b, ref) || inUse(t, other, ref) {
		t.Error("with no connection it is in use")
	}
	wantStatus(t, b, ref, "running")

	// A person's own exec, which this program knows nothing of.
	exec, err := b.Engine().ContainerExecCreate(t.Context(), ref.ID, container.ExecOptions{Cmd: []string{"sleep", "300"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Engine().ContainerExecStart(t.Context(), exec.ID, container.ExecStartOptions{Detach: true}); err != nil {
		t.Fatal(err)
	}
	if !inUse(t, b, ref) {
		t.Error("with a person's exec it is not in use")
	}
}

func TestAttachAfterStopsAtOnce(t *testing.T) { onBoth(t, testAttachAfterStopsAtOnce) }

func testAttachAfterStopsAtOnce(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	ref := create(t, b, backends.Spec{}).Ref()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := b.Stop(t.Context(), ref); err != nil {
				t.Errorf("Stop: %v", err)
			}
		})
	}
	wg.Wait()
	again, err := b.Attach(t.Context(), ref)
	if err != nil {
		t.Fatalf("Attach: %v", err)
	}
	if got := run(t, again, "echo works"); got != "works" {
		t.Errorf("it answers %q", got)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
