package transports

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"
)

// ErrSessionEnded says that the session of a call is over, and ErrSessionIdle
// that it is because nothing has used it for too long.
var (
	ErrSessionEnded = errors.New("the session has ended")
	ErrSessionIdle  = fmt.Errorf("%w: it was silent for too long", ErrSessionEnded)
)

// sessionTable knows the sessions, and how many each principal has open.
type sessionTable struct {
	hub *hub

	mu      sync.Mutex
	byID    map[string]*httpSession
	streams map[string]*sseConn // connections to /sse
	open    map[string]int      // by principal, with streams that have no session
	all     int
	closed  bool
	gone    sync.WaitGroup // sessions, and connections to /sse, that have not finished
}

func newSessionTable(h *hub) *sessionTable {
	return &sessionTable{hub: h, byID: map[string]*httpSession{}, streams: map[string]*sseConn{}, open: map[string]int{}}
}

// sessionRetry is when a client that found no room for a session may try again.
const sessionRetry = 30 * time.Second

// reserve counts one more session or stream of principal. When there is no room
// it answers with what to tell the client; release undoes it.
func (t *sessionTable) reserve(principal string, id []byte) (refused answer, ok bool) {
	var each, all int
	if limits := t.hub.cfg.MaxSessions; limits != nil {
		each, all = limits(principal)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return draining(id), false
	case each > 0 && t.open[principal] >= each:
		refused = refusal(http.StatusTooManyRequests, id, transportError,
			fmt.Sprintf("%d sessions are open, as many as you may have; end one with DELETE, or try again later", each))
		refused.retry = sessionRetry
		return refused, false
	case all > 0 && t.all >= all:
		refused = refusal(http.StatusServiceUnavailable, id, transportError,
			"as many sessions are open as this server takes; try again later")
		refused.retry = sessionRetry
		return refused, false
	}
	t.open[principal]++
	t.all++
	return answer{}, true
}

func (t *sessionTable) release(principal string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if t.open[principal]--; t.open[principal] == 0 {
		delete(t.open, principal)
	}
}

// newSessionID returns an id that cannot be guessed.
func newSessionID() string {
	b := make([]byte, 24)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return base64.RawURLEncoding.EncodeToString(b)
}

// use returns the principal's session with this id, which stays until it is let
// go of with done. It returns nil when there is none that is this principal's.
func (t *sessionTable) use(principal, id string) *httpSession {
	t.mu.Lock()
	s := t.byID[id]
	t.mu.Unlock()
	if s == nil || s.principal != principal || !s.hold() {
		return nil
	}
	return s
}

// add makes a session known, unless no more are taken.
func (t *sessionTable) add(s *httpSession) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.byID[s.id] = s
	t.gone.Add(1)
	s.known = true
	return true
}

// forget removes an ended session.
func (t *sessionTable) forget(s *httpSession) {
	t.mu.Lock()
	delete(t.byID, s.id)
	t.mu.Unlock()
	t.release(s.principal)
}

// close refuses new sessions and returns those that are open.
func (t *sessionTable) close() []*httpSession {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	out := make([]*httpSession, 0, len(t.byID))
	for _, s := range t.byID {
		out = append(out, s)
	}
	return out
}

// beginSession tells who wants to know that there is a session.
func (h *hub) beginSession(ctx context.Context, principal, id string) {
	if h.cfg.BeginSession != nil {
		h.cfg.BeginSession(ctx, principal, id)
	}
}

// endSession tells who wants to know that a session is over.
func (h *hub) endSession(principal, id string, cause error) {
	if h.cfg.EndSession == nil {
		return
	}
	h.ends.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				h.log.Error("the end of a session panicked", "panic", p, "stack", string(debug.Stack()))
			}
		}()
		h.cfg.EndSession(context.Background(), principal, id, cause)
	})
}
