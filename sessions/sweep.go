package sessions

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

const (
	// sweepLimit bounds what is done about one workspace.
	sweepLimit = 2 * time.Minute
	// overMemory is how long a session that has ended is known as such: longer
	// than a request that was let in before is on its way. Its requests have
	// been cancelled, so this is for one that has not noticed yet.
	overMemory = time.Minute
	maxOver    = 20_000 // of them
)

// sweepUntil looks for what is idle or too old until ctx ends.
func (m *Manager) sweepUntil(ctx context.Context) {
	ticks := m.cfg.sweep
	if ticks == nil {
		ticker := time.NewTicker(m.every())
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case <-ticks:
			m.sweepOnce(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// every is how often to look, so that nothing is idle much longer than it may.
func (m *Manager) every() time.Duration {
	shortest := m.cfg.IdleClose
	for _, d := range []time.Duration{m.cfg.IdleStop, m.cfg.MaxAge} {
		if d > 0 {
			shortest = min(shortest, d)
		}
	}
	return min(max(shortest/4, time.Second), time.Minute)
}

// sweepOnce closes idle connections, stops idle containers and removes what is
// too old.
func (m *Manager) sweepOnce(ctx context.Context) {
	m.closeIdle()
	m.mu.Lock()
	m.forgetOver()
	m.mu.Unlock()
	if m.cfg.IdleStop == 0 && m.cfg.MaxAge == 0 {
		m.forget(nil)
		return
	}
	m.mu.Lock()
	places := slices.Clone(m.places)
	m.mu.Unlock()
	found := make([][]backends.Info, len(places))
	complete := true
	var mu sync.Mutex
	var looking sync.WaitGroup
	for i, p := range places {
		// One that hangs keeps no other from being looked at.
		looking.Go(func() {
			limited, cancel := context.WithTimeout(ctx, listLimit)
			infos, err := m.list(limited, p)
			cancel()
			if err != nil {
				if ctx.Err() == nil {
					m.log.Warn("idle and old workspaces could not be looked for", "place", p.name, "error", err)
				}
				mu.Lock()
				complete = false
				mu.Unlock()
				return
			}
			found[i] = infos
			m.sweepPlace(ctx, p, infos)
		})
	}
	looking.Wait()
	if complete {
		m.forget(slices.Concat(found...))
	}
}

// sweepPlace stops and removes what is due at one place.
func (m *Manager) sweepPlace(ctx context.Context, p *place, infos []backends.Info) {
	for _, i := range infos {
		if ctx.Err() != nil {
			return
		}
		limited, cancel := context.WithTimeout(ctx, sweepLimit)
		var err error
		if now := m.cfg.now(); m.cfg.MaxAge > 0 && !i.Created.IsZero() && now.Sub(i.Created) >= m.cfg.MaxAge {
			err = m.removeOld(limited, p, i)
		} else if m.cfg.IdleStop > 0 && i.Status == "running" && now.Sub(m.lastUse(i.Ref)) >= m.cfg.IdleStop {
			err = m.stopOld(limited, p, i)
		}
		cancel()
		if err != nil && ctx.Err() == nil {
			m.log.Warn("a workspace that is idle or old could not be stopped or removed", "workspace", i.Ref, "error", err)
		}
	}
}

func (m *Manager) lastUse(ref backends.Ref) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used[ref]
}

func (m *Manager) stopOld(ctx context.Context, p *place, i backends.Info) error {
	stopped, err := m.stopIdle(ctx, p, i, ReasonIdle)
	switch {
	case err != nil:
		return err
	case stopped:
		m.log.Info("stopped a container that was idle", "workspace", i.Ref, "after", m.cfg.IdleStop)
	default: // another process has a connection: it is idle from now at the earliest
		m.mu.Lock()
		m.used[i.Ref] = m.cfg.now()
		m.mu.Unlock()
	}
	return nil
}

func (m *Manager) removeOld(ctx context.Context, p *place, i backends.Info) error {
	p.mu.Lock()
	t := p.tenants[0]
	p.mu.Unlock()
	b, err := t.backend(ctx, Choice{})
	if err != nil {
		return err
	}
	removed, err := m.idle(ctx, p, i.Ref, func(backends.Stopper) error { return b.Destroy(ctx, i.Ref) })
	if removed && err == nil {
		m.log.Info("removed a workspace of the configured age", "workspace", i.Ref, "created", i.Created)
		m.tell(ctx, Event{Kind: EventRemoved, Ref: i.Ref.String(), Principal: i.Owner, Reason: ReasonAge})
	}
	return err
}

// closeIdle closes connections that have been idle. What only requests without a
// session have used is forgotten.
func (m *Manager) closeIdle() {
	type idle struct {
		o       *opened
		release func()
	}
	var closing []idle
	m.mu.Lock()
	for x, o := range m.open {
		if o.calls > 0 || o.opening > 0 || o.resting != nil || m.held[o.ref] != nil || m.cfg.now().Sub(o.idleSince) < m.cfg.IdleClose {
			continue
		}
		if len(o.connections) == 0 && x.kind != ownWorkspace {
			delete(m.open, x)
			m.dropLocked(o)
			o.ending = true
			closing = append(closing, idle{o: o})
			continue
		}
		over := make(chan struct{})
		o.resting = over
		closing = append(closing, idle{o, func() {
			m.mu.Lock()
			o.resting = nil
			m.mu.Unlock()
			close(over)
		}})
	}
	m.mu.Unlock()
	for _, c := range closing {
		var err error
		if c.release == nil {
			err = c.o.lazy.Close()
		} else {
			err = c.o.lazy.Rest()
			c.release()
		}
		if err != nil {
			m.log.Debug("an idle connection was not closed in order", "error", err)
		}
	}
}

// forget drops what is remembered of workspaces that are not there any more.
func (m *Manager) forget(there []backends.Info) {
	is := map[backends.Ref]bool{}
	for _, i := range there {
		is[i.Ref] = true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for ref := range m.used {
		if !is[ref] && m.byRef[ref] == nil {
			delete(m.used, ref)
			delete(m.running, ref)
		}
	}
}

// forgetOver drops what is remembered of sessions that have ended long ago. The
// caller has the lock.
func (m *Manager) forgetOver() {
	for id, when := range m.over {
		if m.cfg.now().Sub(when) > overMemory || len(m.over) > maxOver {
			delete(m.over, id)
		}
	}
}
