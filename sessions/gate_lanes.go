package sessions

import (
	"container/list"
	"fmt"
	"time"
)

// remembered is how long a principal that is idle is known at least: somebody
// who makes a call now and then is there all the time.
const remembered = time.Second

// lane is what a Gate knows of a principal that has requests inside or waiting,
// had some just now, or has used up some of its rate.
type lane struct {
	budget
	principal string
	inside    int                  // requests
	waiting   [kinds]list.List     // of *visit, in order
	turn      [kinds]*list.Element // in Gate.ready; nil: no turn
	short     list.List            // of *visit: hold a short slot, the oldest first
	pausing   int                  // refusals held back
	idle      *list.Element        // in Gate.idle
	left      time.Time            // since when it is idle
	timer     alarm                // the next token, or a slot's time
}

// visit is one request.
type visit struct {
	lane     *lane
	kind     kind
	since    time.Time // waits; once inside, is
	state    visitState
	admitted chan struct{} // closed when let in; nil when that was at once
	place    *list.Element // in lane.waiting
	slot     *list.Element // in lane.short
}

type visitState int

const (
	outside visitState = iota
	inside
	gone
)

// alarm is a timer that is only ever brought forward: ringing too early costs a
// look, and setting it for each request would cost more.
type alarm struct {
	timer *time.Timer
	at    time.Time // zero: not set
}

func (a *alarm) set(now time.Time, wait time.Duration, ring func()) {
	at := now.Add(wait)
	if !a.at.IsZero() && !at.Before(a.at) {
		return
	}
	a.at = at
	if a.timer == nil {
		a.timer = time.AfterFunc(wait, ring)
	} else {
		a.timer.Reset(wait)
	}
}

// lane finds or makes a principal's.
func (g *Gate) lane(principal string) *lane {
	g.forgetIdle()
	l := g.principals[principal]
	if l == nil {
		l = &lane{principal: principal, budget: newBudget(g.cfg.Principal(principal))}
		g.principals[principal] = l
	}
	if l.idle != nil {
		g.idle.Remove(l.idle)
		l.idle = nil
	}
	return l
}

// forget puts a lane that is not in use aside.
func (g *Gate) forget(l *lane) {
	if l.inside > 0 || l.waits() > 0 || l.pausing > 0 || l.idle != nil {
		return
	}
	l.left = time.Now()
	l.idle = g.idle.PushBack(l)
}

// forgetIdle looks at two lanes, so that fewer and fewer are left however many
// come.
func (g *Gate) forgetIdle() {
	now := time.Now()
	for range 2 {
		front := g.idle.Front()
		if front == nil {
			return
		}
		l := front.Value.(*lane)
		if now.Sub(l.left) < remembered || !l.whole(now) {
			g.idle.MoveToBack(front)
			continue
		}
		g.idle.Remove(front)
		g.drop(l)
	}
}

func (g *Gate) drop(l *lane) {
	if l.timer.timer != nil {
		l.timer.timer.Stop()
	}
	delete(g.principals, l.principal)
}

// whole reports whether nothing of the rate is used.
func (l *lane) whole(now time.Time) bool {
	return l.rate == nil || l.rate.TokensAt(now) >= float64(l.rate.Burst())
}

func (l *lane) waits() int {
	n := 0
	for k := range l.waiting {
		n += l.waiting[k].Len()
	}
	return n
}

// refuse says why a visit may not even wait; nil: it may.
func (l *lane) refuse(v *visit, cfg GateConfig) *BusyError {
	now := v.since
	var wait time.Duration
	if v.kind != free && l.rate != nil {
		ahead := l.waiting[request].Len()
		if v.kind == call {
			ahead += l.waiting[call].Len()
		}
		wait = l.untilTokens(ahead+1, now)
	}
	if wait > cfg.Patience {
		return &BusyError{Reason: l.rateReason(), RetryAfter: wait}
	}
	if waiting := &l.waiting[v.kind]; waiting.Len() >= cfg.Waiting {
		// As long as the first of those in front waits by now, one at the end may
		// wait too.
		wait = max(wait, now.Sub(waiting.Front().Value.(*visit).since))
		return &BusyError{
			Reason:     fmt.Sprintf("%d %s of yours are waiting, as many as may", waiting.Len(), v.kind),
			RetryAfter: max(wait, refusalPause),
		}
	}
	return nil
}

