package telemetry

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mcp-workspace/mcp-workspace/permissions"
	"github.com/mcp-workspace/mcp-workspace/sessions"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// testCollector is a collector of traces: it decodes OTLP with OpenTelemetry's own
// definitions and keeps what came.
type testCollector struct {
	*httptest.Server
	mu       sync.Mutex
	spans    []*tracepb.Span
	resource map[string]string
	requests []*http.Request
	// answer, when set, replaces the answer that all is well.
	answer func(w http.ResponseWriter, n int)
}

func newTestCollector(t *testing.T) *testCollector {
	t.Helper()
	c := &testCollector{}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *testCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	data, err := io.ReadAll(body)
	var req coltracepb.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(data, &req)
	}
	if err != nil || len(req.ProtoReflect().GetUnknown()) > 0 {
		http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.requests = append(c.requests, r)
	n, answer := len(c.requests), c.answer
	for _, rs := range req.ResourceSpans {
		c.resource = attributes(rs.Resource.Attributes)
		for _, ss := range rs.ScopeSpans {
			c.spans = append(c.spans, ss.Spans...)
		}
	}
	c.mu.Unlock()
	if answer != nil {
		answer(w, n)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func attributes(kvs []*commonpb.KeyValue) map[string]string {
	out := make(map[string]string)
	for _, kv := range kvs {
		switch v := kv.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			out[kv.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			out[kv.Key] = fmt.Sprint(v.IntValue)
		case *commonpb.AnyValue_BoolValue:
			out[kv.Key] = fmt.Sprint(v.BoolValue)
		default:
			out[kv.Key] = kv.String()
		}
	}
	return out
}

// onlySpan is the one span that came.
func (c *testCollector) onlySpan(t *testing.T) *tracepb.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.spans) != 1 {
		t.Fatalf("%d spans came: %v", len(c.spans), c.spans)
	}
	return c.spans[0]
}

// clearEnvironment leaves only what the test sets of OpenTelemetry's variables.
func clearEnvironment(t *testing.T, vars map[string]string) {
	t.Helper()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for k, v := range vars {
		t.Setenv(k, v)
	}
}

func startTracing(t *testing.T, cfg TracingConfig, vars map[string]string) *Tracing {
	t.Helper()
	clearEnvironment(t, vars)
	tr, err := NewTracing(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if tr == nil {
		t.Fatal("no traces were set up")
	}
	return tr
}

// tracedServer serves MCP at the URL it returns, with a session and a request id
// as the transport gives them.
func tracedServer(t *testing.T, tr *Tracing) string {
	t.Helper()
	handler := server.NewStreamableHTTPServer(serverOf(tr), server.WithStateLess(true))
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(sessions.WithCaller(r.Context(), sessions.Caller{
			Principal: "SECRET-PRINCIPAL", Session: "SECRET-SESSION", RequestID: "req-1",
		})))
	}))
	t.Cleanup(web.Close)
	return web.URL
}

// serverOf has tools that succeed, fail and return an error.
func serverOf(tr *Tracing) *server.MCPServer {
	srv := server.NewMCPServer("test", "1", tr.ServerOptions()...)
	for name, code := range map[string]string{"ls": "ok", "execute": "timeout"} {
		srv.AddTool(mcp.NewTool(name), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			tr.Observe(ctx, tools.Event{
				Tool: name, Operation: permissions.Ls, Ref: "docker:mcpws-1", Target: "SECRET-TARGET",
				Decision: permissions.Allow, Rule: "SECRET-RULE", Outcome: code, ExitCode: 3,
			})
			if code != "ok" {
				return mcp.NewToolResultError("SECRET-OUTPUT"), nil
			}
			return mcp.NewToolResultText("SECRET-OUTPUT"), nil
		})
	}
	srv.AddTool(mcp.NewTool("grep"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("SECRET-ERROR")
	})
	return srv
}

func post(t *testing.T, url, body string, headers map[string]string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer SECRET-TOKEN")
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func callBody(tool, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"path":"SECRET-ARGUMENT"},"_meta":{%s}}}`, tool, meta)
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }
