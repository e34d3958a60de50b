package auth

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// text answers every request with the same.
func text(document string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write([]byte(document)); err != nil {
			panic(http.ErrAbortHandler)
		}
	})
}

// site answers by path; in the documents ISSUER is its own address.
type site struct {
	*httptest.Server
	mu        sync.Mutex
	documents map[string]string
	elsewhere map[string]string // redirects
	asked     []string
}

func newSite(t *testing.T, key signingKey, documents map[string]string) *site {
	t.Helper()
	public, err := key.public().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{documents: documents}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, r.URL.Path)
		if to, ok := s.elsewhere[r.URL.Path]; ok {
			http.Redirect(w, r, strings.ReplaceAll(to, "ISSUER", s.URL), http.StatusFound)
			return
		}
		document, ok := s.documents[r.URL.Path]
		if r.URL.Path == "/keys" {
			document, ok = `{"keys":[`+string(public)+`]}`, true
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		text(strings.ReplaceAll(document, "ISSUER", s.URL)).ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestDiscovery(t *testing.T) {
	const (
		openID = "/.well-known/openid-configuration"
		oauth  = "/.well-known/oauth-authorization-server"
		good   = `{"issuer":"ISSUER","jwks_uri":"ISSUER/keys"}`
		tenant = `{"issuer":"ISSUER/tenant","jwks_uri":"ISSUER/keys"}`
		slash  = `{"issuer":"ISSUER/","jwks_uri":"ISSUER/keys"}`
		wrong  = `{"issuer":"https://login.example.org","jwks_uri":"ISSUER/keys"}`
		loops  = "ISSUER" + openID
	)
	key := newKey(t, "a", jose.EdDSA)
	for name, test := range map[string]struct {
		path      string // of the issuer
		documents map[string]string
		elsewhere map[string]string
		problem   string // in the log; "" when all is well
		asked     []string
	}{
		"by OpenID Connect":                    {"", map[string]string{openID: good, oauth: wrong}, nil, "", []string{openID, "/keys"}},
		"by RFC 8414":                          {"", map[string]string{oauth: good}, nil, "", []string{openID, oauth, "/keys"}},
		"a path, by OpenID Connect":            {"/tenant", map[string]string{"/tenant" + openID: tenant}, nil, "", []string{"/tenant" + openID, "/keys"}},
		"a path, by RFC 8414":                  {"/tenant", map[string]string{oauth + "/tenant": tenant}, nil, "", []string{"/tenant" + openID, oauth + "/tenant", "/keys"}},
		"a path, by both mixed":                {"/tenant", map[string]string{openID + "/tenant": tenant}, nil, "", []string{"/tenant" + openID, oauth + "/tenant", openID + "/tenant", "/keys"}},
		"a final slash":                        {"/", map[string]string{openID: slash}, nil, "", []string{openID, "/keys"}},
		"a document of somebody else":          {"", map[string]string{openID: wrong, oauth: good}, nil, "", []string{openID, oauth, "/keys"}},
		"a page in place of the document":      {"", map[string]string{openID: "<html>", oauth: good}, nil, "", []string{openID, oauth, "/keys"}},
		"a redirect":                           {"", map[string]string{"/moved": good}, map[string]string{openID: "ISSUER/moved"}, "", []string{openID, "/moved", "/keys"}},
		"no document":                          {"", nil, nil, "404 Not Found", []string{openID, oauth}},
		"a slash too many in the document":     {"", map[string]string{openID: slash}, nil, "the same to the letter", nil},
		"a slash too few in the document":      {"/", map[string]string{openID: good}, nil, "the same to the letter", nil},
		"only documents of somebody else":      {"", map[string]string{openID: wrong, oauth: wrong}, nil, "login.example.org", nil},
		"no address of the keys":               {"", map[string]string{openID: `{"issuer":"ISSUER"}`}, nil, "jwks_uri is missing", nil},
		"keys without TLS":                     {"", map[string]string{openID: `{"issuer":"ISSUER","jwks_uri":"http://example.org/keys"}`}, nil, "it has to be https", nil},
		"keys in a file":                       {"", map[string]string{openID: `{"issuer":"ISSUER","jwks_uri":"file:///etc/passwd"}`}, nil, "jwks_uri is", nil},
		"no keys":                              {"", map[string]string{openID: `{"issuer":"ISSUER","jwks_uri":"ISSUER/nothing"}`, "/nothing": `{"keys":[]}`}, nil, "no key to check signatures with", nil},
		"a redirect to an address without TLS": {"", nil, map[string]string{openID: "http://example.org/"}, "redirected to an address that is not https", nil},
		"redirects in a circle":                {"", nil, map[string]string{openID: loops}, "redirected too often", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, key, test.documents)
			s.elsewhere = test.elsewhere
			var log syncBuffer
			i := &issuer{Server: &httptest.Server{URL: s.URL + test.path}, clock: newClock()}
			a, _ := i.authenticator(t, &log)
			r := request("Bearer " + key.sign(t, i.claims(nil), nil))
			if test.problem == "" {
				accepted(t, a, r)
			} else {
				refused(t, a, r, 503, "")
				if !strings.Contains(log.String(), test.problem) {
					t.Errorf("the log is\n%swant %q", log.String(), test.problem)
				}
			}
			if s.mu.Lock(); test.asked != nil && fmt.Sprint(s.asked) != fmt.Sprint(test.asked) {
				t.Errorf("asked for %v; want %v", s.asked, test.asked)
			}
			s.mu.Unlock()
		})
	}
}

