package telemetry

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mark3labs/mcp-go/tracing"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcp-workspace/mcp-workspace/internal/audit"
	"github.com/mcp-workspace/mcp-workspace/sessions"
)

// Inject does nothing.
func (headerPropagator) Inject(context.Context, http.Header) {}

// Extract returns ctx with the trace context of h.
func (headerPropagator) Extract(ctx context.Context, h http.Header) context.Context {
	if ctx.Value(fromMetaKey{}) == nil {
		return w3c.Extract(ctx, propagation.HeaderCarrier(h))
	}
	if sc := trace.SpanContextFromContext(w3c.Extract(context.Background(), propagation.HeaderCarrier(h))); sc.IsValid() {
		ctx = context.WithValue(ctx, linkedKey{}, sc)
	}
	return ctx
}

// InjectMeta does nothing.
func (metaPropagator) InjectMeta(_ context.Context, meta *mcp.Meta) *mcp.Meta { return meta }

// ExtractMeta returns ctx with the trace context of meta.
func (metaPropagator) ExtractMeta(ctx context.Context, meta *mcp.Meta) context.Context {
	if meta == nil {
		return ctx
	}
	carrier := propagation.MapCarrier{}
	for _, key := range w3c.Fields() {
		if s, ok := meta.AdditionalFields[key].(string); ok {
			carrier[key] = s
		}
	}
	sc := trace.SpanContextFromContext(w3c.Extract(context.Background(), carrier))
	if !sc.IsValid() {
		return ctx
	}
	// What the headers say may be in ctx already, see Tracing.FromHeaders.
	if ambient := trace.SpanContextFromContext(ctx); ambient.IsValid() {
		ctx = context.WithValue(ctx, linkedKey{}, ambient)
	}
	return context.WithValue(trace.ContextWithRemoteSpanContext(ctx, sc), fromMetaKey{}, true)
}

// What mcp-go calls its attributes.
const (
	hookMethod   = "mcp.method"
	hookToolName = "mcp.tool.name"
	hookVersion  = "mcp.protocol.version"
)

// methodsOfMCP are the requests that give a span its name. A client can ask for
// anything else, too.
var methodsOfMCP = setOf(
	mcp.MethodInitialize, mcp.MethodPing, mcp.MethodServerDiscover, mcp.MethodSubscriptionsListen,
	mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList, mcp.MethodResourcesRead,
	mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe,
	mcp.MethodPromptsList, mcp.MethodPromptsGet, mcp.MethodToolsList, mcp.MethodToolsCall,
	mcp.MethodSetLogLevel, mcp.MethodCompletionComplete,
	mcp.MethodTasksGet, mcp.MethodTasksList, mcp.MethodTasksResult, mcp.MethodTasksCancel,
)

// mcpTracer makes OpenTelemetry spans of what mcp-go's hooks say, with the names
// and attributes of OpenTelemetry's conventions for MCP: one span a request,
// which for a tool call is also the span of the tool.
type mcpTracer struct{ t *Tracing }

// Start begins the span of a request. The inner span that mcp-go asks for around
// a tool is left out; what it says goes to the request's.
func (m mcpTracer) Start(ctx context.Context, _ string, kind tracing.SpanKind, attrs ...tracing.Attribute) (context.Context, tracing.Span) {
	if kind != tracing.SpanKindServer {
		return ctx, inner{}
	}
	method, version := other, ""
	for _, a := range attrs {
		switch a.Key {
		case hookMethod:
			method = methodsOfMCP.label(a.Value)
		case hookVersion:
			version = a.Value
		}
	}
	if v := server.RequestProtocolVersion(ctx); v != "" {
		version = v
	}
	// Samplers see these, so they are there from the start.
	set := []attribute.KeyValue{attribute.String("mcp.method.name", method)}
	if slices.Contains(mcp.ValidProtocolVersions, version) {
		set = append(set, attribute.String("mcp.protocol.version", version))
	}
	if m.t.cfg.Transport != "" {
		set = append(set, attribute.String("network.transport", m.t.cfg.Transport))
	}
	if m.t.cfg.Transport == TransportTCP {
		set = append(set, attribute.String("network.protocol.name", "http"))
	}
	caller := sessions.CallerFrom(ctx)
	if caller.Session != "" {
		set = append(set, attribute.String("mcp.session.id", audit.SessionHash(caller.Session)))
	}
	if caller.RequestID != "" {
		set = append(set, attribute.String("mcp_workspace.request_id", strings.ToValidUTF8(caller.RequestID, "�")))
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(set...)}
	if sc, ok := ctx.Value(linkedKey{}).(trace.SpanContext); ok {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: sc}))
	}
	ctx, span := m.t.tracer.Start(ctx, method, options...)
	s := &request{t: m.t, span: span, method: method}
	return tracing.ContextWithSpan(ctx, s), s
}

// request is the span of a request.
type request struct {
	t      *Tracing
	span   trace.Span
	method string
	failed atomic.Bool
}

// SetAttributes takes the name of a tool, which mcp-go says only of tools that
// there are.
func (r *request) SetAttributes(attrs ...tracing.Attribute) {
	for _, a := range attrs {
		if a.Key != hookToolName {
			continue
		}
		r.span.SetName(r.method + " " + a.Value)
		r.span.SetAttributes(
			attribute.String("gen_ai.operation.name", "execute_tool"),
			attribute.String("gen_ai.tool.name", a.Value),
		)
	}
}

// RecordError does nothing: the text of an error can hold what a client sent.
func (*request) RecordError(error) {}

// SetStatus notes a failure, without its description for the same reason.
// mcp-go says of a tool's failure before the answer is written, and of a
// protocol error afterwards.
func (r *request) SetStatus(code tracing.StatusCode, description string) {
	if code != tracing.StatusError || r.failed.Swap(true) {
		return
	}
	kind := "_OTHER" // mcp-go does not say which code of JSON-RPC it answers
	if description == toolFailed {
		kind = "tool_error"
	}
	r.span.SetAttributes(attribute.String("error.type", kind))
	r.span.SetStatus(codes.Error, "")
}

// toolFailed is how mcp-go describes a result that is an error.
const toolFailed = "tool returned error result"

// End ends the span.
func (r *request) End() {
	if r.span.SpanContext().IsSampled() {
		r.t.ended.Add(1)
	}
	r.span.End()
}

// inner is the span around a tool that is left out.
type inner struct{}

func (inner) SetAttributes(...tracing.Attribute)   {}
func (inner) RecordError(error)                    {}
func (inner) SetStatus(tracing.StatusCode, string) {}
func (inner) End()                                 {}
