package containers

import (
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// forks makes processes as long as it can, and goes on when it cannot. With an
// argument it does so in the background. (A shell's fork bomb is denied by every
// preset.)
const forks = `import os, sys, time
if len(sys.argv) > 1 and os.fork():
    os._exit(0)
while True:
    try:
        os.fork()
    except OSError as e:
        print(e, flush=True)
        time.sleep(0.2)
`

func TestTooManyProcesses(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		name := named(t, e)
		id := "mcpws-" + name
		flags := []string{"--name=" + name, "--network=none", "--pids-limit=64"}
		s := start(t, e, flags...)
		s.must(t, "write_file", args{"path": "forks.py", "content": forks})
		t.Run("end with their command", func(t *testing.T) {
			got := s.call(t, "execute", args{"command": "python3 forks.py", "timeout": 3})
			switch {
			case got.code == "timeout" && strings.Contains(got.text, "Resource temporarily unavailable") && strings.Contains(got.text, "stopped after 3 s"):
			case got.code == "unavailable": // the agent itself was refused a thread, and ended
			default:
				t.Errorf("answered with the code %q: %.500s", got.code, got.text)
			}
			if got := s.run(t, "echo works; pgrep -c python3 || true"); got != "works\n0" {
				t.Errorf("afterwards a command printed %q", got)
			}
		})
		t.Run("in the background hold up commands only", func(t *testing.T) {
			s.run(t, "python3 forks.py background >/dev/null 2>&1")
			eventually(t, "a command is told that there are too many processes", func() bool {
				if got := s.call(t, "read_file", args{"path": "forks.py"}); got.failed && got.code != "unavailable" { // the agent may not find room either
					t.Errorf("a file is read with the code %q: %s", got.code, got.text)
				}
				got := s.call(t, "execute", args{"command": "echo works", "timeout": 20})
				if got.text != "works" && got.code == "" {
					t.Errorf("a failure without a code: %+v", got)
				}
				return strings.Contains(got.text, "cannot start another process") || strings.Contains(got.text, "limit of processes")
			})
			s.end(t)
			// What was put into the background goes on, and leaves no room for what
			// would end it; the engine can.
			next := start(t, e, flags...)
			if got := next.call(t, "execute", args{"command": "echo works", "timeout": 20}); got.text != "works" && got.code != "unavailable" && !strings.Contains(got.text, "process") {
				t.Errorf("answered %+v", got)
			}
			e.CLI(t, "restart", id)
			eventually(t, "a command works", func() bool {
				return next.call(t, "execute", args{"command": "pgrep -c python3; cat forks.py"}).text == "0\n"+strings.TrimSpace(forks)
			})
		})
	})
}

func TestTooMuchMemory(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		name := named(t, e)
		s := start(t, e, "--name="+name, "--network=none", "--memory=96m")
		got := s.call(t, "execute", args{"command": "python3 -c 'x = bytearray(500 << 20); print(len(x))'"})
		if got.exit != 137 {
			t.Errorf("the command was answered with %+v", got)
		}
		s.must(t, "write_file", args{"path": "a", "content": "works"})
		if got := s.run(t, "cat a"); got != "works" {
			t.Errorf("afterwards a command printed %q", got)
		}
		// That a command was killed for it says nothing of the container's own end.
		ended := make(chan answer)
		go func() {
			got, err := s.try(t.Context(), "execute", args{"command": "touch begun; exec sleep 1000"})
			if err != nil {
				got.text = err.Error()
			}
			ended <- got
		}()
		eventually(t, "the command has begun", func() bool { return !s.call(t, "read_file", args{"path": "begun"}).failed })
		if err := e.Client(t).ContainerStop(t.Context(), "mcpws-"+name, container.StopOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := <-ended; got.code != "unavailable" || strings.Contains(got.text, "memory") {
			t.Errorf("the call in flight was answered with %+v", got)
		}
		if got := command(t, e, "workspaces", "inspect", refOf(e, name)); got.code != 0 || !strings.Contains(got.stdout, "exit code") || strings.Contains(got.stdout, "want of memory") {
			t.Errorf("inspect ended with %d and printed %s%s", got.code, got.stdout, got.stderr)
		}
	})
}
