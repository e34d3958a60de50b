package transports

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestHTTPSessionsTimeOut(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.SessionTimeout = 150 * time.Millisecond })
	idle := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	listening := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	st := listening.open("GET", "")
	calling := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	done := make(chan httpReply)
	go func() { done <- calling.post(toolCall("1", "wait", `{"name":"a"}`)) }()
	s.waitStarted("a")
	s.waitOver("alice "+idle.id, ErrSessionIdle)
	if r := idle.post(toolCall("1", "echo", "{}")); r.status != 404 {
		t.Errorf("%d %s", r.status, r.body)
	}
	time.Sleep(300 * time.Millisecond) // longer than the limit: nothing must happen
	if len(s.over) != 0 || s.left(idle.id) || !s.left(listening.id) || !s.left(calling.id) {
		t.Error("the wrong sessions are over")
	}
	s.f.open("a")
	if r := <-done; r.message(t).text() != "waited a" {
		t.Errorf("%s", r.body)
	}
	s.waitOver("alice "+calling.id, ErrSessionIdle)
	st.cut()
	s.waitOver("alice "+listening.id, ErrSessionIdle)
	hub := s.h.start()
	if hub.sessions.all != 0 || len(hub.sessions.open) != 0 || len(hub.sessions.byID) != 0 || hub.events.bytes != 0 {
		t.Errorf("left: %+v, %d bytes of events", hub.sessions, hub.events.bytes)
	}
}

func TestHTTPSessionsAreLimited(t *testing.T) {
	s := newSite(t, func(h *HTTP) {
		h.MaxSessions = func(string) (int, int) { return 2, 4 }
	})
	first := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	s.open("GET", "/sse", "").next()
	check := func(what string, r httpReply, status int) {
		t.Helper()
		if r.status != status || r.header.Get("Retry-After") == "" || r.message(t).Error == nil {
			t.Errorf("%s: %d %v %s", what, r.status, r.header, r.body)
		}
	}
	check("initialize", s.do("POST", "/mcp", initialize("1", "{}")), 429)
	check("/sse", s.do("GET", "/sse", ""), 429)
	check("listen", s.do("POST", "/mcp", modernBody("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`), modernHeaders("subscriptions/listen", "")...), 429)
	s.visit("bob", mcp.ProtocolVersion20251125, "{}")
	s.visit("carol", mcp.ProtocolVersion20251125, "{}")
	check("the whole server", s.do("POST", "/mcp", initialize("1", "{}"), "Authorization: Bearer dan"), 503)
	first.do("DELETE", "/mcp", "", first.headers(nil)...)
	s.visit("dan", mcp.ProtocolVersion20251125, "{}")
	if r := s.do("POST", "/mcp", modernTool("1", "echo", `{"text":"x"}`), modernHeaders("tools/call", "echo")...); r.status != 200 {
		t.Errorf("a call without a session: %d", r.status)
	}
}

func TestHTTPCallerAndRequestID(t *testing.T) {
	s := newSite(t, nil)
	r := s.do("POST", "/mcp", modernTool("1", "caller", "{}"), modernHeaders("tools/call", "caller",
		"Mcp-Workspace-Ref: r", "Mcp-Workspace-Name: n", "Mcp-Workspace-Image: i", "Mcp-Workspace-Runtime: p", "X-Request-Id: abc")...)
	if r.message(t).text() != "alice|abc|r|n|i|p" || r.header.Get("X-Request-Id") != "abc" || r.header.Get("Retry-After") != "2" {
		t.Errorf("%v %s", r.header, r.body)
	}
	for _, bad := range []string{"", strings.Repeat("x", 65), "a b", "é"} {
		if id := s.do("GET", "/healthz", "", "X-Request-Id: "+bad).header.Get("X-Request-Id"); id == bad || len(id) != 16 {
			t.Errorf("%q became %q", bad, id)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.events[0]; e.Method != http.MethodPost || e.Route != "/mcp" || e.Status != 200 || e.Principal != "alice" || e.RequestID != "abc" || e.Took <= 0 {
		t.Errorf("%+v", e)
	}
}

// turnstile is a gate that lets in as many as have been allowed, and counts.
type turnstile struct {
	mu     sync.Mutex
	inside int
	busy   bool
	enters atomic.Int64
}

func (g *turnstile) Enter(ctx context.Context, _, _ string) (func(), error) {
	g.enters.Add(1)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy {
		return nil, &BusyError{Reason: "too much", RetryAfter: 1100 * time.Millisecond}
	}
	g.inside++
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.inside--
	}), context.Cause(ctx)
}

func (g *turnstile) state(busy bool) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy = busy
	return g.inside
}

func TestHTTPGate(t *testing.T) {
	g := &turnstile{}
	s := newSite(t, func(h *HTTP) { h.Gate = g })
	v := s.visit("alice", mcp.ProtocolVersion20251125, asks)
	old := s.connectSSE("alice", asks)
	listening := v.open("GET", "")
	listening.next()
	l := s.open("POST", "/mcp", modernBody("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`), modernHeaders("subscriptions/listen", "")...)
	l.next()
	if n := g.state(false); n != 0 {
		t.Errorf("%d inside although nothing is handled", n)
	}
	asking := v.open("POST", toolCall("1", "elicit", "{}"))
	question := asking.message()
	oldAsking := old.ask("elicit")
	// A question is on its way before its call gives up its turn.
	eventually(t, "one is inside although both wait for a person", func() bool { return g.state(true) == 0 })
	for name, r := range map[string]httpReply{
		"session":   v.post(toolCall("2", "echo", "{}")),
		"stateless": s.do("POST", "/mcp", modernTool("2", "echo", "{}"), modernHeaders("tools/call", "echo")...),
	} {
		if m := r.message(t); r.status != 429 || r.header.Get("Retry-After") != "2" || m.ID != "2" || m.Error == nil || !strings.Contains(m.Error.Message, "too much") {
			t.Errorf("%s: %d %v %s", name, r.status, r.header, r.body)
		}
	}
	old.post(toolCall("2", "echo", "{}"))
	if m := old.message(); m.ID != "2" || m.Error == nil || m.Error.Code != transportError {
		t.Errorf("%s", m.line)
	}
	if r := v.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, question.ID)); r.status != 202 {
		t.Errorf("an answer: %d", r.status)
	}
	old.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, oldAsking))
	before := g.enters.Load()
	eventually(t, "they do not come back", func() bool { return g.enters.Load() >= before+1 })
	g.state(false)
	if m := asking.message(); m.text() != "the answer is accept" {
		t.Errorf("%s", m.line)
	}
	if m := old.message(); m.text() != "the answer is accept" {
		t.Errorf("%s", m.line)
	}
	eventually(t, "somebody stays inside", func() bool { return g.state(false) == 0 })
}
