package sessions

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// opened is a workspace that requests of one principal share: one connection to
// it, opened with its first use and closed when it has been idle.
type opened struct {
	m      *Manager
	tenant *Tenant
	target target
	lazy   *backends.Lazy

	// Guarded by the Manager.
	choice      Choice
	ref         backends.Ref                 // once there is one
	calls       int                          // requests in flight
	opening     int                          // of the connection, 0 or 1
	idleSince   time.Time                    // when calls has become 0
	resting     chan struct{}                // closed when the connection has been; nil otherwise
	full        time.Duration                // the last opening failed for want of room: when to try again
	connections map[string]*tools.Connection // of sessions
	ending      bool                         // no call finds it any more
	quiet       chan struct{}                // when ending: closed once calls is 0
}

// isOpen tells whether x names a workspace that its principal has been found to
// have.
func (m *Manager) isOpen(x target) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.findLocked(x) != nil
}

// findLocked is the open workspace of x. A session's own serves its ref as well;
// one that was opened by a name does not, because it is made anew when it is
// gone, which a ref never does. The caller has the lock.
func (m *Manager) findLocked(x target) *opened {
	if o := m.open[x]; o != nil || x.kind != byRef {
		return o
	}
	ref, err := backends.ParseRef(x.id)
	if err != nil {
		return nil
	}
	for o := range m.byRef[ref] {
		if o.target.principal == x.principal && o.target.kind == ownWorkspace && !o.ending {
			return o
		}
	}
	return nil
}

// acquire counts a call in x's workspace and answers with the connection for it.
// It waits while the workspace is being stopped.
func (m *Manager) acquire(ctx context.Context, t *Tenant, session string, x target, choice Choice) (*tools.Connection, *opened, error) {
	for {
		if ctx.Err() != nil { // with its session, for instance
			return nil, nil, &backends.Error{Code: backends.CodeCancelled, Op: "open", Err: context.Cause(ctx), Message: "the call was cancelled"}
		}
		m.mu.Lock()
		if err := m.servesLocked(x.principal, session); err != nil {
			m.mu.Unlock()
			return nil, nil, err
		}
		o := m.findLocked(x)
		if o == nil {
			o = m.newOpened(t, x, choice)
			m.open[x] = o
		}
		wait := o.resting
		if wait == nil {
			wait = m.held[o.ref] // nil for no ref
		}
		if wait != nil {
			m.mu.Unlock()
			if err := await(ctx, wait); err != nil {
				return nil, nil, err
			}
			continue
		}
		check, err := o.chooseLocked(x, choice)
		if err != nil {
			m.mu.Unlock()
			return nil, nil, err
		}
		o.calls++
		conn := m.connectLocked(o, session, x)
		m.mu.Unlock()
		if check {
			if err := o.checkChoice(ctx, choice); err != nil {
				m.release(o, Caller{})
				return nil, nil, err
			}
		}
		return conn, o, nil
	}
}

// servesLocked fails when nobody, or the session no more, is served.
func (m *Manager) servesLocked(principal, session string) error {
	if m.closed {
		return errClosing
	}
	if _, over := m.over[sessionID{principal, session}]; over && session != "" {
		return backends.Errorf(backends.CodeUnavailable, "open", "", "this session has ended; start another")
	}
	return nil
}

func (m *Manager) newOpened(t *Tenant, x target, choice Choice) *opened {
	o := &opened{m: m, tenant: t, target: x, choice: choice, idleSince: m.cfg.now(), connections: map[string]*tools.Connection{}}
	switch x.kind {
	case byRef:
		ref, _ := backends.ParseRef(x.id) // it was parsed to be found
		o.lazy = backends.Attach(admission{o}, ref)
	case byName:
		o.lazy = backends.Create(admission{o}, backends.Spec{Name: x.id})
	default:
		o.lazy = backends.Create(admission{o}, backends.Spec{})
	}
	return o
}

// chooseLocked heeds the choice of a call. Where the workspace exists, the
// caller has to check its image. The caller has the lock.
func (o *opened) chooseLocked(x target, choice Choice) (check bool, err error) {
	switch {
	case x.kind == byRef: // it has been checked
		return false, nil
	case o.ref != (backends.Ref{}):
		return choice != (Choice{}) && choice != o.choice, nil
	case o.calls == 0 && o.opening == 0:
		o.choice = choice
		return false, nil
	case choice != (Choice{}) && choice != o.choice:
		return false, backends.Errorf(backends.CodeInvalidArgument, "choose", "", "this workspace is just being made from another image; leave the choice out, or name another workspace")
	default:
		return false, nil
	}
}

// checkChoice holds the choice against the workspace that there is.
func (o *opened) checkChoice(ctx context.Context, choice Choice) error {
	info, err := o.describe(ctx)
	if errors.Is(err, backends.ErrGone) && o.target.kind == byName {
		return nil // it will be made by the choice, or the call fails there
	}
	if err != nil {
		return err
	}
	return o.tenant.checkImage(choice, info.Image)
}

// describe tells what the backend knows of the workspace.
func (o *opened) describe(ctx context.Context) (backends.Info, error) {
	ref, ok := o.lazy.Ref()
	if !ok {
		return backends.Info{}, backends.Errorf(backends.CodeUnavailable, "describe", "", "there is no workspace yet; the first tool makes it")
	}
	b, err := o.tenant.backend(ctx, Choice{})
	if err != nil {
		return backends.Info{}, err
	}
	return Owned(b, o.target.principal).Describe(ctx, ref)
}

