package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/backendtest"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/backends/podman"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

func TestContract(t *testing.T) {
	for _, engine := range []*engines.Engine{engines.Docker(t), engines.Podman(t)} {
		t.Run(engine.Provider, func(t *testing.T) {
			t.Parallel() // one image after the other: the suite has names of its own
			for name, image := range map[string]string{"debian": engine.Debian, "busybox": engine.Busybox, "scratch": engine.Scratch} {
				t.Run(name, func(t *testing.T) {
					backendtest.Run(t, contract(engine, image, name != "scratch"))
				})
			}
		})
	}
}

// onBoth runs a test on both engines.
func onBoth(t *testing.T, test func(*testing.T, *engines.Engine)) {
	t.Run(docker.Provider, func(t *testing.T) { test(t, engines.Docker(t)) })
	t.Run(podman.Provider, func(t *testing.T) { test(t, engines.Podman(t)) })
}

// contract is how the suite gets at a backend whose containers are made of image.
func contract(engine *engines.Engine, image string, commands bool) backendtest.Harness {
	h := backendtest.Harness{
		New: func(t *testing.T) backends.Backend { return newBackend(t, engine, docker.Config{Image: image}) },
		Reopen: func(t *testing.T, b backends.Backend) backends.Backend {
			return newBackend(t, engine, docker.Config{Image: image, Scope: b.(*docker.Backend).Scope()})
		},
		Foreign: func(t *testing.T, b backends.Backend) backends.Ref {
			name := engine.UniqueName(t, "foreign-")
			createForeign(t, b.(*docker.Backend), name, engine.Busybox)
			return backends.Ref{Provider: b.Provider(), ID: name}
		},
		Gone: func(t *testing.T, ws backends.Workspace) {
			if err := engine.Client(t).ContainerRemove(t.Context(), ws.Ref().ID, container.RemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
				t.Fatal(err)
			}
		},
		Commands: commands,
		Destroys: true,
		Fresh:    true,
		Prompt:   20 * time.Second,
	}
	if !commands {
		fresh, reopen := h.New, h.Reopen
		h.New = func(t *testing.T) backends.Backend { return filesOnly{fresh(t).(*docker.Backend)} }
		h.Reopen = func(t *testing.T, b backends.Backend) backends.Backend {
			return filesOnly{reopen(t, b.(filesOnly).Backend).(*docker.Backend)}
		}
		foreign := h.Foreign
		h.Foreign = func(t *testing.T, b backends.Backend) backends.Ref { return foreign(t, b.(filesOnly).Backend) }
		h.Mkdir = func(t *testing.T, ws backends.Workspace, dir string) {
			putEntry(t, engine, ws, tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o755})
		}
		h.Symlink = func(t *testing.T, ws backends.Workspace, target, link string) {
			putEntry(t, engine, ws, tar.Header{Name: link, Typeflag: tar.TypeSymlink, Linkname: target, Mode: 0o777})
		}
	}
	return h
}

// filesOnly is a backend whose workspaces run no commands. In an image without a
// shell a program that is there can be run and a script cannot, which is between
// what the suite knows; TestImageWithoutAShell is about that.
type filesOnly struct{ *docker.Backend }

func (b filesOnly) Create(ctx context.Context, spec backends.Spec) (backends.Workspace, error) {
	return withoutRun(b.Backend.Create(ctx, spec))
}

func (b filesOnly) Attach(ctx context.Context, ref backends.Ref) (backends.Workspace, error) {
	return withoutRun(b.Backend.Attach(ctx, ref))
}

type filesOnlyWorkspace struct{ backends.Workspace }

func (filesOnlyWorkspace) Run(context.Context, backends.Command) (backends.Exit, error) {
	return backends.Exit{}, backends.Errorf(backends.CodeUnsupported, "run", "", "no commands in this test")
}

func withoutRun(ws backends.Workspace, err error) (backends.Workspace, error) {
	if err != nil {
		return nil, err
	}
	return filesOnlyWorkspace{ws}, nil
}

func TestImageWithoutAShell(t *testing.T) { onBoth(t, testImageWithoutAShell) }

