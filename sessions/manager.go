package sessions

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// ManagerConfig is what holds for a whole server.
type ManagerConfig struct {
	// Limits of all principals together; Workspaces and Running are heeded here.
	Limits Limits
	// IdleStop is how long a container may run without a call before it is
	// stopped, whichever process it was started by. 0 stops none.
	IdleStop time.Duration
	// IdleClose is how long a connection to a workspace stays open without a
	// call; 0 means IdleStop, or 10 minutes where nothing is stopped. It cannot
	// be shorter than IdleStop: an open connection is how other replicas know
	// that a container is not idle.
	IdleClose time.Duration
	// MaxAge is how long after its creation a workspace is removed with its
	// files, as soon as nobody uses it. 0 removes none.
	MaxAge time.Duration
	// Shared is what replicas have in common; nil shares with none. It is the
	// caller's to close.
	Shared Shared
	// Served tells whose workspaces are this server's to count, stop and remove,
	// where others use the same engine; nil means everybody's.
	Served func(owner string) bool
	// Observe hears of what becomes of workspaces, once it has happened; it must
	// be quick. May be nil.
	Observe func(Event)
	// Logger hears of what is done without being asked for; nil is silent.
	Logger *slog.Logger

	now   func() time.Time // tests set the clock
	sweep <-chan time.Time // and when to look for what is idle
}

// DefaultIdleClose is how long connections stay open where nothing is stopped.
const DefaultIdleClose = 10 * time.Minute

// DefaultLimits are for a server of moderate size, and DefaultPrincipalLimits for
// each of its principals. What is 0 there has no limit here.
var (
	DefaultLimits          = Limits{Workspaces: 2000, Running: 64, Sessions: 5000, Calls: 512}
	DefaultPrincipalLimits = Limits{Workspaces: 50, Running: 8, Sessions: 500, Calls: 64}
)

// Manager has all workspaces of a server: it opens them for calls, keeps them
// within the limits, and stops and removes them in time. It is safe for
// concurrent use.
//
// Nothing that it remembers is needed by another replica: what there is, it asks
// the backends. Where two replicas make a workspace of a name, or start a
// container, in the same moment, a limit may be passed by one.
type Manager struct {
	cfg     ManagerConfig
	log     *slog.Logger
	sweeper sync.WaitGroup
	halt    context.CancelFunc // of the sweeper
	ending  sync.WaitGroup     // of sessions
	patient context.Context    // while the calls of those are waited for
	hurry   context.CancelFunc

	mu       sync.Mutex
	closed   bool
	places   []*place
	open     map[target]*opened
	byRef    map[backends.Ref]map[*opened]bool
	held     map[backends.Ref]chan struct{} // being stopped or removed; closed when that is over
	used     map[backends.Ref]time.Time     // when a call ended last, or when it was seen first
	running  map[backends.Ref]bool          // as the last listing had it
	over     map[sessionID]time.Time        // sessions that have ended, and when
	owners   map[string]*turn               // whose turn it is to create or start
	pending  map[string]counts              // what owners will have when what is being made is there
	finished int64                          // how many have been taken out of pending
}

// sessionID names an MCP session of a principal's.
type sessionID struct{ principal, session string }

// NewManager returns a Manager, which works until Close.
func NewManager(cfg ManagerConfig) *Manager {
	if cfg.IdleClose == 0 {
		cfg.IdleClose = cfg.IdleStop
	}
	if cfg.IdleClose == 0 {
		cfg.IdleClose = DefaultIdleClose
	}
	cfg.IdleClose = max(cfg.IdleClose, cfg.IdleStop)
	if cfg.Shared == nil {
		cfg.Shared = newSharedMemory()
	}
	if cfg.Served == nil {
		cfg.Served = func(string) bool { return true }
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.now == nil {
		cfg.now = time.Now
	}
	m := &Manager{
		cfg:     cfg,
		log:     cfg.Logger,
		open:    map[target]*opened{},
		byRef:   map[backends.Ref]map[*opened]bool{},
		held:    map[backends.Ref]chan struct{}{},
		used:    map[backends.Ref]time.Time{},
		running: map[backends.Ref]bool{},
		over:    map[sessionID]time.Time{},
		owners:  map[string]*turn{},
		pending: map[string]counts{},
	}
	ctx, halt := context.WithCancel(context.Background())
	m.halt = halt
	m.patient, m.hurry = context.WithCancel(context.Background())
	m.sweeper.Go(func() { m.sweepUntil(ctx) })
	return m
}

// errClosing is the answer of a server that is being shut down.
var errClosing = &backends.Error{Code: backends.CodeUnavailable, Op: "open", Message: "the server is shutting down; try again in a moment"}

// Close ends all connections, and with them the sessions, waiting for calls in
// flight until ctx ends. Workspaces stay, but for those that a session's end
// removes. The backends are closed.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	all := make([]*opened, 0, len(m.open))
	for _, o := range m.open {
		m.endLocked(o)
		all = append(all, o)
	}
	places := m.places
	m.mu.Unlock()
	defer context.AfterFunc(ctx, m.hurry)()
	m.halt()

	errs := make([]error, len(all))
	var ending sync.WaitGroup
	for i, o := range all {
		ending.Go(func() { errs[i] = m.finish(ctx, o) })
	}
	ending.Wait()
	m.ending.Wait()
	m.sweeper.Wait()
	m.hurry()
	for _, p := range places {
		for _, t := range p.tenants {
			errs = append(errs, t.closeBackends())
		}
	}
	return errors.Join(errs...)
}