func (l *lane) rateReason() string {
	return fmt.Sprintf("you may make %g requests a second, and have made more", float64(l.rate.Limit()))
}

// enqueue puts a visit last in its lane, and lets it in if it is first as well.
func (g *Gate) enqueue(v *visit) {
	l := v.lane
	v.place = l.waiting[v.kind].PushBack(v)
	g.settle(l)
	if v.state == outside {
		v.admitted = make(chan struct{})
	}
}

// giveUp takes a visit out that was not let in.
func (g *Gate) giveUp(v *visit) {
	v.state = gone
	v.lane.waiting[v.kind].Remove(v.place)
	g.settle(v.lane)
	g.forget(v.lane)
}

// leave ends a visit.
func (g *Gate) leave(v *visit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if v.state != inside {
		return
	}
	v.state = gone
	l := v.lane
	l.inside--
	if v.kind == call {
		l.running--
		g.all.running--
	}
	if v.slot != nil {
		l.short.Remove(v.slot)
	}
	g.settle(l)
	g.forget(l)
}

// admit lets in the first that waits.
func (g *Gate) admit(l *lane, k kind, now time.Time) {
	v := l.waiting[k].Remove(l.waiting[k].Front()).(*visit)
	l.take(k, now)
	g.all.take(k, now)
	l.inside++
	v.state, v.since, v.slot = inside, now, l.short.PushBack(v)
	if v.admitted != nil {
		close(v.admitted)
	}
}

// settle gives a lane its turns and lets in who has one and fits, after anything
// about the lane has changed.
func (g *Gate) settle(l *lane) {
	now := time.Now()
	g.queue(l, now)
	for k := range kind(kinds) {
		for g.ready[k].Len() > 0 && g.all.allows(k, now) {
			next := g.ready[k].Remove(g.ready[k].Front()).(*lane)
			next.turn[k] = nil
			if g.mayEnter(next, k, now) {
				g.admit(next, k, now)
			}
			g.queue(next, now)
		}
	}
	if g.all.rate != nil && g.ready[request].Len()+g.ready[call].Len() > 0 {
		if wait := g.all.untilTokens(1, now); wait > 0 {
			g.timer.set(now, wait, func() { g.ring(&g.timer, nil) })
		}
	}
}

// queue gives a lane a turn for each kind that only the server's limits hold up,
// and sets its alarm for the others.
func (g *Gate) queue(l *lane, now time.Time) {
	for front := l.short.Front(); front != nil && now.Sub(front.Value.(*visit).since) >= g.cfg.SlotTime; front = l.short.Front() {
		l.short.Remove(front).(*visit).slot = nil
	}
	for k := range kind(kinds) {
		switch {
		case l.waiting[k].Len() == 0:
			if l.turn[k] != nil { // whoever waited has given up
				g.ready[k].Remove(l.turn[k])
				l.turn[k] = nil
			}
		case l.turn[k] != nil:
		case g.mayEnter(l, k, now):
			l.turn[k] = g.ready[k].PushBack(l)
		case l.short.Len() >= g.slots():
			oldest := l.short.Front().Value.(*visit).since
			l.timer.set(now, g.cfg.SlotTime-now.Sub(oldest), func() { g.ring(&l.timer, l) })
		case k != free && l.rate != nil:
			if wait := l.untilTokens(1, now); wait > 0 {
				l.timer.set(now, wait, func() { g.ring(&l.timer, l) })
			}
		}
	}
}

// mayEnter reports whether nothing of its own keeps a lane's first out.
func (g *Gate) mayEnter(l *lane, k kind, now time.Time) bool {
	return l.waiting[k].Len() > 0 && l.short.Len() < g.slots() && l.allows(k, now)
}

// slots is how many short slots each principal has.
func (g *Gate) slots() int {
	if len(g.principals) == 1 {
		return 4 * g.cfg.Short
	}
	return g.cfg.Short
}

// ring is what an alarm does; l is nil for the server's.
func (g *Gate) ring(a *alarm, l *lane) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a.at = time.Time{}
	if l == nil {
		l = &lane{} // settle looks at everybody's turns
	}
	g.settle(l)
}
