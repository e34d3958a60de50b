package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// FullError is why there was no room for one more workspace, or one more
// container that runs.
type FullError struct {
	// What is full, and what to do, as a sentence.
	What string
	// RetryAfter is when there may be room; 0 where waiting frees none.
	RetryAfter time.Duration
}

func (e *FullError) Error() string { return e.What }

// retryRunning is when to try again where containers are in use: one may be idle
// soon.
const retryRunning = 10 * time.Second

func full(retry time.Duration, format string, args ...any) error {
	cause := &FullError{fmt.Sprintf(format, args...), retry}
	return &backends.Error{Code: backends.CodeUnavailable, Op: "open", Message: cause.What, Err: cause}
}

// create makes or finds the workspace of spec.
func (a admission) create(ctx context.Context, choice Choice, spec backends.Spec) (backends.Workspace, error) {
	o, m, t := a.o, a.o.m, a.o.tenant
	if m.limits(t) || choice != (Choice{}) && spec.Name != "" {
		leave, err := m.takeTurn(ctx, o.target.principal)
		if err != nil {
			return nil, err
		}
		defer leave()
		there, settle, err := m.admitNew(ctx, t, o.target.principal, spec.Name)
		if err != nil {
			return nil, err
		}
		defer settle()
		if there != nil {
			if err := t.checkImage(choice, there.Image); err != nil {
				return nil, err
			}
			if choice == (Choice{}) {
				choice = t.choiceOf(there.Image)
			}
		}
	}
	b, err := a.own(ctx, choice)
	if err != nil {
		return nil, err
	}
	made := false
	spec.Made = func() { made = true }
	for {
		ws, err := b.Create(ctx, spec)
		if err != nil {
			return nil, err
		}
		if made {
			a.tell(ctx, EventCreated, ws.Ref(), "")
		}
		if spec.Name == "" {
			if err := a.recount(ctx, b, ws); err != nil {
				return nil, err
			}
		}
		wait := m.enter(o, ws.Ref())
		if wait == nil {
			if !made {
				a.tell(ctx, EventAttached, ws.Ref(), "")
			}
			return ws, nil
		}
		made = false
		// It has been found, and is just being stopped.
		if err := errors.Join(ws.Close(), await(ctx, wait)); err != nil {
			return nil, err
		}
	}
}

// recountTries bounds how often, recountPause apart, a workspace waits for a
// later one to go.
const (
	recountTries = 20
	recountPause = 100 * time.Millisecond
)

// recount keeps a workspace that was just made from being one too many, as it is
// when another replica has made one in the same moment. Of these the later goes.
// The earlier waits for that, and goes too when it does not happen: the other may
// have been counted before this one was to be seen. Of several that wait in vain
// the latest goes first, which may be enough. One with a name is not counted again
// and stays: somebody may have found it already.
func (a admission) recount(ctx context.Context, b backends.Backend, ws backends.Workspace) error {
	m, t := a.o.m, a.o.tenant
	for try := 0; ; try++ {
		all, err := m.listing(ctx, t.place)
		if err != nil {
			return nil // it cannot be counted; there was room before
		}
		slices.SortFunc(all, func(x, y located) int {
			return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.Ref.String(), y.Ref.String()))
		})
		var refusal error
		earlier := math.MaxInt // than the first that is too many
		check := func(list []located, limit int, full func(int) error) {
			if limit > 0 && len(list) > limit {
				refusal = full(limit)
				earlier = min(earlier, limit-slices.IndexFunc(list, func(i located) bool { return i.Ref == ws.Ref() }))
			}
		}
		check(all, m.cfg.Limits.Workspaces, serverFull)
		mine := slices.DeleteFunc(slices.Clone(all), func(i located) bool { return i.Owner != a.o.target.principal })
		check(mine, t.cfg.Limits.Workspaces, principalFull)
		if refusal == nil {
			return nil
		}
		if earlier > 0 && try < recountTries+3*min(earlier, 10) && pause(ctx, recountPause) == nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishLimit)
		defer cancel()
		if err := errors.Join(ws.Close(), b.Destroy(ctx, ws.Ref())); err != nil {
			m.log.Warn("a workspace that is one too many could not be removed", "workspace", ws.Ref(), "error", err)
			return refusal
		}
		a.tell(ctx, EventRemoved, ws.Ref(), ReasonLimit)
		return refusal
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// attach opens a workspace that exists, when nobody is stopping it.
func (a admission) attach(ctx context.Context, choice Choice, ref backends.Ref) (backends.Workspace, error) {
	o, m, t := a.o, a.o.m, a.o.tenant
	for {
		wait := m.enter(o, ref)
		if wait == nil {
			break
		}
		if err := await(ctx, wait); err != nil {
			return nil, err
		}
	}
	b, err := a.own(ctx, choice)
	if err != nil {
		return nil, err
	}
	if t.cfg.Limits.Running > 0 || m.cfg.Limits.Running > 0 {
		info, err := b.Describe(ctx, ref)
		if err != nil {
			return nil, err
		}
		if !runs(info) {
			leave, err := m.takeTurn(ctx, o.target.principal)
			if err != nil {
				return nil, err
			}
			defer leave()
			settle, err := m.admitStart(ctx, t, o.target.principal)
			if err != nil {
				return nil, err
			}
			defer settle()
		}
	}
	return b.Attach(ctx, ref)
}

