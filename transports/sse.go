package transports

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/sessions"
)

const (
	maxQueued  = 64       // messages of a connection that wait to be taken in
	maxSSEHeld = 64 << 20 // bytes of messages that a connection holds
	sseRetry   = time.Second
)

// sseConn is a connection of the transport of 2024-11-05: a stream of events
// that the client has opened, and messages that it posts elsewhere. They are
// handled as those of Stdio are.
type sseConn struct {
	hub       *hub
	id        string
	principal string
	conn      *conn
	queue     chan posted

	mu   sync.Mutex
	held int64 // bytes in queue
	over bool  // nothing is counted any more
}

// posted is a message, and what its request said beside it.
type posted struct {
	body   []byte
	caller callerFunc
}

// lineEvents writes lines as events.
type lineEvents struct{ out *eventWriter }

func (l lineEvents) Write(lines []byte) (int, error) {
	n := len(lines)
	for len(lines) > 0 {
		line, rest, _ := bytes.Cut(lines, []byte("\n"))
		if err := l.out.event("", "message", line); err != nil {
			return 0, err
		}
		lines = rest
	}
	return n, nil
}

// serveSSE opens a connection and serves it until the client or the server
// ends it.
func (h *hub) serveSSE(w http.ResponseWriter, r *http.Request, client *Client) {
	if r.Method != http.MethodGet {
		// Clients that do not know which transport a URL is for try POST first.
		w.Header().Set("Allow", http.MethodGet)
		h.reply(w, refusal(http.StatusMethodNotAllowed, nil, transportError, "use GET here, for the transport of 2024-11-05; Streamable HTTP is at "+h.publicPrefix(r)+routeMCP))
		return
	}
	if !acceptsStream(r) {
		h.reply(w, refusal(http.StatusNotAcceptable, nil, transportError, "the answer is a stream: the Accept header must list text/event-stream"))
		return
	}
	if h.flight.isDraining() {
		h.reply(w, draining(nil))
		return
	}
	refused, ok := h.sessions.reserve(client.Principal, nil)
	if !ok {
		refusedFor(w, RefusedSessions)
		h.reply(w, refused)
		return
	}
	defer h.sessions.release(client.Principal)

	s := &sseConn{hub: h, id: newSessionID(), principal: client.Principal, queue: make(chan posted, maxQueued)}
	out := h.newEventWriter(w)
	defer out.end()
	s.conn = newConn(sessions.WithCaller(r.Context(), callerOf(r, client, s.id, nil)), &conn{
		server:       client.Server,
		log:          h.log,
		maxLine:      h.maxBody,
		questionTime: h.questionTime,
		gate:         s.enter,
		calls:        newCallTable(false, maxRunning, max(h.sseHeld, h.maxBody+callOverhead)),
	}, lineEvents{out}, s.id)
	s.conn.calls.charge = func(n int64) { h.bodies.add(s.principal, n) }
	s.conn.asked.limit = maxAsked
	s.conn.askable = func() (func(), bool) { return h.asking.ask(s.principal) }
	defer s.letGo()
	if err := client.Server.RegisterSession(s.conn.ctx, s.conn.session); err != nil {
		h.log.Error("a connection could not be registered", "error", err)
		s.conn.cancel(err)
		return
	}
	if !h.sessions.addStream(s) {
		client.Server.UnregisterSession(s.conn.ctx, s.id)
		s.conn.cancel(ErrShutdown)
		return
	}
	h.beginSession(s.conn.ctx, s.principal, s.id)
	var cause error
	defer func() {
		h.sessions.forgetStream(s)
		client.Server.UnregisterSession(context.WithoutCancel(r.Context()), s.id)
		h.endSession(s.principal, s.id, cause)
		h.sessions.gone.Done()
	}()
	go s.conn.pumpNotifications()
	go s.feed()
	_ = out.event("", "endpoint", []byte(h.publicPrefix(r)+routeMessage+"?sessionId="+url.QueryEscape(s.id))) // out.broken says so

	select {
	case <-r.Context().Done():
		cause = ErrDisconnected
	case <-out.broken:
		cause = ErrDisconnected
	case <-h.ctx.Done():
		cause = context.Cause(h.ctx)
	}
	if cause == ErrDisconnected { //nolint:errorlint // set above
		out.abort()
	}
	if !s.conn.close(cause) {
		h.log.Warn("a connection ended with calls still running or answers not taken", "waited", grace)
		out.abort()
	}
}

