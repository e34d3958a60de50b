package docker_test

import (
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

func TestWholeOutputIsKeptWhereOneMayWrite(t *testing.T) {
	onBoth(t, testWholeOutputIsKeptWhereOneMayWrite)
}

func testWholeOutputIsKeptWhereOneMayWrite(t *testing.T, engine *engines.Engine) {
	for _, c := range []struct {
		name  string
		flags docker.Flags
		dir   string
		where string // "" is nowhere
	}{
		{"as usual", docker.Flags{}, "/workspace", "/tmp/.mcp-workspace-0/output/"},
		{"a read-only /tmp", docker.Flags{ReadOnly: true, Tmpfs: []string{"/workspace", "/tmp:ro"}}, "/workspace", "/workspace/.mcp-workspace/output/"},
		{"another user", docker.Flags{User: "1234", Tmpfs: []string{"/tmp:ro"}}, "/workspace", "/workspace/.mcp-workspace/output/"},
		{"nowhere", docker.Flags{User: "1234", Tmpfs: []string{"/tmp:ro"}}, "/etc", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			options, err := c.flags.Parse()
			if err != nil {
				t.Fatal(err)
			}
			ws := create(t, newBackend(t, engine, docker.Config{Options: options, WorkingDir: c.dir}), backends.Spec{})
			exit, err := ws.Run(t.Context(), backends.Command{Script: "seq 1000", KeepAbove: 100})
			if err != nil || exit.Code != 0 {
				t.Fatalf("%+v, %v", exit, err)
			}
			if c.where == "" {
				if exit.OutputFile != "" || !strings.Contains(exit.NotKept, "/tmp/") || !strings.Contains(exit.NotKept, "/etc/") || !strings.Contains(exit.NotKept, "read-only") || !strings.Contains(exit.NotKept, "permission denied") {
					t.Errorf("kept in %q, because %q", exit.OutputFile, exit.NotKept)
				}
				return
			}
			if !strings.HasPrefix(exit.OutputFile, c.where) || exit.NotKept != "" {
				t.Fatalf("kept in %q (%q), want a file in %s", exit.OutputFile, exit.NotKept, c.where)
			}
			if got := run(t, ws, "wc -l <"+exit.OutputFile); got != "1000" {
				t.Errorf("the file has %s lines", got)
			}
		})
	}
}
