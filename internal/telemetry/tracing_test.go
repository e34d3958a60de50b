package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/tracing"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mcp-workspace/mcp-workspace/internal/audit"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

const (
	traceA = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanA  = "00f067aa0ba902b7"
	traceB = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	spanB  = "bbbbbbbbbbbbbbbb"
)

func TestSpansOfRequests(t *testing.T) {
	common := map[string]string{
		"network.transport": "tcp", "network.protocol.name": "http",
		"mcp.session.id": audit.SessionHash("SECRET-SESSION"), "mcp_workspace.request_id": "req-1",
	}
	for _, c := range []struct {
		name   string
		body   string
		span   string
		status tracepb.Status_StatusCode
		attrs  map[string]string
	}{
		{"a call that succeeds", callBody("ls", ""), "tools/call ls", tracepb.Status_STATUS_CODE_UNSET, map[string]string{
			"mcp.method.name": "tools/call", "gen_ai.tool.name": "ls", "gen_ai.operation.name": "execute_tool",
			"mcp_workspace.operation": "ls", "mcp_workspace.outcome": "ok", "mcp_workspace.decision": "allow",
			"mcp_workspace.approved": "false", "mcp_workspace.ref": "docker:mcpws-1", "mcp_workspace.backend": "docker",
			"process.exit.code": "3",
		}},
		{"a call whose tool fails", callBody("execute", ""), "tools/call execute", tracepb.Status_STATUS_CODE_ERROR, map[string]string{
			"mcp.method.name": "tools/call", "gen_ai.tool.name": "execute", "gen_ai.operation.name": "execute_tool",
			"mcp_workspace.operation": "ls", "mcp_workspace.outcome": "timeout", "mcp_workspace.decision": "allow",
			"mcp_workspace.approved": "false", "mcp_workspace.ref": "docker:mcpws-1", "mcp_workspace.backend": "docker",
			"process.exit.code": "3", "error.type": "tool_error",
		}},
		{"a call that ends in a protocol error", callBody("grep", ""), "tools/call grep", tracepb.Status_STATUS_CODE_ERROR, map[string]string{
			"mcp.method.name": "tools/call", "gen_ai.tool.name": "grep", "gen_ai.operation.name": "execute_tool", "error.type": "_OTHER",
		}},
		{"a call of a tool there is not", callBody("SECRET-TOOL", ""), "tools/call", tracepb.Status_STATUS_CODE_ERROR, map[string]string{
			"mcp.method.name": "tools/call", "error.type": "_OTHER",
		}},
		{"a method there is not", `{"jsonrpc":"2.0","id":1,"method":"SECRET-METHOD"}`, "other", tracepb.Status_STATUS_CODE_ERROR, map[string]string{
			"mcp.method.name": "other", "error.type": "_OTHER",
		}},
		{"a listing", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "tools/list", tracepb.Status_STATUS_CODE_UNSET, map[string]string{
			"mcp.method.name": "tools/list",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			col := newTestCollector(t)
			tr := startTracing(t, TracingConfig{Version: "1.2.3", Transport: TransportTCP}, map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": col.URL, "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test,service.name=lost",
				"OTEL_SERVICE_NAME": "mine",
			})
			post(t, tracedServer(t, tr), c.body, nil)
			if err := tr.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			span := col.onlySpan(t)
			if span.Name != c.span || span.Kind != tracepb.Span_SPAN_KIND_SERVER || span.Status.GetCode() != c.status {
				t.Errorf("span %q, kind %v, status %v", span.Name, span.Kind, span.Status)
			}
			got := attributes(span.Attributes)
			delete(got, "mcp.protocol.version") // of mcp-go's choice where the client says none
			want := maps.Clone(common)
			maps.Copy(want, c.attrs)
			if !maps.Equal(got, want) {
				t.Errorf("attributes\n got %v\nwant %v", got, want)
			}
			if s := span.String(); strings.Contains(s, "SECRET") {
				t.Errorf("the span holds a secret: %s", s)
			}
			if r := col.resource; r["service.name"] != "mine" || r["service.version"] != "1.2.3" || r["deployment.environment.name"] != "test" ||
				len(r["service.instance.id"]) != 16 || r["telemetry.sdk.language"] != "go" {
				t.Errorf("resource %v", r)
			}
			if path := col.requests[0].URL.Path; path != "/v1/traces" {
				t.Errorf("posted to %s", path)
			}
		})
	}
}

