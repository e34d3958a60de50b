package auth

import (
	"encoding/json"
	"strings"
	"time"
)

// claims are what a token says. Their names are told apart by case, as
// RFC 7519 has it: a struct would take "AUD" for "aud".
type claims struct {
	all       map[string]json.RawMessage
	issuer    string
	audience  []string
	expires   time.Time // zero when absent
	notBefore time.Time // zero when absent
}

// parseClaims fails on claims of a wrong type. One that is null is as good as
// absent.
func parseClaims(payload []byte) (claims, bool) {
	var c claims
	if json.Unmarshal(payload, &c.all) != nil {
		return claims{}, false
	}
	for name, value := range c.all {
		if string(value) == "null" {
			delete(c.all, name)
		}
	}
	ok := true
	read := func(name string, into func(json.RawMessage) bool) {
		if value, there := c.all[name]; there {
			ok = into(value) && ok
		}
	}
	read("iss", func(value json.RawMessage) bool { return json.Unmarshal(value, &c.issuer) == nil })
	read("aud", func(value json.RawMessage) bool { return readTexts(value, &c.audience) })
	read("exp", func(value json.RawMessage) bool { return readTime(value, &c.expires) })
	read("nbf", func(value json.RawMessage) bool { return readTime(value, &c.notBefore) })
	return c, ok
}

// readTexts takes a text or a list of texts.
func readTexts(value json.RawMessage, into *[]string) bool {
	var one string
	if json.Unmarshal(value, &one) == nil {
		*into = []string{one}
		return true
	}
	return json.Unmarshal(value, into) == nil
}

// readTime takes seconds since 1970, with a fraction or without, up to the end
// of the year 9999.
func readTime(value json.RawMessage, into *time.Time) bool {
	const latest = 253402300799
	var seconds float64
	if json.Unmarshal(value, &seconds) != nil || seconds < 0 || seconds > latest {
		return false
	}
	*into = time.Unix(int64(seconds), 0)
	return true
}

func (c *claims) has(name string) bool {
	_, there := c.all[name]
	return there
}

// text is the value of a claim that is a text, else "".
func (c *claims) text(name string) string {
	var text string
	if value, there := c.all[name]; there && json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// isIDToken knows ID tokens by what only they have: the hashes of OpenID
// Connect Core, section 3.3.2.11, and the marks of Cognito and Keycloak. One
// without any of these is kept out by its audience, which is the client.
func (c *claims) isIDToken() bool {
	return c.has("at_hash") || c.has("c_hash") || c.text("token_use") == "id" || c.text("typ") == "ID"
}

// name reads the claim that says who somebody is, or what is wrong with it.
func (c *claims) name(claim string) (name, problem string) {
	value, there := c.all[claim]
	if !there {
		return "", "is missing"
	}
	if json.Unmarshal(value, &name) != nil {
		return "", "is not a text"
	}
	return name, checkName(name)
}

// scopes are those in "scope" (RFC 9068) and "scp" (several issuers), each of
// which may be one text with spaces or a list.
func (c *claims) scopes() ([]string, bool) {
	var scopes []string
	for _, name := range []string{"scope", "scp"} {
		value, there := c.all[name]
		if !there {
			continue
		}
		var texts []string
		if !readTexts(value, &texts) {
			return nil, false
		}
		for _, text := range texts {
			scopes = append(scopes, strings.Fields(text)...)
		}
	}
	return scopes, true
}
