package auth

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// startProvider starts oidc-provider, an authorization server that is certified
// for OpenID Connect, and returns its issuer URL.
func startProvider(t *testing.T) string {
	t.Helper()
	modules, err := testenv.NodeModules("transports/auth/testdata/issuer")
	if err != nil {
		t.Fatal(err)
	}
	if modules == "" {
		testenv.Missing(t, "the npm package oidc-provider")
	}
	node := testenv.Node(modules)
	if node == "" { // the lock file has it for Linux only
		if node, err = exec.LookPath("node"); err != nil {
			testenv.Missing(t, "Node.js")
		}
	}
	cmd := exec.Command(node, "testdata/issuer/issuer.mjs", modules)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe() // it ends when this is closed
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		defer limit.Stop()
		if err := stdin.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("oidc-provider ended with: %v\n%s", err, stderr.String())
		}
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	var ready struct{ Issuer string }
	if err != nil || json.Unmarshal(line, &ready) != nil || ready.Issuer == "" {
		t.Fatalf("oidc-provider does not start: %v: %s", err, line)
	}
	return ready.Issuer
}

// providerToken asks for one by client credentials.
func providerToken(t *testing.T, issuer, client, resource, scope, dpop string) string {
	t.Helper()
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {client},
		"client_secret": {"a secret of the tests alone"}, "scope": {scope},
	}
	if resource != "" {
		form.Set("resource", resource)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, issuer+"/token", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if dpop != "" {
		r.Header.Set("DPoP", dpop)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		AccessToken      string `json:"access_token"`
		Error            string `json:"error"`
		ErrorDescription string `json:"error_description"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.AccessToken == "" {
		t.Fatalf("no access token: %s, %v, %s: %s", response.Status, err, answer.Error, answer.ErrorDescription)
	}
	return answer.AccessToken
}

func TestRealAuthorizationServer(t *testing.T) {
	issuer := startProvider(t)
	a, err := New(Config{OAuth: &OAuth{Issuer: issuer, Audience: testResource, Scopes: []string{"workspace"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, algorithm := range []string{"RS256", "PS256", "ES256", "EdDSA"} {
		t.Run("a token signed with "+algorithm, func(t *testing.T) {
			client := "agent-" + algorithm
			token := providerToken(t, issuer, client, testResource, "workspace admin", "")
			for range 2 { // the second time it is remembered
				identity := accepted(t, a, request("Bearer "+token))
				if identity.Name != "oauth:"+client || identity.Subject != client || identity.Issuer != issuer ||
					fmt.Sprint(identity.Scopes) != "[workspace admin]" {
					t.Errorf("got %+v", identity)
				}
			}
		})
	}
	for name, test := range map[string]struct {
		token  string
		status int
		code   string
		text   string
	}{
		"for another resource":          {providerToken(t, issuer, "agent-ES256", "https://other.example.com/mcp", "workspace", ""), 401, "invalid_token", "another audience"},
		"without the scope":             {providerToken(t, issuer, "agent-ES256", testResource, "admin", ""), 403, "insufficient_scope", "lacks a scope"},
		"opaque, for no resource":       {providerToken(t, issuer, "agent-ES256", "", "", ""), 401, "invalid_token", "not one of this server's"},
		"bound to a key of its client":  {providerToken(t, issuer, "agent-ES256", testResource, "workspace", dpopProof(t, issuer)), 401, "invalid_token", "bound to a key"},
		"the proof in place of a token": {dpopProof(t, issuer), 401, "invalid_token", "another kind than an access token"},
	} {
		t.Run(name, func(t *testing.T) {
			if refusal := refusalOf(t, a, request("Bearer "+test.token), test.status, test.code); !strings.Contains(refusal.Error(), test.text) {
				t.Errorf("got %q; want %q", refusal, test.text)
			}
		})
	}
}

func TestAnotherAuthorizationServerOfTheSameKind(t *testing.T) {
	ours, theirs := startProvider(t), startProvider(t)
	a, err := New(Config{OAuth: &OAuth{Issuer: ours, Audience: testResource}})
	if err != nil {
		t.Fatal(err)
	}
	accepted(t, a, request("Bearer "+providerToken(t, ours, "agent-EdDSA", testResource, "workspace", "")))
	refused(t, a, request("Bearer "+providerToken(t, theirs, "agent-EdDSA", testResource, "workspace", "")), 401, "invalid_token")

	// The keys of one, and the name of the other.
	a, err = New(Config{OAuth: &OAuth{Issuer: ours, Audience: testResource, JWKSURL: theirs + "/jwks"}})
	if err != nil {
		t.Fatal(err)
	}
	refused(t, a, request("Bearer "+providerToken(t, ours, "agent-EdDSA", testResource, "workspace", "")), 401, "invalid_token")
}

// TestClientFindsTheAuthorizationServer takes mcp-go's client, which stands for
// all others, from the refusal to the token endpoint, and back with a token.
func TestClientFindsTheAuthorizationServer(t *testing.T) {
	issuer := startProvider(t)
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	resource := server.URL + "/team/mcp"
	a, err := New(Config{OAuth: &OAuth{Issuer: issuer, Audience: resource, Scopes: []string{"workspace"}}})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/.well-known/", a.Metadata())
	mux.HandleFunc("/team/mcp", func(w http.ResponseWriter, r *http.Request) {
		identity, err := a.Authenticate(r)
		var refusal *Error
		if errors.As(err, &refusal) {
			w.Header().Set("WWW-Authenticate", refusal.Challenge())
			http.Error(w, refusal.Error(), refusal.Status())
			return
		}
		writeJSON(w, identity)
	})
	get := func(token string, use func(*http.Response)) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, resource, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		use(response)
	}

	for name, token := range map[string]string{"without a token": "", "with a wrong one": "mcpws_nobodys"} {
		client := transport.NewOAuthHandler(transport.OAuthConfig{})
		client.SetBaseURL(resource)
		get(token, func(response *http.Response) {
			if response.StatusCode != http.StatusUnauthorized {
				t.Fatalf("%s: %s", name, response.Status)
			}
			client.HandleUnauthorizedResponse(response)
		})
		found, err := client.GetServerMetadata(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if found.Issuer != issuer || found.TokenEndpoint != issuer+"/token" {
			t.Errorf("%s: found %+v; want %s", name, found, issuer)
		}
	}
	get(providerToken(t, issuer, "agent-ES256", resource, "workspace", ""), func(response *http.Response) {
		var identity Identity
		if err := json.NewDecoder(response.Body).Decode(&identity); err != nil || identity.Name != "oauth:agent-ES256" {
			t.Errorf("%s: %v, %+v", response.Status, err, identity)
		}
	})
}

// dpopProof is what a client sends that wants its token bound to its key
// (RFC 9449, section 4.2).
func dpopProof(t *testing.T, issuer string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: newKey(t, "", jose.ES256).private},
		(&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt"))
	if err != nil {
		t.Fatal(err)
	}
	claims, err := json.Marshal(map[string]any{"htm": "POST", "htu": issuer + "/token", "iat": time.Now().Unix(), "jti": rand.Text()})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return proof
}
