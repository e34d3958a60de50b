package fair

import (
	"container/list"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// slice is how long a goroutine computes at least before another has its
	// turn: as long as Go itself lets a goroutine run.
	slice = 10 * time.Millisecond
	// looks is at how many check points a goroutine does without a look at the
	// clock while it needs no turn yet.
	looks = 8
)

// Turns lets goroutines that compute for long take turns, so that there are
// never more of them than processors: all others, who answer requests, would wait
// behind them in Go's scheduler. Owners come one after the other, however many
// goroutines each has.
//
// A goroutine asks for its turn at its check points, which costs nothing while
// it has one, and keeps it until somebody else waits. Then the turn passes on
// after its time, whatever its holder does: one that waits for something, or
// has no check point for a while, keeps nobody waiting, and nothing can lock up.
type Turns struct {
	most int

	mu      sync.Mutex
	holders []*Turn           // the longest first
	waiting list.List         // of *queue, whose turn is next first
	queues  map[string]*queue // by owner
	alarm   *time.Timer       // set while somebody waits
}

// queue has those of one owner that wait.
type queue struct {
	owner string
	turns []*Turn
}

// processors are those of the machine. A server has Go use one thread more than
// there are, later, for whoever is not computing.
var processors = runtime.GOMAXPROCS(0)

// NewTurns lets most goroutines compute at once; 0 is one less than there are
// processors, and at least one.
func NewTurns(most int) *Turns {
	if most <= 0 {
		most = max(1, processors-1)
	}
	return &Turns{most: most, queues: map[string]*queue{}}
}

// Busy is how many goroutines have a turn, and how many wait for one.
func (u *Turns) Busy() (computing, waiting int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, q := range u.queues {
		waiting += len(q.turns)
	}
	return len(u.holders), waiting
}

// Turn is one goroutine's; nil needs none.
type Turn struct {
	turns   *Turns
	owner   string
	free    time.Time // until when it needs none
	looked  int
	held    atomic.Bool
	since   time.Time     // guarded by Turns.mu
	granted chan struct{} // gets one when its turn has come
}

type turnKey struct{}

// With is a context for a new goroutine of an owner, in a script that began at
// that time and needs no turn at first: what is short does not wait. End the
// goroutine with [Give].
func (u *Turns) With(ctx context.Context, owner string, begun time.Time) context.Context {
	if u == nil {
		return ctx
	}
	return context.WithValue(ctx, turnKey{}, &Turn{turns: u, owner: owner, free: begun.Add(slice), granted: make(chan struct{}, 1)})
}

// TurnOf is the turn of the goroutine whose context ctx is, or nil.
func TurnOf(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}

// Take waits until this goroutine has its turn, or ctx has ended. It is for the
// check points of whatever computes.
func (t *Turn) Take(ctx context.Context) {
	if t == nil || t.held.Load() {
		return
	}
	if !t.free.IsZero() {
		t.looked++
		if t.looked%looks != 1 || time.Now().Before(t.free) {
			return
		}
		t.free = time.Time{}
	}
	t.turns.take(ctx, t)
}

// Take is [Turn.Take] for code that has only the context.
func Take(ctx context.Context) { TurnOf(ctx).Take(ctx) }

// Give gives the turn back, before this goroutine waits or ends.
func (t *Turn) Give() {
	if t == nil || !t.held.Load() {
		return
	}
	u := t.turns
	u.mu.Lock()
	defer u.mu.Unlock()
	u.end(t)
}

// Give is [Turn.Give] for code that has only the context.
func Give(ctx context.Context) { TurnOf(ctx).Give() }

func (u *Turns) take(ctx context.Context, t *Turn) {
	u.mu.Lock()
	if len(u.holders) < u.most && u.waiting.Len() == 0 {
		u.grant(t)
		u.mu.Unlock()
		return
	}
	u.enqueue(t)
	u.mu.Unlock()
	select {
	case <-t.granted:
	case <-ctx.Done():
		u.mu.Lock()
		defer u.mu.Unlock()
		if !u.giveUp(t) { // its turn had come
			<-t.granted
		}
	}
}

func (u *Turns) grant(t *Turn) {
	t.since = time.Now()
	t.held.Store(true)
	u.holders = append(u.holders, t)
}

// end ends a turn, which may have passed on already.
func (u *Turns) end(t *Turn) {
	i := slices.Index(u.holders, t)
	if i < 0 {
		return
	}
	u.holders = slices.Delete(u.holders, i, i+1)
	t.held.Store(false)
	if next := u.next(t.owner); next != nil {
		u.grant(next)
		next.granted <- struct{}{}
	}
}

func (u *Turns) enqueue(t *Turn) {
	q := u.queues[t.owner]
	if q == nil {
		q = &queue{owner: t.owner}
		u.queues[t.owner] = q
		u.waiting.PushBack(q)
	}
	q.turns = append(q.turns, t)
	if u.alarm == nil {
		u.alarm = time.AfterFunc(u.rest(), u.ring)
	}
}

// rest is how long the oldest turn lasts at least.
func (u *Turns) rest() time.Duration { return slice - time.Since(u.holders[0].since) }

// ring passes on turns whose time is over.
func (u *Turns) ring() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.waiting.Len() > 0 && u.rest() <= 0 {
		u.end(u.holders[0])
	}
	if u.waiting.Len() == 0 {
		u.alarm = nil
		return
	}
	u.alarm.Reset(u.rest())
}

// next takes out who is next after a turn of an owner, or nil. An owner with many
// goroutines always waits; one with a single goroutine comes last each time, and
// is still next.
func (u *Turns) next(after string) *Turn {
	at := u.waiting.Front()
	if at == nil {
		return nil
	}
	if second := at.Next(); second != nil && at.Value.(*queue).owner == after {
		at = second
	}
	q := at.Value.(*queue)
	t := q.turns[0]
	if q.turns = q.turns[1:]; len(q.turns) == 0 {
		u.waiting.Remove(at)
		delete(u.queues, q.owner)
	} else {
		u.waiting.MoveToBack(at)
	}
	return t
}

// giveUp takes t out, and reports whether it was waiting.
func (u *Turns) giveUp(t *Turn) bool {
	for e := u.waiting.Front(); e != nil; e = e.Next() {
		q := e.Value.(*queue)
		if i := slices.Index(q.turns, t); i >= 0 {
			if q.turns = slices.Delete(q.turns, i, i+1); len(q.turns) == 0 {
				u.waiting.Remove(e)
				delete(u.queues, q.owner)
			}
			return true
		}
	}
	return false
}
