package sessions

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

func TestRoomForRunningContainers(t *testing.T) {
	engine := engines.Docker(t)
	scope := engine.UniqueName(t, "-scope-") // others use the engine, with names of their own
	b := containers(t, engine, scope)
	s := serve(t, b, ManagerConfig{Limits: Limits{Running: 2}}, TenantConfig{Limits: Limits{Running: 1}})
	var retry time.Duration
	asks := func(principal string) context.Context {
		return WithCaller(t.Context(), Caller{Principal: principal, RetryAfter: func(d time.Duration) { retry = d }})
	}
	alice, bob, carol := asks("alice"+scope), asks("bob"+scope), asks("carol"+scope)
	first := s.mustCall(alice, t, tools.Asked{Name: "first"})
	s.pass(time.Second)
	bobs := s.mustCall(bob, t, tools.Asked{})

	// Her own makes room for her, though bob has one that is idle.
	s.pass(time.Second)
	second := s.mustCall(alice, t, tools.Asked{Name: "second"})
	wantStatus(t, b, first, "stopped")
	wantStatus(t, b, bobs, "running")
	wantStatus(t, b, second, "running")

	// Not one that is in use.
	_, done, err := s.tenant.Connection(alice, tools.Asked{Name: "second"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.call(alice, tools.Asked{Ref: first})
	wantErr(t, "a second container while the first is in use", err, backends.CodeUnavailable, "1", "in use")
	if retry <= 0 {
		t.Error("it is not said when to try again")
	}
	wantStatus(t, b, second, "running")

	// Of the server's: the one that is idle.
	carols := s.mustCall(carol, t, tools.Asked{})
	wantStatus(t, b, bobs, "stopped")
	wantStatus(t, b, second, "running")
	wantStatus(t, b, carols, "running")
	done()

	// And with all in use, none.
	var release []func()
	for _, ctx := range []context.Context{alice, carol} {
		asked := tools.Asked{}
		if ctx == alice {
			asked.Name = "second"
		}
		_, done, err := s.tenant.Connection(ctx, asked)
		if err != nil {
			t.Fatal(err)
		}
		release = append(release, done)
	}
	retry = 0
	_, err = s.call(bob, tools.Asked{})
	wantErr(t, "with all in use", err, backends.CodeUnavailable, "2", "server")
	if retry <= 0 {
		t.Error("it is not said when to try again")
	}
	for _, done := range release {
		done()
	}
	if got := s.mustCall(bob, t, tools.Asked{}); got != bobs {
		t.Errorf("bob is in %s, want %s", got, bobs)
	}
}

func TestWorkspacesAreCounted(t *testing.T) {
	b := memory(t)
	s := serve(t, b, ManagerConfig{Limits: Limits{Workspaces: 4}}, TenantConfig{Limits: Limits{Workspaces: 2}})
	var mu sync.Mutex
	var wg sync.WaitGroup
	made := map[string]int{}
	for i := range 24 {
		principal := []string{"alice", "bob", "carol"}[i%3]
		ctx := WithCaller(t.Context(), Caller{Principal: principal, Session: fmt.Sprint(i), RetryAfter: func(d time.Duration) {
			t.Errorf("%s is told to try again after %v, which frees nothing", principal, d)
		}})
		wg.Go(func() {
			_, err := s.call(ctx, tools.Asked{})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made[principal]++
				return
			}
			if backends.CodeOf(err) != backends.CodeUnavailable {
				t.Errorf("one too many: %v", err)
			}
		})
	}
	wg.Wait()
	total := 0
	for principal, n := range made {
		if total += n; n > 2 {
			t.Errorf("%s has %d", principal, n)
		}
	}
	if total != 4 || len(refs(t, b)) != 4 {
		t.Errorf("there are %d (%v), want 4", len(refs(t, b)), made)
	}
	if len(s.pending) != 0 || len(s.owners) != 0 {
		t.Errorf("left over: %v, %v", s.pending, s.owners)
	}
}
