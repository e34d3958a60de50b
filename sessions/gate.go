package sessions

import (
	"container/list"
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// BusyError says that a request was not handled because there is too much to
// do.
type BusyError struct {
	Reason     string // for the client: whose limit, and what it is
	RetryAfter time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s; try again in %v", e.Reason, max(e.RetryAfter.Round(time.Second), time.Second))
}

// GateConfig says how much a [Gate] lets in.
type GateConfig struct {
	// Server limits all principals together. Of Limits, here and below, only
	// Calls and CallsPerSecond count.
	Server Limits
	// Principal answers with the limits of one principal, at once. It is asked
	// again when the principal has been idle. Nil is no limits.
	Principal func(principal string) Limits
	// Waiting is how many requests of one principal that count alike may wait,
	// 512 if 0.
	Waiting int
	// Patience is the longest that a request waits, 30 s if 0: shorter than
	// the 60 s after which clients give up.
	Patience time.Duration
	// Short is how many requests of one principal may be in their first
	// SlotTime at once beside others', whether or not anything is limited; four
	// times as many while nobody else is there. Half of GOMAXPROCS if 0, and 1
	// at least.
	Short int
	// SlotTime is 10 ms if 0: as long as Go lets a goroutine run.
	SlotTime time.Duration
}

// refusalPause is how long a refusal is held back: a client that tries again
// at once, instead of when it was told to, would otherwise keep the server
// busy with refusing.
const refusalPause = time.Second

// Gate decides when a request may be handled, by what its principal and the
// whole server have in hand. It is safe for concurrent use.
//
// Requests of one principal that count alike are let in in the order they came.
// Principals take turns where they wait for a limit of the server.
//
// Most requests take less than a millisecond of a processor. A principal that
// sends hundreds at once would make as many goroutines runnable, and everybody
// else's request would wait for its turn behind them. So a request holds one of
// a few short slots of its principal for its first [GateConfig.SlotTime], and
// the others wait here instead of in the scheduler. What takes longer, a
// command for instance, gives its slot up and goes on. One principal's slots
// leave processors free, since Go's scheduler looks at the network at once only
// when one of them has nothing to do, and every 10 ms otherwise.
//
// What counts: tools/call for everything. Other requests are not counted as
// calls and go before those that wait: listing tools must not wait for a command
// to end, nor be refused because calls wait. Notifications and answers have no
// rate either, since a call may be waiting for them.
type Gate struct {
	cfg GateConfig

	mu         sync.Mutex
	all        budget
	principals map[string]*lane
	ready      [kinds]list.List // of *lane: who is let in next
	idle       list.List        // of *lane: not in use
	timer      alarm            // the next token of all.rate
}

// kind is what a request counts for.
type kind int

const (
	free    kind = iota // a short slot
	request             // and the rate
	call                // and the calls
	kinds   = 3
)

func (k kind) String() string { return [kinds]string{"notifications", "requests", "calls"}[k] }

func kindOf(method string) kind {
	switch {
	case method == "tools/call":
		return call
	case method == "" || strings.HasPrefix(method, "notifications/"):
		return free
	}
	return request
}

// NewGate returns a Gate.
func NewGate(cfg GateConfig) *Gate {
	if cfg.Principal == nil {
		cfg.Principal = func(string) Limits { return Limits{} }
	}
	if cfg.Waiting == 0 {
		cfg.Waiting = 512
	}
	if cfg.Patience == 0 {
		cfg.Patience = 30 * time.Second
	}
	if cfg.Short == 0 {
		cfg.Short = max(1, runtime.GOMAXPROCS(0)/2)
	}
	if cfg.SlotTime == 0 {
		cfg.SlotTime = 10 * time.Millisecond
	}
	return &Gate{cfg: cfg, all: newBudget(cfg.Server), principals: map[string]*lane{}}
}

// Enter waits until a request of this method may be handled, and answers with
// what has to be called when it has been; calling it again does nothing. It
// fails with a [*BusyError] when too many wait already or the wait is or would
// be over [GateConfig.Patience], and with the cause of ctx.
func (g *Gate) Enter(ctx context.Context, principal, method string) (leave func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	v := &visit{kind: kindOf(method), since: time.Now()}
	g.mu.Lock()
	v.lane = g.lane(principal)
	refusal := v.lane.refuse(v, g.cfg)
	switch {
	case refusal == nil:
		g.enqueue(v)
	case v.lane.pausing >= g.cfg.Waiting:
		g.mu.Unlock()
		return nil, refusal
	default:
		v.lane.pausing++
	}
	admitted := v.state == inside
	g.mu.Unlock()
	switch {
	case admitted:
		return func() { g.leave(v) }, nil
	case refusal != nil:
		return nil, g.pause(ctx, v.lane, refusal)
	}
	return g.wait(ctx, v)
}

// wait is for a visit that was not let in at once.
func (g *Gate) wait(ctx context.Context, v *visit) (leave func(), err error) {
	patience := time.NewTimer(g.cfg.Patience)
	defer patience.Stop()
	leave = func() { g.leave(v) }
	select {
	case <-v.admitted:
		return leave, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-patience.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.state == inside { // at the same moment
		return leave, nil
	}
	if err == nil {
		err = g.busy(v)
	}
	g.giveUp(v)
	return nil, err
}

// pause holds a refusal back.
func (g *Gate) pause(ctx context.Context, l *lane, refusal *BusyError) error {
	timer := time.NewTimer(min(refusalPause, refusal.RetryAfter))
	defer timer.Stop()
	var err error = refusal
	select {
	case <-timer.C:
		refusal.RetryAfter = max(refusal.RetryAfter-refusalPause, 0)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	l.pausing--
	g.forget(l)
	return err
}

// busy tells a visit what it has waited for in vain.
func (g *Gate) busy(v *visit) *BusyError {
	e := &BusyError{RetryAfter: g.cfg.Patience}
	switch l := v.lane; {
	case v.kind == call && l.callsFull():
		e.Reason = fmt.Sprintf("you have %d calls running, as many as you may", l.running)
	case v.kind == call && g.all.callsFull():
		e.Reason = fmt.Sprintf("the server has %d calls running, as many as it may", g.all.running)
	case l.rate != nil && l.rate.TokensAt(time.Now()) < 1:
		e.Reason = l.rateReason()
	default:
		e.Reason = "the server is busy with the requests of others"
	}
	return e
}

// budget is what may be used and what is.
type budget struct {
	calls   int // 0 no limit
	running int
	rate    *rate.Limiter // nil no limit
}

// newBudget allows a second's requests at once, and one in any case.
func newBudget(l Limits) budget {
	b := budget{calls: l.Calls}
	if l.CallsPerSecond > 0 {
		b.rate = rate.NewLimiter(rate.Limit(l.CallsPerSecond), int(math.Ceil(min(l.CallsPerSecond, 1e6))))
	}
	return b
}

func (b *budget) callsFull() bool { return b.calls > 0 && b.running >= b.calls }

// allows reports whether a request of this kind has room now.
func (b *budget) allows(k kind, now time.Time) bool {
	return (k != call || !b.callsFull()) && (k == free || b.rate == nil || b.rate.TokensAt(now) >= 1)
}

// take is for one that has room.
func (b *budget) take(k kind, now time.Time) {
	if k != free && b.rate != nil {
		b.rate.AllowN(now, 1)
	}
	if k == call {
		b.running++
	}
}

// untilTokens is how long it takes until n requests have tokens.
func (b *budget) untilTokens(n int, now time.Time) time.Duration {
	missing := float64(n) - b.rate.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	// A nanosecond more, so that rounding does not make it a token less.
	return time.Duration(min(missing/float64(b.rate.Limit())*float64(time.Second), math.MaxInt64/2)) + 1
}
