package sessions

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/local"
	"github.com/mcp-workspace/mcp-workspace/backends/state"
)

func memory(t *testing.T) *state.Backend {
	t.Helper()
	b, err := state.New(t.Context(), state.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// refs are those of all environments there are.
func refs(t *testing.T, b backends.Backend) []string {
	t.Helper()
	infos, err := b.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, i := range infos {
		out = append(out, i.Ref.String())
	}
	return out
}

// use opens the session's environment, as a tool does.
func use(t *testing.T, s *Session) backends.Workspace {
	t.Helper()
	ws, err := s.Tools().Workspace(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

func closeSession(t *testing.T, s *Session) {
	t.Helper()
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func wantRefs(t *testing.T, b backends.Backend, want ...string) {
	t.Helper()
	if got := refs(t, b); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
}

func TestNothingIsCreatedUntilItIsUsed(t *testing.T) {
	b := memory(t)
	s := New(b, Options{Spec: backends.Spec{Name: "demo"}})
	wantRefs(t, b)
	use(t, s)
	wantRefs(t, b, "state:demo")
	closeSession(t, s)
	wantRefs(t, b, "state:demo")
}

func TestASessionThatWasNotUsedClosesWithoutATrace(t *testing.T) {
	b := memory(t)
	s := New(b, Options{DestroyOnExit: true})
	closeSession(t, s)
	wantRefs(t, b)
	if _, err := s.Tools().Workspace(t.Context()); backends.CodeOf(err) != backends.CodeUnavailable {
		t.Errorf("using it then is %v, want unavailable", err)
	}
	wantRefs(t, b)
}

func TestDestroyOnExitRemovesWhatWasOpened(t *testing.T) {
	b := memory(t)
	other := New(b, Options{Spec: backends.Spec{Name: "other"}})
	use(t, other)
	for name, opts := range map[string]Options{
		"by name": {Spec: backends.Spec{Name: "demo"}},
		"unnamed": {},
		"by ref":  {Ref: backends.Ref{Provider: "state", ID: "demo"}},
	} {
		if _, err := b.Create(t.Context(), backends.Spec{Name: "demo"}); err != nil {
			t.Fatal(err)
		}
		opts.DestroyOnExit = true
		s := New(b, opts)
		ref := use(t, s).Ref().String()
		closeSession(t, s)
		if slices.Contains(refs(t, b), ref) {
			t.Errorf("%s: %s is still there", name, ref)
		}
		if !slices.Contains(refs(t, b), "state:other") {
			t.Errorf("%s: the workspace of another session is gone", name)
		}
	}
}

func TestDestroyOnExitLeavesWhatWasNotOpened(t *testing.T) {
	b := memory(t)
	if _, err := b.Create(t.Context(), backends.Spec{Name: "demo"}); err != nil {
		t.Fatal(err)
	}
	for _, opts := range []Options{
		{Spec: backends.Spec{Name: "demo"}, DestroyOnExit: true},
		{Ref: backends.Ref{Provider: "state", ID: "demo"}, DestroyOnExit: true},
	} {
		closeSession(t, New(b, opts))
		wantRefs(t, b, "state:demo")
	}
}

func TestARefThatIsGoneIsNeverMadeAnew(t *testing.T) {
	b := memory(t)
	s := New(b, Options{Ref: backends.Ref{Provider: "state", ID: "gone"}, DestroyOnExit: true})
	if _, err := s.Tools().Workspace(t.Context()); backends.CodeOf(err) != backends.CodeUnavailable {
		t.Errorf("using it is %v, want unavailable", err)
	}
	wantRefs(t, b)
	closeSession(t, s)
}

func TestCallsThatComeFirstTogetherShareOneWorkspace(t *testing.T) {
	b := memory(t)
	s := New(b, Options{})
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			if _, err := s.Tools().Workspace(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	if got := refs(t, b); len(got) != 1 {
		t.Errorf("there are %q, want one", got)
	}
}

func TestClosingTwiceIsFine(t *testing.T) {
	b := memory(t)
	s := New(b, Options{Spec: backends.Spec{Name: "demo"}, DestroyOnExit: true})
	use(t, s)
	closeSession(t, s)
	// Someone else's by now.
	if _, err := b.Create(t.Context(), backends.Spec{Name: "demo"}); err != nil {
		t.Fatal(err)
	}
	closeSession(t, s)
	wantRefs(t, b, "state:demo")
}

func TestWhatCannotBeDestroyedIsSaidAtTheEnd(t *testing.T) {
	root := t.TempDir()
	b, err := local.New(local.Config{Root: root})
	if err != nil {
		t.Skip("the backend local does not work here: ", err)
	}
	defer b.Close()
	s := New(b, Options{DestroyOnExit: true})
	use(t, s)
	for range 2 {
		if err := s.Close(t.Context()); backends.CodeOf(err) != backends.CodeUnsupported {
			t.Errorf("closing is %v, want unsupported", err)
		}
	}
}

// slowBackend takes as long to create as the test wants, as an image that has
// to be pulled does.
type slowBackend struct {
	backends.Backend
	creating chan struct{} // closed when a creation has begun
	finish   chan struct{} // closed when it may go on
}

func (b *slowBackend) Create(ctx context.Context, spec backends.Spec) (backends.Workspace, error) {
	close(b.creating)
	<-b.finish
	return b.Backend.Create(ctx, spec)
}

func TestClosingWaitsForAnOpeningOnlySoLong(t *testing.T) {
	b := &slowBackend{Backend: memory(t), creating: make(chan struct{}), finish: make(chan struct{})}
	s := New(b, Options{Spec: backends.Spec{Name: "demo"}, DestroyOnExit: true})
	opened := make(chan error)
	go func() {
		_, err := s.Tools().Workspace(t.Context())
		opened <- err
	}()
	<-b.creating
	patience := errors.New("no more patience")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(patience)
	if err := s.Close(ctx); !errors.Is(err, patience) {
		t.Errorf("closing is %v, want %v", err, patience)
	}
	close(b.finish)
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func TestClosingDestroysWhatIsStillBeingOpened(t *testing.T) {
	b := &slowBackend{Backend: memory(t), creating: make(chan struct{}), finish: make(chan struct{})}
	s := New(b, Options{Spec: backends.Spec{Name: "demo"}, DestroyOnExit: true})
	ctx, giveUp := context.WithCancel(t.Context())
	given := make(chan error)
	go func() {
		_, err := s.Tools().Workspace(ctx)
		given <- err
	}()
	<-b.creating
	giveUp()
	if err := <-given; backends.CodeOf(err) != backends.CodeCancelled {
		t.Errorf("giving up is %v, want cancelled", err)
	}
	closed := make(chan error)
	go func() { closed <- s.Close(t.Context()) }()
	close(b.finish)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	wantRefs(t, b)
}
