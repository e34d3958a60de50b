package sessions

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// visitor makes requests and notes who was let in, in order. It is used in a
// synctest bubble, where time passes only when everybody waits.
type visitor struct {
	t    *testing.T
	gate *Gate

	mu    sync.Mutex
	order []string
	leave map[string]func()
	errs  map[string]error
}

func newVisitor(t *testing.T, cfg GateConfig) *visitor {
	t.Helper()
	return &visitor{t: t, gate: NewGate(cfg), leave: map[string]func(){}, errs: map[string]error{}}
}

// enter makes a request of this name and returns when it is inside, waits or has
// been refused.
func (v *visitor) enter(name, principal, method string) (cancel context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(v.t.Context())
	go func() {
		leave, err := v.gate.Enter(ctx, principal, method)
		v.mu.Lock()
		defer v.mu.Unlock()
		if err != nil {
			v.errs[name] = err
			return
		}
		v.order, v.leave[name] = append(v.order, name), leave
	}()
	synctest.Wait()
	return cancel
}

// end lets requests that are inside leave.
func (v *visitor) end(names ...string) {
	v.t.Helper()
	for _, name := range names {
		v.mu.Lock()
		leave := v.leave[name]
		delete(v.leave, name)
		v.mu.Unlock()
		if leave == nil {
			v.t.Fatalf("%s is not inside", name)
		}
		leave()
		synctest.Wait()
	}
}

// inside reports whether a request has been let in and has not left.
func (v *visitor) inside(name string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.leave[name] != nil
}

// refused is how many requests have failed.
func (v *visitor) refused() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.errs)
}

func (v *visitor) wantOrder(want string) {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	if got := strings.Join(v.order, " "); got != want {
		v.t.Errorf("let in were %q, want %q", got, want)
	}
}

// wantBusy returns when a request that was refused may be tried again.
func (v *visitor) wantBusy(name, reason string) time.Duration {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	var busy *BusyError
	if !errors.As(v.errs[name], &busy) {
		v.t.Fatalf("%s got %v, want a BusyError", name, v.errs[name])
	}
	if !strings.Contains(busy.Reason, reason) {
		v.t.Errorf("%s was told %q, want %q", name, busy.Reason, reason)
	}
	return busy.RetryAfter
}

// wantNoTrace waits until the gate may have forgotten everybody and looks.
func (v *visitor) wantNoTrace() {
	v.t.Helper()
	time.Sleep(time.Hour)
	g := v.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	for range 2 * len(g.principals) {
		g.forgetIdle()
	}
	if len(g.principals) != 0 || g.idle.Len() != 0 || g.all.running != 0 {
		v.t.Errorf("it still knows %d principals, %d of them idle, and %d calls", len(g.principals), g.idle.Len(), g.all.running)
	}
	for k := range g.ready {
		if g.ready[k].Len() != 0 {
			v.t.Errorf("%d have a turn of kind %d", g.ready[k].Len(), k)
		}
	}
}
