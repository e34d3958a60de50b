package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/mcp-workspace/mcp-workspace/tools"
)

var allRoutes = []string{"/mcp", "/sse"}

// scrape asks for the metrics as Prometheus does and reads them with its parser.
func scrape(t *testing.T, m *Metrics) (families map[string]*dto.MetricFamily, text string) {
	t.Helper()
	srv := httptest.NewServer(m.Handler())
	defer srv.Close()
	res, err := srv.Client().Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v: %s", res.Status, err, body)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err = parser.TextToMetricFamilies(strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	return families, string(body)
}

// valueOf is the value of the series of a family with these labels, as k=v; a
// histogram's is its count. It is -1 when there is none.
func valueOf(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
	for _, metric := range families[name].GetMetric() {
		have := make(map[string]bool)
		for _, l := range metric.GetLabel() {
			have[l.GetName()+"="+l.GetValue()] = true
		}
		match := len(have) == len(labels)
		for _, l := range labels {
			match = match && have[l]
		}
		switch {
		case !match:
		case metric.Counter != nil:
			return metric.Counter.GetValue()
		case metric.Gauge != nil:
			return metric.Gauge.GetValue()
		case metric.Histogram != nil:
			return float64(metric.Histogram.GetSampleCount())
		}
	}
	return -1
}

func expect(t *testing.T, families map[string]*dto.MetricFamily, want float64, name string, labels ...string) {
	t.Helper()
	if got := valueOf(families, name, labels...); got != want {
		t.Errorf("%s%v is %v, want %v", name, labels, got, want)
	}
}

func full() MetricsConfig {
	return MetricsConfig{
		Version: "1.2.3", Backends: []string{"state", "docker"}, Routes: allRoutes,
		Workspaces: func(context.Context) ([]WorkspaceCount, error) {
			return []WorkspaceCount{{"docker", "running", 3}, {"docker", "Exited (0)", 1}, {"docker", "unheard of", 2}, {"state", "ready", 5}}, nil
		},
		Sessions:  func() int { return 7 },
		AuditLost: func() uint64 { return 2 },
		SpansLost: func() uint64 { return 1 },
	}
}

func TestMetricsSayWhatHappened(t *testing.T) {
	m := NewMetrics(full())
	ctx := t.Context()
	m.Observe(ctx, tools.Event{Tool: "read_file", Outcome: "ok", Took: 300 * time.Microsecond})
	m.Observe(ctx, tools.Event{Tool: "read_file", Outcome: "not_found", Took: time.Millisecond})
	m.Observe(ctx, tools.Event{Tool: "execute", Outcome: "unavailable", Ref: "docker:mcpws-1", Took: time.Hour})
	m.Observe(ctx, tools.Event{Tool: "ls", Outcome: "internal"})
	m.ObserveHTTP("POST", "/mcp", 200)
	m.ObserveHTTP("POST", "/mcp", 200)
	m.Refused(ReasonUnauthenticated)

	f, _ := scrape(t, m)
	expect(t, f, 1, "mcp_workspace_calls_total", "tool=read_file", "outcome=ok")
	expect(t, f, 1, "mcp_workspace_calls_total", "tool=read_file", "outcome=not_found")
	expect(t, f, 2, "mcp_workspace_call_duration_seconds", "tool=read_file")
	expect(t, f, 1, "mcp_workspace_call_duration_seconds", "tool=execute")
	expect(t, f, 1, "mcp_workspace_engine_errors_total", "backend=docker", "code=unavailable")
	expect(t, f, 1, "mcp_workspace_engine_errors_total", "backend=other", "code=internal")
	expect(t, f, 0, "mcp_workspace_engine_errors_total", "backend=state", "code=internal")
	expect(t, f, 2, "mcp_workspace_http_requests_total", "route=/mcp", "method=POST", "code=200")
	expect(t, f, 1, "mcp_workspace_refused_requests_total", "reason=unauthenticated")
	expect(t, f, 0, "mcp_workspace_refused_requests_total", "reason=origin")
	expect(t, f, 3, "mcp_workspace_workspaces", "backend=docker", "state=running")
	expect(t, f, 3, "mcp_workspace_workspaces", "backend=docker", "state=other")
	expect(t, f, 5, "mcp_workspace_workspaces", "backend=state", "state=ready")
	expect(t, f, 1, "mcp_workspace_workspaces_up")
	expect(t, f, 7, "mcp_workspace_sessions_open")
	expect(t, f, 2, "mcp_workspace_audit_lost_lines_total")
	expect(t, f, 1, "mcp_workspace_trace_lost_spans_total")
	expect(t, f, 0, "mcp_workspace_calls_in_flight")
	if f["go_goroutines"] == nil || f["process_start_time_seconds"] == nil {
		t.Error("the metrics of Go or of the process are missing")
	}
	buckets := f["mcp_workspace_call_duration_seconds"].GetMetric()[0].GetHistogram().GetBucket()
	if first, last := buckets[0].GetUpperBound(), buckets[len(buckets)-2].GetUpperBound(); first != .00025 || last != 600 {
		t.Errorf("buckets from %v to %v s", first, last)
	}
	var build string
	for _, l := range f["mcp_workspace_build_info"].GetMetric()[0].GetLabel() {
		build += l.GetName() + "=" + l.GetValue() + " "
	}
	if !strings.Contains(build, "version=1.2.3") || !strings.Contains(build, "goversion=go") {
		t.Errorf("build_info %s", build)
	}
}

