package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/mcp-workspace/mcp-workspace/transports"
	"github.com/mcp-workspace/mcp-workspace/transports/auth"
)

// authenticator knows the tokens of the configuration; nil lets everybody in.
func (s *settings) authenticator(f *serveFlags) (*auth.Authenticator, error) {
	if f.noAuth {
		return nil, nil
	}
	cfg := auth.Config{Logger: s.logger()}
	for _, p := range s.serve.principals {
		for _, hash := range p.tokens {
			sum, err := auth.ParseHash(hash)
			if err != nil {
				return nil, s.wrongPrincipal(p, err)
			}
			cfg.Tokens = append(cfg.Tokens, auth.Token{Hash: sum, Identity: p.name})
		}
	}
	if o := s.serve.oauth; o.issuer != "" {
		// The root is the resource: it has to be the URL of the endpoint that a
		// client uses, /mcp or /sse, or be above it.
		resource := strings.TrimSuffix(f.publicURL, "/")
		cfg.OAuth = &auth.OAuth{Issuer: o.issuer, Audience: o.audience, JWKSURL: o.jwksURL, PrincipalClaim: o.claim, Scopes: o.scopes, Resource: resource}
		if o.audience == "" {
			cfg.OAuth.Audience = resource
		}
		if u, err := url.Parse(resource); err == nil && u.Path != "" {
			// A proxy hands over what is under the prefix, and little else.
			cfg.OAuth.MetadataURL = resource + "/.well-known/oauth-protected-resource"
		}
	}
	a, err := auth.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("who may come in: %w", err)
	}
	return a, nil
}

// client finds who a request comes from.
func (v *service) client(a *auth.Authenticator, all tenants) func(*http.Request) (*transports.Client, error) {
	if a == nil {
		t := all.of(everybody)
		only := &transports.Client{Server: t.server, Operator: true}
		return func(*http.Request) (*transports.Client, error) { return only, nil }
	}
	subjects := map[string]string{}
	for _, p := range v.settings.serve.principals {
		for _, subject := range p.subjects {
			subjects[subject] = p.name
		}
	}
	refused := rate.Sometimes{First: refusedAtOnce, Interval: refusedEvery}
	return func(r *http.Request) (*transports.Client, error) {
		who, err := a.Authenticate(r)
		if err != nil {
			refused.Do(func() { v.logRefused(r, err) })
			return nil, err
		}
		name := who.Name
		if who.OAuth {
			if mapped, ok := subjects[who.Subject]; ok {
				name = mapped
			} else if !v.settings.serve.oauth.permitted {
				return nil, strangerError{}
			}
		}
		t := all.of(name)
		return &transports.Client{Principal: name, Server: t.server, Operator: t.operator}, nil
	}
}

// Anybody can be refused, and the log must not fill up with it.
const (
	refusedAtOnce = 20
	refusedEvery  = time.Second
)

// logRefused says what is wrong with a token, which its client is told in part.
func (v *service) logRefused(r *http.Request, err error) {
	var refusal *auth.Error
	if !errors.As(err, &refusal) || refusal.Code() == "" {
		return // there was none, or the issuer is away, which is logged where that is noticed
	}
	why := refusal.Hint()
	if why == "" {
		why = refusal.Error()
	}
	v.log.Info("a token was refused", "why", why, "remote", r.RemoteAddr, "request", r.Header.Get("X-Request-Id"))
}

// strangerError refuses somebody whose token is good and who has no entry.
type strangerError struct{}

func (strangerError) Error() string {
	return "this server knows the token's issuer, but not its subject"
}
func (strangerError) Status() int       { return http.StatusForbidden }
func (strangerError) Challenge() string { return "" }
