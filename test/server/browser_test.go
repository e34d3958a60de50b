package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// rawRequest sends headers of the test's own, Host included.
func rawRequest(t *testing.T, c caller, method, path string, header map[string]string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.root+path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c.dress(r)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
	}
	got, err := c.do(r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestHostsAndOrigins(t *testing.T) {
	t.Parallel()
	s := withOperator()
	s.flags = []string{"--public-url=https://mcp.example.com/tools", "--allowed-hosts=inside.example,proxy.example:8443", "--allowed-origins=https://app.example.com,http://localhost:3000"}
	p := start(t, s.options)
	open := start(t, options{}) // without authentication, where it matters most
	for _, c := range []struct {
		name   string
		header map[string]string
		want   int
	}{
		{"a loopback address", map[string]string{"Host": "127.0.0.1:1"}, 200},
		{"localhost", map[string]string{"Host": "localhost"}, 200},
		{"IPv6's", map[string]string{"Host": "[::1]:80"}, 200},
		{"the public name", map[string]string{"Host": "mcp.example.com"}, 200},
		{"the public name and its port", map[string]string{"Host": "MCP.example.com:443"}, 200},
		{"an allowed name", map[string]string{"Host": "inside.example:9999"}, 200},
		{"an allowed name and port", map[string]string{"Host": "proxy.example:8443"}, 200},
		{"an allowed name with another port", map[string]string{"Host": "proxy.example:1"}, 403},
		{"another name", map[string]string{"Host": "evil.example"}, 403},
		{"a name that begins alike", map[string]string{"Host": "localhost.evil.example"}, 403},
		{"a name that ends alike", map[string]string{"Host": "xmcp.example.com"}, 403},
		{"an address in the network", map[string]string{"Host": "192.168.1.1"}, 403},
		{"0.0.0.0", map[string]string{"Host": "0.0.0.0:8080"}, 403},
		{"an allowed origin", map[string]string{"Origin": "https://app.example.com"}, 200},
		{"another allowed origin", map[string]string{"Origin": "http://localhost:3000"}, 200},
		{"an origin with another port", map[string]string{"Origin": "http://localhost:3001"}, 403},
		{"an origin with another scheme", map[string]string{"Origin": "http://app.example.com"}, 403},
		{"an origin that begins alike", map[string]string{"Origin": "https://app.example.com.evil.example"}, 403},
		{"null", map[string]string{"Origin": "null"}, 403},
		{"another origin", map[string]string{"Origin": "https://evil.example"}, 403},
		{"a rebound name", map[string]string{"Host": "evil.example:8080", "Origin": "http://evil.example:8080"}, 403},
		{"its own origin", map[string]string{"Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:8080"}, 200},
		{"its public origin", map[string]string{"Host": "mcp.example.com", "Origin": "https://mcp.example.com"}, 200},
		{"what a proxy says, which is not asked", map[string]string{"Host": "evil.example", "X-Forwarded-Host": "mcp.example.com"}, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := rawRequest(t, p.as(s.alice), http.MethodPost, "/mcp", c.header)
			if got.status != c.want {
				t.Errorf("it is answered with %d %s", got.status, got.body)
			}
			if origin := c.header["Origin"]; c.want != 200 && got.header.Get("Access-Control-Allow-Origin") != "" || got.header.Get("Access-Control-Allow-Origin") == "*" {
				t.Errorf("the page of %s may read that: %v", origin, got.header)
			}
		})
	}
	for name, header := range map[string]map[string]string{"a rebound name": {"Host": "evil.example"}, "another site": {"Origin": "https://evil.example"}, "a page in a file": {"Origin": "null"}, "a page of another port": {"Origin": "http://localhost:1"}} {
		for _, path := range []string{"/mcp", "/sse", "/message?sessionId=x", "/metrics"} {
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
				if got := rawRequest(t, open.as(person{}), method, path, header); got.status != http.StatusForbidden {
					t.Errorf("without authentication, %s: %s %s is answered with %d %s", name, method, path, got.status, got.body)
				}
			}
		}
	}
}

