package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/image"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/backends/podman"
	"github.com/mcp-workspace/mcp-workspace/runtimes"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// dockerfile is a build context.
func dockerfile(t *testing.T, text string) *bytes.Buffer {
	t.Helper()
	var context bytes.Buffer
	w := tar.NewWriter(&context)
	if err := w.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &context
}

func TestBuildsAreFollowedLineByLine(t *testing.T) { onBoth(t, testBuildsAreFollowedLineByLine) }

func testBuildsAreFollowedLineByLine(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	tag := "localhost/mcpws-test/built-" + b.Scope() + ":1"
	text := fmt.Sprintf("FROM %s\nARG WORD\nRUN echo first-$WORD && echo second && echo hello >/built\nENV OF_IMAGE=1\n", engine.Busybox)
	if has, err := b.HasImage(t.Context(), tag); err != nil || has {
		t.Fatalf("before the build, HasImage says %v, %v", has, err)
	}
	var lines []string
	with := b.WithBuildOptions(runtimes.BuildOptions{Args: map[string]string{"WORD": b.Scope()}, Network: "none"})
	err := with.Build(t.Context(), tag, dockerfile(t, text), map[string]string{"some": "label"}, func(line string) { lines = append(lines, line) })
	if err != nil {
		t.Fatalf("Build: %v\n%s", err, strings.Join(lines, "\n"))
	}
	for _, want := range []string{"first-" + b.Scope(), "second"} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in %q", want, lines)
		}
	}
	if has, err := b.HasImage(t.Context(), tag); err != nil || !has {
		t.Errorf("after the build, HasImage says %v, %v", has, err)
	}
	ws := create(t, newBackend(t, engine, docker.Config{Image: tag}), backends.Spec{})
	if got := run(t, ws, "cat /built; echo $OF_IMAGE"); got != "hello\n1" {
		t.Errorf("in a container of it: %q", got)
	}
	if err := b.Destroy(t.Context(), ws.Ref()); err != nil {
		t.Error(err)
	}
	if _, err := b.Engine().ImageRemove(t.Context(), tag, image.RemoveOptions{Force: true}); err != nil {
		t.Error(err)
	}
}

func TestFailedBuildSaysWhatTheBuilderSaid(t *testing.T) {
	onBoth(t, testFailedBuildSaysWhatTheBuilderSaid)
}

func testFailedBuildSaysWhatTheBuilderSaid(t *testing.T, engine *engines.Engine) {
	b := newBackend(t, engine, docker.Config{})
	var lines []string
	err := b.Build(t.Context(), "localhost/mcpws-test/failed-"+b.Scope()+":1",
		dockerfile(t, "FROM "+engine.Busybox+"\nRUN echo before && exit 42 # "+b.Scope()+"\n"), nil, func(line string) { lines = append(lines, line) })
	wantCode(t, "Build", err, backends.CodeUnavailable, "42")
	if !slices.Contains(lines, "before") {
		t.Errorf("no line of the command in %q", lines)
	}
}

// A build that fails or is given up leaves neither the images of its steps nor a
// container.
func TestBuildThatFailsLeavesNothing(t *testing.T) { onBoth(t, testBuildThatFailsLeavesNothing) }

func testBuildThatFailsLeavesNothing(t *testing.T, engine *engines.Engine) {
	for name, last := range map[string]string{"failed": "exit 42", "given up": "sleep 10"} {
		t.Run(name, func(t *testing.T) {
			b := newBackend(t, engine, docker.Config{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			text := fmt.Sprintf("FROM %s\nENV SCOPE=%s\nRUN echo one-%[2]s >/one\nRUN echo two-%[2]s >/two\nRUN echo last-%[2]s; %s\n", engine.Busybox, b.Scope(), last)
			var during []string
			err := b.Build(ctx, "localhost/mcpws-test/failed-"+b.Scope()+":1", dockerfile(t, text), nil, func(line string) {
				t.Log(line)
				if line == "last-"+b.Scope() {
					during = steps(t, b)
					if name == "given up" {
						cancel()
					}
				}
			})
			want := map[string]backends.Code{"failed": backends.CodeUnavailable, "given up": backends.CodeCancelled}[name]
			wantCode(t, "Build", err, want)
			if len(during) == 0 {
				t.Error("it made nothing that could be left")
			}
			if left := steps(t, b); len(left) != 0 {
				t.Errorf("it leaves %q", left)
			}
			// Podman lists those of a build only so, and the first, of an image that
			// stays, goes once the step has ended.
			list := []string{"ps", "--all", "--no-trunc", "--format", "{{.Names}} {{.Command}}"}
			if engine.Provider == podman.Provider {
				list = append(list, "--external")
			}
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
				out := engine.CLI(t, list...)
				if !strings.Contains(out, b.Scope()) && !slices.ContainsFunc(during, func(id string) bool {
					return strings.Contains(out, strings.TrimPrefix(id, "sha256:")[:12])
				}) {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("it leaves containers:\n%s", out)
				}
			}
		})
	}
}

// steps are the images that the steps of the test's build have made.
func steps(t *testing.T, b *docker.Backend) (ids []string) {
	t.Helper()
	images, err := b.Engine().ImageList(t.Context(), image.ListOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range images {
		history, err := b.Engine().ImageHistory(t.Context(), i.ID)
		if err != nil {
			continue // another test has removed it
		}
		if strings.Contains(fmt.Sprint(history), b.Scope()) {
			ids = append(ids, i.ID)
		}
	}
	return ids
}
