package transports

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// sseClient is a client of the transport of 2024-11-05.
type sseClient struct {
	*stream
	site *site
	who  string
	path string
	id   string
}

func (s *site) connectSSE(who, capabilities string) *sseClient {
	s.t.Helper()
	st := s.open("GET", "/sse", "", "Authorization: Bearer "+who)
	e := st.next()
	if e.name != "endpoint" {
		s.t.Fatalf("%+v", e)
	}
	c := &sseClient{stream: st, site: s, who: who, path: e.data, id: e.data[strings.Index(e.data, "=")+1:]}
	c.post(strings.Replace(initialize("0", capabilities), mcp.ProtocolVersion20251125, mcp.ProtocolVersion20241105, 1))
	if m := c.message(); m.ID != "0" || m.Result == nil {
		s.t.Fatalf("%s", m.line)
	}
	c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *sseClient) post(body string) {
	c.t.Helper()
	if r := c.site.do("POST", c.path, body, "Authorization: Bearer "+c.who); r.status != 202 || r.body != "" {
		c.t.Fatalf("%d %s", r.status, r.body)
	}
}

// ask calls a tool that asks, and returns the question's id.
func (c *sseClient) ask(tool string) string {
	c.t.Helper()
	c.post(toolCall("1", tool, "{}"))
	m := c.message()
	if m.Method != "elicitation/create" {
		c.t.Fatalf("%s", m.line)
	}
	return m.ID
}

func TestSSE(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.Heartbeat = 20 * time.Millisecond; h.MaxBody = 5000 })
	c := s.connectSSE("alice", asks)
	if !strings.HasPrefix(c.path, "/message?sessionId=") {
		t.Errorf("%s", c.path)
	}
	t.Run("calls are answered on the stream", func(t *testing.T) {
		c.post(toolCall("1", "echo", `{"text":"a"}`))
		c.post(`[` + toolCall("2", "echo", `{"text":"b"}`) + `]`)
		got := c.next().data + c.next().data
		for _, want := range []string{`{"jsonrpc":"2.0","id":1,`, `[{"jsonrpc":"2.0","id":2,`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s is not in %s", want, got)
			}
		}
	})
	t.Run("silence is filled", func(t *testing.T) {
		if e := c.any(); e.comment == "" {
			t.Errorf("%+v", e)
		}
	})
	t.Run("questions are asked", func(t *testing.T) {
		id := c.ask("elicit")
		c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, id))
		if m := c.message(); m.text() != "the answer is accept" {
			t.Errorf("%s", m.line)
		}
	})
	t.Run("headers of each message reach the tools", func(t *testing.T) {
		s.do("POST", c.path, toolCall("1", "caller", "{}"), "Mcp-Workspace-Ref: r1", "X-Request-Id: q")
		if m := c.message(); m.text() != "alice|q|r1|||" {
			t.Errorf("%s", m.line)
		}
	})
	t.Run("what is malformed is refused at once", func(t *testing.T) {
		for body, status := range map[string]int{"": 400, "x": 400, "[]": 400, `{"id":1}`: 400, `{"jsonrpc":"2.0","id":{},"method":"ping"}`: 400, strings.Repeat("x", 5001): 413} {
			if r := s.do("POST", c.path, body); r.status != status || r.message(t).Error == nil {
				t.Errorf("%.50s: %d %s", body, r.status, r.body)
			}
		}
		if r := s.do("POST", c.path, toolCall("1", "echo", "{}"), "Content-Type: text/plain"); r.status != 415 {
			t.Errorf("%d", r.status)
		}
	})
	t.Run("calls are cancelled with the connection", func(t *testing.T) {
		c.post(toolCall("1", "wait", `{"name":"a"}`))
		s.waitStarted("a")
		c.cut()
		if err := s.waitEnded(); !errors.Is(err, ErrDisconnected) {
			t.Errorf("%v", err)
		}
		s.waitOver("alice "+c.id, ErrDisconnected)
		if r := s.do("POST", c.path, toolCall("1", "echo", "{}")); r.status != 404 {
			t.Errorf("%d", r.status)
		}
		if s.left(c.id) {
			t.Error("mcp-go still knows the connection")
		}
	})
}

func TestSSEEndpointHasThePrefixThatClientsSee(t *testing.T) {
	for prefix, want := range map[string]string{
		"/box": "/box", "/a/b/": "/a/b", "": "", "/": "", "//evil.example": "", "/a/../b": "", "/a//b": "", "https://evil.example": "",
		"/a?b": "", "/a b": "", "/" + strings.Repeat("x", 300): "", "/a\\b": "", "/%2e": "",
	} {
		t.Run(fmt.Sprintf("%.20q", prefix), func(t *testing.T) {
			e := newSite(t, nil).open("GET", "/sse", "", "X-Forwarded-Prefix: "+prefix).next()
			if got, _, _ := strings.Cut(e.data, "/message?"); got != want {
				t.Errorf("it became %q", e.data)
			}
		})
	}
	t.Run("PublicURL decides", func(t *testing.T) {
		s := newSite(t, func(h *HTTP) { h.PublicURL = &url.URL{Scheme: "https", Host: "a.example", Path: "/own"} })
		if e := s.open("GET", "/sse", "", "X-Forwarded-Prefix: /box").next(); !strings.HasPrefix(e.data, "/own/message?") {
			t.Errorf("%q", e.data)
		}
	})
}

func TestSSEOverfullConnectionRefuses(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.MaxBody, h.sseHeld = 200_000, 1_000_000 })
	c := s.connectSSE("alice", "{}")
	neighbour := s.connectSSE("alice", "{}")
	text := strings.Repeat("x", 100_000)
	taken := 0
	for {
		r := s.do("POST", c.path, toolCall(fmt.Sprint(taken+1), "wait", `{"name":"a","text":"`+text+`"}`))
		if r.status == 429 {
			if r.header.Get("Retry-After") != "1" || r.message(t).Error == nil {
				t.Errorf("%v %s", r.header, r.body)
			}
			break
		}
		if taken++; r.status != 202 || taken > 100 {
			t.Fatalf("%d after %d messages", r.status, taken)
		}
	}
	neighbour.post(toolCall("1", "echo", `{"text":"quick"}`))
	if m := neighbour.message(); m.text() != "quick" {
		t.Errorf("%s", m.line)
	}
	s.f.open("a")
	for range taken {
		if m := c.message(); m.text() != "waited a" {
			t.Errorf("%s", m.line)
		}
	}
}
