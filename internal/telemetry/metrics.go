package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mcp-workspace/mcp-workspace/tools"
)

// namespace begins the name of every metric but those of Go and the process.
const namespace = "mcp_workspace"

// callBuckets are the bounds of call latency in seconds, from what a read on
// the state backend takes to what a long command does.
var callBuckets = []float64{
	.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5,
	1, 2.5, 5, 10, 30, 60, 120, 300, 600,
}

// MetricsConfig says what metrics are about. The zero value works.
type MetricsConfig struct {
	// Version of this program.
	Version string
	// Backends and Routes are the label values there are; anything else counts
	// as "other".
	Backends, Routes []string
	// Backend names the backend of a call that reached no workspace, for
	// engine errors; nil, or one that answers "", counts it as "other".
	Backend func(ctx context.Context) string
	// Workspaces counts the workspaces there are, at each scrape. It may
	// answer with a part of them and an error. Nil leaves them out.
	Workspaces func(ctx context.Context) ([]WorkspaceCount, error)
	// WorkspacesTimeout bounds how long a scrape waits for Workspaces, also
	// when it does not heed its context; default 2 s.
	WorkspacesTimeout time.Duration
	// Sessions is how many MCP sessions and event streams are open; it must
	// not block. Nil leaves it out.
	Sessions func() int
	// AuditLost and SpansLost count what could not be written or sent since
	// the start; they must not block. Nil leaves them out.
	AuditLost, SpansLost func() uint64
	// Logger hears of scrapes that failed; nil discards.
	Logger *slog.Logger
}

// WorkspaceCount is how many workspaces of a backend are in a state.
type WorkspaceCount struct {
	Backend string
	State   string // the backend's own word, see backends.Info
	Count   int
}

// Metrics are the metrics of one server. All methods are safe for concurrent
// use and do nothing on a nil Metrics.
type Metrics struct {
	handler  http.Handler
	backend  func(context.Context) string
	tools    set
	backends set
	routes   set

	calls    *prometheus.CounterVec
	took     *prometheus.HistogramVec
	inFlight prometheus.Gauge
	engine   *prometheus.CounterVec
	http     *prometheus.CounterVec
	refused  *prometheus.CounterVec
}

// NewMetrics makes the metrics on a registry of their own.
func NewMetrics(cfg MetricsConfig) *Metrics {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.WorkspacesTimeout <= 0 {
		cfg.WorkspacesTimeout = 2 * time.Second
	}
	if cfg.Backend == nil {
		cfg.Backend = func(context.Context) string { return other }
	}
	m := &Metrics{
		backend:  cfg.Backend,
		tools:    setOf(toolNames()...),
		backends: setOf(cfg.Backends...),
		routes:   setOf(cfg.Routes...),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "calls_total", Help: "Tool calls that have ended, by tool and outcome.",
		}, []string{"tool", "outcome"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "call_duration_seconds", Help: "How long tool calls took.", Buckets: callBuckets,
		}, []string{"tool"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "calls_in_flight", Help: "Tool calls that are being answered.",
		}),
		engine: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "engine_errors_total",
			Help: "Tool calls that failed as unavailable or internal, by backend and code.",
		}, []string{"backend", "code"}),
		http: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "http_requests_total", Help: "HTTP requests that have ended, by route, method and status.",
		}, []string{"route", "method", "code"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "refused_requests_total", Help: "Requests refused before a tool saw them, by reason.",
		}, []string{"reason"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "The build of this program; always 1.",
		ConstLabels: prometheus.Labels{"version": cfg.Version, "goversion": runtime.Version()},
	})
	build.Set(1)
	m.begin()

	registry := prometheus.NewRegistry()
	registry.MustRegister(m.calls, m.took, m.inFlight, m.engine, m.http, m.refused, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if cfg.Workspaces != nil {
		registry.MustRegister(newWorkspaces(cfg, m.backends))
	}
	if cfg.Sessions != nil {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "sessions_open", Help: "MCP sessions and event streams that are open.",
		}, func() float64 { return float64(cfg.Sessions()) }))
	}
	lost := func(name, help string, count func() uint64) {
		if count != nil {
			registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help},
				func() float64 { return float64(count()) }))
		}
	}
	lost("audit_lost_lines_total", "Lines that could not be written to the audit log.", cfg.AuditLost)
	lost("trace_lost_spans_total", "Spans that the collector of traces did not take.", cfg.SpansLost)

	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:      scrapeLog{cfg.Logger},
		ErrorHandling: promhttp.ContinueOnError,
		// More scrapers than anyone has; what is beyond gets a 503.
		MaxRequestsInFlight: 8,
	})
	return m
}

// begin makes the series that alerts are made of exist at zero, so that the
// first event is seen as an increase.
func (m *Metrics) begin() {
	for name := range m.tools {
		m.calls.WithLabelValues(name, tools.OutcomeOK)
		m.took.WithLabelValues(name)
	}
	for b := range m.backends {
		for code := range engineErrors {
			m.engine.WithLabelValues(b, code)
		}
	}
	for reason := range reasons {
		m.refused.WithLabelValues(reason)
	}
}

// Observe counts a call that has ended. It is a [tools.Observer].
func (m *Metrics) Observe(ctx context.Context, e tools.Event) {
	if m == nil {
		return
	}
	tool := m.tools.label(e.Tool)
	m.calls.WithLabelValues(tool, outcomes.label(e.Outcome)).Inc()
	m.took.WithLabelValues(tool).Observe(max(e.Took, 0).Seconds())
	if engineErrors[e.Outcome] && !e.Foreign {
		provider, _, _ := strings.Cut(e.Ref, ":")
		if provider == "" {
			provider = m.backend(ctx)
		}
		m.engine.WithLabelValues(m.backends.label(provider), e.Outcome).Inc()
	}
}

// ObserveHTTP counts an HTTP request that has been answered. The route is the
// pattern that matched, not the path that was asked for.
func (m *Metrics) ObserveHTTP(method, route string, code int) {
	if m == nil {
		return
	}
	m.http.WithLabelValues(m.routes.label(route), methods.label(method), status(code)).Inc()
}

// Refused counts a request that was refused.
func (m *Metrics) Refused(reason Reason) {
	if m == nil {
		return
	}
	m.refused.WithLabelValues(reasons.label(string(reason))).Inc()
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	if m == nil {
		return http.NotFoundHandler()
	}
	return m.handler
}

// ServerOptions make an MCP server count its calls in flight.
func (m *Metrics) ServerOptions() []server.ServerOption {
	if m == nil {
		return nil
	}
	return []server.ServerOption{server.WithToolHandlerMiddleware(func(next server.ToolHandlerFunc) server.ToolHandlerFunc {
		return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			m.inFlight.Inc()
			defer m.inFlight.Dec()
			return next(ctx, req)
		}
	})}
}

// scrapeLog is where promhttp says what went wrong.
type scrapeLog struct{ logger *slog.Logger }

func (l scrapeLog) Println(v ...any) {
	l.logger.Warn("a scrape of the metrics failed", "error", strings.TrimSuffix(fmt.Sprintln(v...), "\n"))
}
