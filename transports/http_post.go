package transports

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// post is a POST to /mcp and its response, which begins as nothing, and becomes
// JSON, or a stream of events when there is something to say before the answer.
type post struct {
	hub       *hub
	w         http.ResponseWriter
	takesSSE  bool
	takesJSON bool
	session   *httpSession // nil without one
	cancel    context.CancelCauseFunc
	unwatch   func() bool

	mu       sync.Mutex
	timer    *time.Timer
	out      *eventWriter // once it is a stream
	log      *eventStream // of out, once an event has an id
	finished bool
	gone     bool // nothing can be written any more
	retry    time.Duration
}

// newPost returns the response to r, and the context of what r asks for. That
// one outlives the request, for the call may have to go on when its connection
// breaks.
func (h *hub) newPost(w http.ResponseWriter, r *http.Request, s *httpSession) (*post, context.Context) {
	p := &post{hub: h, w: w, session: s}
	p.takesJSON, p.takesSSE = acceptable(r)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	parent := h.ctx
	if s != nil {
		parent = s.ctx
	}
	unparent := context.AfterFunc(parent, func() { cancel(context.Cause(parent)) })
	p.cancel = func(cause error) {
		unparent()
		cancel(cause)
	}
	p.unwatch = context.AfterFunc(r.Context(), p.lost)
	if p.takesSSE {
		p.mu.Lock()
		p.timer = time.AfterFunc(h.heartbeat, p.beat)
		p.mu.Unlock()
	}
	return p, ctx
}

// lost is told that the connection is broken. Whoever has the id of an event of
// this response can ask for the rest of it; otherwise nobody can, and what was
// asked for is cancelled.
func (p *post) lost() {
	p.mu.Lock()
	if p.finished || p.gone {
		p.mu.Unlock()
		return
	}
	p.gone = true
	detached := p.log != nil
	p.mu.Unlock()
	if !detached {
		p.cancel(ErrDisconnected)
	}
}

// beat makes the response a stream when it has taken long, so that no proxy
// takes it for dead.
func (p *post) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.finished && !p.gone && p.out == nil {
		p.stream()
		_ = p.out.raw(comment) // out.broken says so
	}
}

// stream makes the response a stream. The caller holds mu.
func (p *post) stream() {
	if p.out != nil {
		return
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.retry > 0 {
		p.w.Header().Set("Retry-After", retryAfter(p.retry))
	}
	p.out = p.hub.newEventWriter(p.w)
	if p.session != nil && p.session.ProtocolVersion() >= mcp.ProtocolVersion20251125 {
		// From this revision on a client knows what to do with an event that
		// gives it nothing but an id. Many of those before try to read its empty
		// data as a message.
		p.log = p.session.events.open()
		id, _ := p.log.add(nil)
		_ = p.out.event(id, "", nil) // lost is told by the request's context
	}
}

// write writes one event, which in a session is kept too. The caller holds mu.
func (p *post) write(data []byte) {
	id := ""
	if p.session != nil {
		if p.log == nil {
			p.log = p.session.events.open()
		}
		id, _ = p.log.add(data)
	}
	if !p.gone {
		_ = p.out.event(id, "message", data) // kept, or lost is told by the request's context
	}
}

// send writes a message before the answer. It returns false when the client
// takes no stream, or is gone without having anything to ask for it by.
func (p *post) send(data []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished || !p.takesSSE || p.gone && p.log == nil {
		return false
	}
	if !p.gone {
		p.stream()
	}
	p.write(data)
	return true
}

// open makes the response a stream.
func (p *post) open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone && !p.finished {
		p.stream()
	}
}

// passOn writes what is framed as events already.
func (p *post) passOn(b []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone || p.finished || p.out == nil {
		return ErrDisconnected
	}
	return p.out.raw(b)
}

// forgetSession keeps the response from naming a session.
func (p *post) forgetSession() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out == nil {
		p.w.Header().Del("Mcp-Session-Id")
	}
}

// retryAfter notes when the client is to try again.
func (p *post) retryAfter(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retry = max(p.retry, d)
}

// finish writes the answer and ends the response.
func (p *post) finish(a answer) {
	p.unwatch()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finished {
		return
	}
	p.finished = true
	if p.timer != nil {
		p.timer.Stop()
	}
	defer p.cancel(nil)
	a.retry = max(a.retry, p.retry)
	switch {
	case p.out == nil && !p.gone && (p.takesJSON || len(a.body) == 0 || a.status != http.StatusOK):
		p.hub.reply(p.w, a)
		return
	case p.out == nil && !p.gone:
		p.retry = a.retry
		p.stream()
	}
	if len(a.body) > 0 && (!p.gone || p.log != nil) {
		p.write(a.body)
	}
	if p.log != nil {
		p.log.end()
	}
	if p.out != nil {
		p.out.end()
	}
}

// acceptable reads the Accept header. Without one, or with */*, JSON will do,
// and a stream is not forced on the client.
func acceptable(r *http.Request) (json, sse bool) {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return true, false
	}
	for _, rng := range mediaRanges(values) {
		switch rng {
		case "application/json", "application/*", "*/*":
			json = true
		case "text/event-stream", "text/*":
			sse = true
		}
	}
	return json, sse
}

// acceptsStream tells whether a GET may be answered with events.
func acceptsStream(r *http.Request) bool {
	values := r.Header.Values("Accept")
	for _, rng := range mediaRanges(values) {
		if rng == "text/event-stream" || rng == "text/*" || rng == "*/*" {
			return true
		}
	}
	return len(values) == 0
}

// mediaRanges returns the media ranges of Accept headers in lower case, without
// those of quality 0.
func mediaRanges(values []string) []string {
	var out []string
	for _, value := range values {
		for len(value) > 0 {
			var one string
			one, value = cut(value, ',')
			rng, params := cut(one, ';')
			wanted := true
			for len(params) > 0 {
				var param string
				param, params = cut(params, ';')
				if name, q := cut(param, '='); trimLower(name) == "q" {
					f, err := strconv.ParseFloat(trimLower(q), 64)
					wanted = err != nil || f > 0
				}
			}
			if wanted {
				out = append(out, trimLower(rng))
			}
		}
	}
	return out
}