// limits tells whether a workspace of t's could be one too many.
func (m *Manager) limits(t *Tenant) bool {
	server, each := m.cfg.Limits, t.cfg.Limits
	return server.Workspaces > 0 || server.Running > 0 || each.Workspaces > 0 || each.Running > 0
}

// turn is whose turn it is among openings of one principal that count.
type turn struct {
	taken chan struct{} // has room for one
	users int           // who have it or wait, guarded by the Manager
}

// takeTurn waits until no other opening of the principal's is being counted or
// made: of two at once both would find room.
func (m *Manager) takeTurn(ctx context.Context, principal string) (leave func(), err error) {
	m.mu.Lock()
	q := m.owners[principal]
	if q == nil {
		q = &turn{taken: make(chan struct{}, 1)}
		m.owners[principal] = q
	}
	q.users++
	m.mu.Unlock()
	gone := func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if q.users--; q.users == 0 {
			delete(m.owners, principal)
		}
	}
	select {
	case q.taken <- struct{}{}:
		return func() { <-q.taken; gone() }, nil
	case <-ctx.Done():
		gone()
		return nil, &backends.Error{Code: backends.CodeCancelled, Op: "open", Err: context.Cause(ctx), Message: "given up while another workspace of yours was being made"}
	}
}

// counts are what one principal has.
type counts struct{ workspaces, running int }

// admitNew finds room for a new workspace, or for what is there by that name.
// Room is kept until settle is called, when it shows in listings.
func (m *Manager) admitNew(ctx context.Context, t *Tenant, owner, name string) (there *backends.Info, settle func(), err error) {
	called := ""
	if name != "" {
		if called, err = nameOf(owner, name); err != nil {
			return nil, nil, err
		}
	}
	settle, err = m.admit(ctx, t, owner, func(all []located) counts {
		there = nil
		for _, i := range all {
			if called != "" && i.place == t.place && i.Owner == owner && i.Name == called {
				there = &i.Info
				if runs(i.Info) {
					return counts{}
				}
				return counts{running: 1}
			}
		}
		return counts{workspaces: 1, running: 1}
	})
	return there, settle, err
}

// admitStart finds room for a container that is about to be started.
func (m *Manager) admitStart(ctx context.Context, t *Tenant, owner string) (settle func(), err error) {
	return m.admit(ctx, t, owner, func([]located) counts { return counts{running: 1} })
}

// manyTries bounds how often others may be faster, each with one more container.
const manyTries = 100

