package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// issuer is an authorization server: its metadata, and a key that it signs with.
type issuer struct {
	url string
	key *ecdsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key}
	answer := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(v); err != nil {
				t.Error(err)
			}
		}
	}
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	i.url = srv.URL
	about := map[string]any{
		"issuer": i.url, "jwks_uri": i.url + "/keys", "authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"ES256"},
	}
	mux.HandleFunc("/.well-known/openid-configuration", answer(about))
	mux.HandleFunc("/.well-known/oauth-authorization-server", answer(about))
	public, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		t.Fatal(err)
	}
	mux.HandleFunc("/keys", answer(map[string]any{"keys": []any{map[string]any{
		"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "one", "x": b64(public[1:33]), "y": b64(public[33:]),
	}}}))
	return i
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// token is a signed access token; changes are made to good claims.
func (i *issuer) token(t *testing.T, audience string, changes map[string]any) string {
	t.Helper()
	claims := map[string]any{
		"iss": i.url, "aud": audience, "sub": "carol", "scope": "workspace", "client_id": "test", "jti": rand.Text(),
		"iat": time.Now().Add(-time.Minute).Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	for name, value := range changes {
		claims[name] = value
	}
	return i.sign(t, map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": "one"}, claims)
}

func (i *issuer) sign(t *testing.T, header, claims map[string]any) string {
	t.Helper()
	var parts []string
	for _, part := range []map[string]any{header, claims} {
		data, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, b64(data))
	}
	text := strings.Join(parts, ".")
	hash := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, hash[:])
	if err != nil {
		t.Fatal(err)
	}
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return text + "." + b64(signature)
}

// swapped is a token with the claims of another.
func swapped(token, other string) string {
	parts, others := strings.Split(token, "."), strings.Split(other, ".")
	return parts[0] + "." + others[1] + "." + parts[2]
}

// TestTokensThatAreNotGood let nobody in, and tell nothing of what there is.
func TestTokensThatAreNotGood(t *testing.T) {
	t.Parallel()
	const public = "http://127.0.0.1/tools"
	login := newIssuer(t)
	s := onPostgres(t, "public-url: "+public, fmt.Sprintf("oauth: {issuer: %q, scopes: [workspace]}", login.url))
	p := start(t, s.options)
	alice := p.as(s.alice)
	ref := alice.write(t, "diary.txt", "diary of alice\n").ref
	session := alice.open(t).session
	good := login.token(t, public, nil)

	carol := p.as(person{token: good})
	if got := carol.write(t, "a.txt", "carol's"); got.ref == ref {
		t.Error("carol works in alice's workspace")
	}
	t.Run("where good ones come from is told to everybody", func(t *testing.T) {
		got := p.as(person{}).plain(t, http.MethodGet, "/tools/.well-known/oauth-protected-resource", "")
		var about struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
		}
		if err := json.Unmarshal(got.body, &about); err != nil || got.status != http.StatusOK || about.Resource != public || len(about.Servers) != 1 || about.Servers[0] != login.url {
			t.Errorf("the metadata is %d %s", got.status, got.body)
		}
	})
	t.Run("a good one is nobody else", func(t *testing.T) { refuseAll(t, carol, ref) })
	t.Run("a subject that is called as a principal is not that one", func(t *testing.T) {
		c := p.as(person{token: login.token(t, public, map[string]any{"sub": "alice"})})
		if got := c.must(t, "ls", nil); got.ref == ref || strings.Contains(got.text, "diary") {
			t.Errorf("it is alice: %v", got)
		}
	})

	stranger := newIssuer(t)
	hash := sha256.Sum256([]byte(s.alice.token))
	head := map[string]any{"alg": "none", "typ": "at+jwt"}
	for name, token := range map[string]string{
		"none":                  "",
		"unknown":               newToken(),
		"one letter changed":    s.alice.token[:len(s.alice.token)-2] + "xx",
		"a part of one":         s.alice.token[:len(s.alice.token)-1],
		"one and more":          s.alice.token + "A",
		"in upper case":         strings.ToUpper(s.alice.token),
		"its hash":              fmt.Sprintf("sha256:%x", hash),
		"its bare hash":         fmt.Sprintf("%x", hash),
		"a name":                "alice",
		"a variable":            "${TOKEN}",
		"very long":             strings.Repeat("A", 30_000),
		"expired":               login.token(t, public, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}),
		"just expired":          login.token(t, public, map[string]any{"exp": time.Now().Add(-time.Second).Unix()}),
		"without an end":        login.token(t, public, map[string]any{"exp": nil}),
		"not valid yet":         login.token(t, public, map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}),
		"for another audience":  login.token(t, "https://other.example/mcp", nil),
		"for a part of it":      login.token(t, public+"/mcp", nil),
		"without a subject":     login.token(t, public, map[string]any{"sub": nil}),
		"of another issuer":     stranger.token(t, public, nil),
		"in the issuer's name":  stranger.token(t, public, map[string]any{"iss": login.url}),
		"not signed":            login.sign(t, head, map[string]any{"iss": login.url, "aud": public, "sub": "carol", "exp": time.Now().Add(time.Hour).Unix()}),
		"signature removed":     good[:strings.LastIndexByte(good, '.')+1],
		"another's claims":      swapped(good, login.token(t, public, map[string]any{"sub": "x"})),
		"too small in scope":    login.token(t, public, map[string]any{"scope": "profile"}),
		"a logout token by typ": login.sign(t, map[string]any{"alg": "ES256", "typ": "logout+jwt", "kid": "one"}, map[string]any{"iss": login.url, "aud": public, "sub": "carol", "scope": "workspace", "exp": time.Now().Add(time.Hour).Unix()}),
	} {
		if !slices.Contains([]string{"none", "very long"}, name) && strings.Count(token, ".") == 0 {
			// Those that are no access tokens have one answer.
			unknown := p.as(newPerson("x")).send(t, "tools/list", nil)
			same(t, shape(p.as(person{token: token}).send(t, "tools/list", nil)), shape(unknown))
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := p.as(person{token: token})
			want := http.StatusUnauthorized
			switch name {
			case "too small in scope":
				want = http.StatusForbidden
			case "very long":
				want = http.StatusBadRequest
			}
			nothing := ghost(ref)
			got := c.withHeader("Mcp-Workspace-Ref", ref).send(t, "tools/call", toolParams("read_file", args{"path": "diary.txt"}))
			same(t, shape(got), shape(c.withHeader("Mcp-Workspace-Ref", nothing).send(t, "tools/call", toolParams("read_file", args{"path": "diary.txt"}))))
			if got.status != want {
				t.Errorf("it is answered with %d, not %d: %s", got.status, want, got.body)
			}
			challenge := got.header.Get("Www-Authenticate")
			if !strings.HasPrefix(challenge, "Bearer ") || !strings.Contains(challenge, `resource_metadata="http://127.0.0.1/tools/.well-known/oauth-protected-resource"`) {
				t.Errorf("the challenge is %q", challenge)
			}
			if token != "" && len(token) > 10 && strings.Contains(fmt.Sprint(got), token) {
				t.Errorf("the answer repeats the token: %v", got)
			}
			known, unknown := c, c
			known.session, unknown.session = session, randomOf(base64url, len(session))
			for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
				same(t, shape(known.glimpse(t, method, "/mcp")), shape(unknown.glimpse(t, method, "/mcp")))
			}
			for _, path := range []string{"/sse", "/metrics"} {
				if got := c.glimpse(t, http.MethodGet, path); got.status != want {
					t.Errorf("%s is answered with %d", path, got.status)
				}
			}
		})
	}
	t.Run("a good one in other places", func(t *testing.T) {
		for where, change := range map[string]func(caller) caller{
			"as a password": func(c caller) caller {
				return c.withHeader("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("alice:"+s.alice.token)))
			},
			"without a scheme": func(c caller) caller { return c.withHeader("Authorization", s.alice.token) },
			"in a header of X": func(c caller) caller { return c.withHeader("X-Authorization", "Bearer "+s.alice.token) },
			"in a cookie":      func(c caller) caller { return c.withHeader("Cookie", "access_token="+s.alice.token) },
			"after another": func(c caller) caller {
				return c.withHeader("Authorization", "Bearer "+newToken()+", Bearer "+s.alice.token)
			},
			"quoted":             func(c caller) caller { return c.withHeader("Authorization", `Bearer "`+s.alice.token+`"`) },
			"with another after": func(c caller) caller { return c.withHeader("Authorization", "Bearer "+s.alice.token+" x") },
		} {
			if got := change(p.as(person{})).send(t, "tools/list", nil); got.status != http.StatusUnauthorized && got.status != http.StatusBadRequest {
				t.Errorf("%s: %d %s", where, got.status, got.body)
			}
		}
		if got := p.as(person{}).plain(t, http.MethodPost, "/mcp?access_token="+s.alice.token, `{}`); got.status/100 != 4 || strings.Contains(string(got.body), s.alice.token) {
			t.Errorf("in the URL: %d %s", got.status, got.body)
		}
	})
}

