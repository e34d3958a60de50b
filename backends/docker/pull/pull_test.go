package pull_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker/pull"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// removed has an image removed from the engine when the test ends.
func removed(t *testing.T, cli *client.Client, ref string) {
	t.Helper()
	t.Cleanup(func() {
		_, err := cli.ImageRemove(context.WithoutCancel(t.Context()), ref, image.RemoveOptions{Force: true, PruneChildren: true})
		if err != nil && !errdefs.IsNotFound(err) {
			t.Errorf("removing %s: %v", ref, err)
		}
	})
}

func TestAFailedPullSaysWhy(t *testing.T) {
	engine := engines.Docker(t)
	cli := engine.Client(t)
	registry := startRegistry(t, &server{})
	there := registry.push(t, "thing", "s390x", 2000, 1)
	limited := startRegistry(t, &server{guard: func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, `{"errors":[{"code":"TOOMANYREQUESTS","message":"You have reached your pull rate limit"}]}`, http.StatusTooManyRequests)
		return false
	}})
	gone, err := client.NewClientWithOpts(client.WithHost("unix://" + filepath.Join(t.TempDir(), "gone.sock")))
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	for _, c := range []struct {
		name     string
		cli      *client.Client
		ref      string
		platform string
		code     backends.Code
		says     []string
	}{
		{"the repository is not there", cli, registry.host + "/nothing:1", "", backends.CodeNotFound, []string{"check its name", registry.host}},
		{"the tag is not there", cli, strings.TrimSuffix(there, ":1") + ":2", "", backends.CodeNotFound, []string{"check its name and tag", registry.host}},
		{"it is for other machines", cli, there, "", backends.CodeUnsupported, []string{"not made for the engine's kind of machine"}},
		{"it is for other machines than asked", cli, there, "linux/riscv64", backends.CodeUnsupported, []string{"linux/riscv64"}},
		{"nothing listens there", cli, "127.0.0.1:1/thing:1", "", backends.CodeUnavailable, []string{"127.0.0.1:1 cannot be reached", "check the network"}},
		{"the registry's name is unknown", cli, "registry.invalid/thing:1", "", backends.CodeUnavailable, []string{"registry.invalid cannot be reached"}},
		{"the registry asks to wait", cli, limited.host + "/thing:1", "", backends.CodeUnavailable, []string{"refuses more downloads for now", "wait"}},
		{"the name is none", cli, "Not A Name", "", backends.CodeInvalidArgument, []string{`"Not A Name"`, "python:3.12-slim"}},
		{"the engine is gone", gone, there, "", backends.CodeUnavailable, []string{"engine was lost"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := pull.Credentials{}.Image(t.Context(), c.cli, c.ref, c.platform, nil)
			if backends.CodeOf(err) != c.code {
				t.Fatalf("code %q, want %q: %v", backends.CodeOf(err), c.code, err)
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in: %v", part, err)
				}
			}
		})
	}
}