func TestNamesFollowTheConventions(t *testing.T) {
	m := NewMetrics(full())
	m.ObserveHTTP("GET", "/mcp", 200)
	_, text := scrape(t, m)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestHostileValuesMakeNoSeries(t *testing.T) {
	m := NewMetrics(MetricsConfig{Backends: []string{"state"}, Routes: allRoutes})
	series := func() int {
		f, _ := scrape(t, m)
		n := 0
		for name, family := range f {
			if strings.HasPrefix(name, namespace) {
				n += len(family.GetMetric())
			}
		}
		return n
	}
	hostile := func(i int) {
		s := fmt.Sprintf("x%d\n\xff\"}", i)
		m.Observe(t.Context(), tools.Event{Tool: s, Outcome: s})
		m.Observe(t.Context(), tools.Event{Tool: s, Outcome: "internal", Ref: s + ":1"})
		m.ObserveHTTP(s, "/"+s, 1000+i)
		m.Refused(Reason(s))
	}
	hostile(0)
	before := series()
	for i := range 1000 {
		hostile(i)
	}
	if after := series(); after != before {
		t.Errorf("%d series became %d", before, after)
	}
	if _, text := scrape(t, m); strings.Contains(text, "x99") {
		t.Error("a client's text is in the metrics")
	}
}

func TestDeadEngineNeitherHangsNorFailsTheScrape(t *testing.T) {
	for _, c := range []struct {
		name  string
		count func(ctx context.Context) ([]WorkspaceCount, error)
		state float64 // workspaces of state that are seen
	}{
		{"an engine that does not answer and heeds nothing", func(context.Context) ([]WorkspaceCount, error) { select {} }, -1},
		{"an engine that does not answer beside one that does", func(ctx context.Context) ([]WorkspaceCount, error) {
			<-ctx.Done()
			return []WorkspaceCount{{"state", "ready", 4}}, ctx.Err()
		}, 4},
		{"an engine that refuses", func(context.Context) ([]WorkspaceCount, error) { return nil, errors.New("refused") }, -1},
		{"a count that panics", func(context.Context) ([]WorkspaceCount, error) { panic("at the count") }, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := full()
			cfg.Workspaces, cfg.WorkspacesTimeout = c.count, 500*time.Millisecond
			logs := &logged{}
			cfg.Logger = slog.New(logs)
			m := NewMetrics(cfg)
			for range 2 {
				start := time.Now()
				f, _ := scrape(t, m)
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("the scrape took %v", took)
				}
				expect(t, f, 0, "mcp_workspace_workspaces_up")
				expect(t, f, c.state, "mcp_workspace_workspaces", "backend=state", "state=ready")
				expect(t, f, 7, "mcp_workspace_sessions_open")
			}
			if n := len(logs.all()); n != 1 {
				t.Errorf("logged %q", logs.all())
			}
		})
	}
}

func TestCountThatHangsIsNotAskedForAgain(t *testing.T) {
	release := make(chan struct{})
	var asked atomic.Int32
	cfg := full()
	cfg.WorkspacesTimeout = 500 * time.Millisecond
	cfg.Workspaces = func(context.Context) ([]WorkspaceCount, error) {
		asked.Add(1)
		<-release
		return []WorkspaceCount{{"state", "ready", 9}}, nil
	}
	m := NewMetrics(cfg)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { scrape(t, m) })
	}
	wg.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	close(release)
	// The count that hung may still be the one that answers.
	f, _ := scrape(t, m)
	expect(t, f, 9, "mcp_workspace_workspaces", "backend=state", "state=ready")
	expect(t, f, 1, "mcp_workspace_workspaces_up")
}

func TestCallsInFlightAreCountedWhileTheyRunAndAfterAPanic(t *testing.T) {
	m := NewMetrics(full())
	inside, leave := make(chan struct{}), make(chan struct{})
	srv := server.NewMCPServer("test", "1", append(m.ServerOptions(), server.WithRecovery())...)
	srv.AddTool(mcp.NewTool("wait"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		close(inside)
		<-leave
		panic("in a tool")
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }() // whichever of the two middlewares is outside
		srv.HandleMessage(context.Background(), json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`))
	}()
	<-inside
	f, _ := scrape(t, m)
	expect(t, f, 1, "mcp_workspace_calls_in_flight")
	close(leave)
	<-done
	f, _ = scrape(t, m)
	expect(t, f, 0, "mcp_workspace_calls_in_flight")
}

func TestTwoServersOfOneProcessShareNothing(t *testing.T) {
	a, b := NewMetrics(full()), NewMetrics(full())
	a.Refused(ReasonHost)
	f, _ := scrape(t, b)
	expect(t, f, 0, "mcp_workspace_refused_requests_total", "reason=host")
}

func TestNilMetricsDoNothing(t *testing.T) {
	var m *Metrics
	m.Observe(t.Context(), tools.Event{})
	m.ObserveHTTP("GET", "/mcp", 200)
	m.Refused(ReasonHost)
	if m.ServerOptions() != nil {
		t.Error("a nil Metrics has options")
	}
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
}

func BenchmarkObserve(b *testing.B) {
	m := NewMetrics(full())
	e := tools.Event{Tool: "read_file", Outcome: "ok", Took: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		m.Observe(context.Background(), e)
	}
}

// logged keeps what a logger was told.
type logged struct {
	slog.Handler
	mu      sync.Mutex
	records []string
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		fmt.Fprintf(&b, " %s", a)
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, b.String())
	return nil
}

func (l *logged) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.records...)
}
