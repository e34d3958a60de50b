package transports

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// Routes, as HTTPEvent names them.
const (
	routeMCP      = "/mcp"
	routeSSE      = "/sse"
	routeMessage  = "/message"
	routeHealth   = "/healthz"
	routeReady    = "/readyz"
	routeMetrics  = "/metrics"
	routeMetadata = "/.well-known/oauth-protected-resource"
	routeOther    = "other"
)

// routeOf returns the route of a path, which may have the public prefix or not,
// and a slash at its end or not.
func (h *hub) routeOf(path string) string {
	if h.prefix != "" {
		if rest, ok := strings.CutPrefix(path, h.prefix); ok && strings.HasPrefix(rest, "/") {
			path = rest
		}
	}
	if path == routeMetadata || strings.HasPrefix(path, routeMetadata+"/") {
		return routeMetadata
	}
	switch path = strings.TrimSuffix(path, "/"); path {
	case routeMCP, routeSSE, routeMessage, routeHealth, routeReady, routeMetrics:
		return path
	}
	return routeOther
}

// watched is a response of which is known what has been sent.
type watched struct {
	http.ResponseWriter
	status  int
	refused string // see HTTPEvent
}

// refusedFor notes why a request is refused.
func refusedFor(w http.ResponseWriter, reason string) {
	if seen, ok := w.(*watched); ok {
		seen.refused = reason
	}
}

func (w *watched) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// statusGone is what is observed of a request whose client left before there
// was an answer.
const statusGone = 499

// unreadTime is how long the body of a request that is refused may take.
const unreadTime = 5 * time.Second

// ServeHTTP answers a request.
func (h *hub) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	began := time.Now()
	w := &watched{ResponseWriter: rw}
	route := h.routeOf(r.URL.Path)
	id := requestID(r)
	r.Header.Set(requestIDHeader, id)
	w.Header().Set(requestIDHeader, id)
	var client *Client
	defer func() {
		p := recover()
		if p != nil && p != http.ErrAbortHandler { //nolint:errorlint // as net/http compares it
			h.log.Error("a handler panicked", "request", id, "route", route, "panic", p, "stack", string(debug.Stack()))
			if w.status == 0 {
				h.reply(w, refusal(http.StatusInternalServerError, nil, mcp.INTERNAL_ERROR, "the server failed while it handled this request; its log says how"))
				p = nil
			} else {
				// Half an answer must not look like a whole one.
				p = http.ErrAbortHandler
			}
		}
		h.observe(r, route, client, w, id, time.Since(began))
		if p != nil {
			panic(p)
		}
	}()
	// What an earlier request on the connection has set must not end this one.
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{})
	if r.ContentLength != 0 {
		// A body that nobody reads is read by net/http, before the answer to it
		// goes out. Whoever does read it gives it the time that it needs.
		_ = control.SetReadDeadline(time.Now().Add(unreadTime))
	}
	switch route {
	case routeHealth:
		h.serveHealth(w, r, func(context.Context) error { return nil })
		return
	case routeReady:
		h.serveHealth(w, r, h.ready)
		return
	}
	if !h.admit(w, r) {
		return
	}
	switch route {
	case routeMetadata:
		h.delegate(w, h.withoutPrefix(r), h.cfg.Metadata)
		return
	case routeOther:
		h.reply(w, refusal(http.StatusNotFound, nil, transportError, "there is nothing here; MCP is at "+h.publicPrefix(r)+routeMCP))
		return
	}
	var ok bool
	if client, ok = h.authenticate(w, r); !ok {
		return
	}
	if name := saidTwice(r); name != "" {
		h.reply(w, refusal(http.StatusBadRequest, nil, transportError, "the header "+name+" is there more than once; send one"))
		return
	}
	if r.Method == http.MethodGet && r.ContentLength != 0 {
		// It would keep the server from seeing that the client has left.
		w.Header().Set("Connection", "close")
		h.reply(w, refusal(http.StatusBadRequest, nil, transportError, "a GET has no body here"))
		return
	}
	switch route {
	case routeMCP:
		h.serveMCP(w, r, client)
	case routeSSE:
		h.serveSSE(w, r, client)
	case routeMessage:
		h.serveMessage(w, r, client)
	case routeMetrics:
		if h.cfg.Metrics != nil && !client.Operator {
			h.reply(w, refusal(http.StatusForbidden, nil, transportError, "metrics are for operators"))
			return
		}
		h.delegate(w, r, h.cfg.Metrics)
	}
}