func testImageWithoutAShell(t *testing.T, engine *engines.Engine) {
	ws := create(t, newBackend(t, engine, docker.Config{Image: engine.Scratch}), backends.Spec{})
	_, err := ws.Run(t.Context(), backends.Command{Script: "echo x"})
	wantCode(t, "a script", err, backends.CodeUnsupported, "shell")
	exit, err := ws.Run(t.Context(), backends.Command{Argv: []string{"no-such-program"}})
	if err != nil || exit.Code != 127 {
		t.Errorf("a program that is not there: %+v, %v", exit, err)
	}
	exit, err = ws.Run(t.Context(), backends.Command{Argv: []string{docker.GuestDir + "/mcp-workspace-guest", "version"}})
	if err != nil || exit.Code != 0 {
		t.Errorf("a program that is there: %+v, %v", exit, err)
	}
}

// putEntry puts a directory or symlink into a container from outside.
func putEntry(t *testing.T, engine *engines.Engine, ws backends.Workspace, header tar.Header) {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	header.Name = strings.TrimPrefix(path.Clean(header.Name), "/")
	if err := w.WriteHeader(&header); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := engine.Client(t).CopyToContainer(t.Context(), ws.Ref().ID, "/", &archive, container.CopyToContainerOptions{}); err != nil {
		t.Fatal(err)
	}
}

// createForeign makes a container that is not this program's.
func createForeign(t *testing.T, b *docker.Backend, name, image string) {
	t.Helper()
	config := &container.Config{Image: image, Cmd: []string{"/bin/sh"}, Labels: map[string]string{"some": "label"}}
	if _, err := b.Engine().ContainerCreate(t.Context(), config, &container.HostConfig{NetworkMode: "none"}, nil, nil, name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := b.Engine().ContainerRemove(context.Background(), name, container.RemoveOptions{Force: true})
		if err != nil && !docker.IsGone(err) {
			t.Error(err)
		}
	})
}

// newBackend returns a backend over engine that sees only what it, or another one
// of its Scope, has made, and removes that when the test ends. It is in /workspace
// and on no network unless cfg says otherwise.
func newBackend(t *testing.T, engine *engines.Engine, cfg docker.Config) *docker.Backend {
	t.Helper()
	fresh := cfg.Scope == ""
	if fresh {
		cfg.Scope = unique()
		engine.LeavesNothing(t, engines.Made{Label: docker.LabelScope + "=" + cfg.Scope})
	}
	if cfg.Image == "" {
		cfg.Image = engine.Busybox
	}
	if cfg.WorkingDir == "" {
		cfg.WorkingDir = "/workspace"
	}
	if cfg.Options.Network == "" {
		cfg.Options.Network = "none"
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if cfg.Client == nil {
		c, err := client.NewClientWithOpts(client.WithHost(engine.Host), client.WithAPIVersionNegotiation())
		if err != nil {
			t.Fatal(err)
		}
		cfg.Client = c
	}
	open := docker.New
	if engine.Provider == podman.Provider {
		open = podman.New
	}
	b, err := open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	if fresh {
		t.Cleanup(func() { destroyAll(t, engine, cfg.Scope) })
	}
	return b
}

// destroyAll removes the containers of a scope.
func destroyAll(t *testing.T, engine *engines.Engine, scope string) {
	t.Helper()
	c, err := client.NewClientWithOpts(client.WithHost(engine.Host), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Error(err)
		return
	}
	b, err := docker.New(context.Background(), docker.Config{Client: c, Provider: engine.Provider, Scope: scope})
	if err != nil {
		t.Error(err)
		return
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	list, err := b.List(context.Background())
	if err != nil {
		t.Errorf("what the test made cannot be listed: %v", err)
	}
	for _, info := range list {
		if err := b.Destroy(context.Background(), info.Ref); err != nil {
			t.Errorf("what the test made cannot be removed: %v", err)
		}
	}
}

func unique() string {
	var random [6]byte
	_, _ = rand.Read(random[:])
	return hex.EncodeToString(random[:])
}
