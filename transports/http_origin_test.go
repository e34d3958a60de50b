package transports

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

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
		{"mcp.example.com:444", "", 200, false},
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
