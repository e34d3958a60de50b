package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/state"
	"github.com/mcp-workspace/mcp-workspace/internal/testpg"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// server is a Manager with one tenant, and a clock that the test moves.
type server struct {
	*Manager
	tenant *Tenant

	mu   sync.Mutex
	time time.Time
}

func (s *server) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.time
}

func (s *server) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.time = s.time.Add(d)
}

// serve returns a server over b. It does not close b, and looks for what is idle
// when the test calls sweepOnce.
func serve(t *testing.T, b backends.Backend, cfg ManagerConfig, tenant TenantConfig) *server {
	t.Helper()
	s := &server{time: time.Now()}
	cfg.now, cfg.sweep = s.now, make(chan time.Time)
	s.Manager = NewManager(cfg)
	if tenant.Open == nil {
		tenant.Open = func(context.Context, Choice) (backends.Backend, error) { return notClosed{b}, nil }
	}
	tenant.Provider = b.Provider()
	s.tenant = s.Tenant(tenant)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// notClosed is a backend that several servers use.
type notClosed struct{ backends.Backend }

func (notClosed) Close() error { return nil }

// request is one of alice's, say.
func as(t *testing.T, principal, session string) context.Context {
	return WithCaller(t.Context(), Caller{Principal: principal, Session: session})
}

// call opens the workspace of a request as a tool does, and ends the request.
func (s *server) call(ctx context.Context, asked tools.Asked) (backends.Workspace, error) {
	conn, done, err := s.tenant.Connection(ctx, asked)
	if err != nil {
		return nil, err
	}
	defer done()
	return conn.Workspace(ctx)
}

func (s *server) mustCall(t *testing.T, ctx context.Context, asked tools.Asked) string {
	t.Helper()
	ws, err := s.call(ctx, asked)
	if err != nil {
		t.Fatalf("%+v: %v", asked, err)
	}
	return ws.Ref().String()
}

func wantErr(t *testing.T, what string, err error, code backends.Code, words ...string) {
	t.Helper()
	if backends.CodeOf(err) != code {
		t.Errorf("%s: %v, want %s", what, err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q does not say %q", what, err, w)
		}
	}
}

func TestWhichWorkspaceARequestWorksIn(t *testing.T) {
	b := memory(t)
	s := serve(t, b, ManagerConfig{}, TenantConfig{})
	none := tools.Asked{}
	stateless, one, two := as(t, "alice", ""), as(t, "alice", "1"), as(t, "alice", "2")

	if _, done, err := s.tenant.Connection(one, none); err != nil {
		t.Fatal(err)
	} else {
		done()
	}
	wantRefs(t, b) // nothing is created before it is used

	byDefault := s.mustCall(t, stateless, none)
	own := s.mustCall(t, one, none)
	named := s.mustCall(t, one, tools.Asked{Name: "x"})
	distinct := map[string]bool{byDefault: true, own: true, named: true, s.mustCall(t, two, none): true,
		s.mustCall(t, as(t, "bob", ""), none): true, s.mustCall(t, as(t, "bob", "1"), none): true,
		s.mustCall(t, as(t, "bob", ""), tools.Asked{Name: "x"}): true}
	if len(distinct) != 7 {
		t.Errorf("workspaces meet: %v", distinct)
	}
	for what, got := range map[string]string{
		"default again":       s.mustCall(t, stateless, none),
		"default by its name": s.mustCall(t, two, tools.Asked{Name: "default"}),
		"default by its ref":  s.mustCall(t, one, tools.Asked{Ref: byDefault}),
	} {
		if got != byDefault {
			t.Errorf("%s is %s, want %s", what, got, byDefault)
		}
	}
	for what, got := range map[string]string{
		"the session's again":       s.mustCall(t, one, none),
		"the session's by its ref":  s.mustCall(t, two, tools.Asked{Ref: own}),
		"the session's by a header": s.mustCall(t, WithCaller(t.Context(), Caller{Principal: "alice", Ref: own}), none),
		"the same, twice":           s.mustCall(t, WithCaller(t.Context(), Caller{Principal: "alice", Ref: own}), tools.Asked{Ref: own}),
	} {
		if got != own {
			t.Errorf("%s is %s, want %s", what, got, own)
		}
	}
	header := WithCaller(t.Context(), Caller{Principal: "alice", Ref: own, Name: "x"})
	_, err := s.call(header, tools.Asked{Ref: byDefault})
	wantErr(t, "two refs", err, backends.CodeInvalidArgument, own, byDefault)
	_, err = s.call(header, tools.Asked{Ref: own, Name: "y"})
	wantErr(t, "two names", err, backends.CodeInvalidArgument)
	_, err = s.call(stateless, tools.Asked{Name: "../x"})
	wantErr(t, "no name", err, backends.CodeInvalidArgument)
	_, err = s.call(stateless, tools.Asked{Name: strings.Repeat("x", MaxName+1)})
	wantErr(t, "a long name", err, backends.CodeInvalidArgument, fmt.Sprint(MaxName))
	s.mustCall(t, stateless, tools.Asked{Name: strings.Repeat("x", MaxName)})
}

func TestAServersNameIsForSessionsToo(t *testing.T) {
	s := serve(t, memory(t), ManagerConfig{}, TenantConfig{Name: "project"})
	ref := s.mustCall(t, as(t, "alice", ""), tools.Asked{})
	if other := s.mustCall(t, as(t, "alice", "1"), tools.Asked{}); other != ref {
		t.Errorf("%s and %s", ref, other)
	}
	if bobs := s.mustCall(t, as(t, "bob", "1"), tools.Asked{}); bobs == ref {
		t.Errorf("bob is in %s", ref)
	}
}

// TestAttemptsAtAnothersWorkspace holds every way to name what is not one's own
// against naming what never was.
func TestAttemptsAtAnothersWorkspace(t *testing.T) {
	b := memory(t)
	s := serve(t, b, ManagerConfig{}, TenantConfig{})
	open := s.mustCall(t, as(t, "alice", "1"), tools.Asked{})
	named := s.mustCall(t, as(t, "alice", ""), tools.Asked{Name: "secret"})
	gone := s.mustCall(t, as(t, "alice", ""), tools.Asked{Name: "gone"})
	anybodys, err := b.Create(t.Context(), backends.Spec{Name: "made-by-hand"})
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := backends.ParseRef(gone)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Destroy(t.Context(), parsed); err != nil {
		t.Fatal(err)
	}
	before := refs(t, b)
	_, wanted := s.call(as(t, "eve", ""), tools.Asked{Ref: "state:never-was"})
	wantErr(t, "what never was", wanted, backends.CodeUnavailable)
	for _, ref := range []string{open, named, gone, anybodys.Ref().String(), "docker:mcpws-0123456789ab", "state:", "x", ":", "state:a/../b", "state:a\x00b", strings.Repeat("y", 1000)} {
		for way, try := range map[string]func() error{
			"in the body":  func() error { _, err := s.call(as(t, "eve", ""), tools.Asked{Ref: ref}); return err },
			"in a session": func() error { _, err := s.call(as(t, "eve", "1"), tools.Asked{Ref: ref}); return err },
			"in a header": func() error {
				_, err := s.call(WithCaller(t.Context(), Caller{Principal: "eve", Ref: ref}), tools.Asked{})
				return err
			},
			"as nobody":                func() error { _, err := s.call(as(t, "", "2"), tools.Asked{Ref: ref}); return err },
			"by what looks like alice": func() error { _, err := s.call(as(t, "alice\x00", ""), tools.Asked{Ref: ref}); return err },
		} {
			if way == "as nobody" && ref == anybodys.Ref().String() {
				continue // nobody's is nobody's own
			}
			started := time.Now()
			err := try()
			took := time.Since(started)
			same := strings.ReplaceAll(wanted.Error(), fmt.Sprintf("%q", "state:never-was"), fmt.Sprintf("%q", cut(ref)))
			if backends.CodeOf(err) != backends.CodeUnavailable || err.Error() != same {
				t.Errorf("%q %s: %v\nwant %s", ref, way, err, same)
			}
			if took < lookupTime*9/10 {
				t.Errorf("%q %s was answered in %v, sooner than %v", ref, way, took, lookupTime)
			}
		}
	}
	if after := refs(t, b); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("there were %q and are %q", before, after)
	}
	// The name in the backend is no way to it either.
	_, id, _ := strings.Cut(named, ":")
	if got := s.mustCall(t, as(t, "eve", ""), tools.Asked{Name: id[:MaxName-13]}); got == named {
		t.Error("eve is in alice's workspace by its whole name")
	}
	_, err = s.call(as(t, "", ""), tools.Asked{Name: id})
	wantErr(t, "its whole name without principals", err, backends.CodeInvalidArgument)
	// Another's session is a session of one's own.
	if got := s.mustCall(t, as(t, "eve", "1"), tools.Asked{}); got == open {
		t.Error("eve is in alice's session")
	}
}

