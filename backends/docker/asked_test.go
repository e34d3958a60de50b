package docker_test

import (
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// Who asks for isolation by name does not get a workspace without.
func TestANamedWorkspaceIsNotWeakerThanAsked(t *testing.T) {
	onBoth(t, testANamedWorkspaceIsNotWeakerThanAsked)
}

func testANamedWorkspaceIsNotWeakerThanAsked(t *testing.T, engine *engines.Engine) {
	options := func(f docker.Flags) docker.Options {
		t.Helper()
		o, err := f.Parse()
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	backend := func(f docker.Flags) *docker.Backend {
		return newBackend(t, engine, docker.Config{Image: engine.Busybox, Options: options(f)})
	}
	strict := docker.Flags{Network: "none", ReadOnly: true, Tmpfs: []string{"/workspace"}, Memory: "200m", CPUs: "1.5", PidsLimit: "100",
		CapDrop: []string{"NET_RAW"}, User: "1000:1000"}
	name := unique()
	create(t, backend(strict), backends.Spec{Name: name})
	for what, f := range map[string]docker.Flags{
		"the same":     strict,
		"nothing":      {},
		"higher limit": {Memory: "1g", CPUs: "2", PidsLimit: "200"},
	} {
		ws, err := backend(f).Create(t.Context(), backends.Spec{Name: name})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	}
	plain := unique()
	create(t, backend(docker.Flags{Network: "bridge"}), backends.Spec{Name: plain})
	for flag, f := range map[string]docker.Flags{
		"--network none":         {Network: "none"},
		"--read-only":            {ReadOnly: true, Tmpfs: []string{"/workspace"}},
		"--memory":               {Memory: "200m"},
		"--cpus":                 {CPUs: "1.5"},
		"--pids-limit":           {PidsLimit: "100"},
		"--cap-drop CAP_NET_RAW": {CapDrop: []string{"NET_RAW"}},
		"--cap-drop ALL":         {CapDrop: []string{"ALL"}},
		"--user 1000":            {User: "1000"},
	} {
		_, err := backend(f).Create(t.Context(), backends.Spec{Name: plain})
		wantCode(t, flag, err, backends.CodeInvalidArgument, flag)
	}
}
