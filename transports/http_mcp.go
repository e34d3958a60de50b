package transports

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/sessions"
)

const (
	notJSON     = "the body is not valid JSON: send one JSON-RPC message"
	noSession   = "there is no such session, or it has ended; send initialize without Mcp-Session-Id to begin one"
	needSession = "the Mcp-Session-Id header is missing; send initialize first, or use protocol version " + mcp.ProtocolVersion20260728
)

// serveMCP answers a request for /mcp.
func (h *hub) serveMCP(w http.ResponseWriter, r *http.Request, client *Client) {
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	modern := mcp.IsModernProtocol(version)
	switch r.Method {
	case http.MethodPost:
		h.servePost(w, r, client)
	case http.MethodGet, http.MethodDelete:
		if modern {
			w.Header().Set("Allow", http.MethodPost)
			h.reply(w, refusal(http.StatusMethodNotAllowed, nil, transportError,
				r.Method+" is not part of protocol version "+mcp.ProtocolVersion20260728+"; use subscriptions/listen for what the server has to say"))
			return
		}
		if refused, bad := badVersion(version); bad {
			h.reply(w, refused)
			return
		}
		if r.Method == http.MethodGet {
			h.serveListen(w, r, client)
		} else {
			h.serveDelete(w, r, client)
		}
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		h.reply(w, refusal(http.StatusMethodNotAllowed, nil, transportError, "use POST, GET or DELETE"))
	}
}

// badVersion tells whether the header names a protocol version that this
// server does not have. Without one, clients of 2025-03-26 are meant.
func badVersion(version string) (answer, bool) {
	if version == "" || mcp.IsValidProtocolVersion(version) {
		return answer{}, false
	}
	code := transportError
	if mcp.IsModernProtocol(version) {
		code = mcp.UNSUPPORTED_PROTOCOL_VERSION // which the revisions before do not have
	}
	return refusal(http.StatusBadRequest, nil, code, fmt.Sprintf(
		"the protocol version %.40q is not supported; this server has %s", version, strings.Join(mcp.ValidProtocolVersions, ", "))), true
}

func (h *hub) serveDelete(w http.ResponseWriter, r *http.Request, client *Client) {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		h.reply(w, refusal(http.StatusBadRequest, nil, transportError, needSession))
		return
	}
	s := h.sessions.use(client.Principal, id)
	if s == nil {
		h.reply(w, refusal(http.StatusNotFound, nil, transportError, noSession))
		return
	}
	s.end(ErrSessionEnded)
	s.done()
	h.reply(w, answer{status: http.StatusOK})
}

// servePost handles what a POST brings: a message, or a batch of them.
func (h *hub) servePost(w http.ResponseWriter, r *http.Request, client *Client) {
	if json, sse := acceptable(r); !json && !sse {
		h.reply(w, refusal(http.StatusNotAcceptable, nil, transportError, "the Accept header must list application/json and text/event-stream"))
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
		h.serveBatch(w, r, client, msg)
		return
	}
	env, refused, ok := checkMessage(msg)
	if !ok {
		h.reply(w, refused)
		return
	}
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	// A header alone that names a version of the future is a session's client,
	// which initialize finds a version for, or whose version is refused.
	if mcp.IsModernProtocol(version) && (mcp.IsValidProtocolVersion(version) || mcp.IsModernProtocol(env.protocol)) {
		h.serveModern(w, r, client, msg, &env)
		return
	}
	if mcp.IsModernProtocol(env.protocol) {
		h.reply(w, refusal(http.StatusBadRequest, env.id, mcp.HEADER_MISMATCH, fmt.Sprintf(
			"the message is one of protocol version %.40q, and the header %s is %.40q: both must name the same", env.protocol, mcp.HeaderProtocolVersion, version)))
		return
	}
	initialize := env.id != nil && env.method == string(mcp.MethodInitialize)
	if refused, bad := badVersion(version); bad && !initialize {
		h.reply(w, refused)
		return
	}
	if !env.isResponse() && env.method != string(mcp.MethodNotificationCancelled) {
		if !h.flight.enter() {
			h.reply(w, draining(env.id))
			return
		}
		defer h.flight.leave()
	}
	if initialize {
		h.serveInitialize(w, r, client, msg, &env)
		return
	}
	s, refused, ok := h.sessionOf(r, client, env.id)
	if !ok {
		h.reply(w, refused)
		return
	}
	defer s.done()
	if a, ok := s.take(&env); ok {
		h.reply(w, a)
		return
	}
	h.runOne(w, r, client, s, msg, &env)
}

