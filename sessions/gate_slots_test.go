package sessions

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

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
