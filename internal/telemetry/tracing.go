package telemetry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/server"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcp-workspace/mcp-workspace/tools"
)

// scope names this instrumentation in traces.
const scope = "github.com/mcp-workspace/mcp-workspace"

// Network transports, as OpenTelemetry names them.
const (
	TransportTCP  = "tcp"  // MCP over HTTP
	TransportPipe = "pipe" // MCP over standard input and output
)

// TracingConfig says what is not in the environment.
type TracingConfig struct {
	Version   string // of this program
	Transport string // TransportTCP or TransportPipe
	// Logger hears of a collector that does not take spans, once a minute; nil
	// discards.
	Logger *slog.Logger
}

// Tracing sends a span of every MCP request to a collector. All methods are
// safe for concurrent use; on a nil Tracing, which is one that nobody has asked
// for, they do nothing.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	export   *exporter
	cfg      TracingConfig
	ended    atomic.Uint64 // spans that are to be sent
}

// NewTracing sets up what the standard environment variables of OpenTelemetry
// ask for, or answers nil when they ask for nothing. The error of a variable
// that is wrong names it and the mend. The collector is not called before there
// are spans, and may be down.
func NewTracing(ctx context.Context, cfg TracingConfig) (*Tracing, error) {
	env, err := readEnvironment()
	if err != nil || env == nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	client := newCollector(env)
	inner, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("setting up traces: %w", err)
	}
	// A later source wins, so the environment comes last.
	res, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(
			attribute.String("service.name", "mcp-workspace"),
			attribute.String("service.version", cfg.Version),
			attribute.String("service.instance.id", instance()),
		),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES cannot be used; write key=value,key=value: %w", err)
	}
	t := &Tracing{export: &exporter{inner: inner, client: client, endpoint: shown(env.endpoint), logger: cfg.Logger}, cfg: cfg}
	options := []sdktrace.TracerProviderOption{
		sdktrace.WithResource(res),
		sdktrace.WithBatcher(t.export), // which reads OTEL_BSP_…, and drops spans when it is behind
	}
	if env.sampler != nil {
		options = append(options, sdktrace.WithSampler(env.sampler))
	}
	t.provider = sdktrace.NewTracerProvider(options...)
	t.tracer = t.provider.Tracer(scope, trace.WithInstrumentationVersion(cfg.Version))
	return t, nil
}

// shown is a URL without what may be secret in it.
func shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// instance tells replicas apart.
func instance() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// ServerOptions make an MCP server trace its requests. Several servers may have
// the same.
func (t *Tracing) ServerOptions() []server.ServerOption {
	if t == nil {
		return nil
	}
	return []server.ServerOption{
		server.WithTracer(mcpTracer{t}),
		server.WithPropagator(headerPropagator{}),
		server.WithMetaPropagator(metaPropagator{}),
	}
}

// FromHeaders returns ctx with the trace that a request's headers are part of,
// for transports whose headers mcp-go does not see.
func (t *Tracing) FromHeaders(ctx context.Context, h http.Header) context.Context {
	if t == nil {
		return ctx
	}
	return headerPropagator{}.Extract(ctx, h)
}

// Observe adds what became of a call to the span of its request. It is a
// [tools.Observer].
func (t *Tracing) Observe(ctx context.Context, e tools.Event) {
	if t == nil {
		return
	}
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	attrs := []attribute.KeyValue{
		attribute.String("mcp_workspace.operation", string(e.Operation)),
		attribute.String("mcp_workspace.outcome", e.Outcome),
	}
	if e.Decision != "" {
		attrs = append(attrs, attribute.String("mcp_workspace.decision", string(e.Decision)),
			attribute.Bool("mcp_workspace.approved", e.Approved))
	}
	if e.Ref != "" {
		provider, _, _ := strings.Cut(e.Ref, ":")
		attrs = append(attrs, attribute.String("mcp_workspace.ref", e.Ref), attribute.String("mcp_workspace.backend", provider))
	}
	if e.ExitCode >= 0 {
		attrs = append(attrs, attribute.Int("process.exit.code", e.ExitCode))
	}
	span.SetAttributes(attrs...)
}

// SpansLost is how many spans the collector has not taken.
func (t *Tracing) SpansLost() uint64 {
	if t == nil {
		return 0
	}
	return t.export.lost.Load()
}

// Shutdown sends the spans there are and ends tracing. It takes no longer than
// ctx lasts, and says how many spans have not arrived, those included that were
// dropped because the collector was slow.
func (t *Tracing) Shutdown(ctx context.Context) error {
	if t == nil {
		return nil
	}
	err := t.provider.Shutdown(ctx)
	t.export.client.stop() // also what is still under way
	if missing := t.ended.Load() - t.export.sent.Load(); missing > 0 {
		err = errors.Join(err, fmt.Errorf("%d of %d spans did not reach the collector at %s", missing, t.ended.Load(), t.export.endpoint))
	}
	if err != nil {
		return fmt.Errorf("ending traces: %w", err)
	}
	return nil
}

// headerPropagator reads W3C trace context from HTTP headers, metaPropagator
// from _meta (SEP-414), where the keys have no prefix. Nothing is injected: this
// server calls no MCP server.
//
// A request has both when its client traces HTTP too. The span of the MCP
// client is then the parent, as the conventions for MCP ask, and the other is
// linked.
type (
	headerPropagator struct{}
	metaPropagator   struct{}
)

var w3c = propagation.TraceContext{}

// fromMeta marks a context whose trace came from _meta, linked one that has a
// second.
type (
	fromMetaKey struct{}
	linkedKey   struct{}
)
