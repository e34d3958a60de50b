package transports

import (
	"context"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
)

// listener is a GET that takes what is for its session as a whole.
type listener struct {
	current bool          // the messages go to this one
	ended   bool          // too many others have come
	changed chan struct{} // capacity 1
}

func (l *listener) signal() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// listen adds a listener, which takes over from the others.
func (s *httpSession) listen() *listener {
	l := &listener{current: true, changed: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.listeners {
		other.current = false
		other.signal()
	}
	if len(s.listeners) == maxListeners {
		s.listeners[0].ended = true
		s.listeners = s.listeners[1:]
	}
	s.listeners = append(s.listeners, l)
	return l
}

// unlisten removes a listener. The one before it takes over.
func (s *httpSession) unlisten(l *listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.listeners {
		if other == l {
			s.listeners = append(s.listeners[:i:i], s.listeners[i+1:]...)
			break
		}
	}
	if n := len(s.listeners); l.current && n > 0 {
		s.listeners[n-1].current = true
		s.listeners[n-1].signal()
	}
}

// state returns whether messages go to l, whether l must end, and which event
// is the first that nobody has been sent.
func (s *httpSession) state(l *listener) (current, ended bool, first int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return l.current, l.ended, s.delivered
}

func (s *httpSession) sent(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delivered = max(s.delivered, n+1)
}

// serveListen answers a GET: with what is for the session as a whole, or with
// the rest of a stream that was broken.
func (h *hub) serveListen(w http.ResponseWriter, r *http.Request, client *Client) {
	if !acceptsStream(r) {
		h.reply(w, refusal(http.StatusNotAcceptable, nil, transportError, "the answer is a stream: the Accept header must list text/event-stream"))
		return
	}
	s, refused, ok := h.sessionOf(r, client, nil)
	if !ok {
		h.reply(w, refused)
		return
	}
	defer s.done()
	log := s.listening()
	from := int64(-1) // where nobody has been before
	if id := r.Header.Get(mcp.HeaderLastEventID); id != "" {
		st, n, err := s.events.resume(id)
		if err != nil {
			h.reply(w, refusal(http.StatusBadRequest, nil, transportError, err.Error()))
			return
		}
		if st != log {
			h.serveRest(w, r, s, st, n)
			return
		}
		from = n
	}
	l := s.listen()
	defer s.unlisten(l)
	out := h.newEventWriter(w)
	defer out.end()
	stop := context.AfterFunc(s.ctx, out.abort)
	defer stop()
	if from < 0 && s.ProtocolVersion() >= mcp.ProtocolVersion20251125 {
		// So that the client can resume from the start.
		_, _, first := s.state(l)
		if first == log.count() {
			id, n := log.add(nil)
			s.sent(n)
			_ = out.event(id, "", nil) // out.broken says so
		}
	}
	for {
		current, ended, first := s.state(l)
		if ended {
			return
		}
		var notes <-chan mcp.JSONRPCNotification
		var changed <-chan struct{}
		if current {
			if from < 0 {
				from = first
			}
			var events []*event
			events, _, changed = log.since(from, 0)
			for _, e := range events {
				if len(e.data) > 0 && out.event(eventID(log.number, e.n), "message", e.data) != nil {
					return
				}
				from = e.n + 1
				s.sent(e.n)
			}
			notes = s.notifications
		} else {
			from = -1
		}
		select {
		case n := <-notes:
			if data, err := marshalNotification(n); err != nil {
				h.log.Error("a notification could not be encoded", "method", n.Method, "error", err)
			} else {
				log.add(data)
			}
		case <-changed:
		case <-l.changed:
		case <-out.broken:
			return
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// serveRest writes the events of a call's response from number n on, until the
// response has ended.
func (h *hub) serveRest(w http.ResponseWriter, r *http.Request, s *httpSession, st *eventStream, n int64) {
	reader := st.takeOver()
	out := h.newEventWriter(w)
	defer out.end()
	stop := context.AfterFunc(s.ctx, out.abort)
	defer stop()
	for {
		events, over, changed := st.since(n, reader)
		for _, e := range events {
			if len(e.data) > 0 && out.event(eventID(st.number, e.n), "message", e.data) != nil {
				return
			}
			n = e.n + 1
		}
		if over {
			return
		}
		select {
		case <-changed:
		case <-out.broken:
			return
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}
