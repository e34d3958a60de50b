package sessions

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

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
		v.wantBusy("over", "3 calls of yours are waiting") // without one: only so many pause, too
		v.enter("b0", "b", toolCall)
		if !v.inside("b0") {
			t.Error("another principal is refused")
		}
		time.Sleep(refusalPause)
		synctest.Wait()
		if again := v.wantBusy("late2", "3 calls of yours are waiting"); again != 9*time.Second {
			t.Errorf("told to try again in %v, want what the first has waited", again)
		}
		v.end("a0", "a1", "a2", "a3", "b0")
		v.wantOrder("a0 b0 a1 a2 a3")
		v.wantNoTrace()
	})
}

// As many calls wait as may: what only asks the server itself is let in all the
// same, unless as much of that waits, too.
func TestGateLetsOtherRequestsPastCallsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVisitor(t, GateConfig{Principal: func(string) Limits { return Limits{Calls: 1} }, Short: 1, SlotTime: time.Second, Waiting: 3})
		v.enter("b0", "b", toolCall) // somebody else is there, so that a has one slot
		for i := range 4 {
			v.enter(fmt.Sprint("a", i), "a", toolCall)
		}
		v.wantOrder("b0 a0")
		for i := range 3 {
			v.enter(fmt.Sprint("list", i), "a", "tools/list")
		}
		v.enter("listen", "a", "notifications/x")
		v.enter("over", "a", "tools/list")
		time.Sleep(time.Second) // a0 goes on without a slot
		synctest.Wait()
		v.wantOrder("b0 a0 listen")
		v.wantBusy("over", "3 requests of yours are waiting")
		v.end("listen", "list0", "list1", "list2", "a0", "a1", "a2", "a3", "b0")
		v.wantOrder("b0 a0 listen list0 list1 list2 a1 a2 a3")
		v.wantNoTrace()
	})
}

func TestGateCountsTokensOfThoseAheadOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := each(Limits{CallsPerSecond: 1})
		cfg.Patience = 3500 * time.Millisecond
		v := newVisitor(t, cfg)
		for i := range 4 { // as many as the patience is for
			v.enter(fmt.Sprint("a", i), "a", toolCall)
		}
		v.enter("list", "a", "tools/list")
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		v.wantOrder("a0 list")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		v.end("a0", "list", "a1", "a2")
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
