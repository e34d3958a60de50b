package telemetry

import (
	"crypto/tls"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTracesAreSetUpOnlyWhenAskedFor(t *testing.T) {
	for _, c := range []struct {
		name string
		vars map[string]string
		on   bool
	}{
		{"nothing set", nil, false},
		{"other variables", map[string]string{"OTEL_SERVICE_NAME": "x", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, false},
		{"an endpoint", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, true},
		{"an endpoint for traces", map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4318/x"}, true},
		{"an exporter", map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true},
		{"no exporter", map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, false},
		{"disabled", map[string]string{"OTEL_SDK_DISABLED": "True", "OTEL_EXPORTER_OTLP_ENDPOINT": "nonsense"}, false},
		{"not disabled", map[string]string{"OTEL_SDK_DISABLED": "false", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}, true},
		{"an empty endpoint", map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, false},
		{"the protocol there is", map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, true},
		{"the protocol of traces before the general one", map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			clearEnvironment(t, c.vars)
			tr, err := NewTracing(t.Context(), TracingConfig{})
			if err != nil || (tr != nil) != c.on {
				t.Fatalf("%v, %v", tr, err)
			}
			if err := tr.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWrongVariablesAreNamedWithTheMend(t *testing.T) {
	for _, c := range []struct{ name, val, want string }{
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf"},
		{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json", "http/protobuf"},
		{"OTEL_TRACES_EXPORTER", "console", "otlp and none are"},
		{"OTEL_TRACES_EXPORTER", "otlp,zipkin", "otlp and none are"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "localhost:4318", "http://localhost:4318"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:SECRET@ho st", "http://localhost:4318"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=b,SECRET", "entry 2"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=SECRET%0d%0ab: c", "entry 1"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "milliseconds"},
		{"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "gzip and none"},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", "/missing.pem", "/missing.pem"},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", os.DevNull, "PEM"},
		{"OTEL_EXPORTER_OTLP_CLIENT_KEY", "/key.pem", "need each other"},
		{"OTEL_TRACES_SAMPLER", "jaeger_remote", "always_on"},
		{"OTEL_TRACES_SAMPLER_ARG", "NaN", "from 0 to 1"},
		{"OTEL_RESOURCE_ATTRIBUTES", "novalue", "key=value"},
	} {
		t.Run(c.name+"="+c.val, func(t *testing.T) {
			vars := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"}
			if c.name == "OTEL_TRACES_SAMPLER_ARG" {
				vars["OTEL_TRACES_SAMPLER"] = "parentbased_traceidratio"
			}
			vars[c.name] = c.val
			clearEnvironment(t, vars)
			_, err := NewTracing(t.Context(), TracingConfig{})
			if err == nil || !strings.Contains(err.Error(), c.name) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v", err)
			}
			if s := err.Error(); strings.Contains(s, "SECRET") || strings.Contains(s, "\n") {
				t.Errorf("%q", s)
			}
		})
	}
}

func TestEndpointsAndHeadersReachTheCollector(t *testing.T) {
	for _, c := range []struct{ name, variable, path, want string }{
		{"the general endpoint is a root", "OTEL_EXPORTER_OTLP_ENDPOINT", "/base/", "/base/v1/traces"},
		{"the endpoint of traces is the place", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "/in?key=1", "/in?key=1"},
		{"without a path it is the root", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "", "/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			col := newTestCollector(t)
			tr := startTracing(t, TracingConfig{}, map[string]string{c.variable: col.URL + c.path, "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b, x=y=z"})
			handle(t.Context(), tr, callBody("ls", ""))
			if err := tr.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			r := col.requests[0]
			if r.RequestURI != c.want || r.Header.Get("Api-Key") != "a b" || r.Header.Get("X") != "y=z" {
				t.Errorf("%s %v", r.RequestURI, r.Header)
			}
		})
	}
}

func TestCollectorOverTLSWithItsOwnAuthority(t *testing.T) {
	col := &testCollector{}
	col.Server = httptest.NewUnstartedServer(col)
	col.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	col.StartTLS()
	t.Cleanup(col.Close)
	roots := filepath.Join(t.TempDir(), "ca.pem")
	data := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: col.Certificate().Raw})
	if err := os.WriteFile(roots, data, 0o600); err != nil {
		t.Fatal(err)
	}
	tr := startTracing(t, TracingConfig{}, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": col.URL, "OTEL_EXPORTER_OTLP_CERTIFICATE": roots})
	handle(t.Context(), tr, callBody("ls", ""))
	if err := tr.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	col.onlySpan(t)
}

func TestSamplers(t *testing.T) {
	sampled, not := `"traceparent":"00-`+traceA+"-"+spanA+`-01"`, `"traceparent":"00-`+traceA+"-"+spanA+`-00"`
	for _, c := range []struct {
		sampler, arg, meta string
		spans              int
	}{
		{"", "", "", 1},
		{"", "", not, 0},
		{"always_on", "", not, 1},
		{"always_off", "", sampled, 0},
		{"traceidratio", "0", sampled, 0},
		{"parentbased_traceidratio", "0", sampled, 1},
		{"parentbased_traceidratio", "0", "", 0},
		{"parentbased_always_off", "", sampled, 1},
		{"parentbased_always_on", "", "", 1},
	} {
		t.Run(c.sampler+" "+c.arg+" "+c.meta, func(t *testing.T) {
			col := newTestCollector(t)
			tr := startTracing(t, TracingConfig{}, map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": col.URL, "OTEL_TRACES_SAMPLER": c.sampler, "OTEL_TRACES_SAMPLER_ARG": c.arg,
			})
			handle(t.Context(), tr, callBody("ls", c.meta))
			if err := tr.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := len(col.spans); n != c.spans {
				t.Errorf("%d spans, want %d", n, c.spans)
			}
		})
	}
}