// EndSession ends what an MCP session has: its connections, and where the tenant
// has it so, its own workspace with its files. It waits for calls in flight until
// ctx ends; they are then waited for in the background.
func (m *Manager) EndSession(ctx context.Context, principal, session string) error {
	if session == "" {
		return nil
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil // Close does it
	}
	id := sessionID{principal, session}
	m.over[id] = m.cfg.now()
	if len(m.over) > 2*maxOver {
		m.forgetOver()
	}
	for _, o := range m.open {
		if o.target.principal == principal {
			delete(o.connections, session)
		}
	}
	own := m.open[target{principal, ownWorkspace, session}]
	if own == nil {
		m.mu.Unlock()
		return nil
	}
	m.endLocked(own)
	ended := make(chan error, 1)
	m.ending.Go(func() {
		err := m.finish(m.patient, own)
		if err != nil {
			m.log.Warn("the workspace of a session that has ended could not be put away", "error", err)
		}
		ended <- err
	})
	m.mu.Unlock()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return backends.Errorf(backends.CodeCancelled, "close", "", "the session's calls in flight are waited for in the background")
	}
}

// endLocked takes o out of what calls find. The caller has the lock.
func (m *Manager) endLocked(o *opened) {
	if m.open[o.target] == o {
		delete(m.open, o.target)
	}
	if !o.ending {
		o.ending = true
		o.quiet = make(chan struct{})
		if o.calls == 0 {
			close(o.quiet)
		}
	}
}

// finishLimit bounds what putting a workspace away takes, once it is quiet.
const finishLimit = time.Minute

// finish closes o when its calls have ended, or ctx has, and removes its
// workspace where that goes with it. The caller has called endLocked.
func (m *Manager) finish(ctx context.Context, o *opened) error {
	var waited error
	select {
	case <-o.quiet:
	default:
		select {
		case <-o.quiet:
		case <-ctx.Done():
			waited = backends.Errorf(backends.CodeCancelled, "close", "", "calls were still in flight when the server was closed")
		}
	}
	closing := o.lazy.Close()
	ref, was := o.lazy.Ref()
	m.mu.Lock()
	m.dropLocked(o)
	m.mu.Unlock()
	if !was || !o.tenant.cfg.DestroyOnExit || o.target.kind != ownWorkspace {
		return errors.Join(waited, closing)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishLimit)
	defer cancel()
	return errors.Join(waited, closing, m.destroyOwn(ctx, o, ref))
}

// destroyOwn removes a session's workspace. A call of another session of the
// same principal that named it by its ref may be under way: it ends as in any
// workspace that is destroyed.
func (m *Manager) destroyOwn(ctx context.Context, o *opened, ref backends.Ref) error {
	release, err := m.hold(ctx, ref)
	if err != nil {
		return err
	}
	defer release()
	b, err := o.tenant.backend(ctx, o.choice)
	if err != nil {
		return err
	}
	if err := Owned(b, o.target.principal).Destroy(ctx, ref); err != nil {
		return err
	}
	m.tell(ctx, Event{Kind: EventRemoved, Ref: ref.String(), Principal: o.target.principal, Session: o.target.id, Reason: ReasonSessionEnded})
	return nil
}

// hold keeps calls from opening ref until release is called, waiting while
// somebody else does.
func (m *Manager) hold(ctx context.Context, ref backends.Ref) (release func(), err error) {
	for {
		m.mu.Lock()
		other := m.held[ref]
		if other == nil {
			release = m.holdLocked(ref)
			m.mu.Unlock()
			return release, nil
		}
		m.mu.Unlock()
		if err := await(ctx, other); err != nil {
			return nil, err
		}
	}
}

// holdLocked is hold where nobody holds it. The caller has the lock.
func (m *Manager) holdLocked(ref backends.Ref) (release func()) {
	over := make(chan struct{})
	m.held[ref] = over
	return func() {
		m.mu.Lock()
		delete(m.held, ref)
		m.mu.Unlock()
		close(over)
	}
}

// await waits until c is closed.
func await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return &backends.Error{Code: backends.CodeCancelled, Op: "open", Err: context.Cause(ctx), Message: "given up while the workspace was being stopped"}
	}
}
