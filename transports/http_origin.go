package transports

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// learnHosts prepares what requests are held against.
func (h *hub) learnHosts() {
	if u := h.cfg.PublicURL; u != nil {
		h.prefix = strings.TrimRight(u.Path, "/")
		h.hosts[hostKey(u.Host, u.Scheme)] = true
		h.publicURL = originKey(u)
	}
	for _, host := range h.cfg.AllowedHosts {
		h.hosts[strings.ToLower(strings.TrimSuffix(host, "."))] = true
	}
	for _, origin := range h.cfg.AllowedOrigins {
		h.origins[strings.ToLower(strings.TrimRight(origin, "/"))] = true
	}
}

// hostKey writes host in the one way that it is compared in: lower case, and
// without the port that the scheme implies.
func hostKey(host, scheme string) string {
	host = strings.ToLower(host)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return host
}

func originKey(u *url.URL) string { return u.Scheme + "://" + hostKey(u.Host, u.Scheme) }

// splitPort returns the host without its port and brackets.
func splitPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func isLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}

// hostAllowed tells whether the Host header names this server. A page whose
// own name has been pointed at this machine sends that name: it must not get
// further.
func (h *hub) hostAllowed(host string) bool {
	host = strings.ToLower(host)
	name := splitPort(host)
	if isLoopback(name) || h.hosts[host] || h.hosts[strings.TrimSuffix(name, ".")] {
		return true
	}
	// What the scheme implies may be written or not, and which scheme the
	// client used is not known behind a proxy.
	return h.hosts[hostKey(host, "http")] || h.hosts[hostKey(host, "https")]
}

// originAllowed tells whether a request may come from where it says it does,
// and whether that is another site's page, which needs to be told so.
func (h *hub) originAllowed(r *http.Request) (allowed, cross bool) {
	values := r.Header.Values("Origin")
	switch len(values) {
	case 0:
		return true, false // no browser, or a page of our own
	case 1:
	default:
		return false, false
	}
	origin := strings.ToLower(values[0])
	if h.origins[origin] {
		return true, true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return false, false
	}
	if h.publicURL != "" && originKey(u) == h.publicURL {
		return true, false
	}
	return hostKey(u.Host, u.Scheme) == hostKey(r.Host, u.Scheme), false
}

// exposedHeaders are those of a response that a page may read.
const exposedHeaders = "Mcp-Session-Id, Mcp-Protocol-Version, Retry-After, WWW-Authenticate, X-Request-Id"

// allowedHeaders are those of a request that a page may send, beside the ones
// that begin with "mcp-".
var allowedHeaders = map[string]bool{
	"accept": true, "authorization": true, "baggage": true, "cache-control": true, "content-type": true,
	"last-event-id": true, "traceparent": true, "tracestate": true, "x-request-id": true,
}

var mcpHeader = regexp.MustCompile(`^mcp-[a-z0-9-]{1,64}$`)

// allowOrigin adds what a browser has to see before it gives a response to a
// page of another site.
func allowOrigin(header http.Header, origin string) {
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", exposedHeaders)
}

// preflight answers a browser's question whether a request may be sent.
func preflight(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	header.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	var allowed []string
	for name := range strings.SplitSeq(r.Header.Get("Access-Control-Request-Headers"), ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if allowedHeaders[name] || mcpHeader.MatchString(name) {
			allowed = append(allowed, name)
		}
		if len(allowed) == 64 {
			break
		}
	}
	if allowed != nil {
		header.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	}
	header.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

var forwardedPrefix = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

// publicPrefix is the path that clients see before ours: that of PublicURL, or
// what a proxy says it has taken off.
func (h *hub) publicPrefix(r *http.Request) string {
	if h.cfg.PublicURL != nil {
		return h.prefix
	}
	p := strings.TrimRight(r.Header.Get("X-Forwarded-Prefix"), "/")
	if len(p) <= 256 && forwardedPrefix.MatchString(p) {
		return p
	}
	return ""
}