func cut(ref string) string {
	if len(ref) > 100 {
		return ref[:100] + "…"
	}
	return ref
}

func TestWhatMayBeChosen(t *testing.T) {
	made := map[Choice]*state.Backend{{}: memory(t)}
	var mu sync.Mutex
	opened := map[Choice]int{}
	s := serve(t, made[Choice{}], ManagerConfig{}, TenantConfig{
		Images: []string{"node", "python"}, Runtimes: []string{"science"},
		Open: func(_ context.Context, c Choice) (backends.Backend, error) {
			mu.Lock()
			defer mu.Unlock()
			opened[c]++
			return notClosed{made[Choice{}]}, nil
		},
	})
	alice := as(t, "alice", "")
	for _, c := range []struct {
		asked tools.Asked
		code  backends.Code
		words string
	}{
		{tools.Asked{Image: "evil"}, backends.CodePermission, "node, python"},
		{tools.Asked{Runtime: "evil"}, backends.CodePermission, "science"},
		{tools.Asked{Image: "node", Runtime: "science"}, backends.CodeInvalidArgument, "choose one"},
	} {
		_, err := s.call(alice, c.asked)
		wantErr(t, fmt.Sprintf("%+v", c.asked), err, c.code, c.words)
	}
	for i, asked := range []tools.Asked{{Image: "node"}, {Runtime: "science"}, {}} {
		asked.Name = fmt.Sprint("w", i)
		for range 2 {
			s.mustCall(t, alice, asked)
		}
	}
	for _, c := range []Choice{{}, {Image: "node"}, {Runtime: "science"}} {
		if opened[c] != 1 {
			t.Errorf("the backend of %+v was opened %d times, want once", c, opened[c])
		}
	}
	if opened[Choice{Image: "evil"}] != 0 {
		t.Error("a backend was opened for what may not be chosen")
	}
}

