package auth

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// maxName is the longest name of an identity in bytes, and the longest
	// principal claim: OpenID Connect bounds "sub" to the same.
	maxName = 255

	// oauthPrefix begins the names of identities that a token of the
	// authorization server names, and of no other.
	oauthPrefix = "oauth:"
)

// Identity is who a request comes from.
type Identity struct {
	// Name is that of the token in the configuration, or "oauth:" and the
	// principal claim of an access token. The two never meet.
	Name string
	// OAuth is true for an access token. Issuer, Subject and Scopes are set for
	// it alone.
	OAuth  bool
	Issuer string
	// Subject is the value of the principal claim, which is "sub" unless the
	// configuration names another.
	Subject string
	// Scopes are all those of the token, not only the required ones. They are
	// shared by requests and must not be changed.
	Scopes []string
}

// Config says whose requests are answered. It needs at least one token or an
// authorization server.
type Config struct {
	Tokens []Token
	OAuth  *OAuth // nil without an authorization server
	// Logger is told when the authorization server cannot be reached, and when
	// it can be again. Nil is slog.Default().
	Logger *slog.Logger
}

// Authenticator finds the identity of requests. It is safe for concurrent use.
type Authenticator struct {
	tokens  tokenTable
	oauth   *resourceServer // nil without OAuth
	refusal refusals
}

// New checks the configuration. It reaches for nothing over the network: an
// authorization server that is away is noticed by the first request that
// brings one of its tokens.
func New(cfg Config) (*Authenticator, error) {
	return newAuthenticator(cfg, time.Now)
}

func newAuthenticator(cfg Config, now func() time.Time) (*Authenticator, error) {
	if len(cfg.Tokens) == 0 && cfg.OAuth == nil {
		return nil, errors.New("nobody can be authenticated: the configuration has neither tokens nor oauth")
	}
	tokens, err := newTokenTable(cfg.Tokens)
	if err != nil {
		return nil, err
	}
	a := &Authenticator{tokens: tokens}
	if cfg.OAuth != nil {
		logger := cfg.Logger
		if logger == nil {
			logger = slog.Default()
		}
		if a.oauth, err = newResourceServer(*cfg.OAuth, logger, now); err != nil {
			return nil, fmt.Errorf("oauth: %w", err)
		}
		a.refusal = refusals{scopes: a.oauth.Scopes, metadata: a.oauth.metadataURL}
		a.oauth.refusal = a.refusal
	}
	return a, nil
}

// Authenticate finds the identity of a request. Every error it returns is an
// [*Error].
//
// A token of the configuration costs no allocation. An access token costs a
// signature the first time; the answer is kept for at most a minute. The first
// access token, and one signed with a key that is not known yet, waits for the
// authorization server, or until the request's context is over.
func (a *Authenticator) Authenticate(r *http.Request) (Identity, error) {
	if queryHasToken(r.URL.RawQuery) {
		return Identity{}, a.refusal.request("a token must not be in the URL: send it in the header \"Authorization: Bearer TOKEN\"" +
			", and replace this one, since URLs are logged")
	}
	token, problem := bearer(r.Header)
	switch problem {
	case noCredentials:
		return Identity{}, a.refusal.nothing()
	case malformedToken:
		return Identity{}, a.unknown(token)
	case "":
	default:
		return Identity{}, a.refusal.request(problem)
	}
	hash := sum(token)
	// By hash first, whatever it looks like: a token of the configuration may
	// well have the shape of a JWT.
	if identity, ok := a.tokens.find(&hash); ok {
		return identity, nil
	}
	if a.oauth != nil && hasJWTShape(token) {
		return a.oauth.authenticate(r.Context(), token, hash)
	}
	return Identity{}, a.unknown(token)
}

// unknown refuses a token that is none of the configuration's: every one in the
// same words, so that nobody learns how near a guess was.
func (a *Authenticator) unknown(token string) *Error {
	err := a.refusal.token("the token is not one of this server's: send the one that mcp-workspace token has printed, and not its hash, " +
		"in full, without quotes, and with no variable left in it; if it is that, it was withdrawn")
	err.hint = a.mistake(token)
	return err
}

// Metadata answers with the OAuth protected resource metadata of RFC 9728. It
// is nil without OAuth. It is served without authentication at
// /.well-known/oauth-protected-resource and below, and itself answers 404 for
// what is the metadata of another resource.
func (a *Authenticator) Metadata() http.Handler {
	if a.oauth == nil {
		return nil
	}
	return newMetadata(&a.oauth.OAuth)
}

// sum hashes a token. Short ones, which are all that NewToken makes, are
// copied to the stack first.
func sum(token string) [sha256.Size]byte {
	var short [128]byte
	if len(token) > len(short) {
		return sha256.Sum256([]byte(token))
	}
	return sha256.Sum256(short[:copy(short[:], token)])
}

// checkName says what is wrong with the name of an identity, or nothing. Names
// are shown in logs and kept as labels, so a letter that cannot be seen, or
// turns the text around it, is refused as a control character is.
func checkName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxName:
		return fmt.Sprintf("is longer than %d bytes", maxName)
	case !utf8.ValidString(name):
		return "is not UTF-8"
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return "has a character that cannot be printed"
		}
	}
	return ""
}
