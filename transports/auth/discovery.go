package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// maxDocument bounds what an issuer may answer, in bytes.
	maxDocument = 1 << 20
	// maxKeys bounds the keys of an issuer: a token that names none is tried
	// with each.
	maxKeys = 32
	// minRSABits is from RFC 7518, section 3.3.
	minRSABits = 2048
	// discoveredFor is how long the address of the keys counts.
	discoveredFor = time.Hour
	// maxRedirects is more than an issuer needs.
	maxRedirects = 3
)

// keySource gets the keys of one issuer. It is used by one goroutine at a time.
type keySource struct {
	issuer   *url.URL
	name     string // the issuer to the letter
	explicit string // the address of the keys, "" to discover it
	client   *http.Client
	now      func() time.Time

	found   string // by discovery
	foundAt time.Time
}

// secureClient is the client with no way from https to a plain connection.
func secureClient(client *http.Client) *http.Client {
	if client == nil {
		client = &http.Client{}
	}
	secure := *client
	secure.Jar = nil
	secure.CheckRedirect = func(to *http.Request, via []*http.Request) error {
		switch {
		case len(via) > maxRedirects:
			return errors.New("redirected too often")
		case to.URL.Scheme != "https" && (to.URL.Scheme != via[0].URL.Scheme || !secureURL(to.URL)):
			return errors.New("redirected to an address that is not https")
		}
		return nil
	}
	return &secure
}

// fetch gets the keys, and finds out first where they are.
func (s *keySource) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	if s.explicit != "" {
		return s.keys(ctx, s.explicit)
	}
	if s.found != "" && s.now().Sub(s.foundAt) < discoveredFor {
		keys, err := s.keys(ctx, s.found)
		if err == nil {
			return keys, nil
		}
		s.found = "" // it may have moved: the next fetch finds out
		return nil, err
	}
	address, err := s.discover(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := s.keys(ctx, address)
	if err != nil {
		return nil, err
	}
	s.found, s.foundAt = address, s.now()
	return keys, nil
}

// discover reads the issuer's metadata where OpenID Connect Discovery 1.0 has
// it, else where RFC 8414 has it.
func (s *keySource) discover(ctx context.Context) (string, error) {
	root := (&url.URL{Scheme: s.issuer.Scheme, Host: s.issuer.Host}).String()
	path := strings.TrimSuffix(s.issuer.EscapedPath(), "/")
	addresses := []string{
		root + path + "/.well-known/openid-configuration",
		root + "/.well-known/oauth-authorization-server" + path,
	}
	if path != "" {
		addresses = append(addresses, root+"/.well-known/openid-configuration"+path)
	}
	var failures []error
	for _, address := range addresses {
		keys, err := s.discoverAt(ctx, address)
		if err == nil {
			return keys, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return "", errors.Join(failures...)
}

func (s *keySource) discoverAt(ctx context.Context, address string) (string, error) {
	var document struct {
		Issuer string `json:"issuer"`
		JWKS   string `json:"jwks_uri"`
	}
	if err := s.get(ctx, address, &document); err != nil {
		return "", err
	}
	// RFC 8414, section 3.3: a document that speaks for another issuer is not
	// to be used.
	if document.Issuer != s.name {
		return "", fmt.Errorf("%s is the metadata of the issuer %q, and the configuration has %q: they must be the same to the letter", address, document.Issuer, s.name)
	}
	keys, err := checkURL("jwks_uri", document.JWKS)
	if err != nil {
		return "", fmt.Errorf("%s: %w", address, err)
	}
	if keys.Scheme != "https" && s.issuer.Scheme == "https" {
		return "", fmt.Errorf("%s: jwks_uri is %q; it has to be https as the issuer is", address, document.JWKS)
	}
	return document.JWKS, nil
}

// keys gets a JWK set and keeps what can verify a signature. A key that cannot
// be read is passed over, as RFC 7517, section 5, wants it.
func (s *keySource) keys(ctx context.Context, address string) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := s.get(ctx, address, &set); err != nil {
		return nil, err
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && verifies(&key) {
			keys = append(keys, key)
		}
	}
	switch {
	case len(keys) == 0:
		return nil, fmt.Errorf("%s has no key to check signatures with, of %d", address, len(set.Keys))
	case len(keys) > maxKeys:
		return nil, fmt.Errorf("%s has %d keys, more than the %d that are taken", address, len(keys), maxKeys)
	}
	return keys, nil
}

func verifies(key *jose.JSONWebKey) bool {
	if !key.Valid() || key.Use != "" && key.Use != "sig" {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		if public.N.BitLen() < minRSABits {
			return false
		}
	case *ecdsa.PublicKey, ed25519.PublicKey:
	default: // a private key or a shared secret, which the issuer should not show
		return false
	}
	return key.Algorithm == "" || slices.Contains(algorithms, key.Algorithm)
}

func (s *keySource) get(ctx context.Context, address string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return err // names the address
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", address, response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	switch {
	case err != nil:
		return fmt.Errorf("reading %s: %w", address, err)
	case len(body) > maxDocument:
		return fmt.Errorf("%s answers more than %d bytes", address, maxDocument)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s is not what it should be: %w", address, err)
	}
	return nil
}
