package transports

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

var sessionVersions = []string{mcp.ProtocolVersion20250326, mcp.ProtocolVersion20250618, mcp.ProtocolVersion20251125}

func TestHTTPSessionLivesFromInitializeToDelete(t *testing.T) {
	for _, version := range sessionVersions {
		t.Run(version, func(t *testing.T) {
			s := newSite(t, nil)
			v := s.visit("alice", version, "{}")
			r := v.post(toolCall("7", "echo", `{"text":"hi"}`), "Mcp-Protocol-Version: "+version)
			if m := r.message(t); r.status != 200 || m.ID != "7" || m.text() != "hi" || r.header.Get("Content-Type") != "application/json" {
				t.Fatalf("%d %s", r.status, r.body)
			}
			if !s.left(v.id) {
				t.Fatal("mcp-go does not know the session")
			}
			if r := v.do("DELETE", "/mcp", "", v.headers(nil)...); r.status != 200 {
				t.Fatalf("DELETE: %d %s", r.status, r.body)
			}
			s.waitOver("alice "+v.id, ErrSessionEnded)
			if s.left(v.id) {
				t.Error("mcp-go still knows the session")
			}
			for _, method := range []string{"POST", "GET", "DELETE"} {
				if r := v.do(method, "/mcp", toolCall("8", "echo", "{}"), v.headers(nil)...); r.status != 404 {
					t.Errorf("%s after DELETE: %d %s", method, r.status, r.body)
				}
			}
			if len(s.over) != 0 {
				t.Error("EndSession was called again")
			}
		})
	}
}

func TestHTTPSessionOfAnotherIsLikeNone(t *testing.T) {
	s := newSite(t, nil)
	v := s.visit("alice", mcp.ProtocolVersion20251125, `{"elicitation":{}}`)
	sse := s.open("GET", "/sse", "", "Authorization: Bearer alice").next().data
	theirs := sse[strings.Index(sse, "=")+1:]
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/mcp", toolCall("1", "echo", "{}")},
		{"POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`},
		{"POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`},
		{"POST", "/mcp", `[` + toolCall("1", "echo", "{}") + `]`},
		{"GET", "/mcp", ""},
		{"DELETE", "/mcp", ""},
		{"POST", "/message?sessionId=SESSION", toolCall("1", "echo", "{}")},
	} {
		t.Run(c.method+" "+c.path+" "+c.body, func(t *testing.T) {
			try := func(session string) string {
				id := "Mcp-Session-Id: " + session
				r := s.do(c.method, strings.Replace(c.path, "SESSION", session, 1), c.body, "Authorization: Bearer bob", id, "X-Request-Id: x")
				r.header.Del("Date")
				if r.status != http.StatusNotFound {
					t.Errorf("status %d", r.status)
				}
				return fmt.Sprint(r)
			}
			id := v.id
			if strings.Contains(c.path, "SESSION") {
				id = theirs
			}
			if real, made := try(id), try("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"); real != made {
				t.Errorf("another's session is told from none:\n%s\n%s", real, made)
			}
		})
	}
	if r := v.post(toolCall("1", "echo", `{"text":"still"}`)); r.message(t).text() != "still" {
		t.Errorf("the session suffered: %s", r.body)
	}
}

func TestHTTPMalformedMessagesAreRefused(t *testing.T) {
	s := newSite(t, nil)
	v := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	deep := strings.Repeat("[", 2_000_000)
	for name, c := range map[string]struct {
		body    string
		headers []string
		status  int
		code    int
	}{
		"empty":                {"", nil, 400, -32700},
		"not JSON":             {"hello", nil, 400, -32700},
		"half":                 {`{"jsonrpc":"2.0","id":1`, nil, 400, -32700},
		"broken inside params": {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":tru}}`, nil, 400, -32700},
		"two messages":         {`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, nil, 400, -32700},
		"a string":             {`"x"`, nil, 400, -32600},
		"no version":           {`{"id":1,"method":"ping"}`, nil, 400, -32600},
		"old version":          {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, nil, 400, -32600},
		"no method":            {`{"jsonrpc":"2.0","id":1}`, nil, 400, -32600},
		"null id":              {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, 400, -32600},
		"object id":            {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, 400, -32600},
		"id not UTF-8":         {"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", nil, 400, -32600},
		"method is a number":   {`{"jsonrpc":"2.0","id":1,"method":5}`, nil, 400, -32600},
		"misspelt member":      {`{"jsonrpc":"2.0","id":1,"Method":"ping","method":"ping"}`, nil, 400, -32600},
		"request and answer":   {`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, nil, 400, -32600},
		"deep nesting":         {deep, nil, 400, -32700},
		"deep params":          {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + deep + strings.Repeat("]", len(deep)) + `}}`, nil, 400, -32700},
		"batch not allowed":    {`[` + toolCall("1", "echo", "{}") + `]`, nil, 400, -32600},
		"cancel without id":    {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, nil, 400, -32602},
		"text":                 {toolCall("1", "echo", "{}"), []string{"Content-Type: text/plain"}, 415, -32600},
		"no content type":      {toolCall("1", "echo", "{}"), []string{"Content-Type:"}, 415, -32600},
		"Latin-1":              {toolCall("1", "echo", "{}"), []string{"Content-Type: application/json; charset=latin1"}, 415, -32600},
		"compressed":           {toolCall("1", "echo", "{}"), []string{"Content-Encoding: gzip"}, 415, -32600},
		"accepts images":       {toolCall("1", "echo", "{}"), []string{"Accept: image/png"}, 406, -32000},
		"accepts nothing":      {toolCall("1", "echo", "{}"), []string{"Accept: application/json;q=0, text/event-stream; q=0.0"}, 406, -32000},
		"unknown version":      {toolCall("1", "echo", "{}"), []string{"Mcp-Protocol-Version: 1999-01-01"}, 400, -32000},
		"no session":           {toolCall("1", "echo", "{}"), []string{"Mcp-Session-Id:"}, 400, -32000},
	} {
		t.Run(name, func(t *testing.T) {
			r := v.post(c.body, c.headers...)
			m := r.message(t)
			if r.status != c.status || m.Error == nil || m.Error.Code != c.code || m.Error.Message == "" {
				t.Errorf("%d %.300s", r.status, r.body)
			}
		})
	}
	t.Run("invalid UTF-8 in text is replaced", func(t *testing.T) {
		r := v.post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"a\xffb\"}}}")
		if r.message(t).text() != "a\ufffdb" {
			t.Errorf("%d %q", r.status, r.body)
		}
	})
	t.Run("a late answer is taken", func(t *testing.T) {
		if r := v.post(`{"jsonrpc":"2.0","id":99,"result":{}}`); r.status != 202 || r.body != "" {
			t.Errorf("%d %s", r.status, r.body)
		}
	})
	for _, method := range []string{"PUT", "HEAD", "PATCH"} {
		if r := v.do(method, "/mcp", "", v.headers(nil)...); r.status != 405 || r.header.Get("Allow") != "GET, POST, DELETE" {
			t.Errorf("%s: %d %v", method, r.status, r.header)
		}
	}
}

func TestHTTPBodiesAreBounded(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.MaxBody = 1000; h.bodyGrace = 300 * time.Millisecond })
	v := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	long := toolCall("1", "echo", `{"text":"`+strings.Repeat("x", 1000)+`"}`)
	if r := v.post(long); r.status != 413 || !strings.Contains(r.message(t).Error.Message, "1000 bytes") {
		t.Errorf("%d %s", r.status, r.body)
	}
	t.Run("without a length", func(t *testing.T) {
		r := s.request(context.Background(), "POST", "/mcp", "", v.headers(nil)...)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(long)), -1
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%d", resp.StatusCode)
		}
	})
	t.Run("slow", func(t *testing.T) {
		c := s.dial()
		fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice\r\nMcp-Session-Id: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", v.id)
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") {
			t.Errorf("%v %s", err, answer)
		}
	})
	t.Run("given up", func(*testing.T) {
		c := s.dial()
		fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice\r\nMcp-Session-Id: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", v.id)
		c.Close()
	})
	eventually(t, "the budget is not given back", func() bool {
		b := s.h.start().bodies
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.all == 0 && len(b.each) == 0
	})
	if r := v.post(toolCall("2", "echo", `{"text":"ok"}`)); r.message(t).text() != "ok" {
		t.Errorf("%s", r.body)
	}
}