func TestTheEndOfASession(t *testing.T) {
	for _, destroy := range []bool{true, false} {
		t.Run(fmt.Sprint("destroying ", destroy), func(t *testing.T) {
			b := memory(t)
			s := serve(t, b, ManagerConfig{}, TenantConfig{DestroyOnExit: destroy})
			alice := as(t, "alice", "1")
			s.mustCall(t, alice, tools.Asked{})
			kept := s.mustCall(t, alice, tools.Asked{Name: "kept"})

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
			s.mustCall(t, as(t, "bob", "1"), tools.Asked{})
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

func TestOneOpeningWaitsForNoOther(t *testing.T) {
	slow := &slowBackend{Backend: memory(t), creating: make(chan struct{}), finish: make(chan struct{})}
	s := serve(t, slow, ManagerConfig{Limits: Limits{Workspaces: 10}}, TenantConfig{Limits: Limits{Workspaces: 5}})
	called := make(chan error)
	go func() { _, err := s.call(as(t, "alice", ""), tools.Asked{}); called <- err }()
	<-slow.creating
	other := s.Tenant(TenantConfig{Provider: "state", Open: func(context.Context, Choice) (backends.Backend, error) { return notClosed{slow.Backend}, nil }})
	conn, done, err := other.Connection(as(t, "bob", ""), tools.Asked{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Workspace(t.Context()); err != nil {
		t.Errorf("bob's, while alice's is made: %v", err)
	}
	done()
	close(slow.finish)
	if err := <-called; err != nil {
		t.Error(err)
	}
}

func TestABackendThatIsDownIsTriedAgainAndHurtsNoOther(t *testing.T) {
	b := memory(t)
	down := errors.New("no engine")
	var mu sync.Mutex
	s := serve(t, b, ManagerConfig{Limits: Limits{Workspaces: 10}}, TenantConfig{Open: func(context.Context, Choice) (backends.Backend, error) {
		mu.Lock()
		defer mu.Unlock()
		return notClosed{b}, down
	}})
	other := s.Tenant(TenantConfig{Provider: "state", Open: func(context.Context, Choice) (backends.Backend, error) { return notClosed{b}, nil }})
	alice, bob := as(t, "alice", ""), as(t, "bob", "")
	for _, asked := range []tools.Asked{{}, {Ref: "state:x"}} {
		if _, err := s.call(alice, asked); !errors.Is(err, down) {
			t.Errorf("%+v: %v, want %v", asked, err, down)
		}
	}
	conn, done, err := other.Connection(bob, tools.Asked{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Workspace(bob); err != nil {
		t.Errorf("another tenant's: %v", err)
	}
	done()
	if st := s.Stats(t.Context()); st.Unreachable != 1 || st.Workspaces[Kind{"state", "ready"}] != 1 || st.Connections != 1 {
		t.Errorf("%+v", st)
	}
	if err := s.Ready(t.Context()); !errors.Is(err, down) {
		t.Errorf("ready: %v", err)
	}
	mu.Lock()
	down = nil
	mu.Unlock()
	s.mustCall(t, alice, tools.Asked{})
}

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
	session := replicas[0].mustCall(t, as(t, "alice", "1"), tools.Asked{})
	if got := replicas[1].mustCall(t, alice, tools.Asked{Ref: session}); got != session {
		t.Errorf("%s, want %s", got, session)
	}
	_, err := replicas[1].call(as(t, "eve", ""), tools.Asked{Ref: session})
	wantErr(t, "eve's attempt", err, backends.CodeUnavailable)
	// The limit is one for both.
	replicas[0].mustCall(t, alice, tools.Asked{Name: "third"})
	_, err = replicas[1].call(alice, tools.Asked{Name: "fourth"})
	wantErr(t, "one more than the limit", err, backends.CodeUnavailable, "3")
	replicas[1].mustCall(t, alice, tools.Asked{Name: "third"})
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
		if got := replicas[1].mustCall(t, alice, tools.Asked{}); got != ref {
			t.Errorf("the default is %s, want %s anew", got, ref)
		}
	}
}
