package fair

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// long ago is when scripts began that need a turn at once.
var longAgo time.Time

// compute takes turns as a busy goroutine does, until its context ends or it has
// been let go on n times, and returns how often that was.
func compute(ctx context.Context, n int) int {
	defer Give(ctx)
	for i := range n {
		Take(ctx)
		if ctx.Err() != nil {
			return i
		}
		time.Sleep(time.Millisecond) // in a bubble of synctest: computing
	}
	return n
}

func TestTurnsAreTakenByOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1)
		var rounds [2]atomic.Int64
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var all sync.WaitGroup
		for range 60 {
			all.Go(func() { rounds[0].Add(int64(compute(turns.With(ctx, "flood", longAgo), 1<<30))) })
		}
		all.Go(func() { rounds[1].Add(int64(compute(turns.With(ctx, "quiet", longAgo), 1<<30))) })
		all.Wait()
		flood, quiet := rounds[0].Load(), rounds[1].Load()
		if quiet < flood*3/4 {
			t.Errorf("one goroutine went on %d times, and 60 of another owner %d times", quiet, flood)
		}
		if computing, waiting := turns.Busy(); computing+waiting != 0 || turns.waiting.Len() != 0 {
			t.Errorf("left: %d have a turn, %d wait", computing, waiting)
		}
	})
}

func TestOnlySoManyCompute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(3)
		var now, most atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				ctx := turns.With(t.Context(), "a", longAgo)
				for range 50 {
					Take(ctx)
					most.Store(max(most.Load(), now.Add(1)))
					time.Sleep(time.Millisecond)
					now.Add(-1)
				}
				Give(ctx)
			})
		}
		begun := time.Now()
		all.Wait()
		// A turn that passes on finds its holder in the middle of something.
		if most.Load() > 6 {
			t.Errorf("%d computed at once", most.Load())
		}
		if took := time.Since(begun); took > 500*time.Millisecond {
			t.Errorf("20 x 50 ms, 3 at a time, took %v", took)
		}
	})
}

func TestTurnOfOneWhoWaitsPassesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1)
		holder := turns.With(t.Context(), "a", longAgo)
		Take(holder) // and then it waits for something without a word
		begun := time.Now()
		other := turns.With(t.Context(), "b", longAgo)
		Take(other)
		if took := time.Since(begun); took != slice {
			t.Errorf("the next had its turn after %v", took)
		}
		Give(holder) // which has none any more
		if !TurnOf(other).held.Load() {
			t.Error("giving a turn that has passed on takes it from another")
		}
		time.Sleep(time.Minute)
		begun = time.Now()
		Take(holder)
		if took := time.Since(begun); took != 0 {
			t.Errorf("a turn that lasts for long already passed on after %v", took)
		}
	})
}

func TestGivenTurnPassesOnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1)
		holder, other := turns.With(t.Context(), "a", longAgo), turns.With(t.Context(), "b", longAgo)
		Take(holder)
		begun := time.Now()
		go func() {
			time.Sleep(time.Millisecond)
			Give(holder)
		}()
		Take(other)
		if took := time.Since(begun); took != time.Millisecond {
			t.Errorf("the next had its turn after %v", took)
		}
	})
}

func TestWaitingForATurnEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1)
		Take(turns.With(t.Context(), "a", longAgo))
		ctx, cancel := context.WithTimeout(turns.With(t.Context(), "b", longAgo), time.Millisecond)
		defer cancel()
		begun := time.Now()
		Take(ctx)
		if took := time.Since(begun); took != time.Millisecond {
			t.Errorf("it waited %v", took)
		}
		if _, waiting := turns.Busy(); waiting != 0 || turns.waiting.Len() != 0 {
			t.Error("it still waits")
		}
	})
}

func TestShortScriptsNeedNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1)
		Take(turns.With(t.Context(), "a", longAgo))
		begun := time.Now()
		compute(turns.With(t.Context(), "b", begun), int(slice/time.Millisecond)-1)
		if took := time.Since(begun); took >= slice {
			t.Errorf("a short script took %v", took)
		}
		compute(turns.With(t.Context(), "b", begun), 3*looks)
		if took := time.Since(begun); took < 2*slice {
			t.Errorf("a longer one took %v", took)
		}
	})
}

func TestTurnsAtOnce(t *testing.T) {
	turns := NewTurns(2)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(turns.With(t.Context(), string(rune('a'+i%3)), longAgo), 200*time.Millisecond)
			defer cancel()
			for j := 0; ctx.Err() == nil; j++ {
				Take(ctx)
				if j%7 == 0 {
					Give(ctx)
				}
				runtime.Gosched()
			}
			Give(ctx)
		})
	}
	all.Wait()
	if computing, waiting := turns.Busy(); computing+waiting != 0 || turns.waiting.Len() != 0 {
		t.Errorf("left: %d have a turn, %d wait", computing, waiting)
	}
}