func TestPreflightsOfBrowsers(t *testing.T) {
	t.Parallel()
	s := withOperator()
	s.flags = []string{"--allowed-origins=https://app.example.com"}
	p := start(t, s.options)
	ask := func(origin string) reply {
		return rawRequest(t, p.as(person{}), http.MethodOptions, "/mcp", map[string]string{
			"Origin": origin, "Access-Control-Request-Method": "POST",
			"Access-Control-Request-Headers": "authorization,content-type,mcp-protocol-version,mcp-session-id,mcp-workspace-ref,mcp-method,mcp-name,last-event-id,x-evil",
		})
	}
	got := ask("https://app.example.com")
	if got.status != http.StatusNoContent || got.header.Get("Access-Control-Allow-Origin") != "https://app.example.com" || got.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("it is answered with %d %v", got.status, got.header)
	}
	for _, want := range []string{"authorization", "content-type", "mcp-protocol-version", "mcp-session-id", "mcp-workspace-ref", "mcp-method", "mcp-name", "last-event-id"} {
		if !strings.Contains(strings.ToLower(got.header.Get("Access-Control-Allow-Headers")), want) {
			t.Errorf("%s is not allowed: %s", want, got.header.Get("Access-Control-Allow-Headers"))
		}
	}
	if strings.Contains(got.header.Get("Access-Control-Allow-Headers"), "x-evil") {
		t.Error("any header is allowed")
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if !strings.Contains(got.header.Get("Access-Control-Allow-Methods"), method) {
			t.Errorf("%s is not allowed: %s", method, got.header.Get("Access-Control-Allow-Methods"))
		}
	}
	if !strings.Contains(strings.Join(got.header.Values("Vary"), ","), "Origin") {
		t.Errorf("caches are not told: %v", got.header)
	}
	for _, origin := range []string{"https://evil.example", "null", "https://app.example.com.evil.example", "https://APP.example.com:444"} {
		if got := ask(origin); got.status != http.StatusForbidden || got.header.Get("Access-Control-Allow-Origin") != "" || got.header.Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("%s: %d %v", origin, got.status, got.header)
		}
	}
	answer := rawRequest(t, p.as(s.alice), http.MethodPost, "/mcp", map[string]string{"Origin": "https://app.example.com"})
	for _, want := range []string{"Mcp-Session-Id", "WWW-Authenticate", "Retry-After"} {
		if !strings.Contains(answer.header.Get("Access-Control-Expose-Headers"), want) {
			t.Errorf("a page cannot read %s: %v", want, answer.header)
		}
	}
	unknown := rawRequest(t, p.as(person{}), http.MethodPost, "/mcp", map[string]string{"Origin": "https://app.example.com"})
	if unknown.status != http.StatusUnauthorized || unknown.header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("a page cannot see that it needs a token: %d %v", unknown.status, unknown.header)
	}
}

// TestBehindAProxyWithAPathPrefix, whether the proxy takes the prefix off or
// not, clients of all transports work.
func TestBehindAProxyWithAPathPrefix(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		strips, knows bool
	}{
		"it takes it off": {true, true},
		"it passes it on": {false, true},
		"it takes it off and says so, without --public": {true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var target *url.URL
			proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
				r.Out.URL.Scheme, r.Out.URL.Host = target.Scheme, target.Host
				r.Out.Host = r.In.Host
				if c.strips {
					r.Out.URL.Path = strings.TrimPrefix(r.In.URL.Path, "/deep/tools")
					r.Out.Header.Set("X-Forwarded-Prefix", "/deep/tools")
				}
			}}
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasPrefix(r.URL.Path, "/deep/tools/") {
					http.NotFound(w, r)
					return
				}
				proxy.ServeHTTP(w, r)
			}))
			t.Cleanup(front.Close)
			s := withOperator()
			public := front.URL + "/deep/tools"
			if c.knows {
				s.flags = []string{"--public-url", public}
			}
			p := start(t, s.options)
			var err error
			if target, err = url.Parse(p.root); err != nil {
				t.Fatal(err)
			}
			for _, version := range []string{statelessEra, sessionEra} {
				over, err := transport.NewStreamableHTTP(public+"/mcp", transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + s.alice.token}))
				if err != nil {
					t.Fatal(err)
				}
				useClient(t, client.NewClient(over), version)
			}
			over, err := transport.NewSSE(public+"/sse", transport.WithHeaders(map[string]string{"Authorization": "Bearer " + s.alice.token}))
			if err != nil {
				t.Fatal(err)
			}
			useClient(t, client.NewClient(over), "2024-11-05")
			raw := callerOf(public, s.bob)
			for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/nothing": 404} {
				if got := raw.plain(t, http.MethodGet, path, ""); got.status != want {
					t.Errorf("%s is answered with %d %s", path, got.status, got.body)
				}
			}
		})
	}
}

// useClient has a client of mcp-go write a file and read it.
func useClient(t *testing.T, c *client.Client, version string) {
	t.Helper()
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), callWithin)
	defer cancel()
	if err := c.Start(ctx); err != nil {
		t.Fatalf("%s: %v", version, err)
	}
	var init mcp.InitializeRequest
	init.Params.ProtocolVersion = version
	init.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	got, err := c.Initialize(ctx, init)
	if err != nil || got.ProtocolVersion != version {
		t.Fatalf("%s: %v %+v", version, err, got)
	}
	for tool, a := range map[string]args{"write_file": {"path": "a.txt", "content": "x"}, "ls": {}} {
		var req mcp.CallToolRequest
		req.Params.Name, req.Params.Arguments = tool, map[string]any(a)
		if got, err := c.CallTool(ctx, req); err != nil || got.IsError {
			t.Errorf("%s: %s: %v %s", version, tool, err, fmt.Sprint(got))
		}
	}
}
