package auth

import (
	"net/http"
	"strings"
	"time"
)

// realm names the server in the challenge of one without OAuth: the scheme
// must not stand alone.
const realm = "mcp-workspace"

// Error is why a request was refused. Its text is for the client: it says what
// was wrong and what to do, and has nothing of the token.
type Error struct {
	status     int
	code       string
	text       string
	challenge  string
	retryAfter time.Duration
	hint       string
}

func (e *Error) Error() string { return e.text }

// Status is the HTTP status of the answer: 400, 401, 403 or 503.
func (e *Error) Status() int { return e.status }

// Code is RFC 6750's: "invalid_request", "invalid_token", "insufficient_scope".
// It is "" for a request without credentials, and when the authorization
// server cannot be reached.
func (e *Error) Code() string { return e.code }

// Challenge is the value of the WWW-Authenticate header, "" for none.
func (e *Error) Challenge() string { return e.challenge }

// Hint is for whoever runs the server: what the client has probably done wrong,
// which the client is not told. It is "" where the text says it, and has nothing
// of the token.
func (e *Error) Hint() string { return e.hint }

// RetryAfter is how long to wait before the same request may do better: a whole
// number of seconds, 0 if it never will.
func (e *Error) RetryAfter() time.Duration { return e.retryAfter }

// refusals makes the errors of a server.
type refusals struct {
	scopes   []string
	metadata string // the URL of the protected resource metadata, "" without OAuth
}

// nothing answers a request without credentials. RFC 6750, section 3: no error
// code, since nothing was tried.
func (f refusals) nothing() *Error {
	text := "this server needs authentication: send \"Authorization: Bearer TOKEN\""
	if f.metadata != "" {
		text += "; the authorization server is named at " + f.metadata
	}
	return &Error{status: http.StatusUnauthorized, text: text, challenge: f.challenge("", "")}
}

func (f refusals) request(text string) *Error {
	return f.refuse(http.StatusBadRequest, "invalid_request", text)
}

func (f refusals) token(text string) *Error {
	return f.refuse(http.StatusUnauthorized, "invalid_token", text)
}

func (f refusals) scope() *Error {
	return f.refuse(http.StatusForbidden, "insufficient_scope",
		"the access token lacks a scope that this server needs; it needs all of: "+strings.Join(f.scopes, " "))
}

func (f refusals) refuse(status int, code, text string) *Error {
	return &Error{status: status, code: code, text: text, challenge: f.challenge(code, text)}
}

// unavailable is for an access token that cannot be judged just now. There is
// no challenge: another token would fare no better.
func (f refusals) unavailable(wait time.Duration) *Error {
	wait = max(time.Second, (wait + time.Second - 1).Truncate(time.Second))
	return &Error{
		status:     http.StatusServiceUnavailable,
		text:       "the access token cannot be checked, because the authorization server's keys cannot be had; try again later",
		retryAfter: wait,
	}
}

// challenge writes a WWW-Authenticate header: RFC 6750, section 3, with the
// resource_metadata of RFC 9728, section 5.1. The scopes are in all of them:
// the client takes from there what to ask the authorization server for.
func (f refusals) challenge(code, description string) string {
	var b strings.Builder
	add := func(name, value string) {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(" " + name + `="`)
		for _, c := range []byte(value) {
			switch {
			case c == '"':
				c = '\''
			case c < ' ' || c > '~' || c == '\\':
				c = '?' // neither the header nor RFC 6750 has room for it
			}
			b.WriteByte(c)
		}
		b.WriteByte('"')
	}
	if f.metadata == "" {
		add("realm", realm)
	}
	if code != "" {
		add("error", code)
		add("error_description", description)
	}
	if len(f.scopes) > 0 {
		add("scope", strings.Join(f.scopes, " "))
	}
	if f.metadata != "" {
		add("resource_metadata", f.metadata)
	}
	return "Bearer" + b.String()
}