// admit finds room for what needs says of all that there is, stopping idle
// containers for it. The caller has the owner's turn.
func (m *Manager) admit(ctx context.Context, t *Tenant, owner string, needs func([]located) counts) (settle func(), err error) {
	stops, err := t.stopper(ctx)
	if err != nil {
		return nil, err
	}
	for range manyTries {
		m.mu.Lock()
		before := m.finished
		m.mu.Unlock()
		all, err := m.listing(ctx, t.place)
		if err != nil {
			return nil, err
		}
		more := needs(all)
		if stops == nil {
			more.running = 0
		}
		if more == (counts{}) {
			return func() {}, nil
		}
		m.mu.Lock()
		if m.finished != before {
			m.mu.Unlock()
			continue // what has just been made may not be in the listing
		}
		mine, total := m.countLocked(all, owner)
		err = m.verdict(t.cfg.Limits, mine, total, more)
		if err == nil {
			m.pending[owner] = counts{mine.workspaces + more.workspaces, mine.running + more.running}
			m.mu.Unlock()
			return func() { m.settle(owner) }, nil
		}
		m.mu.Unlock()
		var run *runningError
		if !errors.As(err, &run) {
			return nil, err
		}
		stopped, stopErr := m.makeRoom(ctx, all, owner, run.own)
		if stopErr != nil {
			return nil, stopErr
		}
		if !stopped {
			return nil, err
		}
	}
	return nil, full(retryRunning, "others keep being faster to take what room there is; try again")
}

func (m *Manager) settle(owner string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.pending, owner)
	m.finished++
}

// countLocked counts what owner has and what all have, what is being made
// included: it may be in the listing or not. The caller has the lock.
func (m *Manager) countLocked(all []located, owner string) (mine, total counts) {
	have := map[string]counts{}
	for _, i := range all {
		c := have[i.Owner]
		c.workspaces++
		if runs(i.Info) {
			c.running++
		}
		have[i.Owner] = c
	}
	for other, c := range m.pending {
		h := have[other]
		have[other] = counts{max(h.workspaces, c.workspaces), max(h.running, c.running)}
	}
	for _, c := range have {
		total.workspaces += c.workspaces
		total.running += c.running
	}
	return have[owner], total
}

// runs tells whether a workspace takes up what a running container does.
func runs(i backends.Info) bool {
	switch i.Status {
	case "running", "paused", "restarting":
		return true
	default:
		return false
	}
}

// runningError is a FullError that stopping an idle container mends: one of the
// principal's own, or anybody's.
type runningError struct {
	error
	own bool
}

func (e *runningError) Unwrap() error { return e.error }

// verdict tells whether there is room for more.
func (m *Manager) verdict(each Limits, mine, total, more counts) error {
	server := m.cfg.Limits
	over := func(limit, have, more int) bool { return limit > 0 && more > 0 && have+more > limit }
	switch {
	case over(each.Workspaces, mine.workspaces, more.workspaces):
		return principalFull(each.Workspaces)
	case over(server.Workspaces, total.workspaces, more.workspaces):
		return serverFull(server.Workspaces)
	case over(each.Running, mine.running, more.running):
		return &runningError{full(retryRunning, "all containers of yours that may run at once, %d, are in use; try again when a call in one of them has ended", each.Running), true}
	case over(server.Running, total.running, more.running):
		return &runningError{full(retryRunning, "all containers that may run at once on this server, %d, are in use; try again in a moment", server.Running), false}
	default:
		return nil
	}
}

// Workspaces are removed by somebody only, so neither says when to try again.

func principalFull(limit int) error {
	return full(0, "you have as many workspaces as you may have, %d, and waiting frees none; work in one of them by its ref or its name, or ask whoever runs the server to remove one or to raise the limit", limit)
}

func serverFull(limit int) error {
	return full(0, "the server has as many workspaces as it may have, %d, and waiting frees none; work in one of yours by its ref or its name, or ask whoever runs the server to remove some or to raise the limit", limit)
}
