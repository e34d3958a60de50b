package server

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/internal/testpg"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// shared is what replicas work on: how each is started, and who may come in.
type shared struct {
	options
	alice, bob person
	store      string // of state, where it is in files
}

const askingRules = `
default: allow
write: {default: ask}
execute: {default: ask}
`

// onPostgres has the workspaces, and what replicas share, in PostgreSQL.
func onPostgres(t *testing.T, more ...string) shared {
	t.Helper()
	s := shared{alice: newPerson("alice"), bob: newPerson("bob")}
	s.config = configOf(fmt.Sprintf("backend: state\nstore: %q\nshared: %q\n%s", testpg.Start(t), testpg.Start(t), strings.Join(more, "\n")), s.alice, s.bob)
	return s
}

// onEngine has the workspaces in containers, of which nothing is left at the
// end, and what replicas share in a directory.
func onEngine(t *testing.T, e *engines.Engine, more ...string) shared {
	t.Helper()
	s := shared{alice: newPerson(uniquely("alice")), bob: newPerson(uniquely("bob"))}
	s.engine = e
	s.config = configOf(onContainers(t, e)+fmt.Sprintf("shared: %q\n%s", "file:"+t.TempDir(), strings.Join(more, "\n")), s.alice, s.bob)
	return s
}

// onBackends runs a test on PostgreSQL and in Docker.
func onBackends(t *testing.T, test func(*testing.T, shared), more ...string) {
	t.Helper()
	t.Run("state", func(t *testing.T) {
		t.Parallel()
		test(t, onPostgres(t, more...))
	})
	t.Run("docker", func(t *testing.T) {
		t.Parallel()
		test(t, onEngine(t, engines.Docker(t), more...))
	})
}

func TestAWorkspaceMadeThroughOneReplicaIsUsedThroughTheOther(t *testing.T) {
	t.Parallel()
	onBackends(t, func(t *testing.T, s shared) {
		root, _ := balance(t, start(t, s.options), start(t, s.options))
		alice := callerOf(root, s.alice)
		other := func(was answer) string {
			return map[string]string{"0": "1", "1": "0"}[was.header.Get(replicaHeader)]
		}
		for how, c := range map[string]caller{
			"the default workspace": alice,
			"a name in a header":    alice.withHeader("Mcp-Workspace-Name", "work"),
			"a name in _meta":       alice.withMeta("mcp-workspace/name", "more"),
		} {
			made := c.write(t, "a.txt", how)
			got := c.must(t, "read_file", args{"path": "a.txt"})
			if got.ref != made.ref || got.header.Get(replicaHeader) != other(made) || !strings.Contains(got.text, how) {
				t.Errorf("%s: made %s through %s, read %s through %s: %s", how, made.ref, made.header.Get(replicaHeader), got.ref, got.header.Get(replicaHeader), got.text)
			}
			for by, named := range map[string]func() answer{
				"header": func() answer {
					return alice.withHeader("Mcp-Workspace-Ref", made.ref).must(t, "read_file", args{"path": "a.txt"})
				},
				"_meta": func() answer {
					return alice.withMeta("mcp-workspace/ref", made.ref).must(t, "read_file", args{"path": "a.txt"})
				},
				"argument": func() answer { return alice.must(t, "read_file", args{"path": "a.txt", "workspace": made.ref}) },
			} {
				for range 2 { // once through each
					if got := named(); got.ref != made.ref || !strings.Contains(got.text, how) {
						t.Errorf("%s by ref in %s is %v", how, by, got)
					}
				}
			}
		}
	})
}