// TestATokenThatIsTakenOutOfTheConfiguration lets nobody in after a restart.
func TestATokenThatIsTakenOutOfTheConfiguration(t *testing.T) {
	t.Parallel()
	before, after := newPerson("alice"), newPerson("alice")
	store := "backend: state\nstore: file:" + t.TempDir() + "\n"
	p := start(t, options{config: configOf(store, before)})
	ref := p.as(before).write(t, "a.txt", "kept\n").ref
	p.stop(t)
	p = start(t, options{config: configOf(store, after)})
	if got := p.as(before).send(t, "tools/list", nil); got.status != http.StatusUnauthorized {
		t.Errorf("it is answered with %d", got.status)
	}
	if got := p.as(after).must(t, "read_file", args{"path": "a.txt"}); got.ref != ref || !strings.Contains(got.text, "kept") {
		t.Errorf("with the new one: %v", got)
	}
}

// TestTheLogSaysWhatIsWrongWithAToken, and has nothing of it.
func TestTheLogSaysWhatIsWrongWithAToken(t *testing.T) {
	t.Parallel()
	s := withOperator()
	p := start(t, s.options)
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(s.alice.token)))
	for token, want := range map[string]string{
		"sha256:" + hash:                     "it is the hash of a token of alice",
		s.alice.token[:len(s.alice.token)-5]: "it was cut",
		"${WORKSPACE_TOKEN}":                 "not replaced",
		newToken():                           "not in the configuration",
	} {
		got := p.as(person{token: token}).send(t, "tools/list", nil)
		eventually(t, fmt.Sprintf("the log says %q", want), func() bool {
			for line := range strings.Lines(p.log.String()) {
				if strings.Contains(line, `"a token was refused"`) && strings.Contains(line, want) && strings.Contains(line, got.header.Get("X-Request-Id")) {
					return true
				}
			}
			return false
		})
		if strings.Contains(p.log.String(), token) {
			t.Errorf("the log has the token %q", token)
		}
	}
	if strings.Contains(p.log.String(), hash) {
		t.Error("the log has the hash of a token")
	}
}
