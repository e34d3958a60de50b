package transports

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestHTTPSubscriptionsListen(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.Heartbeat = 20 * time.Millisecond })
	body := modernBody("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	st := s.open("POST", "/mcp", body, modernHeaders("subscriptions/listen", "")...)
	if m := st.message(); m.Method != "notifications/subscriptions/acknowledged" {
		t.Fatalf("%s", m.line)
	}
	if e := st.any(); e.comment == "" {
		t.Errorf("%+v", e)
	}
	s.f.AddTool(mcp.NewTool("new"), nil)
	if m := st.message(); m.Method != "notifications/tools/list_changed" {
		t.Errorf("%s", m.line)
	}
	if r := s.do("POST", "/mcp", body, modernHeaders("subscriptions/listen", "", "Accept: application/json")...); r.status != 406 {
		t.Errorf("without a stream: %d %s", r.status, r.body)
	}
	// It keeps nobody from stopping.
	if _, err := s.h.Drain(context.Background()); err != nil {
		t.Error(err)
	}
	st.ended()
}

func TestHTTPStatelessEra(t *testing.T) {
	s := newSite(t, nil)
	for name, c := range map[string]struct {
		method, body string
		headers      []string
		status       int
		want         string
	}{
		"discover":                   {"POST", modernBody("1", "server/discover", ""), modernHeaders("server/discover", ""), 200, `"supportedVersions"`},
		"call":                       {"POST", modernTool("1", "echo", `{"text":"hi"}`), modernHeaders("tools/call", "echo"), 200, `hi`},
		"a session id is ignored":    {"POST", modernTool("1", "echo", `{"text":"hi"}`), modernHeaders("tools/call", "echo", "Mcp-Session-Id: nonsense"), 200, `hi`},
		"header that differs":        {"POST", modernTool("1", "echo", "{}"), modernHeaders("tools/call", "other"), 400, `-32020`},
		"version only in the header": {"POST", toolCall("1", "echo", "{}"), modernHeaders("tools/call", "echo"), 400, `-32602`},
		"version only in the body":   {"POST", modernTool("1", "echo", "{}"), nil, 400, `-32020`},
		"unknown method":             {"POST", modernBody("1", "x/y", ""), modernHeaders("x/y", ""), 404, `-32601`},
		"notification":               {"POST", strings.Replace(modernBody("1", "notifications/x", ""), `"id":1,`, "", 1), modernHeaders("notifications/x", ""), 202, ``},
		"GET":                        {"GET", "", modernHeaders("", ""), 405, `subscriptions/listen`},
		"DELETE":                     {"DELETE", "", modernHeaders("", ""), 405, `subscriptions/listen`},
		"an answer":                  {"POST", `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, modernHeaders("", ""), 400, `-32600`},
		"a batch":                    {"POST", `[` + modernTool("1", "echo", "{}") + `]`, modernHeaders("tools/call", "echo"), 400, `-32600`},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.do(c.method, "/mcp", c.body, c.headers...)
			if r.status != c.status || !strings.Contains(r.body, c.want) || r.header.Get("Mcp-Session-Id") != "" {
				t.Errorf("%d %v %s", r.status, r.header, r.body)
			}
		})
	}
}

func TestHTTPCancellationOfAnotherClientIsIgnored(t *testing.T) {
	s := newSite(t, nil)
	done := make(chan httpReply)
	go func() {
		done <- s.do("POST", "/mcp", modernTool("1", "wait", `{"name":"a"}`), modernHeaders("tools/call", "wait")...)
	}()
	s.waitStarted("a")
	r := s.do("POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		modernHeaders("notifications/cancelled", "", "Authorization: Bearer bob")...)
	if r.status != 202 {
		t.Errorf("%d %s", r.status, r.body)
	}
	s.f.open("a")
	if r := <-done; r.message(t).text() != "waited a" {
		t.Errorf("%s", r.body)
	}
}

// TestHTTPUnknownProtocolVersion: initialize is answered with a version that
// there is, whatever the client asks for; anything else is refused with those.
func TestHTTPUnknownProtocolVersion(t *testing.T) {
	s := newSite(t, nil)
	for version, code := range map[string]string{"1999-01-01": "-32000", "2030-01-01": "-32022"} {
		header := "Mcp-Protocol-Version: " + version
		asked := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
		for name, headers := range map[string][]string{"in the body": nil, "in the header too": {header}} {
			if r := s.do("POST", "/mcp", asked, headers...); r.status != 200 || !strings.Contains(r.body, `"protocolVersion":"2025-11-25"`) || r.header.Get("Mcp-Session-Id") == "" {
				t.Errorf("%s, %s: %d %s", version, name, r.status, r.body)
			}
		}
		if r := s.do("POST", "/mcp", toolCall("1", "echo", "{}"), header); r.status != 400 || !strings.Contains(r.body, code) || !strings.Contains(r.body, "2025-11-25") {
			t.Errorf("%s: a call: %d %s", version, r.status, r.body)
		}
	}
	future := strings.ReplaceAll(modernTool("1", "echo", "{}"), "2026-07-28", "2030-01-01")
	headers := []string{"Mcp-Protocol-Version: 2030-01-01", "Mcp-Method: tools/call", "Mcp-Name: echo"}
	if r := s.do("POST", "/mcp", future, headers...); r.status != 400 || !strings.Contains(r.body, "-32022") || !strings.Contains(r.body, "2026-07-28") {
		t.Errorf("a call of the future: %d %s", r.status, r.body)
	}
}
