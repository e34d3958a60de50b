package containers

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// kept makes a workspace without a name, whose file "a" reads "kept", and
// returns its ref.
func kept(t *testing.T, e *engines.Engine, dir string) (ref, id string) {
	t.Helper()
	s := start(t, e, "--working-dir="+dir, "--network=none")
	got := s.call(t, "write_file", args{"path": "a", "content": "kept"})
	if got.failed {
		t.Fatal(got.text)
	}
	t.Cleanup(func() { destroy(t, e, got.ref) })
	s.end(t)
	if !strings.Contains(s.said.String(), got.ref) {
		t.Errorf("the server did not tell how to find %s again: %s", got.ref, s.said)
	}
	return got.ref, strings.TrimPrefix(got.ref, e.Provider+":")
}

func TestARefFindsWhatIsThere(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		c := e.Client(t)
		dir := unnamed(t, e)
		ref, id := kept(t, e, dir)
		for how, before := range map[string]func(t *testing.T) error{
			"running": func(*testing.T) error { return nil },
			"stopped": func(t *testing.T) error { return c.ContainerStop(t.Context(), id, container.StopOptions{}) },
			"killed":  func(t *testing.T) error { return c.ContainerKill(t.Context(), id, "KILL") },
		} {
			t.Run(how, func(t *testing.T) {
				if err := before(t); err != nil {
					t.Fatal(err)
				}
				s := start(t, e, "--ref="+ref, "--working-dir="+dir)
				got := s.call(t, "read_file", args{"path": "a"})
				if got.failed || got.ref != ref || !strings.Contains(got.text, "kept") {
					t.Errorf("got %+v", got)
				}
				if got := s.run(t, "echo works"); got != "works" {
					t.Errorf("the command printed %q", got)
				}
			})
		}
		t.Run("paused", func(t *testing.T) {
			if err := c.ContainerPause(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			s := start(t, e, "--ref="+ref, "--working-dir="+dir)
			s.refused(t, "unavailable", "ls", nil, id+" is paused", e.Provider+" unpause "+id)
			if err := c.ContainerUnpause(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			s.must(t, "read_file", args{"path": "a"})
		})
		if found := made(t, e, docker.LabelWorkingDir, dir); len(found) != 1 {
			t.Errorf("there are %d containers", len(found))
		}
	})
}

func TestARefOfWhatIsGoneIsUnavailable(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		dir := unnamed(t, e)
		ref, id := kept(t, e, dir)
		connected := start(t, e, "--ref="+ref, "--working-dir="+dir)
		connected.must(t, "ls", nil)
		if err := e.Client(t).ContainerRemove(t.Context(), id, container.RemoveOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		late := start(t, e, "--ref="+ref, "--working-dir="+dir)
		for what, s := range map[string]*server{"connected": connected, "not connected yet": late} {
			for range 3 {
				got := s.call(t, "ls", nil)
				if got.code != "unavailable" || !strings.Contains(got.text, "gone") {
					t.Errorf("%s: answered %+v", what, got)
				}
				s.refused(t, "unavailable", "execute", args{"command": "true"})
			}
		}
		if found := made(t, e, docker.LabelWorkingDir, dir); len(found) != 0 {
			t.Errorf("there are %d containers", len(found))
		}
		refusal(t, command(t, e, "workspaces", "inspect", ref), ref, "gone")
		destroy(t, e, ref) // is no error
	})
}

