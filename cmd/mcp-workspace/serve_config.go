package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/go-units"
	"go.yaml.in/yaml/v3"

	"github.com/mcp-workspace/mcp-workspace/internal/suggest"
	"github.com/mcp-workspace/mcp-workspace/sessions"
)

// Sections of the configuration file that only serve uses. The other commands
// read past them: one file serves all.
const (
	sectionPrincipals   = "principals"
	sectionOAuth        = "oauth"
	sectionLimits       = "limits"
	sectionPerPrincipal = "per-principal"
)

// serveConfig is what those sections say.
type serveConfig struct {
	principals   principals
	oauth        oauth
	limits       limits
	perPrincipal limits
}

func (c *serveConfig) sections() map[string]any {
	return map[string]any{sectionPrincipals: &c.principals, sectionOAuth: &c.oauth, sectionLimits: &c.limits, sectionPerPrincipal: &c.perPrincipal}
}

// principals are those that tokens, or subjects of OAuth, stand for.
type principals []principal

// principal is one entry. What it leaves out is as for everybody.
type principal struct {
	name     string
	line     int
	tokens   []string // hashes
	subjects []string // of the OAuth issuer

	permissions string
	backend     string
	image       string
	runtime     string
	images      []string // that may be chosen
	runtimes    []string
	operator    bool
	limits      limits
}

// maxPrincipal bounds a principal's name, in bytes.
const maxPrincipal = 128

// UnmarshalYAML reads the section.
func (p *principals) UnmarshalYAML(n *yaml.Node) error {
	*p = nil
	subjects := map[string]string{}
	return eachEntry(n, sectionPrincipals, "alice: {tokens: [sha256:…]}", func(name string, line int, value *yaml.Node) error {
		if !validPrincipal(name) {
			return fmt.Errorf("line %d: %q cannot name a principal; use 1 to %d letters, digits, '.', '_', '-' or '@'", line, name, maxPrincipal)
		}
		entry := principal{name: name, line: line}
		if err := entry.read(value); err != nil {
			return err
		}
		if len(entry.tokens)+len(entry.subjects) == 0 {
			return fmt.Errorf("line %d: %s: %s can never come in; give it tokens (made with: mcp-workspace token) or subjects", line, sectionPrincipals, name)
		}
		for _, subject := range entry.subjects {
			if other, twice := subjects[subject]; twice {
				return fmt.Errorf("line %d: %s: the subject %q is %s's already; a subject is one principal", line, sectionPrincipals, subject, other)
			}
			subjects[subject] = name
		}
		*p = append(*p, entry)
		return nil
	})
}

func validPrincipal(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._-@", rune(c)) {
			return false
		}
	}
	return name != "" && len(name) <= maxPrincipal
}

func (p *principal) read(n *yaml.Node) error {
	what := sectionPrincipals + ": " + p.name
	known := []string{"tokens", "subjects", "permissions", "backend", "image", "images", "runtime", "runtimes", "operator", "limits"}
	return eachEntry(n, what, "tokens: [sha256:…]", func(key string, line int, value *yaml.Node) (err error) {
		at := what + ": " + key
		switch key {
		case "tokens":
			p.tokens, err = textsOf(value, at)
		case "subjects":
			p.subjects, err = textsOf(value, at)
		case "permissions":
			p.permissions, err = textOf(value, at)
		case "backend":
			if p.backend, err = textOf(value, at); err == nil && !slices.Contains(backendNames(), p.backend) {
				err = fmt.Errorf("line %d: %s is %q%s; it takes %s", line, at, p.backend, suggest.DidYouMean(p.backend, backendNames()), strings.Join(backendNames(), ", "))
			}
		case "image":
			p.image, err = textOf(value, at)
		case "images":
			p.images, err = textsOf(value, at)
		case "runtime":
			p.runtime, err = textOf(value, at)
		case "runtimes":
			p.runtimes, err = textsOf(value, at)
		case "operator":
			if err = value.Decode(&p.operator); err != nil {
				err = fmt.Errorf("line %d: %s takes true or false", line, at)
			}
		case "limits":
			err = p.limits.UnmarshalYAML(value)
		default:
			err = unknownKey(line, what, key, known)
		}
		return err
	})
}

func unknownKey(line int, what, key string, known []string) error {
	return fmt.Errorf("line %d: %s has no key %q%s; it takes %s", line, what, key, suggest.DidYouMean(key, known), strings.Join(known, ", "))
}

