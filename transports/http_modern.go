package transports

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// modernServer returns mcp-go's handler for srv, which does the protocol of the
// era without sessions: its headers and their agreement with the body, HTTP
// statuses, subscriptions.
func (h *hub) modernServer(srv *server.MCPServer) *server.StreamableHTTPServer {
	if s, ok := h.modern.Load(srv); ok {
		return s.(*server.StreamableHTTPServer)
	}
	s, _ := h.modern.LoadOrStore(srv, server.NewStreamableHTTPServer(srv,
		server.WithSessionIdManager(noSessions{}),
		server.WithHTTPContextFunc(withModernSession(srv)),
		server.WithStreamableHTTPLogger(h.log)))
	return s.(*server.StreamableHTTPServer)
}

// noSessions is mcp-go's view of sessions: it must never find itself with one.
type noSessions struct{}

func (noSessions) Generate() string { return "" }

func (noSessions) Validate(string) (bool, error) {
	return false, fmt.Errorf("sessions are not kept here")
}

func (noSessions) Terminate(string) (bool, error) { return true, nil }

// serveModern handles a message of protocol 2026-07-28.
func (h *hub) serveModern(w http.ResponseWriter, r *http.Request, client *Client, msg []byte, env *envelope) {
	if env.id == nil && env.method == string(mcp.MethodNotificationCancelled) {
		// A request is cancelled by closing its response. mcp-go would look
		// for the id among the requests of all clients.
		h.reply(w, accepted)
		return
	}
	listen := env.id != nil && env.method == string(mcp.MethodSubscriptionsListen)
	if listen {
		if _, sse := acceptable(r); !sse {
			h.reply(w, refusal(http.StatusNotAcceptable, env.id, transportError, env.method+" is answered with a stream: the Accept header must list text/event-stream"))
			return
		}
		refused, ok := h.sessions.reserve(client.Principal, env.id)
		if !ok {
			refusedFor(w, RefusedSessions)
			h.reply(w, refused)
			return
		}
		defer h.sessions.release(client.Principal)
	}
	if !h.flight.enter() {
		h.reply(w, draining(env.id))
		return
	}
	inFlight := true
	land := func() {
		if inFlight {
			inFlight = false
			h.flight.leave()
		}
	}
	defer land()

	p, ctx := h.newPost(w, r, nil)
	out := &modernWriter{post: p, header: http.Header{}, id: env.id}
	out.session.out = out
	out.unacknowledged = listen
	if !listen { // what mcp-go broadcasts reaches only the session that it has made itself
		ctx = context.WithValue(ctx, modernSessionKey{}, &out.session)
	}
	defer out.end() // also when the goroutine ends
	defer func() {
		if v := recover(); v != nil {
			h.log.Error("a handler panicked", "method", env.method, "panic", v, "stack", string(debug.Stack()))
		}
	}()
	var pass gatePass
	defer pass.giveBack()
	if h.cfg.Gate != nil {
		leave, err := h.cfg.Gate.Enter(ctx, client.Principal, gated(env.id, env.method))
		if err != nil {
			p.finish(h.refuseBusy(env.id, err))
			return
		}
		pass.set(leave)
	}
	if listen {
		pass.giveBack()
		land()
	}
	h.modernServer(client.Server).Handle(out, &server.HTTPRequest{
		Method: http.MethodPost, Header: r.Header, Body: msg,
		Context: h.withCaller(ctx, r, client, "", p),
	})
	out.returned = true
}

// modernWriter is what mcp-go writes a response to. It passes events on, and
// keeps an answer that is not one until post can say how it goes out.
type modernWriter struct {
	session modernSession

	post   *post
	id     []byte
	header http.Header

	status int
	events bool
	// unacknowledged tells that a subscription has not been acknowledged yet:
	// mcp-go can lose that when it ends in the same moment, for it has nothing
	// to send.
	unacknowledged bool
	body           []byte
	returned       bool
}

// Header is not that of the response, which may have been sent already.
func (m *modernWriter) Header() http.Header { return m.header }

func (m *modernWriter) WriteHeader(status int) {
	m.status = status
	if m.header.Get("Content-Type") == "text/event-stream" {
		m.events = true
		m.post.open()
	}
}

// Write takes one event or the whole of another answer: mcp-go writes either at
// once. It reports no failure: the end of the request's context does.
func (m *modernWriter) Write(b []byte) (int, error) {
	if m.events {
		if m.unacknowledged && !bytes.Contains(b, []byte(mcp.MethodNotificationSubscriptionsAcknowledged)) {
			m.acknowledge()
		}
		m.unacknowledged = false
		return len(b), m.post.passOn(b)
	}
	m.body = append(m.body, b...)
	return len(b), nil
}

// Flush does nothing: events go out at once.
func (m *modernWriter) Flush() {}

func (m *modernWriter) CanStream() bool { return m.post.takesSSE }

// notify writes a notification of the request.
func (m *modernWriter) notify(n mcp.JSONRPCNotification) {
	data, err := marshalNotification(n)
	if err != nil {
		m.post.hub.log.Error("a notification could not be encoded", "method", n.Method, "error", err)
		return
	}
	m.post.send(data) // or the client takes none, or is gone
}

// acknowledge says that nothing was subscribed to.
func (m *modernWriter) acknowledge() {
	m.post.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{"_meta":{%q:%s},"notifications":{}}}`,
		mcp.MethodNotificationSubscriptionsAcknowledged, mcp.MetaKeySubscriptionID, m.id))
}

// end finishes the response.
func (m *modernWriter) end() {
	m.session.notes.flush()
	a := answer{status: m.status, body: bytes.TrimSpace(m.body)}
	switch {
	case !m.returned:
		a = refusal(http.StatusInternalServerError, m.id, mcp.INTERNAL_ERROR, "the server failed while it handled this request; its log says how")
	case m.events:
		a = answer{status: http.StatusOK}
	case m.status == 0:
		a.status = http.StatusAccepted
	case m.unacknowledged && m.status == http.StatusOK:
		m.acknowledge()
	case len(a.body) > 0 && m.header.Get("Content-Type") != "application/json":
		a = refusal(m.status, m.id, transportError, string(a.body))
	}
	m.post.finish(a)
}

var _ server.HTTPResponseWriter = (*modernWriter)(nil)
