package sessions

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// located is a workspace and where it is.
type located struct {
	backends.Info
	place *place
}

// listLimit bounds a listing that nobody waits for, and otherPatience one of a
// place that a caller has nothing to do with: what was there last will do.
const (
	listLimit     = 30 * time.Second
	otherPatience = 2 * time.Second
)

// list asks a place for its workspaces of this server, and remembers the answer.
func (m *Manager) list(ctx context.Context, p *place) ([]backends.Info, error) {
	p.mu.Lock()
	t := p.tenants[0]
	p.mu.Unlock()
	b, err := t.backend(ctx, Choice{})
	var all []backends.Info
	if err == nil {
		all, err = b.List(ctx)
	}
	all = slices.DeleteFunc(all, func(i backends.Info) bool { return !m.cfg.Served(i.Owner) })
	p.mu.Lock()
	defer p.mu.Unlock()
	if !errors.Is(ctx.Err(), context.Canceled) { // one who gave up knows nothing
		p.fails = err
	}
	if err != nil {
		return nil, err
	}
	p.last = all
	m.see(all)
	return slices.Clone(all), nil
}

// see notes when workspaces were seen first, and when a container was that runs
// again: another replica has started it, whose connection may not show yet.
func (m *Manager) see(all []backends.Info) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range all {
		runs := i.Status == "running"
		if _, known := m.used[i.Ref]; !known || runs && !m.running[i.Ref] {
			m.used[i.Ref] = m.cfg.now()
		}
		if runs {
			m.running[i.Ref] = true
		} else {
			delete(m.running, i.Ref)
		}
	}
}

// listing is what counts for an opening in own: all of that, and where the
// server is limited what other places have, or had when they last answered.
func (m *Manager) listing(ctx context.Context, own *place) ([]located, error) {
	mine, err := m.list(ctx, own)
	if err != nil {
		return nil, err
	}
	var all []located
	for _, i := range mine {
		all = append(all, located{i, own})
	}
	if m.cfg.Limits.Workspaces == 0 && m.cfg.Limits.Running == 0 {
		return all, nil
	}
	m.mu.Lock()
	others := slices.DeleteFunc(slices.Clone(m.places), func(p *place) bool { return p == own })
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, otherPatience)
	defer cancel()
	return append(all, m.latest(ctx, others)...), nil
}

// latest is what places have, or had when they last answered.
func (m *Manager) latest(ctx context.Context, places []*place) []located {
	found := make([][]backends.Info, len(places))
	var asking sync.WaitGroup
	for i, p := range places {
		asking.Go(func() {
			infos, err := m.list(ctx, p)
			if err != nil {
				m.log.Debug("a backend does not tell its workspaces", "place", p.name, "error", err)
				p.mu.Lock()
				infos = slices.Clone(p.last)
				p.mu.Unlock()
			}
			found[i] = infos
		})
	}
	asking.Wait()
	var all []located
	for i, infos := range found {
		for _, info := range infos {
			all = append(all, located{info, places[i]})
		}
	}
	return all
}

// Kind is what metrics tell workspaces apart by.
type Kind struct {
	Backend string // provider
	State   string // the backend's word, see backends.Info
}

// Stats are for metrics.
type Stats struct {
	Workspaces  map[Kind]int
	Unreachable int // engines and stores that did not answer; what they had last is counted
	Connections int // to workspaces, open
	Calls       int // in flight
}

// Stats asks all backends, a moment at most.
func (m *Manager) Stats(ctx context.Context) Stats {
	m.mu.Lock()
	places := slices.Clone(m.places)
	st := Stats{Workspaces: map[Kind]int{}}
	for _, o := range m.open {
		st.Calls += o.calls
		if o.lazy.IsOpen() {
			st.Connections++
		}
	}
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, otherPatience)
	defer cancel()
	for _, i := range m.latest(ctx, places) {
		st.Workspaces[Kind{i.Ref.Provider, i.Status}]++
	}
	for _, p := range places {
		p.mu.Lock()
		if p.fails != nil {
			st.Unreachable++
		}
		p.mu.Unlock()
	}
	return st
}

// Ready fails when a backend does not answer, with what is wrong.
func (m *Manager) Ready(ctx context.Context) error {
	m.mu.Lock()
	places := slices.Clone(m.places)
	m.mu.Unlock()
	errs := make([]error, len(places))
	var asking sync.WaitGroup
	for i, p := range places {
		asking.Go(func() { _, errs[i] = m.list(ctx, p) })
	}
	asking.Wait()
	return errors.Join(errs...)
}
