package auth

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// clockSkew is how far ahead of ours the issuer's clock may be.
const clockSkew = time.Minute

// accessToken is a JWT that has been taken apart. Nothing in it is known to be
// true before its signature is.
type accessToken struct {
	raw    string
	jws    *jose.JSONWebSignature
	claims claims
}

// parse takes a token apart and checks all that needs no key. What fails here
// never makes the server ask the issuer for keys.
func (s *resourceServer) parse(token string, now time.Time) (accessToken, string) {
	jws, err := jose.ParseSignedCompact(token, joseAlgorithms)
	var algorithm *jose.ErrUnexpectedSignatureAlgorithm
	switch {
	case errors.As(err, &algorithm):
		return accessToken{}, "the access token is not signed with an algorithm that is taken here: " + strings.Join(algorithms, ", ")
	case err != nil || len(jws.Signatures) != 1:
		return accessToken{}, "the access token is not a signed JWT"
	}
	if !typeTaken(jws.Signatures[0].Protected) {
		return accessToken{}, "the JWT is of another kind than an access token: its type (typ) has to be at+jwt or JWT"
	}
	claims, ok := parseClaims(jws.UnsafePayloadWithoutVerification())
	switch {
	case !ok:
		return accessToken{}, "the access token's claims cannot be read"
	case claims.issuer != s.Issuer:
		return accessToken{}, "the access token comes from another issuer than " + s.Issuer
	case !slices.Contains(claims.audience, s.Audience):
		return accessToken{}, "the access token is for another audience than " + s.Audience
	case claims.expires.IsZero():
		return accessToken{}, "the access token does not say when it expires"
	case !now.Before(claims.expires):
		return accessToken{}, "the access token has expired"
	case claims.notBefore.After(now.Add(clockSkew)):
		return accessToken{}, "the access token is not valid yet"
	case claims.isIDToken():
		return accessToken{}, "this is an ID token, which tells a client who its user is; send the access token that came with it"
	case claims.has("cnf"):
		// Anyone may send a bearer token; whoever bound this one to a key wanted
		// that prevented, and the proof is not checked here.
		return accessToken{}, "the access token is bound to a key of its client (DPoP or mutual TLS), which is not checked here: ask for a plain bearer token"
	}
	return accessToken{raw: token, jws: jws, claims: claims}, ""
}

// typeTaken reads "typ" of the header: "at+jwt" by RFC 9068, "JWT" by most
// issuers, absent by some. A JWT made for something else, such as a logout
// token, says so there.
func typeTaken(header jose.Header) bool {
	value, ok := header.ExtraHeaders[jose.HeaderType]
	if !ok {
		return true
	}
	text, ok := value.(string)
	if !ok {
		return false
	}
	text = strings.ToLower(text)
	text = strings.TrimPrefix(text, "application/")
	return text == "at+jwt" || text == "jwt"
}

// verify checks the signature, and with go-oidc all the rest once more, with
// the keys that are known; and when they do not fit, with newer ones if there
// may be any. It returns those that fitted.
func (s *resourceServer) verify(ctx context.Context, token accessToken) (*keySet, error) {
	keys, wait, err := s.keys.get(ctx)
	if err != nil {
		return nil, s.refusal.unavailable(wait)
	}
	signed, ok := s.verifyWith(ctx, token, keys)
	if !signed {
		newer, wait, err := s.keys.newer(ctx, keys)
		if err != nil {
			return nil, s.refusal.unavailable(wait)
		}
		if newer != nil {
			keys = newer
			signed, ok = s.verifyWith(ctx, token, keys)
		}
	}
	switch {
	case !signed:
		return nil, s.refusal.token("the access token is not signed with a key that its issuer has now")
	case !ok:
		return nil, s.refusal.token("the access token is not valid")
	}
	return keys, nil
}

func (s *resourceServer) verifyWith(ctx context.Context, token accessToken, keys *keySet) (signed, ok bool) {
	attempt := &attempt{token: token, keys: keys}
	verifier := oidc.NewVerifier(s.Issuer, attempt, &oidc.Config{
		ClientID:             s.Audience,
		SupportedSigningAlgs: algorithms,
		Now:                  s.now,
	})
	_, err := verifier.Verify(ctx, token.raw) // its text quotes the claims, so it goes no further
	return attempt.signed, err == nil
}

// attempt is the oidc.KeySet of one token and one state of the keys, and keeps
// whether it was the signature that failed.
type attempt struct {
	token  accessToken
	keys   *keySet
	signed bool
}

var _ oidc.KeySet = (*attempt)(nil)

var errSignature = errors.New("no key fits the signature")

// VerifySignature is called with the text that the token was parsed from.
func (a *attempt) VerifySignature(_ context.Context, raw string) ([]byte, error) {
	if raw != a.token.raw {
		return nil, errSignature
	}
	payload, ok := a.keys.verify(a.token.jws)
	if !ok {
		return nil, errSignature
	}
	a.signed = true
	return payload, nil
}
