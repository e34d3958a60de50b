package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/client"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// containers returns a backend of containers that sees only those of scope, which
// are removed when the test ends.
func containers(t *testing.T, engine *engines.Engine, scope string) *docker.Backend {
	t.Helper()
	c, err := client.NewClientWithOpts(client.WithHost(engine.Host), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	b, err := docker.New(t.Context(), docker.Config{
		Client: c, Image: engine.Busybox, WorkingDir: "/workspace", Scope: scope, Options: docker.Options{Network: "none"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		all, err := b.List(ctx)
		for _, i := range all {
			err = errors.Join(err, b.Destroy(ctx, i.Ref))
		}
		if err := errors.Join(err, b.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func wantStatus(t *testing.T, b backends.Backend, ref, want string) {
	t.Helper()
	parsed, err := backends.ParseRef(ref)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := b.Describe(t.Context(), parsed); err != nil || info.Status != want {
		t.Errorf("%s is %q (%v), want %q", ref, info.Status, err, want)
	}
}

// write and read use a workspace as tools do.
func (s *server) write(ctx context.Context, asked tools.Asked, content string) error {
	conn, done, err := s.tenant.Connection(ctx, asked)
	if err != nil {
		return err
	}
	defer done()
	ws, err := conn.Workspace(ctx)
	if err != nil {
		return err
	}
	_, err = ws.Write(ctx, backends.WriteRequest{Path: "f", Content: strings.NewReader(content)})
	return err
}

func (s *server) read(ctx context.Context, asked tools.Asked) (string, error) {
	conn, done, err := s.tenant.Connection(ctx, asked)
	if err != nil {
		return "", err
	}
	defer done()
	ws, err := conn.Workspace(ctx)
	if err != nil {
		return "", err
	}
	res, err := ws.Read(ctx, backends.ReadRequest{Path: "f", Limit: 1})
	if err != nil || len(res.Lines) != 1 {
		return "", fmt.Errorf("%d lines, %w", len(res.Lines), err)
	}
	return res.Lines[0].Text, nil
}

func TestIdleContainersAreStopped(t *testing.T) {
	engine := engines.Docker(t)
	scope := engine.UniqueName(t, "-scope-") // others use the engine, with names of their own
	b := containers(t, engine, scope)
	s := serve(t, b, ManagerConfig{IdleStop: time.Minute}, TenantConfig{})
	alice := as(t, "alice"+scope, "1")
	if err := s.write(alice, tools.Asked{}, "kept"); err != nil {
		t.Fatal(err)
	}
	ref := s.mustCall(alice, t, tools.Asked{})
	s.pass(59 * time.Second)
	s.sweepOnce(t.Context())
	wantStatus(t, b, ref, "running")
	s.pass(time.Second)
	s.sweepOnce(t.Context())
	wantStatus(t, b, ref, "stopped")
	if got, err := s.read(alice, tools.Asked{}); got != "kept" || err != nil {
		t.Errorf("after it was stopped: %q, %v", got, err)
	}

	// Not under a call, however long it takes.
	_, done, err := s.tenant.Connection(alice, tools.Asked{Ref: ref})
	if err != nil {
		t.Fatal(err)
	}
	s.pass(time.Hour)
	s.sweepOnce(t.Context())
	wantStatus(t, b, ref, "running")
	done()
	s.sweepOnce(t.Context()) // a call has only just ended
	wantStatus(t, b, ref, "running")

	// Nor while another replica has it open; a replica that has just started
	// waits its time.
	replica := serve(t, b, ManagerConfig{IdleStop: time.Minute}, TenantConfig{})
	replica.sweepOnce(t.Context())
	replica.pass(time.Minute)
	replica.sweepOnce(t.Context())
	wantStatus(t, b, ref, "running")
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	replica.pass(59 * time.Second)
	replica.sweepOnce(t.Context())
	wantStatus(t, b, ref, "running")
	replica.pass(time.Second)
	replica.sweepOnce(t.Context())
	wantStatus(t, b, ref, "stopped")
	if got, err := replica.read(as(t, "alice"+scope, ""), tools.Asked{Ref: ref}); got != "kept" || err != nil {
		t.Errorf("through the other replica: %q, %v", got, err)
	}
}

func TestCallsThatBeginWhileTheirContainerIsStopped(t *testing.T) {
	engine := engines.Docker(t)
	scope := engine.UniqueName(t, "-scope-") // others use the engine, with names of their own
	b := containers(t, engine, scope)
	s := serve(t, b, ManagerConfig{IdleStop: time.Minute}, TenantConfig{})
	alice := as(t, "alice"+scope, "")
	if err := s.write(alice, tools.Asked{}, "kept"); err != nil {
		t.Fatal(err)
	}
	ref := s.mustCall(alice, t, tools.Asked{})
	for range 3 {
		s.pass(time.Minute)
		var wg sync.WaitGroup
		wg.Go(func() { s.sweepOnce(t.Context()) })
		for i := range 6 {
			asked := tools.Asked{}
			if i%2 == 0 {
				asked.Ref = ref
			}
			wg.Go(func() {
				if got, err := s.read(alice, asked); got != "kept" || err != nil {
					t.Errorf("%+v: %q, %v", asked, got, err)
				}
			})
		}
		wg.Wait()
	}
	if !t.Failed() && len(s.held) != 0 {
		t.Errorf("still held: %v", s.held)
	}
}

func TestWorkspacesPastTheirAgeAreRemoved(t *testing.T) {
	b := memory(t)
	s := serve(t, b, ManagerConfig{MaxAge: time.Hour}, TenantConfig{})
	alice := as(t, "alice", "1")
	byName := s.mustCall(alice, t, tools.Asked{Name: "x"})
	own := s.mustCall(alice, t, tools.Asked{})
	s.pass(59 * time.Minute)
	s.sweepOnce(t.Context())
	if got := len(refs(t, b)); got != 2 {
		t.Fatalf("%d are left, want 2", got)
	}
	_, done, err := s.tenant.Connection(alice, tools.Asked{})
	if err != nil {
		t.Fatal(err)
	}
	s.pass(2 * time.Minute)
	s.sweepOnce(t.Context())
	wantRefs(t, b, own) // in use
	done()
	s.sweepOnce(t.Context())
	wantRefs(t, b)
	_, err = s.call(alice, tools.Asked{})
	wantErr(t, "the session's own", err, backends.CodeUnavailable)
	_, err = s.call(alice, tools.Asked{Ref: byName})
	wantErr(t, "by its ref", err, backends.CodeUnavailable)
	if got := s.mustCall(alice, t, tools.Asked{Name: "x"}); got != byName {
		t.Errorf("the name is %s anew, want %s", got, byName)
	}

	other := serve(t, b, ManagerConfig{IdleStop: time.Minute}, TenantConfig{})
	other.pass(1000 * time.Hour)
	other.sweepOnce(t.Context())
	wantRefs(t, b, byName) // nothing is removed unless it was asked for
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	b := memory(t)
	s := serve(t, b, ManagerConfig{IdleClose: time.Minute}, TenantConfig{})
	kept, passing := as(t, "alice", "1"), as(t, "alice", "")
	ref := s.mustCall(kept, t, tools.Asked{})
	s.mustCall(passing, t, tools.Asked{})
	if st := s.Stats(t.Context()); st.Connections != 2 || st.Calls != 0 {
		t.Errorf("%+v", st)
	}
	s.pass(time.Minute)
	s.sweepOnce(t.Context())
	if st := s.Stats(t.Context()); st.Connections != 0 || len(s.open) != 1 {
		t.Errorf("%+v, %d remembered, want the session's", st, len(s.open))
	}
	if got := s.mustCall(kept, t, tools.Asked{}); got != ref {
		t.Errorf("the session is in %s, want %s", got, ref)
	}
}

func TestCloseWaitsForCallsAndNoLonger(t *testing.T) {
	b := memory(t)
	s := serve(t, b, ManagerConfig{}, TenantConfig{DestroyOnExit: true})
	alice := as(t, "alice", "1")
	s.mustCall(alice, t, tools.Asked{})
	kept := s.mustCall(alice, t, tools.Asked{Name: "kept"})
	_, done, err := s.tenant.Connection(alice, tools.Asked{Name: "kept"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	closed := make(chan error)
	go func() { closed <- s.Close(ctx) }()
	cancel()
	wantErr(t, "closing with a call in flight", <-closed, backends.CodeCancelled)
	done()
	wantRefs(t, b, kept)
	_, err = s.call(alice, tools.Asked{})
	wantErr(t, "a call then", err, backends.CodeUnavailable, "shutting down")
	if err := s.Close(t.Context()); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

// TestDestroyedUnderCalls has an operator remove a container while its principal
// and a stranger call.
func TestDestroyedUnderCalls(t *testing.T) {
	engine := engines.Docker(t)
	scope := engine.UniqueName(t, "-scope-") // others use the engine, with names of their own
	b := containers(t, engine, scope)
	s := serve(t, b, ManagerConfig{}, TenantConfig{})
	ref := s.mustCall(as(t, "alice"+scope, "1"), t, tools.Asked{})
	parsed, err := backends.ParseRef(ref)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := b.Destroy(t.Context(), parsed); err != nil {
			t.Error(err)
		}
	})
	for range 4 {
		wg.Go(func() {
			err := s.write(as(t, "alice"+scope, "1"), tools.Asked{Ref: ref}, "x")
			if code := backends.CodeOf(err); err != nil && code != backends.CodeUnavailable {
				t.Errorf("alice: %v", err)
			}
		})
		wg.Go(func() {
			_, err := s.call(as(t, "eve"+scope, ""), tools.Asked{Ref: ref})
			wantErr(t, "eve", err, backends.CodeUnavailable)
			if want := noWorkspace("", ref).Error(); err == nil || err.Error() != want {
				t.Errorf("eve: %v, want %s", err, want)
			}
		})
	}
	wg.Wait()
	if _, err := b.Describe(t.Context(), parsed); !errors.Is(err, backends.ErrGone) {
		t.Errorf("it is back: %v", err)
	}
	err = s.write(as(t, "alice"+scope, "2"), tools.Asked{Ref: ref}, "x")
	wantErr(t, "alice afterwards", err, backends.CodeUnavailable)
}

// TestAStrangersContainerIsLeftAlone names a stopped container of someone else's.
func TestAStrangersContainerIsLeftAlone(t *testing.T) {
	engine := engines.Docker(t)
	scope := engine.UniqueName(t, "-scope-") // others use the engine, with names of their own
	b := containers(t, engine, scope)
	s := serve(t, b, ManagerConfig{Limits: Limits{Running: 5}}, TenantConfig{})
	ref := s.mustCall(as(t, "alice"+scope, ""), t, tools.Asked{})
	parsed, err := backends.ParseRef(ref)
	if err != nil {
		t.Fatal(err)
	}
	eves := Owned(b, "eve"+scope)
	for _, state := range []string{"running", "stopped"} {
		_, err := s.call(as(t, "eve"+scope, ""), tools.Asked{Ref: ref})
		wantErr(t, "eve", err, backends.CodeUnavailable)
		if err := eves.Destroy(t.Context(), parsed); err != nil {
			t.Errorf("destroying what is not there: %v", err)
		}
		if err := eves.(backends.Stopper).Stop(t.Context(), parsed); err != nil {
			t.Errorf("stopping what is not there: %v", err)
		}
		if used, err := eves.(backends.Stopper).InUse(t.Context(), parsed); used || err != nil {
			t.Errorf("alice's use shows: %v, %v", used, err)
		}
		wantStatus(t, b, ref, state)
		if err := b.Stop(t.Context(), parsed); err != nil {
			t.Fatal(err)
		}
	}
	wantStatus(t, b, ref, "stopped")
}