func TestPodmanSaysWhyAPullFailed(t *testing.T) {
	cli := engines.Podman(t).Client(t)
	plain := startRegistry(t, &server{})
	for _, c := range []struct {
		name string
		ref  string
		says string
	}{
		{"nothing listens there", "127.0.0.1:1/thing:1", "cannot be reached"},
		{"the registry speaks no TLS", plain.host + "/thing:1", "insecure-registries"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := pull.Credentials{}.Image(t.Context(), cli, c.ref, "", nil)
			if backends.CodeOf(err) != backends.CodeUnavailable || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestProgressIsAFewShortLines(t *testing.T) {
	cli := engines.Docker(t).Client(t)
	registry := startRegistry(t, &server{slow: 100 * time.Millisecond})
	ref := registry.push(t, "slow", runtime.GOARCH, 1<<20, 3)
	removed(t, cli, ref)
	var lines []string
	var at []time.Time
	err := pull.Credentials{}.Image(t.Context(), cli, ref, "", func(line string) {
		lines, at = append(lines, line), append(at, time.Now())
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) < 4 || lines[0] != "pulling "+ref || lines[len(lines)-1] != "pulled "+ref+": 3 layers, 3 MB" {
		t.Fatalf("lines: %q", lines)
	}
	form := regexp.MustCompile(`^pulling \S+: [0-3] of [123] layers?(, \d+ of \d+ [kM]B)?$`)
	var sized bool
	for i, line := range lines[1 : len(lines)-1] {
		sized = sized || strings.HasSuffix(line, " of 3 MB")
		if !form.MatchString(line) {
			t.Errorf("line %q", line)
		}
		// Ticks may come a little late, so the next may seem a little early.
		if gap := at[i+1].Sub(at[i]); i > 0 && gap < 150*time.Millisecond {
			t.Errorf("%v between %q and %q", gap, lines[i], line)
		}
	}
	if !sized {
		t.Errorf("no line has the size: %q", lines)
	}

	t.Run("and one more when nothing is to be fetched", func(t *testing.T) {
		var last string
		if err := (pull.Credentials{}).Image(t.Context(), cli, ref, "", func(line string) { last = line }); err != nil {
			t.Fatal(err)
		}
		if last != "pulled "+ref {
			t.Errorf("the last line is %q", last)
		}
	})
}

func TestCancellingEndsTheDownload(t *testing.T) {
	cli := engines.Docker(t).Client(t)
	registry := startRegistry(t, &server{slow: time.Second})
	ref := registry.push(t, "endless", runtime.GOARCH, 20<<20, 1)
	removed(t, cli, ref)
	ctx, cancel := context.WithCancel(t.Context())
	var lines int
	result := make(chan error, 1)
	go func() {
		result <- pull.Credentials{}.Image(ctx, cli, ref, "", func(string) { lines++ })
	}()
	wait(t, registry.begun, "the layer to begin")
	cancel()
	select {
	case err := <-result:
		if backends.CodeOf(err) != backends.CodeCancelled {
			t.Errorf("got %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the pull goes on")
	}
	told := lines // a line after the end would also be found by the race detector
	wait(t, registry.ended, "the engine to stop fetching")
	if lines != told {
		t.Error("progress was told after the end")
	}
}

// cutter passes connections on to an engine until it is told to cut them.
func cutter(t *testing.T, engine *engines.Engine) (host string, cut func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var open []net.Conn
	var all sync.WaitGroup
	cut = func() {
		_ = listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, conn := range open {
			_ = conn.Close()
		}
	}
	all.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return // cut
			}
			far, err := net.Dial("unix", strings.TrimPrefix(engine.Host, "unix://"))
			if err != nil {
				_ = near.Close()
				continue
			}
			mu.Lock()
			open = append(open, near, far)
			mu.Unlock()
			all.Go(func() { _, _ = io.Copy(near, far) })
			all.Go(func() { _, _ = io.Copy(far, near) })
		}
	})
	t.Cleanup(func() {
		cut()
		all.Wait()
	})
	return "tcp://" + listener.Addr().String(), cut
}

func TestAnEngineLostHalfWayIsNotTakenForTheRegistry(t *testing.T) {
	engine := engines.Docker(t)
	registry := startRegistry(t, &server{slow: time.Second})
	ref := registry.push(t, "lost", runtime.GOARCH, 20<<20, 1)
	removed(t, engine.Client(t), ref)
	host, cut := cutter(t, engine)
	cli, err := client.NewClientWithOpts(client.WithHost(host), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	defer cli.Close()
	result := make(chan error, 1)
	go func() { result <- pull.Credentials{}.Image(t.Context(), cli, ref, "", nil) }()
	wait(t, registry.begun, "the layer to begin")
	cut()
	select {
	case err := <-result:
		if backends.CodeOf(err) != backends.CodeUnavailable || !strings.Contains(err.Error(), "engine was lost") {
			t.Errorf("got %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the pull goes on")
	}
}

func wait(t *testing.T, event <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-event:
	case <-time.After(20 * time.Second):
		t.Fatalf("waited in vain for %s", what)
	}
}
