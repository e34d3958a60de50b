package docker_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/runtimes"
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
		"--mount at /workspace":  {Mounts: []string{t.TempDir() + ":/workspace"}},
		"--mount at /x":          {Mounts: []string{"type=volume,dst=/x/"}},
		"--mount at /y":          {Mounts: []string{t.TempDir() + ":/y:Z"}},
	} {
		b := backend(f)
		_, err := b.Create(t.Context(), backends.Spec{Name: plain})
		wantCode(t, flag, err, backends.CodeInvalidArgument, flag, "another --name", "workspaces destroy "+b.Provider()+":mcpws-"+plain)
		_, err = b.Attach(t.Context(), backends.Ref{Provider: b.Provider(), ID: docker.NamePrefix + plain})
		wantCode(t, flag+" by ref", err, backends.CodeInvalidArgument, flag, "leave the flag out")
	}
	_, err := backend(docker.Flags{PidsLimit: "50", Memory: "100m", CPUs: "1"}).Create(t.Context(), backends.Spec{Name: name})
	wantCode(t, "lower limits", err, backends.CodeInvalidArgument,
		"a higher --memory than asked (209715200)", "a higher --cpus than asked (1.5)", "a higher --pids-limit than asked (100)")
	_, err = backend(docker.Flags{PidsLimit: "50"}).Create(t.Context(), backends.Spec{Name: plain})
	wantCode(t, "a limit below the default", err, backends.CodeInvalidArgument, "a higher --pids-limit than asked (2048)")
}

// Root has several names, and an image's own user is root where it names none.
func TestRootIsTheUserThatANamedWorkspaceWasMadeWith(t *testing.T) {
	onBoth(t, func(t *testing.T, engine *engines.Engine) {
		name := unique()
		create(t, newBackend(t, engine, docker.Config{}), backends.Spec{Name: name})
		for _, user := range []string{"root", "0", "0:0", "root:root"} {
			create(t, newBackend(t, engine, docker.Config{Options: docker.Options{User: user}}), backends.Spec{Name: name})
		}
	})
}

// A directory that is mounted is not mounted to be written to when it was asked
// for to be read.
func TestAMountOfANamedWorkspaceIsAsAsked(t *testing.T) {
	onBoth(t, func(t *testing.T, engine *engines.Engine) {
		dir, name := t.TempDir(), unique()
		open := func(mounts ...string) (backends.Workspace, error) {
			o, err := docker.Flags{Mounts: mounts}.Parse()
			if err != nil {
				t.Fatal(err)
			}
			return newBackend(t, engine, docker.Config{Options: o}).Create(t.Context(), backends.Spec{Name: name})
		}
		for _, again := range [][]string{{dir + ":/x", dir + ":/y:ro"}, {dir + ":/x", dir + ":/y:ro"}, {dir + ":/x/"}, {dir + ":/y:ro"}, {dir + ":/y"}, nil} {
			ws, err := open(again...)
			if err != nil {
				t.Fatalf("%q: %v", again, err)
			}
			if err := ws.Close(); err != nil {
				t.Error(err)
			}
		}
		_, err := open(dir + ":/x:ro")
		wantCode(t, "a mount to be read", err, backends.CodeInvalidArgument, "a --mount at /x that is not read-only")
	})
}

// What else was asked for is told to the log, once.
func TestTheLogTellsWhatANamedWorkspaceWasNotMadeWith(t *testing.T) {
	onBoth(t, func(t *testing.T, engine *engines.Engine) {
		first, second := t.TempDir(), t.TempDir()
		flags := func(f docker.Flags) docker.Options {
			o, err := f.Parse()
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		made := docker.Flags{Network: "bridge", Mounts: []string{first + ":/x", "type=bind,src=" + first + ",dst=/y", "type=tmpfs,dst=/z"},
			Tmpfs: []string{"/t", "/u:size=1m"}, AddHosts: []string{"db:10.0.0.5", "me:host-gateway"}}
		network := engine.UniqueName(t, "asked-net-")
		engine.CLI(t, "network", "create", network)
		t.Cleanup(func() {
			if out, err := engine.Command(context.Background(), "network", "rm", network).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
		name := unique()
		create(t, newBackend(t, engine, docker.Config{Options: flags(made)}), backends.Spec{Name: name})
		onAnother := unique()
		create(t, newBackend(t, engine, docker.Config{Options: flags(docker.Flags{Network: network})}), backends.Spec{Name: onAnother})
		for _, c := range []struct {
			what, name string
			cfg        docker.Config
			says       []string // none: the log stays empty
		}{
			{"the same", name, docker.Config{Options: flags(made)}, nil},
			{"the same network", onAnother, docker.Config{Options: flags(docker.Flags{Network: network})}, nil},
			{"an image that nobody asked for", name, docker.Config{Image: "another", AnyImage: true, Options: flags(docker.Flags{Network: "bridge"})}, nil},
			{"another image", name, docker.Config{Image: "another", Options: flags(docker.Flags{Network: "bridge"})}, []string{engine.Busybox, "--image another"}},
			{"a runtime", name, docker.Config{Runtime: &runtimes.Runtime{Name: "mine", Image: "another"}, Options: flags(docker.Flags{Network: "bridge"})}, []string{"--runtime mine"}},
			{"another network", name, docker.Config{Options: flags(docker.Flags{Network: network})}, []string{"--network " + network}},
			{"the host's network", name, docker.Config{Options: flags(docker.Flags{Network: "host"})}, []string{"--network host"}},
			{"more", name, docker.Config{Options: flags(docker.Flags{Network: "bridge", Mounts: []string{second + ":/x"}, Tmpfs: []string{"/y", "/more"}, AddHosts: []string{"web:10.0.0.6"}})},
				[]string{first + " is mounted at /x", second, "--tmpfs /y", "--tmpfs /more", "--add-host web:10.0.0.6"}},
		} {
			var log bytes.Buffer
			cfg := c.cfg
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			b := newBackend(t, engine, cfg)
			create(t, b, backends.Spec{Name: c.name})
			create(t, b, backends.Spec{Name: c.name})
			if got := log.String(); strings.Count(got, "keeps what it was made with") != min(1, len(c.says)) {
				t.Errorf("%s: the log has %q", c.what, got)
			}
			for _, text := range c.says {
				if !strings.Contains(log.String(), text) {
					t.Errorf("%s: no %q in the log: %s", c.what, text, log.String())
				}
			}
		}
	})
}