func TestMCPGoBehindABalancer(t *testing.T) {
	t.Parallel()
	onBackends(t, func(t *testing.T, s shared) {
		root, b := balance(t, start(t, s.options), start(t, s.options))
		over, err := transport.NewStreamableHTTP(root+"/mcp", transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + s.alice.token}))
		if err != nil {
			t.Fatal(err)
		}
		c := client.NewClient(over)
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := c.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var init mcp.InitializeRequest
		init.Params.ProtocolVersion = statelessEra
		init.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
		if _, err := c.Initialize(t.Context(), init); err != nil {
			t.Fatal(err)
		}
		call := func(tool string, a args) string {
			var req mcp.CallToolRequest
			req.Params.Name, req.Params.Arguments = tool, map[string]any(a)
			got, err := c.CallTool(t.Context(), req)
			if err != nil || got.IsError {
				t.Fatalf("%s: %v %+v", tool, err, got)
			}
			return mcp.GetTextFromContent(got.Content[0])
		}
		call("write_file", args{"path": "a.txt", "content": "1\n"})
		for i := range 6 {
			call("edit_file", args{"path": "a.txt", "old_string": fmt.Sprint(i + 1), "new_string": fmt.Sprint(i + 2)})
		}
		if got := call("execute", args{"command": "cat a.txt"}); strings.TrimSpace(got) != "7" {
			t.Errorf("the file has %q", got)
		}
		for i := range b.served {
			if n := b.served[i].Load(); n < 4 {
				t.Errorf("replica %d has served %d requests", i, n)
			}
		}
	})
}