// textsOf is a text, or a list of them.
func textsOf(n *yaml.Node, what string) ([]string, error) {
	if n.Kind != yaml.SequenceNode {
		text, err := textOf(n, what)
		return []string{text}, err
	}
	var out []string
	for _, item := range n.Content {
		text, err := textOf(item, what)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// oauth is the issuer whose tokens are taken.
type oauth struct {
	issuer    string
	audience  string
	jwksURL   string
	claim     string
	scopes    []string
	permitted bool // everybody with a token of the issuer, not only the subjects of principals
}

// UnmarshalYAML reads the section.
func (o *oauth) UnmarshalYAML(n *yaml.Node) error {
	*o = oauth{permitted: true}
	known := []string{"issuer", "audience", "jwks-url", "principal-claim", "scopes", "only-principals"}
	err := eachEntry(n, sectionOAuth, "issuer: https://login.example.com", func(key string, line int, value *yaml.Node) (err error) {
		at := sectionOAuth + ": " + key
		switch key {
		case "issuer":
			o.issuer, err = textOf(value, at)
		case "audience":
			o.audience, err = textOf(value, at)
		case "jwks-url":
			o.jwksURL, err = textOf(value, at)
		case "principal-claim":
			o.claim, err = textOf(value, at)
		case "scopes":
			o.scopes, err = textsOf(value, at)
		case "only-principals":
			var only bool
			if err = value.Decode(&only); err != nil {
				err = fmt.Errorf("line %d: %s takes true or false", line, at)
			}
			o.permitted = !only
		default:
			err = unknownKey(line, sectionOAuth, key, known)
		}
		return err
	})
	if err == nil && o.issuer == "" {
		return fmt.Errorf("line %d: %s needs the issuer whose tokens are taken", n.Line, sectionOAuth)
	}
	return err
}

// limits are those of a section, as far as it gives them.
type limits []func(*sessions.Limits)

// over is what is given, over what is not.
func (l limits) over(base sessions.Limits) sessions.Limits {
	for _, set := range l {
		set(&base)
	}
	return base
}

// UnmarshalYAML reads a section or a principal's own.
func (l *limits) UnmarshalYAML(n *yaml.Node) error {
	*l = nil
	known := []string{"workspaces", "running", "sessions", "calls", "calls-per-second", "output", "file-size"}
	return eachEntry(n, "limits", "workspaces: 20", func(key string, line int, value *yaml.Node) error {
		number := func(most float64) (float64, error) {
			v, err := strconv.ParseFloat(value.Value, 64)
			if err != nil || value.Kind != yaml.ScalarNode || v < 0 || v > most || math.IsNaN(v) {
				return 0, fmt.Errorf("line %d: %s takes a number from 0, which is no limit, to %v", line, key, most)
			}
			return v, nil
		}
		count := func(set func(*sessions.Limits, int)) error {
			v, err := number(1e9)
			if err == nil && v != math.Trunc(v) {
				err = fmt.Errorf("line %d: %s takes a whole number", line, key)
			}
			*l = append(*l, func(s *sessions.Limits) { set(s, int(v)) })
			return err
		}
		size := func(set func(*sessions.Limits, int64)) error {
			v, err := units.RAMInBytes(value.Value)
			if err != nil || value.Kind != yaml.ScalarNode || v < 0 {
				return fmt.Errorf("line %d: %s takes a size such as 10MB, or 0, which is no limit", line, key)
			}
			*l = append(*l, func(s *sessions.Limits) { set(s, v) })
			return nil
		}
		switch key {
		case "workspaces":
			return count(func(s *sessions.Limits, v int) { s.Workspaces = v })
		case "running":
			return count(func(s *sessions.Limits, v int) { s.Running = v })
		case "sessions":
			return count(func(s *sessions.Limits, v int) { s.Sessions = v })
		case "calls":
			return count(func(s *sessions.Limits, v int) { s.Calls = v })
		case "calls-per-second":
			v, err := number(1e6)
			*l = append(*l, func(s *sessions.Limits) { s.CallsPerSecond = v })
			return err
		case "output":
			return size(func(s *sessions.Limits, v int64) { s.Output = v })
		case "file-size":
			return size(func(s *sessions.Limits, v int64) { s.FileSize = v })
		default:
			return unknownKey(line, "limits", key, known)
		}
	})
}
