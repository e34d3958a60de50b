package auth

import (
	"net/http"
	"net/url"
	"strings"
)

// maxHeader is the longest Authorization header in bytes. Access tokens that
// list a person's groups reach some kilobytes.
const maxHeader = 16 << 10

// What bearer says beside a sentence for the client.
const (
	noCredentials  = "no credentials"
	malformedToken = "malformed token"
)

// bearer takes the token out of the Authorization header (RFC 6750, section
// 2.1). The problem is "" when there is one, [malformedToken] when it cannot be
// one, [noCredentials], or else what is wrong with the header, which repeats
// nothing of it.
//
// Another scheme counts as no credentials: RFC 6750, section 3, wants the
// client told how to authenticate, and nothing of an error.
func bearer(header http.Header) (token, problem string) {
	values := header["Authorization"]
	switch {
	case len(values) == 0:
		return "", noCredentials
	case len(values) > 1:
		return "", "there is more than one Authorization header"
	case len(values[0]) > maxHeader:
		return "", "the Authorization header is longer than 16 KiB"
	}
	value := strings.Trim(values[0], " \t")
	scheme, token, _ := strings.Cut(value, " ")
	if !strings.EqualFold(scheme, "bearer") {
		return "", noCredentials
	}
	token = strings.TrimLeft(token, " ")
	if token == "" {
		return "", "the Authorization header names the scheme Bearer and has no token after it"
	}
	if !isB64Token(token) {
		return token, malformedToken
	}
	return token, ""
}

// isB64Token follows the grammar of RFC 6750, section 2.1: letters, digits and
// "-._~+/", then any number of "=".
func isB64Token(token string) bool {
	body := strings.TrimRight(token, "=")
	for i := range len(body) {
		if !isAlphanumeric(body[i]) && strings.IndexByte("-._~+/", body[i]) < 0 {
			return false
		}
	}
	return body != ""
}

// hasJWTShape tells a JWT in its compact form from any other token: three
// parts in base64url, none empty.
func hasJWTShape(token string) bool {
	parts, length := 1, 0
	for i := range len(token) {
		switch c := token[i]; {
		case c == '.':
			if length == 0 {
				return false
			}
			parts++
			length = 0
		case isAlphanumeric(c), c == '-', c == '_':
			length++
		default:
			return false
		}
	}
	return parts == 3 && length > 0
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// queryHasToken is true for the parameter access_token, which RFC 6750 had and
// MCP forbids, and for one of our tokens under any name.
func queryHasToken(query string) bool {
	for query != "" {
		var pair string
		// A semicolon separates for some servers and logs, if not for Go.
		if i := strings.IndexAny(query, "&;"); i >= 0 {
			pair, query = query[:i], query[i+1:]
		} else {
			pair, query = query, ""
		}
		name, value, _ := strings.Cut(pair, "=")
		if strings.EqualFold(unescape(name), "access_token") || strings.HasPrefix(unescape(value), TokenPrefix) {
			return true
		}
	}
	return false
}

// unescape leaves alone what cannot be unescaped.
func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}