func TestKeysThatMoveAreFoundAgain(t *testing.T) {
	const openID = "/.well-known/openid-configuration"
	key := newKey(t, "a", jose.EdDSA)
	s := newSite(t, key, map[string]string{openID: `{"issuer":"ISSUER","jwks_uri":"ISSUER/keys"}`})
	i := &issuer{Server: &httptest.Server{URL: s.URL}, clock: newClock()}
	a, _ := i.authenticator(t, nil)
	token := func() string { return key.sign(t, i.claims(nil), nil) }
	accepted(t, a, request("Bearer "+token()))

	moved := newKey(t, "b", jose.EdDSA)
	elsewhere := newSite(t, moved, nil)
	s.mu.Lock()
	s.documents[openID] = `{"issuer":"ISSUER","jwks_uri":"` + elsewhere.URL + `/keys"}`
	s.elsewhere = map[string]string{"/keys": "ISSUER/gone"}
	s.mu.Unlock()
	i.clock.advance(freshFor)
	accepted(t, a, request("Bearer "+token())) // the old keys go on for now
	i.clock.advance(lastPause)
	accepted(t, a, request("Bearer "+moved.sign(t, i.claims(nil), nil)))
}

func TestNoWayFromTLSToAPlainConnection(t *testing.T) {
	key := newKey(t, "a", jose.EdDSA)
	plain := newSite(t, key, nil) // on a loopback address, where plain is well for others
	var secure *httptest.Server
	var redirect bool
	secure = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/keys":
			http.Redirect(w, r, plain.URL+"/keys", http.StatusFound)
		case redirect:
			writeJSON(w, map[string]any{"issuer": secure.URL, "jwks_uri": secure.URL + "/keys"})
		default:
			writeJSON(w, map[string]any{"issuer": secure.URL, "jwks_uri": plain.URL + "/keys"})
		}
	}))
	t.Cleanup(secure.Close)
	i := &issuer{Server: secure, clock: newClock()}
	for _, redirect = range []bool{false, true} {
		var log syncBuffer
		a, _ := i.authenticator(t, &log, func(o *OAuth) { o.HTTPClient = secure.Client() })
		refused(t, a, request("Bearer "+key.sign(t, i.claims(nil), nil)), 503, "")
		if !strings.Contains(log.String(), "https as the issuer is") && !strings.Contains(log.String(), "redirected to an address that is not https") {
			t.Errorf("the log is\n%s", log.String())
		}
	}
	if len(plain.asked) > 0 {
		t.Errorf("asked for %v without TLS", plain.asked)
	}
}

func TestIssuerWithTLS(t *testing.T) {
	key := newKey(t, "a", jose.EdDSA)
	i := &issuer{keys: []signingKey{key}, clock: newClock(), asked: make(chan string, 100)}
	i.Server = httptest.NewTLSServer(i)
	t.Cleanup(i.Close)
	r := request("Bearer " + key.sign(t, i.claims(nil), nil))

	a, _ := i.authenticator(t, nil, func(o *OAuth) { o.HTTPClient = i.Client() })
	accepted(t, a, r)

	var log syncBuffer
	a, _ = i.authenticator(t, &log) // does not know who signed the certificate
	refused(t, a, r, 503, "")
	if !strings.Contains(log.String(), "certificate") {
		t.Errorf("the log is\n%s", log.String())
	}
}
