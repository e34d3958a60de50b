package auth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/mark3labs/mcp-go/server"
)

// metadataURL is where RFC 9728, section 3.1, puts the metadata of a resource:
// the well-known path goes between the host and the resource's own path.
func metadataURL(resource *url.URL) string {
	return (&url.URL{Scheme: resource.Scheme, Host: resource.Host}).String() +
		server.WellKnownProtectedResourcePath + resourcePath(resource)
}

func resourcePath(resource *url.URL) string {
	if path := resource.EscapedPath(); path != "/" {
		return path
	}
	return ""
}

// metadata serves one document at the path of its resource, and at the root,
// where MCP clients look next. At any other path it would be the metadata of a
// resource that it does not name, which a client has to refuse.
type metadata struct {
	path     string
	document http.Handler
}

func newMetadata(oauth *OAuth) metadata {
	m := metadata{document: server.NewProtectedResourceMetadataHandler(server.ProtectedResourceMetadataConfig{
		Resource:               oauth.Resource,
		AuthorizationServers:   []string{oauth.Issuer},
		ScopesSupported:        oauth.Scopes,
		BearerMethodsSupported: []string{"header"},
		ResourceName:           realm,
	})}
	if resource, err := url.Parse(oauth.Resource); err == nil { // New has parsed it before
		m.path = resourcePath(resource)
	}
	return m
}

func (m metadata) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), server.WellKnownProtectedResourcePath)
	if !ok || rest != "" && rest != "/" && rest != m.path {
		http.NotFound(w, r)
		return
	}
	if r.Method == http.MethodOptions {
		// Clients in browsers send MCP-Protocol-Version and more with the
		// request, which mcp-go's answer to the preflight does not name.
		// Nothing here depends on who asks.
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
		w.Header().Set("Access-Control-Allow-Headers", "*, Authorization")
		w.Header().Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	m.document.ServeHTTP(w, r)
}
