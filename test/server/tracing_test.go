package server

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// TestRequestsTakePartInTheTraceOfTheirHeaders in both eras, over real HTTP and
// with a collector that keeps what it gets.
func TestRequestsTakePartInTheTraceOfTheirHeaders(t *testing.T) {
	var mu sync.Mutex
	var got bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if _, err := got.ReadFrom(r.Body); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(collector.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	url := testenv.Serve(t, "--no-auth") + "/mcp"

	post := func(body string, headers ...string) http.Header {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range append(headers, "Content-Type: application/json", "Accept: application/json, text/event-stream") {
			name, value, _ := strings.Cut(h, ": ")
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %v: %s", resp.StatusCode, err, answer)
		}
		return resp.Header
	}
	trace := func(digit string) string {
		return fmt.Sprintf("Traceparent: 00-%s-%s-01", strings.Repeat(digit, 32), strings.Repeat("b", 16))
	}
	session := post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`).Get("Mcp-Session-Id")
	post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ls","arguments":{}}}`, "Mcp-Session-Id: "+session, trace("a"))
	post(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ls","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: ls", trace("c"))

	within(t, time.Minute, "spans of both traces have arrived", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Contains(got.Bytes(), bytes.Repeat([]byte{0xaa}, 16)) && bytes.Contains(got.Bytes(), bytes.Repeat([]byte{0xcc}, 16))
	})
}
