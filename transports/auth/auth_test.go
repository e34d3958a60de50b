package auth

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// static takes two tokens of the configuration and knows no issuer.
func static(t testing.TB) (a *Authenticator, alice, bob string) {
	t.Helper()
	alice, hashA := NewToken()
	bob, hashB := NewToken()
	a, err := New(Config{Tokens: []Token{{mustHash(t, hashA), "alice"}, {mustHash(t, hashB), "bob"}}})
	if err != nil {
		t.Fatal(err)
	}
	return a, alice, bob
}

func TestTokenNamesItsIdentity(t *testing.T) {
	a, alice, bob := static(t)
	for token, want := range map[string]string{alice: "alice", bob: "bob"} {
		identity := accepted(t, a, request("bearer "+token))
		if identity.Name != want || identity.OAuth || identity.Issuer != "" || identity.Subject != "" || identity.Scopes != nil {
			t.Errorf("got %+v; want %q", identity, want)
		}
	}
	if a.Metadata() != nil {
		t.Error("there is OAuth metadata without OAuth")
	}
}

func TestRefusalsWithoutOAuth(t *testing.T) {
	a, alice, _ := static(t)
	inURL := request("Bearer " + alice)
	inURL.URL.RawQuery = "access_token=" + alice
	other, _ := NewToken()
	const described = `Bearer realm="mcp-workspace", error="%s", error_description="%s"`
	for name, test := range map[string]struct {
		request   *http.Request
		status    int
		code      string
		text      string
		challenge string // the whole one, where it has no description
	}{
		"no credentials":                  {request(), 401, "", "needs authentication", `Bearer realm="mcp-workspace"`},
		"another scheme":                  {request("Basic YWxpY2U6c2VjcmV0"), 401, "", "needs authentication", `Bearer realm="mcp-workspace"`},
		"a token of nobody":               {request("Bearer " + other), 401, "invalid_token", "not one of this server's", ""},
		"a letter too many":               {request("Bearer " + alice + "x"), 401, "invalid_token", "not one of this server's", ""},
		"a letter too few":                {request("Bearer " + alice[:len(alice)-1]), 401, "invalid_token", "not one of this server's", ""},
		"a token without its prefix":      {request("Bearer " + alice[len(TokenPrefix):]), 401, "invalid_token", "not one of this server's", ""},
		"a JWT where there is no issuer":  {request("Bearer aaaaaaaaa.bbbbbbbbb.ccccccccc"), 401, "invalid_token", "not one of this server's", ""},
		"a token in quotes":               {request(`Bearer "` + alice + `"`), 401, "invalid_token", "not one of this server's", ""},
		"two headers":                     {request("Bearer "+alice, "Bearer "+alice), 400, "invalid_request", "more than one Authorization header", ""},
		"no token after the scheme":       {request("Bearer"), 400, "invalid_request", "no token after it", ""},
		"a header of 20 KiB":              {request("Bearer " + strings.Repeat("abcdefgh", 20<<7)), 400, "invalid_request", "longer than 16 KiB", ""},
		"a token in the URL, even so":     {inURL, 400, "invalid_request", `send it in the header "Authorization: Bearer TOKEN"`, ""},
		"the hash in place of the token":  {request(fmt.Sprintf("Bearer %x", a.tokens.hashes[0])), 401, "invalid_token", "not one of this server's", ""},
		"the hash as it is in the config": {request(fmt.Sprintf("Bearer sha256:%x", a.tokens.hashes[0])), 401, "invalid_token", "not one of this server's", ""},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := refusalOf(t, a, test.request, test.status, test.code)
			if !strings.Contains(refusal.Error(), test.text) {
				t.Errorf("got %q; want %q in it", refusal, test.text)
			}
			want := test.challenge
			if want == "" {
				want = fmt.Sprintf(described, test.code, strings.ReplaceAll(refusal.Error(), `"`, `'`))
			}
			if refusal.Challenge() != want {
				t.Errorf("the challenge is\n%s; want\n%s", refusal.Challenge(), want)
			}
			if refusal.RetryAfter() != 0 {
				t.Errorf("to be tried again after %v", refusal.RetryAfter())
			}
		})
	}
}

// TestWrongTokensAreAnsweredAlike, and told apart only to whoever runs the server.
func TestWrongTokensAreAnsweredAlike(t *testing.T) {
	a, alice, _ := static(t)
	other, _ := NewToken()
	echoed, _ := NewToken()
	a.tokens.hashes = append(a.tokens.hashes, sum(echoed+"\n"))
	a.tokens.identities = append(a.tokens.identities, Identity{Name: "carol"})
	answer := refusalOf(t, a, request("Bearer "+other), 401, "invalid_token")
	for token, hint := range map[string]string{
		other:                                "is not in the configuration",
		alice + "x":                          "has 50 characters and not 49",
		alice[:len(alice)-1]:                 "has 48 characters and not 49",
		alice[len(TokenPrefix):]:             "nothing that mcp-workspace token makes",
		fmt.Sprintf("%x", sum(alice)):        "the hash of a token of alice",
		fmt.Sprintf("sha256:%x", sum(alice)): "the hash of a token of alice",
		fmt.Sprintf("sha256:%x", sum(other)): "of no token there",
		echoed:                               "printf %s",
		`"` + alice + `"`:                    "a token of alice in quotes",
		"'" + alice + "'":                    "a token of alice in quotes",
		"${TOKEN}":                           "not replaced",
		"%TOKEN%":                            "not replaced",
		"aaaaaaaaa.bbbbbbbbb.ccccccccc":      "names no issuer",
		"swordfish":                          "nothing that mcp-workspace token makes",
		alice + " " + alice:                  "has 99 characters",
	} {
		refusal := refusalOf(t, a, request("Bearer "+token), 401, "invalid_token")
		if refusal.Error() != answer.Error() || refusal.Challenge() != answer.Challenge() {
			t.Errorf("%s is answered with %q and %s", token, refusal, refusal.Challenge())
		}
		if !strings.Contains(refusal.Hint(), hint) || strings.Contains(refusal.Hint(), token) {
			t.Errorf("%s: the hint is %q, without %q", token, refusal.Hint(), hint)
		}
	}
}

func TestChallengeLeadsToTheAuthorizationServer(t *testing.T) {
	i := newIssuer(t, newKey(t, "a", jose.EdDSA))
	a, _ := i.authenticator(t, nil, func(o *OAuth) { o.Scopes = []string{"workspace", "files:read"} })
	const guide = `scope="workspace files:read", resource_metadata="` + testMetadata + `"`

	refusal := refusalOf(t, a, request(), 401, "")
	if want := "Bearer " + guide; refusal.Challenge() != want {
		t.Errorf("without credentials:\n%s; want\n%s", refusal.Challenge(), want)
	}
	if !strings.Contains(refusal.Error(), testMetadata) {
		t.Errorf("got %q; want %s in it", refusal, testMetadata)
	}
	refusal = refusalOf(t, a, request("Bearer mcpws_nobodys"), 401, "invalid_token")
	if want := `Bearer error="invalid_token", error_description="` + refusal.Error() + `", ` + guide; refusal.Challenge() != want {
		t.Errorf("with a wrong token:\n%s; want\n%s", refusal.Challenge(), want)
	}
	if n := i.requests.Load(); n != 0 {
		t.Errorf("the issuer was asked %d times", n)
	}
}

func TestTokenOfTheConfigurationMayLookLikeAJWT(t *testing.T) {
	i := newIssuer(t, newKey(t, "a", jose.EdDSA))
	token := i.keys[0].sign(t, i.claims(map[string]any{"sub": "mallory"}), nil)
	a, err := newAuthenticator(Config{
		Tokens: []Token{{Hash: sum(token), Identity: "robot"}},
		OAuth:  &OAuth{Issuer: i.URL, Audience: testResource},
	}, i.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	if identity := accepted(t, a, request("Bearer "+token)); identity.Name != "robot" || identity.OAuth {
		t.Errorf("got %+v; want robot", identity)
	}
	other := i.keys[0].sign(t, i.claims(nil), nil)
	if identity := accepted(t, a, request("Bearer "+other)); identity.Name != "oauth:alice" || !identity.OAuth {
		t.Errorf("got %+v; want oauth:alice", identity)
	}
}

func TestTokenCostsNoAllocation(t *testing.T) {
	a, alice, _ := static(t)
	r := request("Bearer " + alice)
	r.URL.RawQuery = "sessionId=0123456789"
	if n := testing.AllocsPerRun(100, func() { accepted(t, a, r) }); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}

func BenchmarkToken(b *testing.B) {
	for _, count := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			var tokens []Token
			var last string
			for n := range count {
				token, hash := NewToken()
				tokens = append(tokens, Token{mustHash(b, hash), fmt.Sprint("user-", n)})
				last = token
			}
			a, err := New(Config{Tokens: tokens})
			if err != nil {
				b.Fatal(err)
			}
			benchmark(b, a, last)
		})
	}
}

// BenchmarkAccessToken is one that was seen within the last minute.
func BenchmarkAccessToken(b *testing.B) {
	i := newIssuer(b, newKey(b, "a", jose.RS256))
	a, _ := i.authenticator(b, nil)
	benchmark(b, a, i.keys[0].sign(b, i.claims(nil), nil))
}

// BenchmarkNewAccessToken is one that was not.
func BenchmarkNewAccessToken(b *testing.B) {
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA} {
		b.Run(string(algorithm), func(b *testing.B) {
			i := newIssuer(b, newKey(b, "a", algorithm))
			a, _ := i.authenticator(b, nil)
			token := i.keys[0].sign(b, i.claims(nil), nil)
			hash := sum(token)
			b.ReportAllocs()
			for b.Loop() {
				a.oauth.cache.entries = nil
				if _, err := a.oauth.authenticate(b.Context(), token, hash); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchmark(b *testing.B, a *Authenticator, token string) {
	r := httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+token)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Authenticate(r); err != nil {
			b.Fatal(err)
		}
	}
}
