package auth

import (
	"fmt"
	"strings"
)

// tokenLength is how long the tokens of [NewToken] are, in bytes.
var tokenLength = func() int {
	token, _ := NewToken()
	return len(token)
}()

// mistake says what a token that is not known probably is, for [Error.Hint].
func (a *Authenticator) mistake(token string) string {
	known := func(token string) (Identity, bool) {
		hash := sum(token)
		return a.tokens.find(&hash)
	}
	if hash, err := ParseHash(hashPrefix + strings.TrimPrefix(token, hashPrefix)); err == nil {
		if of, ok := a.tokens.find(&hash); ok {
			return fmt.Sprintf("it is the hash of a token of %s: the client needs the token itself", of.Name)
		}
		return "it is a hash, as the configuration has it, but of no token there: the client needs the token itself"
	}
	if of, ok := known(token + "\n"); ok {
		return fmt.Sprintf("the hash that %s has in the configuration is that of this token and a line break, as echo adds it: hash it with printf %%s", of.Name)
	}
	if of, ok := known(strings.Trim(token, `"'`)); ok {
		return fmt.Sprintf("it is a token of %s in quotes: take them away", of.Name)
	}
	switch {
	case strings.ContainsAny(token, "${}%<>"):
		return "it is a variable or a placeholder that the client has not replaced"
	case strings.HasPrefix(token, TokenPrefix) && len(token) != tokenLength:
		return fmt.Sprintf("it begins as a token does, but has %d characters and not %d: it was cut, or has something added", len(token), tokenLength)
	case strings.HasPrefix(token, TokenPrefix):
		return "it looks like a token, but its hash is not in the configuration that this server was started with: it is mistyped, was withdrawn, or is newer"
	case a.oauth == nil && hasJWTShape(token):
		return "it looks like an access token, but the configuration names no issuer (oauth)"
	default:
		return "it is nothing that mcp-workspace token makes"
	}
}
