package transports

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const asks = `{"elicitation":{}}`

func TestHTTPQuestions(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.questionTime = patience })
	v := s.visit("alice", mcp.ProtocolVersion20251125, asks)
	question := func(t *testing.T, st *stream) (id string) {
		m := st.message()
		if m.Method != "elicitation/create" || !strings.Contains(string(m.Params), "may I?") {
			t.Fatalf("%s", m.line)
		}
		return m.ID
	}
	answer := func(id, body string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, body) }
	accept := `"result":{"action":"accept","content":{}}`
	t.Run("are asked and answered", func(t *testing.T) {
		st := v.open("POST", toolCall("1", "elicit", "{}"))
		id := question(t, st)
		other := s.visit("alice", mcp.ProtocolVersion20251125, asks)
		if r := other.post(answer(id, accept)); r.status != 202 {
			t.Errorf("another session's answer: %d", r.status)
		}
		if r := v.post(answer(id, accept), "Authorization: Bearer bob"); r.status != 404 {
			t.Errorf("another principal's answer: %d", r.status)
		}
		if r := v.post(answer(id, `"result":{"action":"decline"}`)); r.status != 202 {
			t.Errorf("%d %s", r.status, r.body)
		}
		if m := st.message(); m.text() != "the answer is decline" {
			t.Errorf("%s", m.line)
		}
	})
	t.Run("an error closes the question", func(t *testing.T) {
		st := v.open("POST", toolCall("1", "elicit", "{}"))
		v.post(answer(question(t, st), `"error":{"code":-1,"message":"no"}`))
		if m := st.message(); m.text() != "the answer is cancel" {
			t.Errorf("%s", m.line)
		}
	})
	t.Run("survive a broken connection", func(t *testing.T) {
		st := v.open("POST", toolCall("1", "elicit", "{}"))
		first := st.next()
		question(t, st)
		st.cut()
		rest := v.open("GET", "", "Last-Event-ID: "+first.id)
		v.post(answer(question(t, rest), accept))
		if m := rest.message(); m.text() != "the answer is accept" {
			t.Errorf("%s", m.line)
		}
	})
	t.Run("go to the session's stream when the call has none", func(t *testing.T) {
		listening := v.open("GET", "")
		listening.next()
		done := make(chan httpReply)
		go func() { done <- v.post(toolCall("1", "elicit", "{}"), "Accept: application/json") }()
		v.post(answer(question(t, listening), accept))
		if r := <-done; r.message(t).text() != "the answer is accept" {
			t.Errorf("%s", r.body)
		}
	})
	t.Run("a cancelled call takes its question back", func(t *testing.T) {
		st := v.open("POST", toolCall("1", "elicit", "{}"))
		id := question(t, st)
		v.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if m := st.message(); m.Method != "notifications/cancelled" || !strings.Contains(string(m.Params), `"requestId":`+id) {
			t.Errorf("%s", m.line)
		}
	})
	t.Run("are not asked of a client that cannot", func(t *testing.T) {
		r := s.visit("alice", mcp.ProtocolVersion20251125, "{}").post(toolCall("1", "elicit", "{}"))
		if m := r.message(t); !m.Result.IsError || !strings.Contains(m.text(), "does not support elicitation") {
			t.Errorf("%s", r.body)
		}
	})
	t.Run("nor of one that takes no stream", func(t *testing.T) {
		r := s.visit("alice", mcp.ProtocolVersion20251125, asks).post(toolCall("1", "elicit", "{}"), "Accept: application/json")
		if m := r.message(t); !m.Result.IsError || !strings.Contains(m.text(), "does not support elicitation") {
			t.Errorf("%s", r.body)
		}
	})
}

func TestHTTPQuestionsHaveATimeLimit(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.questionTime = 50 * time.Millisecond })
	v := s.visit("alice", mcp.ProtocolVersion20251125, asks)
	st := v.open("POST", toolCall("1", "elicit", "{}"))
	if m := st.message(); m.Method != "elicitation/create" {
		t.Fatalf("%s", m.line)
	}
	if m := st.message(); m.Method != "notifications/cancelled" {
		t.Fatalf("%s", m.line)
	}
	if m := st.message(); m.text() != "the answer is cancel" {
		t.Errorf("%s", m.line)
	}
}

func TestHTTPSessionsTimeOut(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.SessionTimeout = 150 * time.Millisecond })
	idle := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	listening := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	st := listening.open("GET", "")
	calling := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	done := make(chan httpReply)
	go func() { done <- calling.post(toolCall("1", "wait", `{"name":"a"}`)) }()
	s.waitStarted("a")
	s.waitOver("alice " + idle.id)
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
	s.waitOver("alice " + calling.id)
	st.cut()
	s.waitOver("alice " + listening.id)
	hub := s.h.start()
	if hub.sessions.all != 0 || len(hub.sessions.open) != 0 || len(hub.sessions.byID) != 0 || hub.events.bytes != 0 {
		t.Errorf("left: %+v, %d bytes of events", hub.sessions, hub.events.bytes)
	}
}

