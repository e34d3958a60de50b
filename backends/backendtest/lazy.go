package backendtest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// held is a backend whose Creates wait, fail, or are counted.
type held struct {
	backends.Backend
	reached chan struct{} // receives for each Create that has begun
	open    chan struct{} // Creates go on once it is closed
	creates atomic.Int64
	made    atomic.Int64 // Creates that have come to an end
	refuse  error        // what the next Create fails with
}

func hold(b backends.Backend) *held {
	return &held{Backend: b, reached: make(chan struct{}, 100), open: make(chan struct{})}
}

func (h *held) Create(ctx context.Context, spec backends.Spec) (backends.Workspace, error) {
	h.creates.Add(1)
	h.reached <- struct{}{}
	<-h.open
	defer h.made.Add(1)
	if err := h.refuse; err != nil {
		h.refuse = nil
		return nil, err
	}
	return h.Backend.Create(ctx, spec)
}

// testLazy holds backends.Lazy over this backend to its promises.
func testLazy(s *suite) {
	closing := func(t *testing.T, l *backends.Lazy) {
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}

	s.ownClaim("a ref appears with the first use and stays", func(t *testing.T, b backends.Backend) {
		l := backends.Create(b, backends.Spec{})
		closing(t, l)
		if ref, ok := l.Ref(); ok {
			t.Errorf("there is a ref before the first use: %v", ref)
		}
		if s.h.Fresh {
			if got := infos(t, b); len(got) != 0 {
				t.Errorf("there are environments before the first use: %+v", got)
			}
		}
		for range 2 {
			ws, err := l.Workspace(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			put(t, ws, "f", "text")
			if ref, ok := l.Ref(); !ok || ref != ws.Ref() {
				t.Errorf("the ref is %v (%v), want %v", ref, ok, ws.Ref())
			}
		}
		if got := infos(t, b); len(got) != 1 {
			t.Errorf("List shows %+v, want one environment", got)
		}
	})

	s.ownClaim("a connection at rest is opened anew by the next use", func(t *testing.T, b backends.Backend) {
		l := backends.Create(b, backends.Spec{})
		closing(t, l)
		if err := l.Rest(); err != nil || l.IsOpen() {
			t.Errorf("Rest before the first use: %v, open: %v", err, l.IsOpen())
		}
		ws, err := l.Workspace(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		put(t, ws, "f", "text")
		for range 2 {
			if err := l.Rest(); err != nil {
				t.Errorf("Rest: %v", err)
			}
			if ref, ok := l.Ref(); l.IsOpen() || !ok || ref != ws.Ref() {
				t.Errorf("at rest it is open: %v, and %v (%v)", l.IsOpen(), ref, ok)
			}
		}
		again, err := l.Workspace(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantFile(t, again, "f", "text")
		if again.Ref() != ws.Ref() || !l.IsOpen() {
			t.Errorf("opened anew is %v (open: %v), want %v", again.Ref(), l.IsOpen(), ws.Ref())
		}
		if got := infos(t, b); len(got) != 1 {
			t.Errorf("List shows %+v, want one environment", got)
		}
	})

	s.ownClaim("first uses at once share one environment", func(t *testing.T, b backends.Backend) {
		slow := hold(b)
		l := backends.Create(slow, backends.Spec{})
		closing(t, l)
		var mu sync.Mutex
		var wg sync.WaitGroup
		seen := map[backends.Workspace]int{}
		for range 20 {
			wg.Go(func() {
				ws, err := l.Workspace(t.Context())
				if err != nil {
					t.Errorf("Workspace: %v", err)
					return
				}
				mu.Lock()
				seen[ws]++
				mu.Unlock()
			})
		}
		<-slow.reached
		close(slow.open)
		wg.Wait()
		if len(seen) != 1 || slow.creates.Load() != 1 {
			t.Errorf("%d workspaces from %d Creates, want one from one", len(seen), slow.creates.Load())
		}
		if got := infos(t, b); len(got) != 1 {
			t.Errorf("List shows %+v, want one environment", got)
		}
	})

	s.ownClaim("a caller that gives up does not lose the environment", func(t *testing.T, b backends.Backend) {
		slow := hold(b)
		l := backends.Create(slow, backends.Spec{})
		closing(t, l)
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp := make(chan error, 1)
		go func() {
			_, err := l.Workspace(ctx)
			gaveUp <- err
		}()
		<-slow.reached
		cancel()
		promptly(t, s.h, "giving up", func() { close(slow.open) }, func() { wantCode(t, "Workspace", <-gaveUp, backends.CodeCancelled) })
		if _, ok := l.Ref(); ok {
			t.Error("there is a ref before the environment is there")
		}
		close(slow.open)
		ws, err := l.Workspace(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		put(t, ws, "f", "text")
		if n := slow.creates.Load(); n != 1 {
			t.Errorf("Create was called %d times", n)
		}
		if got := infos(t, b); len(got) != 1 {
			t.Errorf("List shows %+v, want one environment", got)
		}
	})

	s.ownClaim("an opening that failed is tried again", func(t *testing.T, b backends.Backend) {
		failing := hold(b)
		failing.refuse = backends.Errorf(backends.CodeInternal, "create", "", "not this time")
		close(failing.open)
		l := backends.Create(failing, backends.Spec{})
		closing(t, l)
		if _, err := l.Workspace(t.Context()); err == nil || err.Error() != "not this time" {
			t.Errorf("the first use: %v", err)
		}
		if _, ok := l.Ref(); ok {
			t.Error("there is a ref after a failure")
		}
		ws, err := l.Workspace(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		put(t, ws, "f", "text")
	})

	s.ownClaim("Attach opens with the first use and never creates", func(t *testing.T, b backends.Backend) {
		ws := mustCreate(t, b, backends.Spec{})
		put(t, ws, "f", "text")
		l := backends.Attach(b, ws.Ref())
		closing(t, l)
		if _, ok := l.Ref(); ok {
			t.Error("there is a ref before the first use")
		}
		attached, err := l.Workspace(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantFile(t, attached, "f", "text")
		missing := backends.Attach(b, absent(ws.Ref()))
		closing(t, missing)
		_, err = missing.Workspace(t.Context())
		wantCode(t, "Workspace", err, backends.CodeUnavailable)
		if got := infos(t, b); len(got) != 1 {
			t.Errorf("List shows %+v, want one environment", got)
		}
	})

	s.ownClaim("Close ends the connection and leaves the environment", func(t *testing.T, b backends.Backend) {
		l := backends.Create(b, backends.Spec{})
		ws, err := l.Workspace(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		put(t, ws, "f", "text")
		if err := l.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		_, err = l.Workspace(t.Context())
		wantCode(t, "Workspace after Close", err, backends.CodeUnavailable)
		wantFile(t, mustAttach(t, b, ws.Ref()), "f", "text")
	})

	s.ownClaim("Close before the first use makes nothing", func(t *testing.T, b backends.Backend) {
		counted := hold(b)
		close(counted.open)
		l := backends.Create(counted, backends.Spec{})
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		_, err := l.Workspace(t.Context())
		wantCode(t, "Workspace after Close", err, backends.CodeUnavailable)
		if n := counted.creates.Load(); n != 0 {
			t.Errorf("Create was called %d times", n)
		}
	})

	s.ownClaim("Close waits for an opening in flight", func(t *testing.T, b backends.Backend) {
		slow := hold(b)
		l := backends.Create(slow, backends.Spec{})
		opened := make(chan error, 1)
		go func() {
			_, err := l.Workspace(t.Context())
			opened <- err
		}()
		<-slow.reached
		closing, closed := make(chan struct{}), make(chan error, 1)
		go func() {
			close(closing)
			err := l.Close()
			if slow.made.Load() == 0 {
				t.Error("Close returned while the environment was being opened")
			}
			closed <- err
		}()
		<-closing
		close(slow.open)
		if err := errors.Join(<-opened, <-closed); err != nil {
			t.Error(err)
		}
		_, err := l.Workspace(t.Context())
		wantCode(t, "Workspace after Close", err, backends.CodeUnavailable)
	})
}
