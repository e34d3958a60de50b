package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"

	"github.com/mcp-workspace/mcp-workspace/runtimes"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

const ownRuntimes = `
runtimes:
  go: {image: "golang:1.26"}
  mine:
    description: Ours
    base: python:3.13-slim
    packages: {pip: [six]}
    working_dir: /mine
    build_args: {PIP_INDEX_URL: "https://user:secret@index.example/simple"}
`

func TestRuntimesList(t *testing.T) {
	t.Parallel()
	config := "--config=" + writeFile(t, t.TempDir(), "x.yaml", ownRuntimes)
	lines := strings.Split(strings.TrimSuffix(run(t, "runtimes", "list", config), "\n"), "\n")
	if want := len(runtimes.Catalogue()) + 2; len(lines) != want {
		t.Errorf("there are %d lines, want %d", len(lines), want)
	}
	for _, want := range []string{"NAME IMAGE DIRECTORY DESCRIPTION", "go golang:1.26 /workspace -", "mine built on python:3.13-slim /mine Ours", "python-minimal python:3.12-slim /workspace Python 3.12 and its standard library"} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.Join(strings.Fields(line), " ") == want }) {
			t.Errorf("no line is %q:\n%s", want, strings.Join(lines, "\n"))
		}
	}

	text := run(t, "runtimes", "list", "--json", config)
	var found []listedRuntime
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(found, func(r listedRuntime) bool { return r.Name == "mine" })
	if i < 0 || len(found) != len(lines)-1 || !strings.HasPrefix(found[i].Image, "mcp-workspace/runtime-mine:") || !slices.Equal(found[i].Packages.Pip, []string{"six"}) || !slices.Equal(found[i].BuildArgs, []string{"PIP_INDEX_URL"}) {
		t.Errorf("the JSON is %s", text)
	}
	if strings.Contains(text, "secret") {
		t.Errorf("the JSON tells a password: %s", text)
	}
}

func TestRuntimesMistakes(t *testing.T) {
	t.Parallel()
	wrong := writeFile(t, t.TempDir(), "x.yaml", "runtimes:\n  x:\n    bose: y\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"list", "x"}, `"x" is not expected`},
		{[]string{"list", "--config=" + wrong}, wrong + `:3: runtimes: x: there is no key "bose"; did you mean "base"?`},
		{[]string{"build"}, "build takes the name of one runtime"},
		{[]string{"build", "pyhton-web"}, `there is no runtime "pyhton-web"; did you mean "python-web"?`},
		{[]string{"build", "go", "--backend=state"}, "--backend is state, which has no images; the backends that have are docker, podman"},
	} {
		got := program{args: append([]string{"runtimes"}, c.args...)}.run(t)
		if got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, c.want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%q answered %+v, want %q", c.args, got, c.want)
		}
	}
}

func TestRuntimesBuild(t *testing.T) {
	t.Parallel()
	for backend, start := range map[string]func(testing.TB) *engines.Engine{"docker": engines.Docker, "podman": engines.Podman} {
		t.Run(backend, func(t *testing.T) {
			e := start(t)
			client := e.Client(t)
			name := e.UniqueName(t, "test-")
			file := writeFile(t, t.TempDir(), "x.yaml", "runtimes:\n  "+name+":\n    base: "+e.Busybox+"\n    setup: echo hello\n")
			build := func(args ...string) outcome {
				args = append([]string{"runtimes", "build", name, "--config=" + file, "--backend=" + backend}, args...)
				return program{args: args, env: append(e.Env(), asProgram+"=1")}.run(t)
			}
			got := build()
			ref := strings.TrimSuffix(got.stdout, "\n")
			t.Cleanup(func() {
				if _, err := client.ImageRemove(context.Background(), ref, image.RemoveOptions{Force: true, PruneChildren: true}); err != nil {
					t.Error(err)
				}
			})
			if got.code != 0 || !strings.HasPrefix(ref, "mcp-workspace/runtime-"+name+":") || !strings.Contains(got.stderr, "step 3/3: running its setup command \"echo hello\"\nhello\n") {
				t.Fatalf("it answered %+v", got)
			}
			if _, err := client.ImageInspect(t.Context(), ref); err != nil {
				t.Error(err)
			}
			if again := build("--json"); again.code != 0 || again.stderr != "" || again.stdout != "{\n  \"name\": \""+name+"\",\n  \"image\": \""+ref+"\"\n}\n" {
				t.Errorf("the second time it answered %+v", again)
			}
		})
	}
}
