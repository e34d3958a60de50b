package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	testResource = "https://mcp.example.com/mcp"
	testMetadata = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
)

// clock only moves when a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1_800_000_000, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// signingKey is a private key with its name.
type signingKey struct {
	id        string
	algorithm jose.SignatureAlgorithm
	private   crypto.Signer
}

func newKey(t testing.TB, id string, algorithm jose.SignatureAlgorithm) signingKey {
	t.Helper()
	var private crypto.Signer
	var err error
	switch algorithm {
	case jose.EdDSA:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	case jose.ES256:
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case jose.ES384:
		private, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case jose.ES512:
		private, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	default:
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	return signingKey{id, algorithm, private}
}

func (k signingKey) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.private.Public(), KeyID: k.id, Algorithm: string(k.algorithm), Use: "sig"}
}

// sign makes a JWT. The header has the key's name, and typ at+jwt unless
// header says otherwise; a header that is nil is left out.
func (k signingKey) sign(t testing.TB, claims any, header map[string]any) string {
	t.Helper()
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{"typ": "at+jwt", "kid": k.id}
	maps.Copy(all, header)
	options := &jose.SignerOptions{}
	for name, value := range all {
		if value != nil {
			options.WithHeader(jose.HeaderKey(name), value)
		}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.algorithm, Key: k.private}, options)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// issuer is an authorization server that only shows its metadata and its keys.
type issuer struct {
	*httptest.Server
	clock *clock

	mu   sync.Mutex
	keys []signingKey
	down bool
	held chan struct{} // while not nil, answers wait until it is closed

	asked    chan string // the path of each request, for tests that wait for one
	requests atomic.Int64
	keysRead atomic.Int64
}

func newIssuer(t testing.TB, keys ...signingKey) *issuer {
	i := &issuer{keys: keys, clock: newClock(), asked: make(chan string, 10_000)}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.requests.Add(1)
	i.asked <- r.URL.Path
	i.mu.Lock()
	keys, down, held := i.keys, i.down, i.held
	i.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
			return
		}
	}
	if down {
		http.Error(w, "a page of the proxy in front", http.StatusBadGateway)
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		writeJSON(w, map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/jwks"})
	case "/jwks":
		i.keysRead.Add(1)
		set := jose.JSONWebKeySet{}
		for _, key := range keys {
			set.Keys = append(set.Keys, key.public())
		}
		writeJSON(w, set)
	default:
		http.NotFound(w, r)
	}
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		panic(err)
	}
}

// claims are those of a good token for five minutes, with changes; a change to
// nil takes a claim out.
func (i *issuer) claims(changes map[string]any) map[string]any {
	claims := map[string]any{
		"iss": i.URL, "aud": testResource, "sub": "alice", "scope": "workspace",
		"iat": i.clock.Now().Unix(), "exp": i.clock.Now().Add(5 * time.Minute).Unix(),
	}
	for name, value := range changes {
		if value == nil {
			delete(claims, name)
		} else {
			claims[name] = value
		}
	}
	return claims
}

// syncBuffer is a log that the goroutines of a test share.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// authenticator takes tokens of the issuer, and one of the configuration, which
// it returns.
func (i *issuer) authenticator(t testing.TB, log io.Writer, changes ...func(*OAuth)) (*Authenticator, string) {
	t.Helper()
	if log == nil {
		log = io.Discard
	}
	oauth := &OAuth{Issuer: i.URL, Audience: testResource, Scopes: []string{"workspace"}}
	for _, change := range changes {
		change(oauth)
	}
	token, hash := NewToken()
	a, err := newAuthenticator(Config{
		Tokens: []Token{{Hash: mustHash(t, hash), Identity: "operator"}},
		OAuth:  oauth,
		Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}, i.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	return a, token
}

func mustHash(t testing.TB, text string) [32]byte {
	t.Helper()
	hash, err := ParseHash(text)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// request is one with this Authorization header.
func request(authorization ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
	if len(authorization) > 0 {
		r.Header["Authorization"] = authorization
	}
	return r
}

// refused checks one refusal.
func refused(t *testing.T, a *Authenticator, r *http.Request, status int, code string) {
	t.Helper()
	_ = refusalOf(t, a, r, status, code)
}

// refusalOf checks one refusal and returns it.
func refusalOf(t *testing.T, a *Authenticator, r *http.Request, status int, code string) *Error {
	t.Helper()
	identity, err := a.Authenticate(r)
	var refusal *Error
	if !errors.As(err, &refusal) {
		t.Fatalf("got %+v and the error %v; want a refusal", identity, err)
	}
	if refusal.Status() != status || refusal.Code() != code {
		t.Fatalf("got %d %q: %v; want %d %q", refusal.Status(), refusal.Code(), err, status, code)
	}
	if identity.Name != "" {
		t.Errorf("refused, and yet the identity is %+v", identity)
	}
	for _, value := range r.Header["Authorization"] {
		noPieceOf(t, value, refusal.Error(), refusal.Challenge())
	}
	return refusal
}

// noPieceOf fails when eight characters of a secret in a row are in a text.
func noPieceOf(t *testing.T, secret string, texts ...string) {
	t.Helper()
	const piece = 8
	scheme, token, _ := strings.Cut(secret, " ")
	if token == "" {
		token = scheme
	}
	for at := 0; at+piece <= len(token); at++ {
		for _, text := range texts {
			if part := token[at : at+piece]; strings.Contains(text, part) {
				t.Fatalf("%q has %q of what was sent", text, part)
			}
		}
	}
}

func accepted(t *testing.T, a *Authenticator, r *http.Request) Identity {
	t.Helper()
	identity, err := a.Authenticate(r)
	if err != nil {
		t.Fatal(err)
	}
	return identity
}
