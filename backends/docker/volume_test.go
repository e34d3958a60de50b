package docker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// withOwnAgent is a backend with an agent that no other test has, whose volume is
// removed when the test ends.
func withOwnAgent(t *testing.T, engine *engines.Engine, image string) (b *docker.Backend, digest string) {
	t.Helper()
	b = newBackend(t, engine, docker.Config{GuestPath: ownAgent(t), Image: image})
	digest, err := b.GuestDigest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		destroyAll(t, engine, b.Scope())
		if err := b.Engine().VolumeRemove(context.Background(), docker.VolumePrefix+digest, true); err != nil {
			t.Error(err)
		}
	})
	return b, digest
}

// helpers are the containers that fill the volume of an agent.
func helpers(t *testing.T, b *docker.Backend, digest string) int {
	t.Helper()
	list, err := b.Engine().ContainerList(t.Context(), container.ListOptions{All: true, Filters: filters.NewArgs(filters.Arg("name", docker.HelperPrefix+digest))})
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestVolumeIsFilledOnceByManyAtOnce(t *testing.T) { onBoth(t, testVolumeIsFilledOnceByManyAtOnce) }

func testVolumeIsFilledOnceByManyAtOnce(t *testing.T, engine *engines.Engine) {
	b, digest := withOwnAgent(t, engine, engine.Busybox)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			ws, err := b.Create(t.Context(), backends.Spec{})
			if err != nil {
				t.Errorf("Create: %v", err)
				return
			}
			if _, err := ws.Stat(t.Context(), "."); err != nil {
				t.Errorf("Stat: %v", err)
			}
			if err := ws.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := helpers(t, b, digest); n != 0 {
		t.Errorf("%d containers that fill the volume are left", n)
	}
}

func TestHelperOfSomebodyElseIsWaitedFor(t *testing.T) {
	onBoth(t, testHelperOfSomebodyElseIsWaitedFor)
}

func testHelperOfSomebodyElseIsWaitedFor(t *testing.T, engine *engines.Engine) {
	b, digest := withOwnAgent(t, engine, engine.Busybox)
	name := docker.HelperPrefix + digest
	made, err := b.Engine().ContainerCreate(t.Context(), &container.Config{Image: engine.Busybox, Cmd: []string{"/bin/sh"}, Labels: map[string]string{docker.LabelHelper: "true"}},
		&container.HostConfig{NetworkMode: "none"}, nil, nil, name)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		ws, err := b.Create(t.Context(), backends.Spec{})
		if err == nil {
			err = ws.Close()
		}
		done <- err
	}()
	// Its container is there before it can be waiting.
	for list, err := b.List(t.Context()); len(list) == 0; list, err = b.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-done:
		t.Fatalf("Create did not wait: %v", err)
	default:
	}
	if err := b.Engine().ContainerRemove(t.Context(), made.ID, container.RemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("Create: %v", err)
	}
}

// A helper that was left over before the engine's clock was set back seems to be
// from the future, and is not waited for until then.
func TestHelperFromTheFutureIsRemoved(t *testing.T) {
	onBoth(t, testHelperFromTheFutureIsRemoved)
}

func testHelperFromTheFutureIsRemoved(t *testing.T, engine *engines.Engine) {
	docker.SetStaleHelper(t, 2*time.Second)
	b, digest := withOwnAgent(t, yearBefore(t, engine), engine.Busybox)
	_, err := b.Engine().ContainerCreate(t.Context(), &container.Config{Image: engine.Busybox, Cmd: []string{"/bin/sh"}, Labels: map[string]string{docker.LabelHelper: "true"}},
		&container.HostConfig{NetworkMode: "none"}, nil, nil, docker.HelperPrefix+digest)
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, create(t, b, backends.Spec{}), "echo works"); got != "works" {
		t.Errorf("a command says %q", got)
	}
	if n := helpers(t, b, digest); n != 0 {
		t.Errorf("%d containers that fill the volume are left", n)
	}
}

// yearBefore is an engine whose clock is a year behind those that made what is
// there.
func yearBefore(t *testing.T, engine *engines.Engine) *engines.Engine {
	t.Helper()
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "engine"
		},
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(engine.Host, "unix://"))
		}},
		ModifyResponse: func(r *http.Response) error {
			if !strings.HasSuffix(r.Request.URL.Path, "/info") {
				return nil
			}
			defer r.Body.Close()
			var info map[string]any
			if err := json.NewDecoder(r.Body).Decode(&info); err != nil {
				return err
			}
			info["SystemTime"] = time.Now().AddDate(-1, 0, 0).Format(time.RFC3339Nano)
			data, err := json.Marshal(info)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
			r.Header.Set("Content-Length", strconv.Itoa(len(data)))
			return err
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	slow := *engine
	slow.Host = "tcp://" + server.Listener.Addr().String()
	return &slow
}

func TestContainerInTheHelpersPlaceIsLeftAlone(t *testing.T) {
	onBoth(t, testContainerInTheHelpersPlaceIsLeftAlone)
}

func testContainerInTheHelpersPlaceIsLeftAlone(t *testing.T, engine *engines.Engine) {
	b, digest := withOwnAgent(t, engine, engine.Busybox)
	createForeign(t, b, docker.HelperPrefix+digest, engine.Busybox)
	_, err := b.Create(t.Context(), backends.Spec{})
	wantCode(t, "Create", err, backends.CodeUnavailable, docker.HelperPrefix+digest)
	if n := helpers(t, b, digest); n != 1 {
		t.Errorf("there are %d containers of that name, want the foreign one", n)
	}
	if list, err := b.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("left %+v, %v", list, err)
	}
}

func TestUnusedVolumesArePruned(t *testing.T) { onBoth(t, testUnusedVolumesArePruned) }

func testUnusedVolumesArePruned(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{GuestPath: ownAgent(t)})
	digest, err := b.GuestDigest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ws := create(t, b, backends.Spec{})
	there := func() bool {
		_, err := b.Engine().VolumeInspect(t.Context(), docker.VolumePrefix+digest)
		if err != nil && !docker.IsGone(err) {
			t.Fatal(err)
		}
		return err == nil
	}
	if _, err := b.Prune(t.Context(), docker.Prune{}); err != nil || !there() {
		t.Errorf("Prune took a volume that is in use (%v)", err)
	}
	if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Prune(t.Context(), docker.Prune{}); err != nil || there() {
		t.Errorf("Prune left a volume that nobody uses (%v)", err)
	}
}
