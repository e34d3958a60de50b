package telemetry

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// environment is what the variables of OpenTelemetry ask for. The SDK reads
// OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME, OTEL_BSP_… and the limits of
// spans itself.
type environment struct {
	endpoint *url.URL
	headers  map[string]string // may hold tokens: never logged
	timeout  time.Duration     // of one export, with its retries
	gzip     bool
	tls      *tls.Config // nil for that of the system
	sampler  sdktrace.Sampler
}

// readEnvironment answers nil when no traces are asked for. An empty variable
// counts as not set.
func readEnvironment() (*environment, error) {
	if strings.EqualFold(value("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	exporter := value("OTEL_TRACES_EXPORTER")
	_, endpoint := setting("ENDPOINT")
	switch {
	case exporter == "none", exporter == "" && endpoint == "":
		return nil, nil
	case exporter != "" && exporter != "otlp":
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER=%s is not supported; otlp and none are", exporter)
	}
	if name, protocol := setting("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return nil, fmt.Errorf("%s=%s is not supported; set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf and give the collector's port for it (4318 as a rule)", name, protocol)
	}
	env := &environment{timeout: 10 * time.Second}
	for _, read := range []func() error{env.readEndpoint, env.readHeaders, env.readTimeout, env.readCompression, env.readTLS, env.readSampler} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return env, nil
}

// value is a variable without the space around it.
func value(name string) string { return strings.TrimSpace(os.Getenv(name)) }

// setting is the variable of the OTLP exporter that is set for traces, else the
// one for everything: its name and its value.
func setting(name string) (variable, val string) {
	for _, variable = range []string{"OTEL_EXPORTER_OTLP_TRACES_" + name, "OTEL_EXPORTER_OTLP_" + name} {
		if val = value(variable); val != "" {
			break
		}
	}
	return variable, val
}

func (e *environment) readEndpoint() error {
	name, text := setting("ENDPOINT")
	if text == "" {
		text = "http://localhost:4318"
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		// The text may hold a password, and so may the error.
		return fmt.Errorf("%s is not a URL such as http://localhost:4318", name)
	}
	// The variable for everything names the root, that for traces the place.
	if strings.Contains(name, "_TRACES_") {
		if u.Path == "" {
			u.Path = "/"
		}
	} else {
		u = u.JoinPath(path.Join("v1", "traces"))
	}
	e.endpoint = u
	return nil
}

func (e *environment) readHeaders() error {
	name, text := setting("HEADERS")
	if text == "" {
		return nil
	}
	e.headers = make(map[string]string)
	for i, pair := range strings.Split(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, val, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		val, err := url.PathUnescape(strings.TrimSpace(val))
		if !ok || err != nil || !httpguts.ValidHeaderFieldName(key) || !httpguts.ValidHeaderFieldValue(val) {
			return fmt.Errorf("%s: entry %d is not key=value with the value URL-encoded", name, i+1)
		}
		e.headers[key] = val
	}
	return nil
}

func (e *environment) readTimeout() error {
	name, text := setting("TIMEOUT")
	if text == "" {
		return nil
	}
	ms, err := strconv.Atoi(text)
	if err != nil || ms <= 0 || ms > 600_000 {
		return fmt.Errorf("%s=%s is not a number of milliseconds from 1 to 600000", name, text)
	}
	e.timeout = time.Duration(ms) * time.Millisecond
	return nil
}

func (e *environment) readCompression() error {
	switch name, text := setting("COMPRESSION"); text {
	case "", "none":
	case "gzip":
		e.gzip = true
	default:
		return fmt.Errorf("%s=%s is not supported; gzip and none are", name, text)
	}
	return nil
}

func (e *environment) readTLS() error {
	rootsName, roots := setting("CERTIFICATE")
	certName, cert := setting("CLIENT_CERTIFICATE")
	keyName, key := setting("CLIENT_KEY")
	if roots == "" && cert == "" && key == "" {
		return nil
	}
	e.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	if roots != "" {
		data, err := os.ReadFile(roots)
		if err != nil {
			return fmt.Errorf("%s: %w", rootsName, err)
		}
		e.tls.RootCAs = x509.NewCertPool()
		if !e.tls.RootCAs.AppendCertsFromPEM(data) {
			return fmt.Errorf("%s: %s holds no certificate in PEM form", rootsName, roots)
		}
	}
	switch {
	case cert == "" && key == "":
		return nil
	case cert == "" || key == "":
		return fmt.Errorf("%s and %s need each other; set both or none", certName, keyName)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("%s: %w", certName, err)
	}
	e.tls.Certificates = []tls.Certificate{pair}
	return nil
}

// readSampler reads the sampler here because the SDK takes all spans where it
// does not understand the variables.
func (e *environment) readSampler() error {
	name, arg := strings.ToLower(value("OTEL_TRACES_SAMPLER")), value("OTEL_TRACES_SAMPLER_ARG")
	ratio := 1.0
	if strings.HasSuffix(name, "traceidratio") && arg != "" {
		var err error
		if ratio, err = strconv.ParseFloat(arg, 64); err != nil || !(ratio >= 0 && ratio <= 1) {
			return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG=%s is not a number from 0 to 1", arg)
		}
	}
	switch name {
	case "": // the SDK's default: every span, unless the caller's is not sampled
	case "always_on":
		e.sampler = sdktrace.AlwaysSample()
	case "always_off":
		e.sampler = sdktrace.NeverSample()
	case "traceidratio":
		e.sampler = sdktrace.TraceIDRatioBased(ratio)
	case "parentbased_always_on":
		e.sampler = sdktrace.ParentBased(sdktrace.AlwaysSample())
	case "parentbased_always_off":
		e.sampler = sdktrace.ParentBased(sdktrace.NeverSample())
	case "parentbased_traceidratio":
		e.sampler = sdktrace.ParentBased(sdktrace.TraceIDRatioBased(ratio))
	default:
		return fmt.Errorf("OTEL_TRACES_SAMPLER=%s is not supported; always_on, always_off, traceidratio and the three with parentbased_ before them are", name)
	}
	return nil
}
