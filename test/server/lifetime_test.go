package server

import (
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

func TestIdleContainersAreStoppedAndStartedByTheNextCall(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, e *engines.Engine) {
		s := onEngine(t, e)
		s.flags = []string{"--idle-stop=2s"}
		p := start(t, s.options)
		alice := p.as(s.alice)
		session := alice.open(t)
		refs := []string{alice.write(t, "a.txt", "kept\n").ref, session.write(t, "a.txt", "kept\n").ref}
		done := make(chan answer, 1)
		go func() {
			got, err := p.as(s.bob).try(t.Context(), "execute", args{"command": "sleep 8; echo undisturbed"})
			if err != nil {
				t.Error(err)
			}
			done <- got
		}()
		for _, ref := range refs {
			within(t, time.Minute, "the idle container is stopped", func() bool { return !running(t, e, ref) })
		}
		for i, c := range []caller{alice, session} {
			if got := c.content(t, "a.txt"); got != "kept" {
				t.Errorf("the file has %q", got)
			}
			if !running(t, e, refs[i]) {
				t.Error("it does not run after the call")
			}
		}
		if got := <-done; !strings.Contains(got.text, "undisturbed") {
			t.Errorf("a container in use: %v", got)
		}
	})
}

// TestWorkspacesPastTheirAge are removed where that was asked for, and only
// those that a server made.
func TestWorkspacesPastTheirAge(t *testing.T) {
	t.Parallel()
	onBackends(t, func(t *testing.T, s shared) {
		s.flags = []string{"--max-age=4s"}
		p := start(t, s.options)
		alice := p.as(s.alice)
		ref := alice.write(t, "a.txt", "old\n").ref
		byRef := func() answer {
			return alice.withHeader("Mcp-Workspace-Ref", ref).call(t, "read_file", args{"path": "a.txt"})
		}
		if got := byRef(); got.failed {
			t.Fatalf("a young one: %v", got)
		}
		within(t, 90*time.Second, "it is removed", func() bool { got := byRef(); return got.code == "unavailable" })
		if got := alice.must(t, "ls", nil); strings.Contains(got.text, "a.txt") {
			t.Errorf("the default workspace after it has files: %v", got)
		}
	})
}

func TestDestroyOnExitRemovesTheWorkspacesOfSessions(t *testing.T) {
	t.Parallel()
	onBackends(t, func(t *testing.T, s shared) {
		s.flags = []string{"--destroy-on-exit"}
		p := start(t, s.options)
		alice := p.as(s.alice)
		session, events, staying := alice.open(t), alice.sse(t), alice.open(t)
		ofSession := session.write(t, "a.txt", "session\n").ref
		ofStaying := staying.write(t, "a.txt", "staying\n").ref
		named := alice.withHeader("Mcp-Workspace-Name", "kept").write(t, "a.txt", "kept\n").ref
		events.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a.txt","content":"x"}}}`)
		made, err := answerOf(reply{body: []byte(events.data(t))})
		if err != nil || made.failed {
			t.Fatal(made, err)
		}
		// A session that has named another workspace does not take that with it.
		session.withHeader("Mcp-Workspace-Ref", named).must(t, "ls", nil)
		session.close(t)
		events.cancel()
		at := func(ref string) answer {
			return alice.withHeader("Mcp-Workspace-Ref", ref).call(t, "read_file", args{"path": "a.txt"})
		}
		for what, ref := range map[string]string{"session": ofSession, "SSE connection": made.ref} {
			within(t, time.Minute, "the workspace of the "+what+" is removed", func() bool { return at(ref).code == "unavailable" })
		}
		for what, ref := range map[string]string{"a name": named, "another session": ofStaying} {
			if got := at(ref); got.failed {
				t.Errorf("that of %s: %v", what, got)
			}
		}
	})
}

func TestASilentSessionEnds(t *testing.T) {
	t.Parallel()
	s := onFiles(t, "limits: {}")
	s.flags = []string{"--session-timeout=2s"}
	p := start(t, s.options)
	silent, used, listening := p.as(s.alice).open(t), p.as(s.alice).open(t), p.as(s.alice).open(t)
	silent.must(t, "ls", nil)
	listening.listen(t, "/mcp")
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		used.must(t, "ls", nil)
	}
	if got := silent.send(t, "tools/list", nil); got.status != 404 {
		t.Errorf("the silent one is answered with %d %s", got.status, got.body)
	}
	listening.must(t, "ls", nil)
}