// connectLocked is what the tools remember of a session in this workspace, or
// nothing where there is no session. The caller has the lock.
func (m *Manager) connectLocked(o *opened, session string, x target) *tools.Connection {
	cfg := tools.ConnectionConfig{
		Lazy: o.lazy, Key: m.cfg.Shared.Key(), Spent: m.cfg.Shared, Describe: o.describe,
		Binding: x.binding(session), OneCall: session == "",
	}
	if session == "" {
		return tools.Connect(cfg)
	}
	conn := o.connections[session]
	if conn == nil {
		cfg.Binding = o.target.binding(session) // x may name it another way each time
		conn = tools.Connect(cfg)
		o.connections[session] = conn
	}
	return conn
}

// release counts a call that has ended.
func (m *Manager) release(o *opened, caller Caller) {
	m.mu.Lock()
	o.calls--
	if o.calls == 0 {
		o.idleSince = m.cfg.now()
		if o.ending {
			close(o.quiet)
		} else if o.lazy.Unused() && m.open[o.target] == o {
			// It has come to nothing: a name that was made up, a limit that is
			// reached. The next call begins anew.
			delete(m.open, o.target)
		}
	}
	if o.ref != (backends.Ref{}) {
		m.used[o.ref] = m.cfg.now()
	}
	full := o.full
	m.mu.Unlock()
	if full > 0 && caller.RetryAfter != nil {
		caller.RetryAfter(full)
	}
}

// busyLocked tells whether a call is under way in ref, or a connection to it
// being opened. The caller has the lock.
func (m *Manager) busyLocked(ref backends.Ref) bool {
	for o := range m.byRef[ref] {
		if o.calls > 0 || o.opening > 0 {
			return true
		}
	}
	return false
}

// enter notes that o's workspace is ref, unless that is being stopped: then it
// answers with what to wait for.
func (m *Manager) enter(o *opened, ref backends.Ref) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if wait := m.held[ref]; wait != nil {
		return wait
	}
	if o.ref != ref {
		m.dropLocked(o)
	}
	o.ref = ref
	if m.byRef[ref] == nil {
		m.byRef[ref] = map[*opened]bool{}
	}
	m.byRef[ref][o] = true
	m.running[ref] = true
	m.used[ref] = m.cfg.now()
	return nil
}

// dropLocked notes that o has no workspace any more. The caller has the lock.
func (m *Manager) dropLocked(o *opened) {
	delete(m.byRef[o.ref], o)
	if len(m.byRef[o.ref]) == 0 {
		delete(m.byRef, o.ref)
	}
	o.ref = backends.Ref{}
}

// gone forgets a workspace that was found to be gone.
func (m *Manager) gone(o *opened) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropLocked(o)
}

// begins and ends count the opening of o's connection.
func (m *Manager) begins(o *opened) Choice {
	m.mu.Lock()
	defer m.mu.Unlock()
	o.opening++
	o.full = 0
	return o.choice
}

func (m *Manager) ends(o *opened, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o.opening--
	var full *FullError
	if errors.As(err, &full) {
		o.full = full.RetryAfter
	}
}

// admission is the backend of an opened workspace's [backends.Lazy]: the
// principal's own, with the limits heeded.
type admission struct{ o *opened }

var _ backends.Backend = admission{}

func (a admission) Provider() string { return a.o.tenant.cfg.Provider }

func (a admission) Create(ctx context.Context, spec backends.Spec) (ws backends.Workspace, err error) {
	choice := a.o.m.begins(a.o)
	defer func() { a.o.m.ends(a.o, err) }()
	return a.create(ctx, choice, spec)
}

func (a admission) Attach(ctx context.Context, ref backends.Ref) (ws backends.Workspace, err error) {
	choice := a.o.m.begins(a.o)
	defer func() { a.o.m.ends(a.o, err) }()
	ws, err = a.attach(ctx, choice, ref)
	if !errors.Is(err, backends.ErrGone) {
		if err == nil {
			a.tell(ctx, EventAttached, ref, "")
		}
		return ws, err
	}
	a.o.m.gone(a.o)
	if a.o.target.kind != byName {
		return nil, err
	}
	return a.create(ctx, choice, backends.Spec{Name: a.o.target.id})
}

// tell tells what has become of the workspace.
func (a admission) tell(ctx context.Context, kind EventKind, ref backends.Ref, why EventReason) {
	a.o.m.tell(ctx, Event{Kind: kind, Ref: ref.String(), Principal: a.o.target.principal, Session: CallerFrom(ctx).Session, Reason: why})
}

// own is the principal's part of a choice's backend.
func (a admission) own(ctx context.Context, choice Choice) (backends.Backend, error) {
	b, err := a.o.tenant.backend(ctx, choice)
	if err != nil {
		return nil, err
	}
	return Owned(b, a.o.target.principal), nil
}

func (a admission) List(ctx context.Context) ([]backends.Info, error) {
	b, err := a.own(ctx, Choice{})
	if err != nil {
		return nil, err
	}
	return b.List(ctx)
}

func (a admission) Describe(ctx context.Context, ref backends.Ref) (backends.Info, error) {
	b, err := a.own(ctx, Choice{})
	if err != nil {
		return backends.Info{}, err
	}
	return b.Describe(ctx, ref)
}

func (a admission) Destroy(ctx context.Context, ref backends.Ref) error {
	b, err := a.own(ctx, Choice{})
	if err != nil {
		return err
	}
	return b.Destroy(ctx, ref)
}

// Close leaves the backend to the Manager.
func (a admission) Close() error { return nil }
