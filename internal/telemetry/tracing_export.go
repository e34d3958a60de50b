package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// complainEvery is how often a collector that does not take spans is logged.
const complainEvery = time.Minute

// exporter sends spans through inner, and keeps what goes wrong from the SDK's
// global error handler, which would log every batch.
type exporter struct {
	inner      *otlptrace.Exporter
	client     *collector
	endpoint   string // fit for logs
	logger     *slog.Logger
	sent, lost atomic.Uint64

	mu         sync.Mutex
	unlogged   int
	failing    bool
	complained time.Time
}

var _ sdktrace.SpanExporter = (*exporter)(nil)

// ExportSpans never fails: it counts and logs.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.inner.ExportSpans(ctx, spans)
	var part *rejectedError
	switch {
	case err == nil:
		e.sent.Add(uint64(len(spans)))
		e.note(0, nil)
	case errors.As(err, &part):
		n := min(max(part.spans, 0), int64(len(spans)))
		e.sent.Add(uint64(len(spans)) - uint64(n))
		e.note(int(n), err)
	default:
		e.note(len(spans), err)
	}
	return nil
}

// Shutdown ends what is under way.
func (e *exporter) Shutdown(ctx context.Context) error { return e.inner.Shutdown(ctx) }

// note counts and logs what became of a batch of which n spans were lost.
func (e *exporter) note(n int, err error) {
	e.lost.Add(uint64(n))
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil {
		if e.failing {
			e.logger.Info("the collector takes traces again", "endpoint", e.endpoint)
		}
		e.failing = false
		return
	}
	e.failing = true
	e.unlogged += n
	if now := time.Now(); now.Sub(e.complained) >= complainEvery {
		e.logger.Warn("the collector does not take traces", "endpoint", e.endpoint, "spans_lost", e.unlogged, "error", err)
		e.complained, e.unlogged = now, 0
	}
}

// maxAnswer bounds what is read of a collector's answer, in bytes.
const maxAnswer = 64 << 10

// collector is an [otlptrace.Client] that speaks OTLP over HTTP with protobuf.
// The client that comes with OpenTelemetry does the same and brings gRPC along,
// which every start of the program would pay for, asked for or not.
type collector struct {
	env  *environment
	http *http.Client
	// ctx ends with stop.
	ctx  context.Context
	stop context.CancelFunc
}

var _ otlptrace.Client = (*collector)(nil)

func newCollector(env *environment) *collector {
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		TLSClientConfig:       env.tls,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   1,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: env.timeout,
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &collector{
		env: env, ctx: ctx, stop: cancel,
		http: &http.Client{
			Transport: transport,
			// A redirect would take the headers, with their tokens, elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Start does nothing: the collector may come later.
func (c *collector) Start(context.Context) error { return nil }

// Stop ends uploads.
func (c *collector) Stop(context.Context) error {
	c.stop()
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces sends one batch, and tries again within the time limit where the
// collector says that it may do better.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// The bytes of TracesData are those of ExportTraceServiceRequest, as its
	// definition promises; the latter's package is the one that needs gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	if c.env.gzip {
		if body, err = compress(body); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.env.timeout)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	for pause := time.Second; ; pause = min(2*pause, 30*time.Second) {
		after, err := c.post(ctx, body)
		if err == nil || after < 0 {
			return err
		}
		timer := time.NewTimer(max(pause, after))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

func compress(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(body)
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	return b.Bytes(), nil
}

// never is the time to try again after a failure that would come again.
const never = time.Duration(-1)

// post sends one request. With an error comes how long to wait at least before
// the next, or never.
func (c *collector) post(ctx context.Context, body []byte) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.env.endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return never, err
	}
	for k, v := range c.env.headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("User-Agent", "mcp-workspace")
	req.Header.Set("Content-Type", "application/x-protobuf")
	if c.env.gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := c.http.Do(req)
	if err != nil {
		// The URL that this error begins with can hold a key.
		var with *url.Error
		if errors.As(err, &with) {
			err = with.Err
		}
		return 0, err // which may be a moment's: refused, reset
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case res.StatusCode/100 == 2 && err != nil:
		return never, nil // taken; how much of it will not be known
	case res.StatusCode/100 == 2:
		return never, partial(res.Header.Get("Content-Type"), answer)
	}
	// The answer's text is not in the error: it may be anything.
	err = fmt.Errorf("it answered %s", res.Status)
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, wrong := strconv.Atoi(res.Header.Get("Retry-After"))
		if wrong != nil || seconds < 0 || seconds > 3600 {
			seconds = 0
		}
		return time.Duration(seconds) * time.Second, err
	}
	return never, err
}