func TestProtocolVersionIsOfAClosedSet(t *testing.T) {
	for version, want := range map[string]string{"2025-06-18": "2025-06-18", "SECRET": "", "": ""} {
		t.Run(version, func(t *testing.T) {
			col := newTestCollector(t)
			tr := startTracing(t, TracingConfig{}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": col.URL})
			// mcp-go passes on what the header says; its own transport has looked
			// at that before, another need not.
			_, span := mcpTracer{tr}.Start(t.Context(), "mcp.ping", tracing.SpanKindServer,
				tracing.String(hookMethod, "ping"), tracing.String(hookVersion, version))
			span.End()
			if err := tr.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := attributes(col.onlySpan(t).Attributes)["mcp.protocol.version"]; got != want {
				t.Errorf("version %q, want %q", got, want)
			}
		})
	}
}

func TestTraceContextIsTakenFromMetaAndHeaders(t *testing.T) {
	parent := func(trace, span string) string { return "00-" + trace + "-" + span + "-01" }
	for _, c := range []struct {
		name, meta, header string
		trace, span        string // of the parent; "" for a trace of its own
		linked             string
	}{
		{"neither", "", "", "", "", ""},
		{"the header", "", parent(traceA, spanA), traceA, spanA, ""},
		{"_meta", `"traceparent":"` + parent(traceA, spanA) + `","tracestate":"v=1"`, "", traceA, spanA, ""},
		{"_meta is the parent and the header is linked", `"traceparent":"` + parent(traceA, spanA) + `"`, parent(traceB, spanB), traceA, spanA, spanB},
		{"a malformed header", "", "00-zz-" + spanA + "-01", "", "", ""},
		{"a malformed _meta", `"traceparent":"` + strings.Repeat("x", 100_000) + `"`, "", "", "", ""},
		{"a _meta of another type", `"traceparent":{"a":[1]}`, parent(traceB, spanB), traceB, spanB, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			col := newTestCollector(t)
			tr := startTracing(t, TracingConfig{}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": col.URL})
			headers := map[string]string{}
			if c.header != "" {
				headers["traceparent"] = c.header
			}
			post(t, tracedServer(t, tr), callBody("ls", c.meta), headers)
			if err := tr.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			span := col.onlySpan(t)
			if hexOf(span.ParentSpanId) != c.span || c.trace != "" && hexOf(span.TraceId) != c.trace {
				t.Errorf("trace %x, parent %x", span.TraceId, span.ParentSpanId)
			}
			var linked string
			if len(span.Links) > 0 {
				linked = hexOf(span.Links[0].SpanId)
			}
			if linked != c.linked {
				t.Errorf("linked %q, want %q", linked, c.linked)
			}
			if strings.Contains(c.meta, "tracestate") && span.TraceState != "v=1" {
				t.Errorf("trace state %q", span.TraceState)
			}
		})
	}
}

func TestHeadersInTheContextAreLinkedToo(t *testing.T) {
	col := newTestCollector(t)
	tr := startTracing(t, TracingConfig{}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": col.URL})
	ctx := tr.FromHeaders(t.Context(), http.Header{"Traceparent": {"00-" + traceB + "-" + spanB + "-01"}})
	handle(ctx, tr, callBody("ls", `"traceparent":"00-`+traceA+"-"+spanA+`-01"`))
	handle(ctx, tr, callBody("ls", ""))
	if err := tr.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(col.spans, func(a, b *tracepb.Span) int { return strings.Compare(hexOf(a.TraceId), hexOf(b.TraceId)) })
	if a := col.spans[0]; hexOf(a.ParentSpanId) != spanA || len(a.Links) != 1 || hexOf(a.Links[0].SpanId) != spanB {
		t.Errorf("with _meta: %v", a)
	}
	if b := col.spans[1]; hexOf(b.ParentSpanId) != spanB || len(b.Links) != 0 {
		t.Errorf("without _meta: %v", b)
	}
}

// handle gives a message to an MCP server without a transport.
func handle(ctx context.Context, tr *Tracing, message string) {
	serverOf(tr).HandleMessage(ctx, []byte(message))
}

func TestFailingCollectorCostsCallsNothingAndIsLoggedOnce(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := "http://" + closed.Addr().String() + "/?key=SECRET"
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	hang := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer hanging.Close()
	defer close(hang)
	wrong := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "SECRET", http.StatusForbidden)
	}))
	defer wrong.Close()
	redirecting := httptest.NewServer(http.RedirectHandler(newTestCollector(t).URL, http.StatusTemporaryRedirect))
	defer redirecting.Close()
	for name, endpoint := range map[string]string{
		"refuses": refusing, "hangs": hanging.URL, "answers 403": wrong.URL, "redirects": redirecting.URL,
	} {
		t.Run(name, func(t *testing.T) {
			logs := &logged{}
			tr := startTracing(t, TracingConfig{Logger: slog.New(logs)}, map[string]string{
				"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_TIMEOUT": "200",
				"OTEL_EXPORTER_OTLP_HEADERS": "api-key=SECRET", "OTEL_BSP_SCHEDULE_DELAY": "1", "OTEL_BSP_MAX_QUEUE_SIZE": "64",
			})
			srv := serverOf(tr)
			const calls = 2000
			start := time.Now()
			for range calls {
				srv.HandleMessage(t.Context(), []byte(callBody("ls", "")))
			}
			if took := time.Since(start); took > calls*2*time.Millisecond {
				t.Errorf("%d calls took %v", calls, took)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			start = time.Now()
			err := tr.Shutdown(ctx)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("the end took %v", took)
			}
			if err == nil || !strings.Contains(err.Error(), "2000 of 2000 spans") {
				t.Errorf("Shutdown: %v", err)
			}
			if tr.SpansLost() == 0 {
				t.Error("no span counts as lost")
			}
			got := logs.all()
			if len(got) != 1 || !strings.Contains(got[0], "does not take traces") {
				t.Errorf("logged %d: %q", len(got), got)
			}
			if s := strings.Join(got, " ") + err.Error(); strings.Contains(s, "SECRET") {
				t.Errorf("a secret is in %q", s)
			}
		})
	}
}

