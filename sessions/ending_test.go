package sessions

import (
	"context"
	"fmt"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

func TestTheEndOfASession(t *testing.T) {
	for _, destroy := range []bool{true, false} {
		t.Run(fmt.Sprint("destroying ", destroy), func(t *testing.T) {
			b := memory(t)
			s := serve(t, b, ManagerConfig{}, TenantConfig{DestroyOnExit: destroy})
			alice := as(t, "alice", "1")
			s.mustCall(alice, t, tools.Asked{})
			kept := s.mustCall(alice, t, tools.Asked{Name: "kept"})

			// A call in flight is waited for.
			_, done, err := s.tenant.Connection(alice, tools.Asked{})
			if err != nil {
				t.Fatal(err)
			}
			impatient, cancel := context.WithCancel(t.Context())
			cancel()
			wantErr(t, "ending it with a call in flight", s.EndSession(impatient, "alice", "1"), backends.CodeCancelled)
			if got := len(refs(t, b)); got != 2 {
				t.Errorf("%d workspaces under a call", got)
			}
			_, err = s.call(alice, tools.Asked{})
			wantErr(t, "a call in a session that has ended", err, backends.CodeUnavailable, "start another")
			done()
			s.ending.Wait()
			want := 2
			if destroy {
				want = 1
				wantRefs(t, b, kept)
			}
			if got := len(refs(t, b)); got != want {
				t.Errorf("%d workspaces are left, want %d", got, want)
			}
			if err := s.EndSession(t.Context(), "alice", "1"); err != nil {
				t.Errorf("ending it again: %v", err)
			}
			// Bob's session of the same id is another.
			s.mustCall(as(t, "bob", "1"), t, tools.Asked{})
		})
	}
}

func TestASessionThatEndsWhileItsWorkspaceIsMade(t *testing.T) {
	slow := &slowBackend{Backend: memory(t), creating: make(chan struct{}), finish: make(chan struct{})}
	s := serve(t, slow, ManagerConfig{}, TenantConfig{DestroyOnExit: true})
	ctx, giveUp := context.WithCancel(as(t, "alice", "1"))
	called := make(chan error)
	go func() { _, err := s.call(ctx, tools.Asked{}); called <- err }()
	<-slow.creating
	giveUp()
	wantErr(t, "the call that was given up", <-called, backends.CodeCancelled)
	ended := make(chan error)
	go func() { ended <- s.EndSession(t.Context(), "alice", "1") }()
	close(slow.finish)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	wantRefs(t, slow.Backend)
}
