package server

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// person is a principal with a token.
type person struct {
	name  string
	token string
	entry string // more of its entry in the configuration, as lines without indent
}

func newPerson(name string, entry ...string) person {
	return person{name: name, token: newToken(), entry: strings.Join(entry, "\n")}
}

// newToken is one as `mcp-workspace token` makes them.
func newToken() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // documented never to fail
	return "mcpws_" + base64.RawURLEncoding.EncodeToString(random)
}

// configOf is a configuration file that lets these in; more is of the server.
func configOf(more string, people ...person) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(more) + "\nprincipals:\n")
	for _, p := range people {
		fmt.Fprintf(&b, "  %s:\n    tokens: [\"sha256:%x\"]\n", p.name, sha256.Sum256([]byte(p.token)))
		if p.entry != "" {
			b.WriteString(indent(p.entry, "    ") + "\n")
		}
	}
	return b.String()
}
