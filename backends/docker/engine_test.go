package docker_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

func TestEngineThatEndsIsUnavailableUntilItIsBack(t *testing.T) {
	engine := engines.OwnDocker(t, engines.Own{})
	b := newBackend(t, &engine.Engine, docker.Config{})
	ws := create(t, b, backends.Spec{})
	run(t, ws, "echo kept >kept")
	for _, end := range []struct {
		name string
		by   func(testing.TB)
	}{{"stopped", engine.Stop}, {"killed", engine.Kill}} {
		t.Run(end.name, func(t *testing.T) {
			ws, err := b.Attach(t.Context(), ws.Ref())
			if err != nil {
				t.Fatal(err)
			}
			ended := inFlight(t, ws)
			end.by(t)
			wantCode(t, "the call in flight", outcome(t, ended), backends.CodeUnavailable)
			_, err = b.Attach(t.Context(), ws.Ref())
			wantCode(t, "Attach", err, backends.CodeUnavailable, engine.Host)
			_, err = b.Create(t.Context(), backends.Spec{})
			wantCode(t, "Create", err, backends.CodeUnavailable, engine.Host)
			if err := ws.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			engine.Start(t)
			again, err := b.Attach(t.Context(), ws.Ref())
			if err != nil {
				t.Fatalf("Attach to the engine that is back: %v", err)
			}
			if got := run(t, again, "cat kept"); got != "kept" {
				t.Errorf("the file holds %q", got)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEngineThatDoesNotAnswer has a listener that takes connections and says
// nothing, as an engine that hangs does.
func TestEngineThatDoesNotAnswer(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "hung.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.NewClientWithOpts(client.WithHost("unix://"+socket), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	b, err := docker.New(t.Context(), docker.Config{Client: c, Image: "x"})
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func(context.Context) error{
		"Create":           func(ctx context.Context) error { _, err := b.Create(ctx, backends.Spec{}); return err },
		"Create by a name": func(ctx context.Context) error { _, err := b.Create(ctx, backends.Spec{Name: "x"}); return err },
		"Attach": func(ctx context.Context) error {
			_, err := b.Attach(ctx, backends.Ref{Provider: docker.Provider, ID: "mcpws-x"})
			return err
		},
		"Destroy": func(ctx context.Context) error {
			return b.Destroy(ctx, backends.Ref{Provider: docker.Provider, ID: "mcpws-x"})
		},
		"Describe": func(ctx context.Context) error {
			_, err := b.Describe(ctx, backends.Ref{Provider: docker.Provider, ID: "mcpws-x"})
			return err
		},
		"Stop": func(ctx context.Context) error {
			return b.Stop(ctx, backends.Ref{Provider: docker.Provider, ID: "mcpws-x"})
		},
		"InUse": func(ctx context.Context) error {
			_, err := b.InUse(ctx, backends.Ref{Provider: docker.Provider, ID: "mcpws-x"})
			return err
		},
		"List":  func(ctx context.Context) error { _, err := b.List(ctx); return err },
		"Prune": func(ctx context.Context) error { _, err := b.Prune(ctx, docker.Prune{}); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		started := time.Now()
		wantCode(t, name, call(ctx), backends.CodeCancelled)
		if took := time.Since(started); took > 5*time.Second {
			t.Errorf("%s went on for %v after it was given up", name, took)
		}
		cancel()
	}
	started := time.Now()
	docker.SetQuickLimit(t, 100*time.Millisecond)
	_, err = b.List(t.Context())
	wantCode(t, "List", err, backends.CodeUnavailable, socket, "did not answer in time")
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("List waited %v for an engine that hangs", took)
	}
}

func TestDefaultNetworkIsNotTheHosts(t *testing.T) { onBoth(t, testDefaultNetworkIsNotTheHosts) }

func testDefaultNetworkIsNotTheHosts(t *testing.T, engine *engines.Engine) {
	t.Setenv("HTTP_PROXY", "http://proxy.invalid")
	b := newBackend(t, engine, docker.Config{Options: docker.Options{Network: "bridge"}})
	ws := create(t, b, backends.Spec{})
	if got := run(t, ws, "grep -c : /proc/net/dev; env | grep -ci proxy || true"); !strings.HasPrefix(got, "2\n") {
		t.Errorf("interfaces and proxies: %q, want the container's own two", got)
	} else if got != "2\n0" {
		t.Errorf("proxies of the host's reach commands: %q", got)
	}
	own := engine.UniqueName(t, "net-")
	if engine.Provider == docker.Provider {
		engine.CLI(t, "network", "create", own)
		t.Cleanup(func() { engine.CLI(testingContext{t}, "network", "rm", own) })
		other := newBackend(t, engine, docker.Config{Options: docker.Options{Network: own}})
		d, err := other.Inspect(t.Context(), create(t, other, backends.Spec{}).Ref())
		if err != nil || len(d.Networks) != 1 || d.Networks[0].Name != own || d.Networks[0].Address == "" {
			t.Errorf("on a network of its own: %+v, %v", d.Networks, err)
		}
	}
}

// testingContext is a test whose context has not ended yet while it cleans up.
type testingContext struct{ *testing.T }

func (testingContext) Context() context.Context { return context.Background() }