// admit refuses what comes from a page that has no business here, and answers
// the browser's own question about that.
func (h *hub) admit(w http.ResponseWriter, r *http.Request) bool {
	if !h.hostAllowed(r.Host) {
		refusedFor(w, RefusedHost)
		h.reply(w, refusal(http.StatusForbidden, nil, transportError, fmt.Sprintf(
			"the Host %.100q is not this server's: whoever runs it has to add it to --allowed-hosts, or make it --public-url", r.Host)))
		return false
	}
	if len(h.origins) > 0 {
		w.Header().Add("Vary", "Origin")
	}
	allowed, cross := h.originAllowed(r)
	if !allowed {
		refusedFor(w, RefusedOrigin)
		h.reply(w, refusal(http.StatusForbidden, nil, transportError, "requests from pages of this origin are not allowed"))
		return false
	}
	if cross {
		allowOrigin(w.Header(), r.Header.Get("Origin"))
	}
	if r.Method == http.MethodOptions {
		h.limitWrite(w)
		if cross && r.Header.Get("Access-Control-Request-Method") != "" {
			preflight(w, r)
		} else {
			w.Header().Set("Allow", "GET, POST, DELETE, OPTIONS")
			w.WriteHeader(http.StatusNoContent)
		}
		return false
	}
	return true
}

// authenticate finds the client, or answers the request.
func (h *hub) authenticate(w http.ResponseWriter, r *http.Request) (*Client, bool) {
	if h.cfg.Authenticate == nil {
		h.log.Error("no Authenticate is configured")
		h.reply(w, refusal(http.StatusInternalServerError, nil, mcp.INTERNAL_ERROR, "the server is not configured"))
		return nil, false
	}
	client, err := h.cfg.Authenticate(r)
	if err == nil && client != nil {
		return client, true
	}
	var refused interface {
		error
		Status() int
		Challenge() string
	}
	if errors.As(err, &refused) {
		if c := refused.Challenge(); c != "" {
			w.Header().Set("WWW-Authenticate", c)
		}
		a := refusal(refused.Status(), nil, transportError, refused.Error())
		var later interface{ RetryAfter() time.Duration }
		if errors.As(err, &later) {
			a.retry = later.RetryAfter()
		}
		h.reply(w, a)
		return nil, false
	}
	h.log.Error("a client could not be authenticated", "request", r.Header.Get(requestIDHeader), "error", err)
	h.reply(w, refusal(http.StatusInternalServerError, nil, mcp.INTERNAL_ERROR, "the server could not find out who you are; its log says why"))
	return nil, false
}

// withoutPrefix is r as a proxy would pass it on that takes the public prefix
// off.
func (h *hub) withoutPrefix(r *http.Request) *http.Request {
	rest, ok := strings.CutPrefix(r.URL.Path, h.prefix)
	if h.prefix == "" || !ok || !strings.HasPrefix(rest, "/") {
		return r
	}
	bare := r.Clone(r.Context())
	bare.URL.Path, bare.URL.RawPath = rest, ""
	return bare
}

// delegate lets another handler answer.
func (h *hub) delegate(w http.ResponseWriter, r *http.Request, handler http.Handler) {
	if handler == nil {
		h.reply(w, refusal(http.StatusNotFound, nil, transportError, "there is nothing here"))
		return
	}
	h.limitWrite(w)
	handler.ServeHTTP(w, r)
}

func (h *hub) ready(ctx context.Context) error {
	if h.flight.isDraining() {
		return ErrShutdown
	}
	if h.cfg.Ready == nil {
		return nil
	}
	return h.cfg.Ready(ctx)
}

// serveHealth answers a probe, which wants the status and nothing else. Why
// not is for the log: anybody can ask.
func (h *hub) serveHealth(w http.ResponseWriter, r *http.Request, check func(context.Context) error) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", "text/plain; charset=utf-8")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		h.limitWrite(w)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	status, text := http.StatusOK, "ok\n"
	if err := check(r.Context()); err != nil {
		status, text = http.StatusServiceUnavailable, "not ready\n"
		h.log.Warn("not ready", "error", err)
	}
	h.limitWrite(w)
	w.WriteHeader(status)
	if _, err := w.Write([]byte(text)); err != nil {
		h.log.Debug("a probe's answer could not be written", "error", err)
	}
}

func (h *hub) observe(r *http.Request, route string, client *Client, w *watched, id string, took time.Duration) {
	status := w.status
	if status == 0 {
		status = statusGone
	}
	event := HTTPEvent{Method: "OTHER", Route: route, Status: status, Took: took, RequestID: id, Refused: w.refused}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		event.Remote = host
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete, http.MethodOptions:
		event.Method = r.Method
	}
	if client != nil {
		event.Principal = client.Principal
	}
	h.log.Debug("answered", "request", id, "method", event.Method, "route", route, "status", status, "took", took, "principal", event.Principal)
	if h.cfg.Observe != nil {
		h.cfg.Observe(event)
	}
}
