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
		tenant.Open = func(context.Context, Choice) (backends.Backend, error) { return unclosed(b), nil }
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

// stoppable is notClosed for a backend that stops what runs.
type stoppable struct {
	notClosed
	backends.Stopper
}

func unclosed(b backends.Backend) backends.Backend {
	if s, ok := b.(backends.Stopper); ok {
		return stoppable{notClosed{b}, s}
	}
	return notClosed{b}
}

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

func (s *server) mustCall(ctx context.Context, t *testing.T, asked tools.Asked) string {
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

	byDefault := s.mustCall(stateless, t, none)
	own := s.mustCall(one, t, none)
	named := s.mustCall(one, t, tools.Asked{Name: "x"})
	distinct := map[string]bool{byDefault: true, own: true, named: true, s.mustCall(two, t, none): true,
		s.mustCall(as(t, "bob", ""), t, none): true, s.mustCall(as(t, "bob", "1"), t, none): true,
		s.mustCall(as(t, "bob", ""), t, tools.Asked{Name: "x"}): true}
	if len(distinct) != 7 {
		t.Errorf("workspaces meet: %v", distinct)
	}
	for what, got := range map[string]string{
		"default again":       s.mustCall(stateless, t, none),
		"default by its name": s.mustCall(two, t, tools.Asked{Name: "default"}),
		"default by its ref":  s.mustCall(one, t, tools.Asked{Ref: byDefault}),
	} {
		if got != byDefault {
			t.Errorf("%s is %s, want %s", what, got, byDefault)
		}
	}
	for what, got := range map[string]string{
		"the session's again":       s.mustCall(one, t, none),
		"the session's by its ref":  s.mustCall(two, t, tools.Asked{Ref: own}),
		"the session's by a header": s.mustCall(WithCaller(t.Context(), Caller{Principal: "alice", Ref: own}), t, none),
		"the same, twice":           s.mustCall(WithCaller(t.Context(), Caller{Principal: "alice", Ref: own}), t, tools.Asked{Ref: own}),
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
	s.mustCall(stateless, t, tools.Asked{Name: strings.Repeat("x", MaxName)})
}

func TestAServersNameIsForSessionsToo(t *testing.T) {
	s := serve(t, memory(t), ManagerConfig{}, TenantConfig{Name: "project"})
	ref := s.mustCall(as(t, "alice", ""), t, tools.Asked{})
	if other := s.mustCall(as(t, "alice", "1"), t, tools.Asked{}); other != ref {
		t.Errorf("%s and %s", ref, other)
	}
	if bobs := s.mustCall(as(t, "bob", "1"), t, tools.Asked{}); bobs == ref {
		t.Errorf("bob is in %s", ref)
	}
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
			s.mustCall(alice, t, asked)
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
	s.mustCall(alice, t, tools.Asked{})
}
