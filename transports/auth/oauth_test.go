package auth

import (
	"strings"
	"testing"
)

func TestOAuthOfTheConfiguration(t *testing.T) {
	const issuer, resource = "https://login.example.com", "https://mcp.example.com/mcp"
	for name, test := range map[string]struct {
		oauth   OAuth
		problem string
	}{
		"issuer and audience":           {OAuth{Issuer: issuer, Audience: resource}, ""},
		"a resource beside an audience": {OAuth{Issuer: issuer, Audience: "api://workspace", Resource: resource}, ""},
		"all on loopback":               {OAuth{Issuer: "http://127.0.0.1:8000", Audience: "http://localhost:8080/mcp", JWKSURL: "http://[::1]/keys"}, ""},
		"a metadata URL under a prefix": {OAuth{Issuer: issuer, Audience: resource, MetadataURL: "https://mcp.example.com/a/.well-known/oauth-protected-resource"}, ""},
		"no issuer":                     {OAuth{Audience: resource}, "issuer is missing"},
		"an issuer without TLS":         {OAuth{Issuer: "http://login.example.com", Audience: resource}, "issuer is \"http://login.example.com\"; it has to be https"},
		"a host that begins like one":   {OAuth{Issuer: "http://127.0.0.1.example.com", Audience: resource}, "it has to be https"},
		"a host without a scheme":       {OAuth{Issuer: "login.example.com", Audience: resource}, "not an absolute URL"},
		"an issuer that is no URL":      {OAuth{Issuer: "https://[", Audience: resource}, "not an absolute URL"},
		"an issuer with a query":        {OAuth{Issuer: issuer + "?tenant=a", Audience: resource}, "issuer has a query"},
		"an issuer with a fragment":     {OAuth{Issuer: issuer + "#", Audience: resource}, "a fragment (#) has no place there"},
		"an issuer with a password":     {OAuth{Issuer: "https://a:secret@login.example.com", Audience: resource}, "user name or password in it"},
		"keys without TLS":              {OAuth{Issuer: issuer, Audience: resource, JWKSURL: "http://login.example.com/keys"}, "jwks-url is"},
		"keys in a file":                {OAuth{Issuer: issuer, Audience: resource, JWKSURL: "file:///etc/keys"}, "jwks-url is"},
		"no audience":                   {OAuth{Issuer: issuer, Resource: resource}, "audience is missing"},
		"an audience that is no URL":    {OAuth{Issuer: issuer, Audience: "workspace"}, "resource is \"workspace\", which is not an absolute URL"},
		"a resource without TLS":        {OAuth{Issuer: issuer, Audience: "http://mcp.example.com/mcp"}, "resource is \"http://mcp.example.com/mcp\"; it has to be https"},
		"a resource with a query":       {OAuth{Issuer: issuer, Audience: resource + "?a=b"}, "resource has a query"},
		"a metadata URL without TLS":    {OAuth{Issuer: issuer, Audience: resource, MetadataURL: "http://mcp.example.com/"}, "metadata URL is"},
		"scopes in one text":            {OAuth{Issuer: issuer, Audience: resource, Scopes: []string{"a b"}}, "scopes are a list"},
		"an empty scope":                {OAuth{Issuer: issuer, Audience: resource, Scopes: []string{""}}, "is empty"},
		"a scope with a quote":          {OAuth{Issuer: issuer, Audience: resource, Scopes: []string{`a"`}}, "a quote"},
		"offline_access":                {OAuth{Issuer: issuer, Audience: resource, Scopes: []string{"offline_access"}}, "refresh token"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(Config{OAuth: &test.oauth})
			if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
				t.Errorf("got %v; want %q", err, test.problem)
			}
			if err != nil && (!strings.HasPrefix(err.Error(), "oauth: ") || strings.Contains(err.Error(), "secret@")) {
				t.Errorf("got %v", err)
			}
		})
	}
}
