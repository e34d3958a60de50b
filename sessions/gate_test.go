package sessions

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
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

// wantBusy returns the refusal of a request.
func (v *visitor) wantBusy(name, reason string) *BusyError {
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
	return busy
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

const toolCall = "tools/call"

// each gives every principal the same limits, and slots that do not matter.
func each(l Limits) GateConfig {
	return GateConfig{Principal: func(string) Limits { return l }, Short: 1000}
}

func TestGate(t *testing.T) {
	for _, test := range []struct {
		claim string
		cfg   GateConfig
		run   func(v *visitor)
	}{
		{"without limits nobody waits", each(Limits{}), func(v *visitor) {
			for i := range 100 {
				v.enter(fmt.Sprint(i), "a", toolCall)
			}
			if len(v.order) != 100 {
				v.t.Errorf("%d are inside", len(v.order))
			}
			for i := range 100 {
				v.end(fmt.Sprint(i))
			}
		}},
		{"calls over the limit wait in the order they came", each(Limits{Calls: 2}), func(v *visitor) {
			for i := range 5 {
				v.enter(fmt.Sprint("a", i), "a", toolCall)
			}
			v.wantOrder("a0 a1")
			v.end("a1")
			v.wantOrder("a0 a1 a2")
			v.end("a0", "a2", "a3", "a4")
			v.wantOrder("a0 a1 a2 a3 a4")
		}},
		{"one principal's calls do not count for another", each(Limits{Calls: 1}), func(v *visitor) {
			v.enter("a0", "a", toolCall)
			v.enter("a1", "a", toolCall)
			v.enter("b0", "b", toolCall)
			v.wantOrder("a0 b0")
			v.end("a0", "a1", "b0")
		}},
		{"limits differ between principals", GateConfig{Short: 1000, Principal: func(p string) Limits { return Limits{Calls: len(p)} }}, func(v *visitor) {
			for i := range 3 {
				v.enter(fmt.Sprint("a", i), "a", toolCall)
				v.enter(fmt.Sprint("bb", i), "bb", toolCall)
			}
			v.wantOrder("a0 bb0 bb1")
			v.end("a0", "a1", "a2", "bb0", "bb1", "bb2")
		}},
		{"principals take turns at the server's calls", GateConfig{Server: Limits{Calls: 1}, Short: 1000}, func(v *visitor) {
			for i := range 3 {
				v.enter(fmt.Sprint("a", i), "a", toolCall)
			}
			for i := range 2 {
				v.enter(fmt.Sprint("b", i), "b", toolCall)
			}
			v.enter("c0", "c", toolCall)
			v.end("a0", "a1", "b0", "c0", "a2", "b1")
			v.wantOrder("a0 a1 b0 c0 a2 b1")
		}},
		{"listing, notifications and answers do not wait for calls", each(Limits{Calls: 1}), func(v *visitor) {
			for _, method := range []string{toolCall, "tools/list", "ping", "notifications/cancelled", ""} {
				v.enter("1:"+method, "a", method)
				v.enter("2:"+method, "a", method)
			}
			v.wantOrder("1:tools/call 1:tools/list 2:tools/list 1:ping 2:ping 1:notifications/cancelled 2:notifications/cancelled 1: 2:")
			v.end("1:tools/call", "2:tools/call", "1:tools/list", "2:tools/list", "1:ping", "2:ping",
				"1:notifications/cancelled", "2:notifications/cancelled", "1:", "2:")
		}},
		{"leaving twice counts once", each(Limits{Calls: 1}), func(v *visitor) {
			v.enter("a0", "a", toolCall)
			again := v.leave["a0"]
			v.end("a0")
			again()
			v.enter("a1", "a", toolCall)
			v.enter("a2", "a", toolCall)
			again()
			synctest.Wait()
			v.wantOrder("a0 a1")
			v.end("a1", "a2")
		}},
		{"who gives up waiting is passed over", GateConfig{Server: Limits{Calls: 1}, Short: 1000}, func(v *visitor) {
			patience := errors.New("no more patience")
			v.enter("a0", "a", toolCall)
			giveUp := v.enter("b0", "b", toolCall)
			v.enter("c0", "c", toolCall)
			giveUp(patience)
			synctest.Wait()
			if !errors.Is(v.errs["b0"], patience) {
				v.t.Errorf("b0 got %v, want %v", v.errs["b0"], patience)
			}
			v.end("a0", "c0")
			v.wantOrder("a0 c0")
		}},
		{"who has given up before is not let in", each(Limits{}), func(v *visitor) {
			gone := errors.New("gone")
			ctx, cancel := context.WithCancelCause(v.t.Context())
			cancel(gone)
			if _, err := v.gate.Enter(ctx, "a", toolCall); !errors.Is(err, gone) {
				v.t.Errorf("got %v, want %v", err, gone)
			}
		}},
	} {
		t.Run(test.claim, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVisitor(t, test.cfg)
				test.run(v)
				v.wantNoTrace()
			})
		})
	}
}

func TestGateSlowsDownWhoIsOverItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t, each(Limits{CallsPerSecond: 10}))
		started := time.Now()
		for i := range 40 {
			v.enter(fmt.Sprint(i), "a", toolCall)
		}
		if len(v.order) != 10 {
			t.Errorf("%d were let in at once, want the 10 of a second", len(v.order))
		}
		v.enter("b", "b", toolCall)
		if !v.inside("b") {
			t.Error("another principal waits")
		}
		v.end("b")
		for i := range 40 {
			for !v.inside(fmt.Sprint(i)) {
				time.Sleep(time.Millisecond)
				synctest.Wait()
			}
			v.end(fmt.Sprint(i))
		}
		if took := time.Since(started); took < 3*time.Second || took > 3100*time.Millisecond {
			t.Errorf("40 requests at 10/s took %v, want 3 s after the first 10", took)
		}
		v.wantNoTrace()
	})
}

func TestGateGivesTheServersRateInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t, GateConfig{Server: Limits{CallsPerSecond: 1}, Short: 1000})
		for i := range 4 {
			v.enter(fmt.Sprint("a", i), "a", toolCall)
		}
		v.enter("b0", "b", toolCall)
		time.Sleep(4*time.Second + time.Millisecond)
		synctest.Wait()
		v.wantOrder("a0 a1 b0 a2 a3")
		v.end("a0", "a1", "b0", "a2", "a3")
		v.wantNoTrace()
	})
}

func TestGateTokensOfThoseWhoGaveUpAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t, each(Limits{CallsPerSecond: 1}))
		v.enter("first", "a", "tools/list")
		for i := range 20 {
			giveUp := v.enter(fmt.Sprint(i), "a", "tools/list")
			defer giveUp(nil)
			giveUp(errors.New("gave up"))
		}
		v.enter("last", "a", "tools/list")
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		v.wantOrder("first last")
		v.end("first", "last")
		v.wantNoTrace()
	})
}

func TestGateRefusesAWaitThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := each(Limits{CallsPerSecond: 1})
		cfg.Patience = 5500 * time.Millisecond
		v := newVisitor(t, cfg)
		for i := range 6 { // one at once, five within the patience
			v.enter(fmt.Sprint(i), "a", toolCall)
		}
		asked := time.Now()
		leave, err := v.gate.Enter(t.Context(), "a", toolCall)
		var busy *BusyError
		if leave != nil || !errors.As(err, &busy) {
			t.Fatalf("got %v, want a BusyError", err)
		}
		if want := "you may make 1 requests a second, and have made more"; busy.Reason != want {
			t.Errorf("was told %q, want %q", busy.Reason, want)
		}
		if paused := time.Since(asked); paused != time.Second {
			t.Errorf("the refusal took %v, want 1 s", paused)
		}
		// The token after those of the five.
		if want := 6 * time.Second; asked.Add(want).Sub(time.Now().Add(busy.RetryAfter)).Abs() > time.Millisecond {
			t.Errorf("told to try again in %v at %v, want in all %v", busy.RetryAfter, time.Since(asked), want)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		v.wantOrder("0 1 2 3 4 5")
		v.end("0", "1", "2", "3", "4", "5")
		v.wantNoTrace()
	})
}

func TestGateLetsOnlySoManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := each(Limits{Calls: 1})
		cfg.Waiting = 3
		v := newVisitor(t, cfg)
		for i := range 4 {
			v.enter(fmt.Sprint("a", i), "a", toolCall)
		}
		time.Sleep(10 * time.Second)
		for i := range 3 { // refused, after a pause
			v.enter(fmt.Sprint("late", i), "a", toolCall)
		}
		if v.refused() != 0 {
			t.Error("refused without a pause")
		}
		v.enter("over", "a", toolCall)
		v.wantBusy("over", "3 requests of yours are waiting") // without one: only so many pause, too
		v.enter("b0", "b", toolCall)
		if !v.inside("b0") {
			t.Error("another principal is refused")
		}
		time.Sleep(refusalPause)
		synctest.Wait()
		if busy := v.wantBusy("late2", "3 requests of yours are waiting"); busy.RetryAfter != 9*time.Second {
			t.Errorf("told to try again in %v, want what the first has waited", busy.RetryAfter)
		}
		v.end("a0", "a1", "a2", "a3", "b0")
		v.wantOrder("a0 b0 a1 a2 a3")
		v.wantNoTrace()
	})
}

func TestGateSaysWhatWasWaitedForInVain(t *testing.T) {
	for reason, cfg := range map[string]GateConfig{
		"you have 1 calls running, as many as you may":      each(Limits{Calls: 1}),
		"the server has 1 calls running, as many as it may": {Server: Limits{Calls: 1}, Short: 1000},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newVisitor(t, cfg)
			v.enter("runs", "a", toolCall)
			v.enter("waits", "a", toolCall)
			time.Sleep(30*time.Second - time.Nanosecond)
			synctest.Wait()
			if v.refused() != 0 {
				t.Error("refused too early")
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			v.wantBusy("waits", reason)
			v.end("runs")
			v.wantNoTrace()
		})
	}
}

func TestGateHoldsShortSlotsOnlyForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t, GateConfig{Short: 1, SlotTime: 2 * time.Millisecond})
		v.enter("b0", "b", "ping")
		v.end("b0")
		for i := range 3 {
			v.enter(fmt.Sprint("a", i), "a", toolCall)
		}
		v.wantOrder("b0 a0")
		v.enter("b1", "b", toolCall)
		v.wantOrder("b0 a0 b1") // never waits for another's
		v.end("a0")
		v.wantOrder("b0 a0 b1 a1") // short: its slot is free at once
		time.Sleep(2*time.Millisecond - time.Nanosecond)
		synctest.Wait()
		v.wantOrder("b0 a0 b1 a1")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		v.wantOrder("b0 a0 b1 a1 a2") // long: it goes on without
		v.end("a1", "a2", "b1")
		v.wantNoTrace()
	})
}

func TestGateGivesMoreSlotsToWhoIsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t, GateConfig{Short: 1, SlotTime: time.Hour})
		for i := range 6 {
			v.enter(fmt.Sprint("a", i), "a", toolCall)
		}
		v.wantOrder("a0 a1 a2 a3")
		v.enter("b0", "b", toolCall)
		v.wantOrder("a0 a1 a2 a3 b0")
		v.end("a0", "a1", "a2")
		v.wantOrder("a0 a1 a2 a3 b0") // one is left, as many as there may be now
		v.end("a3", "a4", "a5", "b0")
		v.wantNoTrace()
	})
}

func TestGateForgetsPrincipals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t, each(Limits{Calls: 1, CallsPerSecond: 1}))
		most := 0
		for i := range 10_000 {
			leave, err := v.gate.Enter(t.Context(), fmt.Sprint(i), toolCall)
			if err != nil {
				t.Fatal(err)
			}
			leave()
			most = max(most, len(v.gate.principals))
			time.Sleep(10 * time.Millisecond)
		}
		if most > 300 {
			t.Errorf("it knew %d principals, where 100 a second came", most)
		}
		v.wantNoTrace()
	})
}

// Whatever happens at once, no limit is exceeded, everybody is answered and
// nothing is left.
func TestGateAtRandom(t *testing.T) {
	const mine, all = 3, 5
	g := NewGate(GateConfig{
		Server:    Limits{Calls: all, CallsPerSecond: 20_000},
		Principal: func(string) Limits { return Limits{Calls: mine, CallsPerSecond: 10_000} },
		Waiting:   8, Short: 2, SlotTime: 50 * time.Microsecond, Patience: 20 * time.Millisecond,
	})
	var total atomic.Int64
	var own [4]atomic.Int64
	var outcomes [3]atomic.Int64 // in, busy, given up
	var visitors sync.WaitGroup
	for n := range 40 {
		visitors.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			for range 50 {
				p := random.IntN(len(own))
				method := []string{toolCall, toolCall, "ping", "notifications/x"}[random.IntN(4)]
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(20_000))*time.Microsecond)
				leave, err := g.Enter(ctx, fmt.Sprint(p), method)
				var busy *BusyError
				switch {
				case err == nil:
					outcomes[0].Add(1)
					if method == toolCall {
						if o, a := own[p].Add(1), total.Add(1); o > mine || a > all {
							t.Errorf("%d calls of %d and %d in all", o, p, a)
						}
						<-time.After(time.Duration(random.IntN(200)) * time.Microsecond)
						own[p].Add(-1)
						total.Add(-1)
					}
					leave()
				case errors.As(err, &busy):
					outcomes[1].Add(1)
				case errors.Is(err, context.DeadlineExceeded):
					outcomes[2].Add(1)
				default:
					t.Error(err)
				}
				cancel()
			}
		})
	}
	visitors.Wait()
	if outcomes[0].Load() == 0 || outcomes[2].Load() == 0 {
		t.Errorf("%d in, %d busy, %d given up: this tests too little", outcomes[0].Load(), outcomes[1].Load(), outcomes[2].Load())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, l := range g.principals {
		if l.inside+l.running+l.waits()+l.pausing+l.short.Len() != 0 || l.idle == nil {
			t.Errorf("of %s is left %+v", name, l)
		}
	}
	for k := range g.ready {
		if g.all.running != 0 || g.ready[k].Len() != 0 {
			t.Errorf("%d calls run, %d have a turn", g.all.running, g.ready[k].Len())
		}
	}
}

func BenchmarkGate(b *testing.B) {
	g := NewGate(GateConfig{Server: Limits{Calls: 100}, Principal: func(string) Limits { return Limits{Calls: 100, CallsPerSecond: 1e9} }})
	for b.Loop() {
		leave, err := g.Enter(b.Context(), "a", toolCall)
		if err != nil {
			b.Fatal(err)
		}
		leave()
	}
}
