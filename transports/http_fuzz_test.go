package transports

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// FuzzHTTP sends any body with any headers. Whatever they are, the answer is
// well formed and the next client is served.
func FuzzHTTP(f *testing.F) {
	s := newSite(f, func(h *HTTP) {
		h.MaxBody = 1 << 20
		small := server.NewMCPServer("small", "1", server.WithToolCapabilities(true), server.WithLogging())
		small.AddTool(mcp.NewTool("echo"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(r.GetString("text", "")), nil
		})
		h.Authenticate = func(*http.Request) (*Client, error) { return &Client{Server: small}, nil }
	})
	v := s.visit("", mcp.ProtocolVersion20250326, "{}")
	for _, body := range []string{
		"", "{}", "[]", "null", `"`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		toolCall("1", "echo", `{"text":"x"}`), toolCall(`"\u0000"`, "nope", `[]`), initialize("1", "{}"),
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"error":5}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[{}]}`,
		"\xff\xfe{", strings.Repeat(`{"a":`, 1000), `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"x"}}`,
	} {
		f.Add(body, "", "", v.id, "", "")
		f.Add(body, "application/json", mcp.ProtocolVersion20251125, v.id, "1-0", "*/*")
	}
	for _, method := range []string{"server/discover", "tools/call", "subscriptions/listen", "notifications/cancelled", "x"} {
		f.Add(modernBody("1", method, `"name":"echo"`), "application/json", "2026-07-28", method, "echo", "application/json")
	}
	f.Fuzz(func(t *testing.T, body, contentType, version, session, name, accept string) {
		s.t = t
		r := s.request(t.Context(), "POST", "/mcp", body, "Accept: application/json")
		for header, value := range map[string]string{"Content-Type": contentType, "Mcp-Protocol-Version": version, "Mcp-Session-Id": session,
			"Mcp-Method": session, "Mcp-Name": name, "Last-Event-ID": name, "Mcp-Workspace-Ref": name, "X-Request-Id": accept} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			if strings.Contains(err.Error(), "invalid header field value") {
				t.Skip()
			}
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case resp.StatusCode == http.StatusInternalServerError:
			t.Fatalf("500: %s", text)
		case resp.StatusCode == http.StatusAccepted && len(text) == 0:
		case !json.Valid(text) || resp.Header.Get("Content-Type") != "application/json":
			t.Fatalf("%d %v %q", resp.StatusCode, resp.Header, text)
		}
		if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
			s.do("DELETE", "/mcp", "", "Mcp-Session-Id: "+id)
		}
		if again := v.post(toolCall("7", "echo", `{"text":"alive"}`)); again.message(t).text() != "alive" {
			t.Fatalf("%d %s", again.status, again.body)
		}
	})
}
