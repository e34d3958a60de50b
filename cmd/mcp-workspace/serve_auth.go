package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

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
				return nil, fmt.Errorf("%s: %s: %w", s.loaded.Place(sectionPrincipals), p.name, err)
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
	return func(r *http.Request) (*transports.Client, error) {
		who, err := a.Authenticate(r)
		if err != nil {
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

// strangerError refuses somebody whose token is good and who has no entry.
type strangerError struct{}

func (strangerError) Error() string {
	return "this server knows the token's issuer, but not its subject"
}
func (strangerError) Status() int       { return http.StatusForbidden }
func (strangerError) Challenge() string { return "" }