// sessionOf returns the session that a request names, to be let go of with
// done.
func (h *hub) sessionOf(r *http.Request, client *Client, id []byte) (*httpSession, answer, bool) {
	name := r.Header.Get("Mcp-Session-Id")
	if name == "" {
		return nil, refusal(http.StatusBadRequest, id, transportError, needSession), false
	}
	s := h.sessions.use(client.Principal, name)
	if s == nil {
		return nil, refusal(http.StatusNotFound, id, transportError, noSession), false
	}
	return s, answer{}, true
}

// serveInitialize begins a session.
func (h *hub) serveInitialize(w http.ResponseWriter, r *http.Request, client *Client, msg []byte, env *envelope) {
	refused, ok := h.sessions.reserve(client.Principal, env.id)
	if !ok {
		refusedFor(w, RefusedSessions)
		h.reply(w, refused)
		return
	}
	s, err := h.newSession(client.Principal, client.Server)
	if err != nil {
		if !errors.Is(err, ErrShutdown) {
			h.log.Error("a session could not be registered", "error", err)
		}
		h.reply(w, draining(env.id))
		return
	}
	defer s.done()
	w.Header().Set("Mcp-Session-Id", s.id)
	if !h.runOne(w, r, client, s, msg, env) {
		s.end(ErrSessionEnded)
	}
}

// runOne runs a request or notification and answers it. It tells whether a
// session begins with it.
func (h *hub) runOne(w http.ResponseWriter, r *http.Request, client *Client, s *httpSession, msg []byte, env *envelope) (initialized bool) {
	p, ctx := h.newPost(w, r, s)
	a := refusal(http.StatusInternalServerError, env.id, mcp.INTERNAL_ERROR, "the server failed while it handled this request; its log says how")
	defer func() { p.finish(a) }() // also when the goroutine ends
	buf := getBuffer()
	defer putBuffer(buf)
	x := h.newExchange(p, s, msg, env)
	x.cancel = p.cancel
	ctx = h.withCaller(ctx, r, client, s.id, p)
	a = x.run(ctx, (*buf)[:0])
	if cap(a.body) > cap(*buf) {
		*buf = a.body
	}
	if env.method == string(mcp.MethodInitialize) && env.id != nil {
		// The answer says so, not the session: another request can have used it.
		if initialized = s.Initialized() && a.status == http.StatusOK; initialized {
			s.announce(ctx)
		} else {
			p.forgetSession()
		}
	}
	p.finish(a)
	return initialized
}

func (h *hub) newExchange(p *post, s *httpSession, msg []byte, env *envelope) *exchange {
	x := &exchange{hub: h, session: s, post: p, raw: msg, id: env.id, method: env.method}
	if env.id != nil {
		x.key, _ = idKey(env.id) // checked by readMessage
	}
	return x
}

// withCaller puts what the tools need to know of the request into ctx.
func (h *hub) withCaller(ctx context.Context, r *http.Request, client *Client, session string, p *post) context.Context {
	return sessions.WithCaller(ctx, callerOf(r, client, session, p.retryAfter))
}

// take does what a message asks for that needs no answer of its own: it passes
// on an answer, or cancels a call.
func (s *httpSession) take(env *envelope) (answer, bool) {
	switch {
	case env.isResponse():
		// One that comes too late is no fault of the client's.
		if key, err := idKey(env.id); err == nil {
			if ch, ok := s.asked.take(key); ok {
				ch <- reply{result: env.result, failure: env.failure}
			}
		}
		return accepted, true
	case env.id == nil && env.method == string(mcp.MethodNotificationCancelled):
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
			Reason    any             `json:"reason"`
		}
		err := json.Unmarshal(env.params, &p)
		var key string
		if err == nil {
			key, err = idKey(p.RequestID)
		}
		if err != nil {
			return refusal(http.StatusBadRequest, nil, mcp.INVALID_PARAMS, `"requestId" must be the id of a request`), true
		}
		reason, _ := p.Reason.(string)
		s.cancelCall(key, reason)
		return accepted, true
	default:
		return answer{}, false
	}
}
