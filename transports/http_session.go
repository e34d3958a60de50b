package transports

import (
	"context"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	maxBroadcasts = 32 // notifications for a session that wait for a stream to take them
	maxListeners  = 4  // GET streams of a session
)

// httpSession is an MCP session over Streamable HTTP, of the revisions that
// have them. What belongs to one call goes to that call's response; what is for
// the session as a whole to a stream that the client has opened with GET.
type httpSession struct {
	*session  // as mcp-go knows it
	hub       *hub
	principal string
	server    *server.MCPServer
	events    *sessionEvents
	asked     asked

	ctx    context.Context // of its calls and streams
	cancel context.CancelCauseFunc

	mu         sync.Mutex
	known      bool // to the table
	announced  bool // the client knows its id
	calls      map[string]*exchange
	listeners  []*listener // the last one gets the messages
	listenLog  *eventStream
	delivered  int64 // number of the first event of listenLog that was never written
	users      int   // requests and streams open
	last       time.Time
	ended      bool
	finishOnce sync.Once
	timer      *time.Timer
}

// newSession makes a session that is in nobody's hands yet but the caller's,
// who lets go of it with done.
func (h *hub) newSession(principal string, srv *server.MCPServer) (*httpSession, error) {
	s := &httpSession{
		session:   &session{id: newSessionID(), notifications: make(chan mcp.JSONRPCNotification, maxBroadcasts)},
		hub:       h,
		principal: principal,
		server:    srv,
		events:    h.events.session(principal),
		users:     1,
	}
	s.asked.limit = maxAsked
	s.ctx, s.cancel = context.WithCancelCause(h.ctx)
	if err := srv.RegisterSession(s.ctx, s); err != nil {
		s.cancel(err)
		return nil, err
	}
	s.mu.Lock()
	s.timer = time.AfterFunc(h.sessionTimeout, s.idle)
	s.mu.Unlock()
	if !h.sessions.add(s) {
		s.end(ErrShutdown)
		s.done()
		return nil, ErrShutdown
	}
	return s, nil
}

// announce notes that the client is told of the session.
func (s *httpSession) announce(ctx context.Context) {
	s.hub.beginSession(ctx, s.principal, s.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.announced = true
}

// hold keeps the session from timing out. It returns false when it is over.
func (s *httpSession) hold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.users++
	return true
}

// done is the end of hold.
func (s *httpSession) done() {
	s.mu.Lock()
	s.users--
	s.last = time.Now()
	finish := s.ended && s.users == 0
	s.mu.Unlock()
	if finish {
		s.finish()
	}
}

// idle ends the session if nothing has used it for long enough.
func (s *httpSession) idle() {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	wait := s.hub.sessionTimeout
	if s.users == 0 {
		wait -= time.Since(s.last)
	}
	if wait > 0 {
		s.timer.Reset(wait)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	s.end(ErrSessionIdle)
}

// end makes the session unknown and cancels what goes on in it. The rest
// follows when that has ended, or after two seconds.
func (s *httpSession) end(cause error) {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	busy := s.users > 0
	if busy {
		// A call that does not end must not keep the rest of the session.
		s.timer.Stop()
		s.timer = time.AfterFunc(grace, s.finish)
	} else {
		s.timer.Stop()
	}
	s.mu.Unlock()
	s.hub.sessions.forget(s)
	s.cancel(cause)
	s.asked.end()
	if !busy {
		s.finish()
	}
}

// finish removes what is left of an ended session.
func (s *httpSession) finish() {
	s.finishOnce.Do(func() {
		s.mu.Lock()
		s.timer.Stop()
		known, announced := s.known, s.announced
		s.mu.Unlock()
		s.server.UnregisterSession(context.Background(), s.id)
		s.events.purge()
		if announced {
			s.hub.endSession(s.principal, s.id, context.Cause(s.ctx))
		}
		if known {
			s.hub.sessions.gone.Done()
		}
	})
}

// begin enters a request, so that it can be cancelled. It returns false when
// its id is in use.
func (s *httpSession) begin(x *exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[x.key] != nil {
		return false
	}
	if s.calls == nil {
		s.calls = map[string]*exchange{}
	}
	s.calls[x.key] = x
	return true
}

func (s *httpSession) finished(x *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, x.key)
}

// cancelCall cancels the request with this id. Like one that is unknown,
// initialize cannot be cancelled.
func (s *httpSession) cancelCall(key, reason string) {
	s.mu.Lock()
	x := s.calls[key]
	s.mu.Unlock()
	if x != nil && x.method != string(mcp.MethodInitialize) {
		x.cancel(&CancelledError{Reason: reason})
	}
}

// listening is the stream of what is for the session as a whole.
func (s *httpSession) listening() *eventStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listenLog == nil {
		s.listenLog = s.events.open()
	}
	return s.listenLog
}

// hasListener tells whether a stream for the session's own messages is open.
func (s *httpSession) hasListener() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.listeners) > 0
}

var (
	_ server.ClientSession      = (*httpSession)(nil)
	_ server.SessionWithLogging = (*httpSession)(nil)
)
