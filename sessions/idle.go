package sessions

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// makeRoom stops the container that has been idle longest: of the owner's own
// first, and of others' unless own. It tells whether it has stopped one.
func (m *Manager) makeRoom(ctx context.Context, all []located, owner string, own bool) (bool, error) {
	running := slices.DeleteFunc(slices.Clone(all), func(i located) bool {
		return i.Status != "running" || own && i.Owner != owner
	})
	m.mu.Lock()
	since := make(map[backends.Ref]time.Time, len(running))
	for _, i := range running {
		since[i.Ref] = m.used[i.Ref]
	}
	m.mu.Unlock()
	slices.SortFunc(running, func(x, y located) int {
		if mine := x.Owner == owner; mine != (y.Owner == owner) {
			return map[bool]int{true: -1, false: 1}[mine]
		}
		return cmp.Or(since[x.Ref].Compare(since[y.Ref]), cmp.Compare(x.Ref.String(), y.Ref.String()))
	})
	for _, i := range running {
		stopped, err := m.stopIdle(ctx, i.place, i.Info, ReasonRoom)
		if ctx.Err() != nil {
			return false, err
		}
		if err != nil {
			m.log.Warn("an idle container could not be stopped to make room", "workspace", i.Ref, "error", err)
			continue
		}
		if stopped {
			m.log.Info("stopped an idle container to make room for another", "workspace", i.Ref)
			return true, nil
		}
	}
	return false, nil
}

// stopIdle stops a container unless it is in use, here or elsewhere.
func (m *Manager) stopIdle(ctx context.Context, p *place, i backends.Info, why EventReason) (stopped bool, err error) {
	stopped, err = m.idle(ctx, p, i.Ref, func(s backends.Stopper) error {
		if s == nil {
			return backends.Errorf(backends.CodeUnsupported, "stop", "", "the backend stops nothing")
		}
		return s.Stop(ctx, i.Ref)
	})
	if stopped && err == nil {
		m.tell(ctx, Event{Kind: EventStopped, Ref: i.Ref.String(), Principal: i.Owner, Reason: why})
	}
	return stopped, err
}

// idle does what do does to a workspace that is not in use, keeping calls
// waiting meanwhile, and tells whether it has.
func (m *Manager) idle(ctx context.Context, p *place, ref backends.Ref, do func(backends.Stopper) error) (bool, error) {
	p.mu.Lock()
	t := p.tenants[0]
	p.mu.Unlock()
	s, err := t.stopper(ctx)
	if err != nil {
		return false, err
	}
	m.mu.Lock()
	if m.held[ref] != nil || m.busyLocked(ref) {
		m.mu.Unlock()
		return false, nil
	}
	release := m.holdLocked(ref)
	var ours []*opened
	for o := range m.byRef[ref] {
		ours = append(ours, o)
	}
	m.mu.Unlock()
	defer release()
	for _, o := range ours {
		if err := o.lazy.Rest(); err != nil {
			m.log.Debug("a connection was not closed in order", "workspace", ref, "error", err)
		}
	}
	if s != nil {
		used, err := s.InUse(ctx, ref)
		if err != nil || used {
			return false, err
		}
	}
	return true, do(s)
}
