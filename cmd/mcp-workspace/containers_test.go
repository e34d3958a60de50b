package main

import (
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

func TestWhereCommandsStart(t *testing.T) {
	t.Parallel()
	for backend, start := range map[string]func(testing.TB) *engines.Engine{"docker": engines.Docker, "podman": engines.Podman} {
		t.Run(backend, func(t *testing.T) {
			e := start(t)
			dir := t.TempDir()
			plain := writeFile(t, dir, "plain.yaml", "runtimes:\n  plain: {image: \""+e.Debian+"\"}\n  placed: {image: \""+e.Debian+"\", working_dir: /placed}\n")
			empty := writeFile(t, dir, "empty.yaml", "working-dir: \"\"\n")
			for _, c := range []struct {
				name string
				args []string
				env  []string
				want string
			}{
				{"an image", []string{"--image", e.Debian}, nil, "/workspace"},
				{"the image's own", []string{"--image", e.Debian, "--working-dir", ""}, nil, "/"},
				{"the image's own, by the environment", []string{"--image", e.Debian}, []string{"MCP_WORKSPACE_WORKING_DIR="}, "/"},
				{"the image's own, by the file", []string{"--image", e.Debian, "--config", empty}, nil, "/"},
				{"an image as a runtime", []string{"--runtime", "plain", "--config", plain}, nil, "/workspace"},
				{"an image as a runtime with a directory", []string{"--runtime", "placed", "--config", plain}, nil, "/placed"},
				{"a runtime, and another directory", []string{"--runtime", "placed", "--config", plain, "--working-dir", "/elsewhere"}, nil, "/elsewhere"},
			} {
				got := program{
					args: append([]string{"call", "execute", "command=pwd", "--backend", backend, "--network", "none", "--destroy-on-exit"}, c.args...),
					env:  append(e.Env(), c.env...),
				}.run(t)
				if got.code != 0 || strings.TrimSpace(got.stdout) != c.want {
					t.Errorf("%s: commands start in %+v, want %s", c.name, got, c.want)
				}
			}
		})
	}
}