// enter waits until a call may be handled.
func (s *sseConn) enter(ctx context.Context, method string) (func(), error) {
	if !s.hub.flight.enter() {
		return nil, &BusyError{Reason: ErrShutdown.Error(), RetryAfter: draining(nil).retry}
	}
	if s.hub.cfg.Gate == nil {
		return s.hub.flight.leave, nil
	}
	leave, err := s.hub.cfg.Gate.Enter(ctx, s.principal, method)
	if err != nil {
		s.hub.flight.leave()
		return nil, err
	}
	return func() {
		leave()
		s.hub.flight.leave()
	}, nil
}

// feed takes in messages in the order they came.
func (s *sseConn) feed() {
	for {
		select {
		case m := <-s.queue:
			s.hold(-int64(len(m.body)))
			if m.body[0] == '[' {
				if !s.conn.takeBatch(m.body, m.caller) {
					return
				}
			} else if !s.conn.take(m.body, origin{caller: m.caller}) {
				return
			}
		case <-s.conn.done:
			return
		}
	}
}

// hold counts bytes in the queue. It returns false when there is no room.
func (s *sseConn) hold(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 && s.held > 0 && s.held+n > max(s.hub.sseHeld, s.hub.maxBody) {
		return false
	}
	s.held += n
	if !s.over {
		s.hub.bodies.add(s.principal, n)
	}
	return true
}

// letGo counts nothing any more of what the connection holds.
func (s *sseConn) letGo() {
	s.conn.calls.letGo()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.hub.bodies.add(s.principal, -s.held)
}

// serveMessage takes a message for a connection. The answer comes on the
// connection's stream.
func (h *hub) serveMessage(w http.ResponseWriter, r *http.Request, client *Client) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		h.reply(w, refusal(http.StatusMethodNotAllowed, nil, transportError, "use POST here"))
		return
	}
	id := r.URL.Query().Get("sessionId")
	if id == "" {
		h.reply(w, refusal(http.StatusBadRequest, nil, transportError, "the sessionId is missing: use the address that the stream at /sse gave"))
		return
	}
	s := h.sessions.stream(client.Principal, id)
	if s == nil {
		h.reply(w, refusal(http.StatusNotFound, nil, transportError, "there is no such session, or it has ended; open a new stream at /sse"))
		return
	}
	body, held, refused, ok := h.readBody(w, r, client.Principal)
	if !ok {
		if refused.status != 0 {
			h.reply(w, refused)
		}
		return
	}
	defer h.bodies.give(client.Principal, held)
	msg := bytes.Trim(body, " \t\r\n")
	if len(msg) > 0 && msg[0] == '[' {
		if _, err := splitBatch(msg); err != nil {
			h.reply(w, refusal(http.StatusBadRequest, nil, mcp.INVALID_REQUEST, "not a batch of messages: "+err.Error()))
			return
		}
	} else if _, refused, ok := checkMessage(msg); !ok {
		h.reply(w, refused)
		return
	}
	from := callerOf(r, client, s.id, nil)
	caller := func(ctx context.Context) context.Context { return sessions.WithCaller(ctx, from) }
	if !s.hold(int64(len(msg))) {
		h.reply(w, s.full())
		return
	}
	select {
	case s.queue <- posted{msg, caller}:
	case <-s.conn.done:
		h.reply(w, refusal(http.StatusNotFound, nil, transportError, "the session has ended; open a new stream at /sse"))
		return
	default:
		s.hold(-int64(len(msg)))
		h.reply(w, s.full())
		return
	}
	h.reply(w, accepted)
}

func (s *sseConn) full() answer {
	a := refusal(http.StatusTooManyRequests, nil, transportError, fmt.Sprintf(
		"%d messages or more than %d bytes of this connection are waiting to be handled; try again", maxQueued, s.hub.sseHeld))
	a.retry = sseRetry
	return a
}

// addStream makes a connection known, unless no more are taken.
func (t *sessionTable) addStream(s *sseConn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.streams[s.id] = s
	t.gone.Add(1)
	return true
}

func (t *sessionTable) forgetStream(s *sseConn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.streams, s.id)
}

// stream returns the principal's connection with this id, nil when there is
// none that is this principal's.
func (t *sessionTable) stream(principal, id string) *sseConn {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.streams[id]
	if s == nil || s.principal != principal {
		return nil
	}
	return s
}