// TestEditsThroughBothReplicas are made by turns, and many at once.
func TestEditsThroughBothReplicas(t *testing.T) {
	t.Parallel()
	onBackends(t, func(t *testing.T, s shared) {
		root, _ := balance(t, start(t, s.options), start(t, s.options))
		alice := callerOf(root, s.alice)
		t.Run("by turns", func(t *testing.T) {
			alice.write(t, "turns.txt", "n=0\n")
			for i := range 20 {
				alice.must(t, "edit_file", args{"path": "turns.txt", "old_string": fmt.Sprintf("n=%d\n", i), "new_string": fmt.Sprintf("n=%d\n", i+1)})
			}
			if got := alice.content(t, "turns.txt"); got != "n=20" {
				t.Errorf("the file has %q", got)
			}
		})
		t.Run("at once", func(t *testing.T) {
			const writers, edits = 6, 6
			var lines strings.Builder
			for w := range writers {
				fmt.Fprintf(&lines, "w%d=0;\n", w)
			}
			alice.write(t, "once.txt", lines.String())
			var all sync.WaitGroup
			for w := range writers {
				all.Go(func() {
					for i := 0; i < edits; {
						got, err := alice.try(t.Context(), "edit_file", args{"path": "once.txt", "old_string": fmt.Sprintf("w%d=%d;", w, i), "new_string": fmt.Sprintf("w%d=%d;", w, i+1)})
						switch {
						case err != nil || got.failed && got.code != "stale":
							t.Errorf("edit %d of %d: %v %v", i, w, got, err)
							return
						case !got.failed:
							i++
						}
					}
				})
			}
			all.Wait()
			got := alice.must(t, "read_file", args{"path": "once.txt"}).text
			for w := range writers {
				if want := fmt.Sprintf("w%d=%d;", w, edits); !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	})
}

// person's answers to the one question that there is.
func answered(tool string, a args, state, action, choice string) map[string]any {
	params := toolParams(tool, a)
	params["requestState"] = state
	response := map[string]any{"action": action}
	if choice != "" {
		response["content"] = map[string]any{"answer": choice}
	}
	params["inputResponses"] = map[string]any{"approval": response}
	return params
}

// redeem makes a call again with an approval.
func (c caller) redeem(t *testing.T, tool string, a args, state string) answer {
	t.Helper()
	got, err := c.tryWith(t.Context(), answered(tool, a, state, "accept", "once"))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// ask makes a call that a person has to be asked about.
func (c caller) ask(t *testing.T, tool string, a args) (state string) {
	t.Helper()
	got := c.asking().call(t, tool, a)
	if got.state == "" {
		t.Fatalf("%s %v asks nobody: %v", tool, a, got)
	}
	return got.state
}

func TestAnApprovalAskedForOnOneReplicaIsRedeemedOnTheOther(t *testing.T) {
	t.Parallel()
	rules := fileOf(t, "rules.yaml", askingRules)
	onBackends(t, func(t *testing.T, s shared) {
		first, second := start(t, s.options), start(t, s.options)
		write := args{"path": "a.txt", "content": "approved\n"}
		t.Run("and only once", func(t *testing.T) {
			state := first.as(s.alice).ask(t, "write_file", write)
			if got := second.as(s.alice).asking().redeem(t, "write_file", write, state); got.failed || !strings.Contains(got.text, "Wrote 1 line") {
				t.Fatalf("it was answered with %v", got)
			}
			for _, replica := range []*program{second, first} {
				if got := replica.as(s.alice).asking().redeem(t, "write_file", write, state); got.code != "approval_refused" || !strings.Contains(got.text, "used before") {
					t.Errorf("again: %v", got)
				}
			}
		})
		t.Run("and once in all when both are asked at once", func(t *testing.T) {
			for range 5 {
				state := first.as(s.alice).ask(t, "execute", args{"command": "echo x >> twice.txt"})
				granted := make(chan bool, 8)
				var all sync.WaitGroup
				for i := range cap(granted) {
					all.Go(func() {
						replica := []*program{first, second}[i%2]
						got, err := replica.as(s.alice).asking().tryWith(t.Context(), answered("execute", args{"command": "echo x >> twice.txt"}, state, "accept", "once"))
						if err != nil || got.failed && got.code != "approval_refused" {
							t.Errorf("it was answered with %v, %v", got, err)
						}
						granted <- !got.failed
					})
				}
				all.Wait()
				close(granted)
				n := 0
				for ok := range granted {
					if ok {
						n++
					}
				}
				if n != 1 {
					t.Errorf("one approval was redeemed %d times", n)
				}
			}
			if got := second.as(s.alice).must(t, "read_file", args{"path": "twice.txt"}).text; strings.Count(got, "x") != 5 {
				t.Errorf("the command ran another number of times than five:\n%s", got)
			}
		})
	}, "permissions: "+rules)
}

func TestARestartedServerFindsTheWorkspacesAgain(t *testing.T) {
	t.Parallel()
	onBackends(t, func(t *testing.T, s shared) {
		first := start(t, s.options)
		alice := first.as(s.alice)
		byDefault := alice.write(t, "a.txt", "default").ref
		byName := alice.withHeader("Mcp-Workspace-Name", "work").write(t, "a.txt", "named").ref
		session := alice.open(t)
		ofSession := session.write(t, "a.txt", "session").ref
		first.stop(t)

		second := start(t, s.options)
		alice = second.as(s.alice)
		for what, c := range map[string]struct {
			caller
			ref, content string
		}{
			"the default workspace":       {alice, byDefault, "default"},
			"by name":                     {alice.withHeader("Mcp-Workspace-Name", "work"), byName, "named"},
			"that of a session, by ref":   {alice.withHeader("Mcp-Workspace-Ref", ofSession), ofSession, "session"},
			"by ref in a session":         {alice.open(t).withHeader("Mcp-Workspace-Ref", byDefault), byDefault, "default"},
			"that of a session, in _meta": {alice.withMeta("mcp-workspace/ref", ofSession), ofSession, "session"},
		} {
			got := c.must(t, "read_file", args{"path": "a.txt"})
			if got.ref != c.ref || !strings.Contains(got.text, c.content) {
				t.Errorf("%s: %v, and the ref is %s, not %s", what, got, got.ref, c.ref)
			}
		}
		session.root = second.root
		if got := session.send(t, "tools/list", nil); got.status != 404 {
			t.Errorf("a session of the server before is answered with %d %s", got.status, got.body)
		}
	})
}

// until ends with the test's context or when over says so.
func until(ctx context.Context, over <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-over:
		return false
	default:
		return true
	}
}