func (s *site) dial() net.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	return c
}

func TestHTTPBatches(t *testing.T) {
	s := newSite(t, nil)
	v := s.visit("alice", mcp.ProtocolVersion20250326, "{}")
	for name, c := range map[string]struct{ body, want string }{
		"answers in order": {`[` + toolCall("1", "echo", `{"text":"a"}`) + `,{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":"z","method":"ping"}]`,
			`200 [{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}]}},{"jsonrpc":"2.0","id":"z","result":{}}]`},
		"nothing to answer": {`[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":5,"result":{}}]`, `202 `},
		"one of them wrong": {`[1,{"jsonrpc":"2.0","id":2,"method":"ping"}]`,
			`200 [{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message must be a JSON object"}},{"jsonrpc":"2.0","id":2,"result":{}}]`},
		"initialize": {`[{"jsonrpc":"2.0","id":2,"method":"initialize"}]`,
			`200 [{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"initialize cannot be part of a batch"}}]`},
		"empty":     {`[]`, `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a batch cannot be empty"}}`},
		"not JSON":  {`[{]`, `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the body is not valid JSON: send one JSON-RPC message"}}`},
		"too large": {`[` + strings.Repeat("1,", 1000) + `1]`, `400 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a batch can hold at most 1000 messages"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := v.post(c.body)
			if got := fmt.Sprint(r.status, " ", r.body); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestHTTPDuplicateIDIsRefusedWhileTheFirstRuns(t *testing.T) {
	s := newSite(t, nil)
	v := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	first := make(chan httpReply)
	go func() { first <- v.post(toolCall("1", "wait", `{"name":"a"}`)) }()
	s.waitStarted("a")
	if r := v.post(toolCall("1", "echo", "{}")); r.status != 400 || r.message(t).Error.Code != mcp.INVALID_REQUEST {
		t.Errorf("%d %s", r.status, r.body)
	}
	s.f.open("a")
	if r := <-first; r.message(t).text() != "waited a" {
		t.Errorf("%d %s", r.status, r.body)
	}
}

func TestHTTPPanicsAreAnswered(t *testing.T) {
	s := newSite(t, nil)
	v := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	for name, r := range map[string]httpReply{
		"session era":   v.post(toolCall("1", "panic", "{}")),
		"stateless era": s.do("POST", "/mcp", modernTool("1", "panic", "{}"), modernHeaders("tools/call", "panic")...),
	} {
		if m := r.message(t); r.status != 500 || m.ID != "1" || m.Error == nil || m.Error.Code != mcp.INTERNAL_ERROR {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	if r := v.post(toolCall("2", "echo", `{"text":"alive"}`)); r.message(t).text() != "alive" {
		t.Errorf("%s", r.body)
	}
	if !strings.Contains(s.log.String(), "on purpose") {
		t.Error("the log does not tell")
	}
}
