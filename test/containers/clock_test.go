package containers

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// TestClockThatJumps works with a program and an agent whose clocks jump by a year,
// back and forth, 20 times a second. What is measured keeps its length, and
// nothing fails or hangs for it.
func TestClockThatJumps(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the programs with another standard library")
	}
	program, guest := jumping(t)
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		prune := func() {
			cmd := exec.Command(program, "workspaces", "prune", "--stopped-for=24h")
			cmd.Env, cmd.Dir = environment(t, e), "/"
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("prune: %v: %s", err, out)
			}
		}
		t.Cleanup(prune) // of the volume with this agent
		name := named(t, e)
		s := launch{engine: e, flags: []string{"--name=" + name, "--network=none", "--guest=" + guest, "--log-level=debug"}, adjust: func(cmd *exec.Cmd) { cmd.Path = program }}.start(t)
		s.must(t, "write_file", args{"path": "f", "content": "one\ntwo\n"})
		s.must(t, "edit_file", args{"path": "f", "old_string": "one", "new_string": "1"})
		if got := s.must(t, "read_file", args{"path": "f"}); !strings.Contains(got, "1\t1") {
			t.Errorf("the file reads %q", got)
		}
		s.must(t, "grep", args{"pattern": "two"})
		s.must(t, "glob", args{"pattern": "*"})
		s.must(t, "ls", nil)
		took := func(what string, least, most time.Duration, call func()) {
			begun := time.Now()
			call()
			if took := time.Since(begun); took < least || took > most {
				t.Errorf("%s took %v", what, took)
			}
		}
		took("a command of 2 s", 2*time.Second, 30*time.Second, func() { s.run(t, "sleep 2") })
		took("a command that is stopped after 2 s", 2*time.Second, 30*time.Second, func() {
			if got := s.call(t, "execute", args{"command": "sleep 1000", "timeout": 2}); got.code != "timeout" || got.exit != 124 {
				t.Errorf("it ended with %+v", got)
			}
		})
		took("20 s of silence, through pings", 20*time.Second, 60*time.Second, func() { s.run(t, "sleep 20") })
		// A session that breaks is made anew.
		if err := endAgents(t.Context(), e, "mcpws-"+name); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the workspace works", func() bool { return !s.call(t, "ls", nil).failed })
		s.end(t)
		years := map[string]bool{}
		for _, m := range regexp.MustCompile(`time=([0-9]{4})`).FindAllStringSubmatch(s.said.String(), -1) {
			years[m[1]] = true
		}
		if len(years) < 2 {
			t.Errorf("its clock did not jump: it knew the years %v", years)
		}

		// What has just stopped has not been stopped for a day.
		second := 1
		if err := e.Client(t).ContainerStop(t.Context(), "mcpws-"+name, container.StopOptions{Timeout: &second}); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			prune()
		}
		if found := made(t, e, docker.LabelName, name); len(found) != 1 {
			t.Errorf("there are %d containers", len(found))
		}
	})
}

// jumping builds the server and the agent with a standard library in which the
// clock jumps. What measures by the clock that only goes on is not to notice.
func jumping(t *testing.T) (program, guest string) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(strings.TrimSpace(string(out)), "src", "time", "time.go")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	const before, after = "\tmono -= startNano\n\tsec +=", "\tmono -= startNano\n\tsec += (mono/50e6%3-1)*365*86400\n\tsec +="
	if n := strings.Count(string(text), before); n != 1 {
		t.Fatalf("time.Now of this version of Go is another one: %q is there %d times", before, n)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json")
	writeFile(t, changed, strings.Replace(string(text), before, after, 1))
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{source: changed}})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, overlay, string(replace))
	root, err := testenv.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mcp-workspace", "mcp-workspace-guest"} {
		cmd := exec.Command("go", "build", "-trimpath", "-overlay", overlay, "-o", dir, "./cmd/"+name)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatal(fmt.Errorf("go build %s: %w\n%s", name, err, out))
		}
	}
	return filepath.Join(dir, "mcp-workspace"), filepath.Join(dir, "mcp-workspace-guest")
}
