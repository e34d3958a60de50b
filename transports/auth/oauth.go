package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// OAuth names the authorization server whose access tokens are taken, and what
// has to be in them.
type OAuth struct {
	// Issuer is the authorization server as its tokens have it in "iss", to the
	// letter: a final slash counts. It is an https URL, or an http one on a
	// loopback address. It is discovered by OpenID Connect Discovery 1.0, else
	// by RFC 8414, when the first token comes.
	Issuer string
	// Audience has to be in "aud" of each token. MCP clients ask for tokens for
	// the resource (RFC 8707), so it is mostly the same as Resource.
	Audience string
	// JWKSURL is where the issuer's keys are, for one that has no discovery.
	// The same schemes as for Issuer.
	JWKSURL string
	// Scopes have all to be in "scope" or "scp" of each token.
	Scopes []string
	// PrincipalClaim names who somebody is, "sub" if empty. It must be one that
	// people cannot choose for themselves, and that names one person for ever.
	PrincipalClaim string
	// Resource is the URL of this server's MCP endpoint as clients see it, or
	// of a path above it; the audience if empty.
	Resource string
	// MetadataURL is where clients find the protected resource metadata. If
	// empty it is where RFC 9728 has it, which is at the root of the host. A
	// server behind a proxy that only hands over what is under a path prefix
	// has it at /PREFIX/.well-known/oauth-protected-resource.
	MetadataURL string
	// HTTPClient reaches the issuer. Nil is one with the proxy settings of the
	// environment.
	HTTPClient *http.Client
}

// algorithms are the signatures that are taken: all that go-oidc knows, each
// made with a private key that the server need not have.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512,
	oidc.PS256, oidc.PS384, oidc.PS512,
	oidc.ES256, oidc.ES384, oidc.ES512,
	oidc.EdDSA,
}

// joseAlgorithms are the same in the type of go-jose.
var joseAlgorithms = func() []jose.SignatureAlgorithm {
	list := make([]jose.SignatureAlgorithm, len(algorithms))
	for i, name := range algorithms {
		list[i] = jose.SignatureAlgorithm(name)
	}
	return list
}()

// resourceServer judges the access tokens of one issuer.
type resourceServer struct {
	OAuth // with the defaults filled in

	metadataURL string
	refusal     refusals
	keys        *keyStore
	cache       cache
	now         func() time.Time
}

func newResourceServer(cfg OAuth, logger *slog.Logger, now func() time.Time) (*resourceServer, error) {
	issuer, err := checkURL("issuer", cfg.Issuer)
	if err != nil {
		return nil, err
	}
	if issuer.RawQuery != "" {
		return nil, errors.New("issuer has a query, which RFC 8414 does not allow")
	}
	if cfg.JWKSURL != "" {
		if _, err := checkURL("jwks-url", cfg.JWKSURL); err != nil {
			return nil, err
		}
	}
	if cfg.Audience == "" {
		return nil, errors.New("audience is missing: without it a token that the issuer made for any other service would be taken here")
	}
	if cfg.Resource == "" {
		cfg.Resource = cfg.Audience
	}
	resource, err := checkURL("resource", cfg.Resource)
	if err != nil {
		return nil, fmt.Errorf("%w; it is the URL of this server as clients see it, and the audience unless it is set", err)
	}
	if resource.RawQuery != "" {
		return nil, errors.New("resource has a query, which no URL of this server has")
	}
	if cfg.MetadataURL == "" {
		cfg.MetadataURL = metadataURL(resource)
	} else if _, err := checkURL("metadata URL", cfg.MetadataURL); err != nil {
		return nil, err
	}
	if cfg.PrincipalClaim == "" {
		cfg.PrincipalClaim = "sub"
	}
	for _, scope := range cfg.Scopes {
		if err := checkScope(scope); err != nil {
			return nil, err
		}
	}
	cfg.Scopes = slices.Clone(cfg.Scopes)
	source := &keySource{
		issuer:   issuer,
		name:     cfg.Issuer,
		explicit: cfg.JWKSURL,
		client:   secureClient(cfg.HTTPClient),
		now:      now,
	}
	return &resourceServer{
		OAuth:       cfg,
		metadataURL: cfg.MetadataURL,
		keys:        newKeyStore(source.fetch, now, logger.With("issuer", cfg.Issuer)),
		now:         now,
	}, nil
}

// checkURL takes https anywhere, and http where no network lies between: on a
// loopback address.
func checkURL(what, text string) (*url.URL, error) {
	if text == "" {
		return nil, fmt.Errorf("%s is missing", what)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return nil, fmt.Errorf("%s is %q, which is not an absolute URL like https://example.com/path", what, text)
	case u.User != nil:
		return nil, fmt.Errorf("%s has a user name or password in it", what)
	case strings.Contains(text, "#"):
		return nil, fmt.Errorf("%s is %q; a fragment (#) has no place there", what, text)
	case !secureURL(u):
		return nil, fmt.Errorf("%s is %q; it has to be https, or http on a loopback address", what, text)
	}
	return u, nil
}

func secureURL(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// checkScope follows the grammar of RFC 6749, section 3.3.
func checkScope(scope string) error {
	if scope == "offline_access" {
		// The MCP specification, under "Refresh Tokens".
		return errors.New("scope offline_access is not one that a server needs: it gives the client a refresh token, and is not in access tokens")
	}
	bad := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }
	if scope == "" || strings.ContainsFunc(scope, bad) {
		return fmt.Errorf("scope %q is empty or has a space, a quote, a backslash or a character beyond ASCII; scopes are a list, each one an entry", scope)
	}
	return nil
}

// authenticate judges an access token. hash is the token's.
func (s *resourceServer) authenticate(ctx context.Context, token string, hash [sha256.Size]byte) (Identity, error) {
	now := s.now()
	if identity, ok := s.cache.get(hash, s.keys.generation(), now); ok {
		return identity, nil
	}
	parsed, problem := s.parse(token, now)
	if problem != "" {
		return Identity{}, s.refusal.token(problem)
	}
	keys, err := s.verify(ctx, parsed)
	if err != nil {
		return Identity{}, err
	}
	// Only now is anything in the token known to be the issuer's word.
	subject, problem := parsed.claims.name(s.PrincipalClaim)
	if problem != "" {
		return Identity{}, s.refusal.token("the access token does not say whose it is: the claim " + s.PrincipalClaim + " " + problem)
	}
	scopes, ok := parsed.claims.scopes()
	if !ok {
		return Identity{}, s.refusal.token("the access token's scopes are neither a text nor a list of texts")
	}
	for _, needed := range s.Scopes {
		if !slices.Contains(scopes, needed) {
			return Identity{}, s.refusal.scope()
		}
	}
	identity := Identity{Name: oauthPrefix + subject, OAuth: true, Issuer: s.Issuer, Subject: subject, Scopes: scopes}
	until := now.Add(cachedFor)
	if parsed.claims.expires.Before(until) {
		until = parsed.claims.expires
	}
	s.cache.put(hash, cached{identity: identity, until: until, generation: keys.generation}, now)
	return identity, nil
}