func TestHTTPSessionsAreLimited(t *testing.T) {
	s := newSite(t, func(h *HTTP) {
		h.MaxSessions = func(principal string) (int, int) { return 2, 4 }
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

func TestHTTPHostsAndOrigins(t *testing.T) {
	s := newSite(t, func(h *HTTP) {
		h.PublicURL = &url.URL{Scheme: "https", Host: "mcp.example.com", Path: "/box/"}
		h.AllowedHosts = []string{"inner", "other:99"}
		h.AllowedOrigins = []string{"https://app.example.com"}
	})
	for _, c := range []struct {
		host, origin string
		status       int
		cors         bool
	}{
		{"localhost:1", "", 200, false},
		{"127.0.0.1", "", 200, false},
		{"127.9.9.9:80", "", 200, false},
		{"[::1]:80", "", 200, false},
		{"LOCALHOST", "", 200, false},
		{"mcp.example.com", "", 200, false},
		{"mcp.example.com:443", "", 200, false},
		{"mcp.example.com:444", "", 403, false},
		{"inner:77", "", 200, false},
		{"other:99", "", 200, false},
		{"other", "", 403, false},
		{"evil.example", "", 403, false},
		{"localhost.evil.example", "", 403, false},
		{"127.0.0.1.evil.example", "", 403, false},
		{"192.168.1.1", "", 403, false},
		{"localhost:8080", "http://localhost:8080", 200, false},
		{"localhost:8080", "http://localhost:9090", 403, false},
		{"localhost:8080", "http://127.0.0.1:8080", 403, false},
		{"localhost", "http://localhost:80", 200, false},
		{"localhost", "http://evil.example", 403, false},
		{"evil.example", "http://evil.example", 403, false},
		{"localhost", "null", 403, false},
		{"localhost", "file://", 403, false},
		{"localhost", "http://localhost@evil.example", 403, false},
		{"localhost", "https://app.example.com", 200, true},
		{"localhost", "https://app.example.com.evil.example", 403, false},
		{"localhost", "http://app.example.com", 403, false},
		{"inner", "https://mcp.example.com", 200, false},
		{"mcp.example.com", "https://mcp.example.com", 200, false},
		{"mcp.example.com", "https://evil.example", 403, false},
	} {
		t.Run(c.host+" "+c.origin, func(t *testing.T) {
			headers := []string{"Host: " + c.host, "Origin: " + c.origin}
			r := s.do("POST", "/mcp", modernTool("1", "echo", "{}"), modernHeaders("tools/call", "echo", headers...)...)
			if r.status != c.status {
				t.Errorf("%d %s", r.status, r.body)
			}
			if got := r.header.Get("Access-Control-Allow-Origin"); (got != "") != c.cors || c.cors && got != c.origin {
				t.Errorf("Access-Control-Allow-Origin is %q", got)
			}
			if c.cors && (!strings.Contains(r.header.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") || r.header.Get("Vary") != "Origin") {
				t.Errorf("%v", r.header)
			}
			if r := s.do("GET", "/healthz", "", headers...); r.status != 200 {
				t.Errorf("health: %d", r.status)
			}
			pre := s.do("OPTIONS", "/mcp", "", append(headers, "Authorization:", "Access-Control-Request-Method: POST",
				"Access-Control-Request-Headers: authorization,Mcp-Session-Id, mcp-workspace-ref,mcp-param-x,x-evil")...)
			got := pre.header.Get("Access-Control-Allow-Headers")
			if c.cors && (pre.status != 204 || got != "authorization, mcp-session-id, mcp-workspace-ref, mcp-param-x") || !c.cors && got != "" {
				t.Errorf("preflight: %d %v", pre.status, pre.header)
			}
		})
	}
}

func TestHTTPPaths(t *testing.T) {
	s := newSite(t, func(h *HTTP) {
		h.PublicURL = &url.URL{Scheme: "https", Host: "mcp.example.com", Path: "/box"}
		h.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metrics") })
		h.Metadata = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) })
	})
	call := modernTool("1", "echo", "{}")
	for _, c := range []struct {
		method, path, who string
		status            int
		body              string
	}{
		{"POST", "/mcp", "alice", 200, ""}, {"POST", "/mcp/", "alice", 200, ""},
		{"POST", "/box/mcp", "alice", 200, ""}, {"POST", "/box/mcp/", "alice", 200, ""},
		{"POST", "/boxmcp", "alice", 404, ""}, {"POST", "/box/box/mcp", "alice", 404, ""},
		{"POST", "//mcp", "alice", 404, ""}, {"GET", "/", "alice", 404, ""}, {"POST", "/mcp", "", 401, ""},
		{"GET", "/healthz", "", 200, "ok\n"}, {"GET", "/box/readyz", "", 200, "ok\n"}, {"POST", "/healthz", "", 405, ""},
		{"GET", "/metrics", "op", 200, "metrics"}, {"GET", "/metrics", "alice", 403, ""}, {"GET", "/metrics", "", 401, ""},
		{"GET", "/.well-known/oauth-protected-resource", "", 200, ""}, {"GET", "/.well-known/oauth-protected-resource/box/mcp", "", 200, "/.well-known/oauth-protected-resource/box/mcp"},
		{"GET", "/.well-known/oauth-protected-resources", "", 404, ""},
		{"POST", "/sse", "alice", 405, ""}, {"GET", "/message?sessionId=x", "alice", 405, ""}, {"POST", "/message", "alice", 400, ""},
	} {
		t.Run(c.method+" "+c.path+" "+c.who, func(t *testing.T) {
			auth := "Authorization:"
			if c.who != "" {
				auth += " Bearer " + c.who
			}
			r := s.do(c.method, c.path, call, modernHeaders("tools/call", "echo", auth)...)
			if r.status != c.status || c.body != "" && r.body != c.body {
				t.Errorf("%d %s", r.status, r.body)
			}
			if c.status == 401 && r.header.Get("WWW-Authenticate") == "" {
				t.Error("no challenge")
			}
		})
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
	if e := s.events[0]; e.Method != "POST" || e.Route != "/mcp" || e.Status != 200 || e.Principal != "alice" || e.RequestID != "abc" || e.Took <= 0 {
		t.Errorf("%+v", e)
	}
}

// turnstile is a gate that lets in as many as have been allowed, and counts.
type turnstile struct {
	mu     sync.Mutex
	inside int
	busy   bool
	most   int
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
	if n := g.state(true); n != 0 {
		t.Errorf("%d inside although both wait for a person", n)
	}
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

func TestHTTPDrain(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.Heartbeat = 20 * time.Millisecond })
	v := s.visit("alice", mcp.ProtocolVersion20251125, asks)
	old := s.connectSSE("alice", "{}")
	listening := v.open("GET", "")
	listening.next()
	call := v.open("POST", toolCall("1", "wait", `{"name":"a"}`))
	s.waitStarted("a")
	old.post(toolCall("1", "wait", `{"name":"b"}`))
	s.waitStarted("b")
	asking := v.open("POST", toolCall("2", "elicit", "{}"))
	question := asking.message()
	drained := make(chan error, 1)
	go func() { drained <- s.h.Drain(context.Background()) }()
	eventually(t, "still ready", func() bool { return s.do("GET", "/readyz", "").status == 503 })
	if r := s.do("GET", "/healthz", ""); r.status != 200 {
		t.Errorf("health: %d", r.status)
	}
	for name, r := range map[string]httpReply{
		"call":       v.post(toolCall("3", "echo", "{}")),
		"stateless":  s.do("POST", "/mcp", modernTool("2", "echo", "{}"), modernHeaders("tools/call", "echo")...),
		"initialize": s.do("POST", "/mcp", initialize("1", "{}")),
		"sse":        s.do("GET", "/sse", ""),
	} {
		if r.status != 503 || r.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	s.f.open("a")
	s.f.open("b")
	if m := call.message(); m.text() != "waited a" {
		t.Errorf("%s", m.line)
	}
	if m := old.message(); m.text() != "waited b" {
		t.Errorf("%s", m.line)
	}
	select {
	case err := <-drained:
		t.Fatalf("drained with a call in flight: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	v.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, question.ID))
	if m := asking.message(); m.text() != "the answer is accept" {
		t.Errorf("%s", m.line)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
	listening.ended()
	old.ended()
	over := map[string]bool{<-s.over: true, <-s.over: true}
	if !over["alice "+v.id] || !over["alice "+old.id] || s.left(v.id) || s.left(old.id) {
		t.Errorf("over: %v", over)
	}
}

func TestHTTPDrainCancelsWhatDoesNotEnd(t *testing.T) {
	s := newSite(t, nil)
	v := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	old := s.connectSSE("alice", "{}")
	done := make(chan httpReply)
	go func() { done <- v.post(toolCall("1", "wait", `{"name":"a"}`)) }()
	s.waitStarted("a")
	old.post(toolCall("1", "wait", `{"name":"b"}`))
	s.waitStarted("b")
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer stop()
	if err := s.h.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	for range 2 {
		if err := s.waitEnded(); !errors.Is(err, ErrShutdown) {
			t.Error(err)
		}
	}
	<-done
}