func TestDestroyOnExitRemovesTheContainer(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		c := e.Client(t)
		for how, end := range map[string]func(t *testing.T, s *server, id string){
			"the client closes":  func(*testing.T, *server, string) {},
			"SIGTERM":            terminate,
			"SIGTERM in a call":  terminateInACall,
			"it is gone already": func(t *testing.T, _ *server, id string) { remove(t, e, id) },
			"it is stopped": func(t *testing.T, _ *server, id string) {
				if err := c.ContainerStop(t.Context(), id, container.StopOptions{}); err != nil {
					t.Fatal(err)
				}
			},
			"it is paused": func(t *testing.T, _ *server, id string) {
				if err := c.ContainerPause(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			},
		} {
			t.Run(how, func(t *testing.T) {
				dir := unnamed(t, e)
				s := start(t, e, "--working-dir="+dir, "--network=none", "--destroy-on-exit")
				ref := s.call(t, "ls", nil).ref
				end(t, s, strings.TrimPrefix(ref, e.Provider+":"))
				s.end(t)
				if s.cmd.ProcessState.ExitCode() != 0 || s.said.String() != "" {
					t.Errorf("the server ended with %v and said: %s", s.cmd.ProcessState, s.said)
				}
				if found := made(t, e, docker.LabelWorkingDir, dir); len(found) != 0 {
					t.Errorf("there are %d containers", len(found))
				}
			})
		}
		t.Run("its first opening fails", func(t *testing.T) {
			name := named(t, e)
			s := start(t, e, "--name="+name, "--network=none", "--working-dir=/etc/passwd", "--destroy-on-exit")
			for range 2 {
				s.refused(t, "not_directory", "ls", nil, "/etc/passwd")
			}
			s.end(t)
			if found := made(t, e, docker.LabelName, name); len(found) != 0 {
				t.Errorf("there are %d containers", len(found))
			}
		})
		t.Run("a connection that used no tool leaves what is there", func(t *testing.T) {
			name := named(t, e)
			flags := []string{"--name=" + name, "--network=none"}
			start(t, e, flags...).must(t, "ls", nil)
			start(t, e, append(flags, "--destroy-on-exit")...).end(t)
			if found := made(t, e, docker.LabelName, name); len(found) != 1 {
				t.Errorf("there are %d containers", len(found))
			}
		})
	})
}

func remove(t *testing.T, e *engines.Engine, id string) {
	t.Helper()
	if err := e.Client(t).ContainerRemove(t.Context(), id, container.RemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
		t.Fatal(err)
	}
}

func terminate(t *testing.T, s *server, _ string) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// terminateInACall ends the server while a command runs.
func terminateInACall(t *testing.T, s *server, _ string) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if got, err := s.try(context.WithoutCancel(t.Context()), "execute", args{"command": "touch begun; exec sleep 1000"}); err == nil && got.code == "" {
			t.Errorf("the command of a server that was ended answered %+v", got)
		}
	}()
	eventually(t, "the command has begun", func() bool { return !s.call(t, "read_file", args{"path": "begun"}).failed })
	terminate(t, s, "")
	<-ended
}

// TestAWorkspaceThatIsPaused while it is used holds up no call for long.
func TestAWorkspaceThatIsPaused(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		name := named(t, e)
		s := start(t, e, "--name="+name, "--network=none")
		s.must(t, "ls", nil)
		c := e.Client(t)
		if err := c.ContainerPause(t.Context(), "mcpws-"+name); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		s.refused(t, "unavailable", "ls", nil, "is paused", "unpause mcpws-"+name)
		if took := time.Since(begun); took > 40*time.Second {
			t.Errorf("it took %v to notice", took)
		} else {
			t.Logf("noticed after %v", took)
		}
		s.refused(t, "unavailable", "execute", args{"command": "true"}, "is paused")
		if err := c.ContainerUnpause(t.Context(), "mcpws-"+name); err != nil {
			t.Fatal(err)
		}
		if got := s.run(t, "echo works"); got != "works" {
			t.Errorf("the command printed %q", got)
		}
	})
}

// TestADefaultIsNotAskedFor: a workspace that was made with more than the default
// is found again without saying so, by its name and by its ref.
func TestADefaultIsNotAskedFor(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		for _, flags := range [][]string{{"--pids-limit=4096", "--network=none"}, {"--pids-limit=-1", "--network=host"}} {
			name := named(t, e)
			start(t, e, append(flags, "--name="+name)...).must(t, "ls", nil)
			for _, by := range []string{"--name=" + name, "--ref=" + refOf(e, name)} {
				s := start(t, e, by)
				s.must(t, "ls", nil)
				if s.said.String() != "" {
					t.Errorf("%v, then %s: the log says %s", flags, by, s.said)
				}
			}
		}
	})
}

// TestFlagsAreNotIgnoredOnARef any more than on a name.
func TestFlagsAreNotIgnoredOnARef(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		name := named(t, e)
		start(t, e, "--name="+name).must(t, "ls", nil)
		flags := []string{"--network=none", "--memory=64m", "--mount=" + t.TempDir() + ":/workspace"}
		for _, by := range []string{"--name=" + name, "--ref=" + refOf(e, name)} {
			start(t, e, append(flags, by)...).refused(t, "invalid_argument", "ls", nil,
				refOf(e, name)+" was made without --network none, without --memory, without a --mount at /workspace", "leave the flag out")
		}
	})
}