func TestBusyCollectorIsTriedAgain(t *testing.T) {
	col := newTestCollector(t)
	col.answer = func(w http.ResponseWriter, n int) {
		if n == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	tr := startTracing(t, TracingConfig{}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": col.URL, "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"})
	handle(t.Context(), tr, callBody("ls", ""))
	if err := tr.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(col.requests); n != 2 || tr.SpansLost() != 0 {
		t.Errorf("%d requests, %d lost", n, tr.SpansLost())
	}
}

func TestPartialSuccessCountsWhatWasRefused(t *testing.T) {
	col := newTestCollector(t)
	col.answer = func(w http.ResponseWriter, _ int) {
		data, err := proto.Marshal(&coltracepb.ExportTraceServiceResponse{
			PartialSuccess: &coltracepb.ExportTracePartialSuccess{RejectedSpans: 2, ErrorMessage: "SECRET"},
		})
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write(data)
	}
	logs := &logged{}
	tr := startTracing(t, TracingConfig{Logger: slog.New(logs)}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": col.URL})
	for range 5 {
		handle(t.Context(), tr, callBody("ls", ""))
	}
	if err := tr.Shutdown(t.Context()); err == nil || !strings.Contains(err.Error(), "2 of 5 spans") {
		t.Errorf("Shutdown: %v", err)
	}
	if tr.SpansLost() != 2 || !strings.Contains(strings.Join(logs.all(), " "), "refused 2 spans") {
		t.Errorf("%d lost, logged %q", tr.SpansLost(), logs.all())
	}
}

func TestRecoveredCollectorIsLogged(t *testing.T) {
	logs := &logged{}
	e := &exporter{logger: slog.New(logs)}
	for range 3 {
		e.note(5, errors.New("down"))
	}
	e.note(0, nil)
	e.note(0, nil)
	if got := logs.all(); len(got) != 2 || !strings.Contains(got[1], "again") || e.lost.Load() != 15 {
		t.Errorf("%q, %d lost", got, e.lost.Load())
	}
}

func FuzzPartialAnswer(f *testing.F) {
	f.Add([]byte{10, 2, 8, 2})
	f.Fuzz(func(_ *testing.T, b []byte) { _ = partial("application/x-protobuf", b) })
}

func TestNilTracingDoesNothing(t *testing.T) {
	var tr *Tracing
	tr.Observe(t.Context(), tools.Event{})
	ctx := t.Context()
	if tr.ServerOptions() != nil || tr.SpansLost() != 0 || tr.Shutdown(ctx) != nil || tr.FromHeaders(ctx, nil) != ctx {
		t.Error("a nil Tracing does something")
	}
}

func BenchmarkCall(b *testing.B) {
	col := &testCollector{answer: func(http.ResponseWriter, int) {}}
	col.Server = httptest.NewServer(col)
	defer col.Close()
	b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", col.URL)
	on, err := NewTracing(b.Context(), TracingConfig{Transport: TransportTCP})
	if err != nil {
		b.Fatal(err)
	}
	for name, tr := range map[string]*Tracing{"traced": on, "untraced": nil} {
		b.Run(name, func(b *testing.B) {
			srv, message := serverOf(tr), []byte(callBody("ls", ""))
			b.ReportAllocs()
			for b.Loop() {
				srv.HandleMessage(b.Context(), message)
			}
		})
	}
	ctx, cancel := context.WithTimeout(b.Context(), time.Second)
	defer cancel()
	if err := on.Shutdown(ctx); err != nil {
		b.Log(err) // what was dropped because the loop is faster than any collector
	}
}
