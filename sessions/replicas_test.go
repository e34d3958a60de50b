package sessions

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/state"
	"github.com/mcp-workspace/mcp-workspace/internal/testpg"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

func TestReplicasOverOneStore(t *testing.T) {
	url := testpg.Start(t)
	var replicas [2]*server
	for i := range replicas {
		b, err := state.New(t.Context(), state.Config{Store: url})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		replicas[i] = serve(t, b, ManagerConfig{}, TenantConfig{Limits: Limits{Workspaces: 3}})
	}
	alice := as(t, "alice", "")
	// The same workspace, also when both make it at once.
	var wg sync.WaitGroup
	var mu sync.Mutex
	found := map[string]int{}
	for i := range 8 {
		wg.Go(func() {
			ws, err := replicas[i%2].call(alice, tools.Asked{})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			found[ws.Ref().String()]++
		})
	}
	wg.Wait()
	if len(found) != 1 {
		t.Fatalf("%v, want one", found)
	}
	// What one makes, the other has; for its owner only.
	session := replicas[0].mustCall(as(t, "alice", "1"), t, tools.Asked{})
	if got := replicas[1].mustCall(alice, t, tools.Asked{Ref: session}); got != session {
		t.Errorf("%s, want %s", got, session)
	}
	_, err := replicas[1].call(as(t, "eve", ""), tools.Asked{Ref: session})
	wantErr(t, "eve's attempt", err, backends.CodeUnavailable)
	// The limit is one for both.
	replicas[0].mustCall(alice, t, tools.Asked{Name: "third"})
	_, err = replicas[1].call(alice, tools.Asked{Name: "fourth"})
	wantErr(t, "one more than the limit", err, backends.CodeUnavailable, "3")
	replicas[1].mustCall(alice, t, tools.Asked{Name: "third"})
	// Destroyed through one, it is gone for the other; a name is made anew.
	for ref := range found {
		parsed, err := backends.ParseRef(ref)
		if err != nil {
			t.Fatal(err)
		}
		b, err := replicas[0].tenant.backend(t.Context(), Choice{})
		if err != nil {
			t.Fatal(err)
		}
		if err := Owned(b, "alice").Destroy(t.Context(), parsed); err != nil {
			t.Fatal(err)
		}
		ws, err := replicas[1].call(alice, tools.Asked{})
		if err == nil {
			_, err = ws.Stat(t.Context(), ".")
		}
		wantErr(t, "the connection that was open", err, backends.CodeUnavailable)
		if got := replicas[1].mustCall(alice, t, tools.Asked{}); got != ref {
			t.Errorf("the default is %s, want %s anew", got, ref)
		}
	}
}

// TestReplicasMakeAsManyWorkspacesAsTheLimit, neither more nor fewer, when all
// make one in the same moment.
func TestReplicasMakeAsManyWorkspacesAsTheLimit(t *testing.T) {
	const limit = 2
	dir := t.TempDir()
	var replicas [4]*server
	for i := range replicas {
		b, err := state.New(t.Context(), state.Config{Store: "file:" + dir})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		replicas[i] = serve(t, b, ManagerConfig{}, TenantConfig{Limits: Limits{Workspaces: limit}})
	}
	for round := range 10 {
		principal := fmt.Sprintf("alice%d", round)
		var all sync.WaitGroup
		var made atomic.Int32
		start := make(chan struct{})
		for i, s := range replicas {
			all.Go(func() {
				<-start
				_, err := s.call(as(t, principal, strconv.Itoa(i)), tools.Asked{})
				if err == nil {
					made.Add(1)
					return
				}
				wantErr(t, "one more than the limit", err, backends.CodeUnavailable, "2")
			})
		}
		close(start)
		all.Wait()
		if made.Load() != limit {
			t.Errorf("%s has made %d workspaces, of %d", principal, made.Load(), limit)
		}
	}
}
