package backends

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// passing is a backend with one environment, which comes and goes.
type passing struct {
	Backend
	mu       sync.Mutex
	gone     bool
	creates  int
	attaches int
	closes   int
}

func (b *passing) Provider() string { return "passing" }

func (b *passing) connect(counter *int) (Workspace, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*counter++
	if b.gone {
		return nil, Errorf(CodeUnavailable, "attach", "", "still gone")
	}
	return &passingWorkspace{b: b}, nil
}

func (b *passing) Create(context.Context, Spec) (Workspace, error) { return b.connect(&b.creates) }
func (b *passing) Attach(context.Context, Ref) (Workspace, error)  { return b.connect(&b.attaches) }

func (b *passing) set(gone bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = gone
}

type passingWorkspace struct {
	Workspace
	b    *passing
	dead bool // as a descriptor of a directory that was removed
}

func (w *passingWorkspace) Ref() Ref { return Ref{Provider: "passing", ID: "one"} }

func (w *passingWorkspace) Stat(context.Context, string) (FileInfo, error) {
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	if w.dead = w.dead || w.b.gone; w.dead {
		return FileInfo{}, Errorf(CodeUnavailable, "stat", "", "gone")
	}
	return FileInfo{}, nil
}

func (w *passingWorkspace) Close() error {
	w.b.mu.Lock()
	defer w.b.mu.Unlock()
	w.b.closes++
	return nil
}

func TestLazyAttachesAnewToWhatWasUnavailable(t *testing.T) {
	b := &passing{}
	l := Create(b, Spec{})
	stat := func() Code {
		ws, err := l.Workspace(t.Context())
		if err != nil {
			return CodeOf(err)
		}
		_, err = ws.Stat(t.Context(), ".")
		return CodeOf(err)
	}
	want := func(what string, got, want Code) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	want("at first", stat(), "")
	b.set(true)
	want("when it has gone", stat(), CodeUnavailable)
	want("while it is gone", stat(), CodeUnavailable)
	if ref, ok := l.Ref(); !ok || ref.String() != "passing:one" {
		t.Errorf("the ref is %v, %v", ref, ok)
	}
	b.set(false)
	want("when it is back", stat(), "")
	want("and then", stat(), "")
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	want("when it is closed", stat(), CodeUnavailable)
	if b.creates != 1 || b.attaches != 2 || b.closes != 2 {
		t.Errorf("%d Creates, %d Attaches, %d Closes; want 1, 2, 2", b.creates, b.attaches, b.closes)
	}
}

// stuck is a backend that waits for what never comes.
type stuck struct{ passing }

func (b *stuck) Create(ctx context.Context, _ Spec) (Workspace, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestLazyCloseGivesAnOpeningUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Create(&stuck{}, Spec{})
		opened := make(chan error)
		go func() {
			_, err := l.Workspace(t.Context())
			opened <- err
		}()
		synctest.Wait()
		start := time.Now()
		closed := make(chan error)
		go func() { closed <- l.Close() }()
		if err := <-opened; CodeOf(err) != CodeCancelled {
			t.Errorf("the opening: %v", err)
		}
		if err := <-closed; err != nil || time.Since(start) != closePatience {
			t.Errorf("Close took %s: %v", time.Since(start), err)
		}
	})
}
