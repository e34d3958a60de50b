package containers

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// TestANameAskedForTwiceAtOnceIsOneContainer, over and over: the race is lost
// at another place each time.
func TestANameAskedForTwiceAtOnceIsOneContainer(t *testing.T) {
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		for round := range rounds {
			t.Run(fmt.Sprint("round ", round), func(t *testing.T) {
				name := named(t, e)
				clients := []*server{start(t, e, "--name="+name, "--network=none"), start(t, e, "--name="+name, "--network=none")}
				answers := make([]answer, len(clients))
				var calls sync.WaitGroup
				for i, s := range clients {
					calls.Go(func() {
						var err error
						if answers[i], err = s.try(t.Context(), "write_file", args{"path": fmt.Sprint(i), "content": "x"}); err != nil {
							t.Errorf("client %d had no answer: %v; the server said: %s", i, err, s.said)
						}
					})
				}
				calls.Wait()
				for i, got := range answers {
					if got.failed || got.ref != refOf(e, name) {
						t.Errorf("client %d was answered %+v", i, got)
					}
				}
				if found := made(t, e, docker.LabelName, name); len(found) != 1 {
					t.Errorf("there are %d containers", len(found))
				}
				for i, s := range clients {
					if got := s.must(t, "ls", nil); !strings.Contains(got, "0") || !strings.Contains(got, "1") {
						t.Errorf("client %d sees: %s", i, got)
					}
				}
			})
		}
	})
}

func TestAKilledServerLeavesItsWorkspaceToTheNext(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		flags := []string{"--name=" + named(t, e), "--network=none"}
		first := start(t, e, flags...)
		first.must(t, "write_file", args{"path": "notes.txt", "content": "kept"})
		// It is killed in the middle of a command and of an edit.
		begun := make(chan struct{})
		var call sync.WaitGroup
		call.Go(func() {
			close(begun)
			if got, err := first.try(t.Context(), "execute", args{"command": "touch begun; exec sleep 1000"}); err == nil {
				t.Errorf("a killed server answered %+v", got)
			}
		})
		<-begun
		eventually(t, "the command has begun", func() bool { return !first.call(t, "read_file", args{"path": "begun"}).failed })
		first.kill(t)
		call.Wait()

		next := start(t, e, flags...)
		if got := next.must(t, "read_file", args{"path": "notes.txt"}); !strings.Contains(got, "kept") {
			t.Errorf("the next server reads %q", got)
		}
		// What the killed one ran has been stopped, and its agent is gone.
		eventually(t, "only the agents of process 1 and of this session run", func() bool {
			return next.run(t, "pgrep -c sleep; pgrep -cf 'mcp-workspace-guest (init|serve)'; true") == "0\n2"
		})
	})
}

// TestTwoServersEditOneFileInTurns: every edit finds what the other has left.
func TestTwoServersEditOneFileInTurns(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		flags := []string{"--name=" + named(t, e), "--network=none"}
		servers := []*server{start(t, e, flags...), start(t, e, flags...)}
		servers[0].must(t, "write_file", args{"path": "n", "content": "count 0\n"})
		const turns = 30
		for n := range turns {
			s := servers[n%2]
			s.must(t, "read_file", args{"path": "n"})
			s.must(t, "edit_file", args{"path": "n", "old_string": fmt.Sprint("count ", n), "new_string": fmt.Sprint("count ", n+1)})
		}
		// One that has not looked since is told so, and its edit is not made.
		servers[turns%2].refused(t, "stale", "edit_file", args{"path": "n", "old_string": "count", "new_string": "lost"})
		if got := servers[0].must(t, "read_file", args{"path": "n"}); !strings.Contains(got, fmt.Sprint("count ", turns, "\n")) {
			t.Errorf("the file reads %q", got)
		}
	})
}

// TestTwoServersEditOneFileAtOnce: an edit is made whole, or refused as stale.
func TestTwoServersEditOneFileAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		flags := []string{"--name=" + named(t, e), "--network=none"}
		servers := []*server{start(t, e, flags...), start(t, e, flags...)}
		servers[0].must(t, "write_file", args{"path": "n", "content": "end of 0\nend of 1\n"})
		const each = 30
		var editing sync.WaitGroup
		for i, s := range servers {
			editing.Go(func() {
				for n := range each {
					if err := append1(t.Context(), s, i, n); err != nil {
						t.Errorf("server %d, edit %d: %v", i, n, err)
						return
					}
				}
			})
		}
		editing.Wait()
		content := servers[0].must(t, "read_file", args{"path": "n"})
		for i := range servers {
			for n := range each {
				if line := fmt.Sprintf("\tline %d of %d\n", n, i); strings.Count(content, line) != 1 {
					t.Errorf("%q is there %d times", line, strings.Count(content, line))
				}
			}
		}
	})
}

// append1 adds a line before the end of i's part, looking again as long as the
// other was faster.
func append1(ctx context.Context, s *server, i, n int) error {
	end := fmt.Sprintf("end of %d\n", i)
	for {
		if _, err := s.try(ctx, "read_file", args{"path": "n"}); err != nil {
			return err
		}
		got, err := s.try(ctx, "edit_file", args{"path": "n", "old_string": end, "new_string": fmt.Sprintf("line %d of %d\n", n, i) + end})
		if err != nil {
			return err
		}
		switch got.code {
		case "":
			return nil
		case "stale":
		default:
			return fmt.Errorf("%s: %s", got.code, got.text)
		}
	}
}
