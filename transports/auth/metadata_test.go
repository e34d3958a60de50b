package auth

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

func TestMetadata(t *testing.T) {
	const wellKnown = "/.well-known/oauth-protected-resource"
	for name, test := range map[string]struct {
		resource string
		url      string          // in challenges
		answers  map[string]bool // by path
	}{
		"a resource with a path": {
			"https://mcp.example.com/mcp", "https://mcp.example.com" + wellKnown + "/mcp",
			map[string]bool{wellKnown: true, wellKnown + "/": true, wellKnown + "/mcp": true, wellKnown + "/mcp/": false,
				wellKnown + "/mcp/x": false, wellKnown + "/sse": false, wellKnown + "mcp": false, "/": false},
		},
		"a resource without a path": {
			"https://mcp.example.com", "https://mcp.example.com" + wellKnown,
			map[string]bool{wellKnown: true, wellKnown + "/": true, wellKnown + "/mcp": false},
		},
		"a resource that is only a slash": {
			"https://mcp.example.com/", "https://mcp.example.com" + wellKnown,
			map[string]bool{wellKnown: true},
		},
		"a prefix, a port, and a final slash": {
			"https://example.com:8443/team%20a/mcp/", "https://example.com:8443" + wellKnown + "/team%20a/mcp/",
			map[string]bool{wellKnown + "/team%20a/mcp/": true, wellKnown + "/team%20a/mcp": false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := New(Config{OAuth: &OAuth{
				Issuer: "https://login.example.com/", Audience: "api://workspace", Resource: test.resource, Scopes: []string{"workspace", "admin"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if refusal := refusalOf(t, a, request(), 401, ""); !strings.HasSuffix(refusal.Challenge(), `resource_metadata="`+test.url+`"`) {
				t.Errorf("the challenge is %s; want %s", refusal.Challenge(), test.url)
			}
			handler := a.Metadata()
			for path, there := range test.answers {
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
				if !there {
					if w.Code != http.StatusNotFound {
						t.Errorf("%s: got %d; want 404", path, w.Code)
					}
					continue
				}
				var got map[string]any
				if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
					t.Fatalf("%s: %d, %v: %s", path, w.Code, err, w.Body)
				}
				want := map[string]any{
					"resource":                 test.resource,
					"authorization_servers":    []any{"https://login.example.com/"},
					"scopes_supported":         []any{"workspace", "admin"},
					"bearer_methods_supported": []any{"header"},
					"resource_name":            "mcp-workspace",
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: got %v; want %v", path, got, want)
				}
				if w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Content-Type") != "application/json" {
					t.Errorf("%s: the header is %v", path, w.Header())
				}
			}
		})
	}
}

func TestMetadataForBrowsers(t *testing.T) {
	a, err := New(Config{OAuth: &OAuth{Issuer: "https://login.example.com", Audience: testResource}})
	if err != nil {
		t.Fatal(err)
	}
	for method, status := range map[string]int{
		http.MethodOptions: http.StatusNoContent,
		http.MethodGet:     http.StatusOK,
		http.MethodHead:    http.StatusOK,
		http.MethodPost:    http.StatusMethodNotAllowed,
	} {
		r := httptest.NewRequest(method, "/.well-known/oauth-protected-resource/mcp", http.NoBody)
		r.Header.Set("Origin", "https://inspector.example.com")
		if method == http.MethodOptions {
			r.Header.Set("Access-Control-Request-Method", http.MethodGet)
			r.Header.Set("Access-Control-Request-Headers", "mcp-protocol-version")
		}
		w := httptest.NewRecorder()
		a.Metadata().ServeHTTP(w, r)
		if w.Code != status || w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: got %d, %v", method, w.Code, w.Header())
		}
		// "*" names every header but Authorization (Fetch standard).
		if allowed := w.Header().Get("Access-Control-Allow-Headers"); method == http.MethodOptions && allowed != "*, Authorization" {
			t.Errorf("a browser may send %q", allowed)
		}
		if method == http.MethodHead && w.Body.Len() > 0 {
			t.Errorf("HEAD has a body")
		}
	}
}
