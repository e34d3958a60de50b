package docker_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
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
