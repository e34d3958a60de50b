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
	return readFields(n, sectionPrincipals+": "+p.name, "tokens: [sha256:…]",
		field{"tokens", texts(&p.tokens)},
		field{"subjects", texts(&p.subjects)},
		field{"permissions", text(&p.permissions)},
		field{"backend", func(value *yaml.Node, at string) (err error) {
			if p.backend, err = textOf(value, at); err == nil && !slices.Contains(backendNames(), p.backend) {
				err = fmt.Errorf("line %d: %s is %q%s; it takes %s", value.Line, at, p.backend, suggest.DidYouMean(p.backend, backendNames()), strings.Join(backendNames(), ", "))
			}
			return err
		}},
		field{"image", text(&p.image)},
		field{"images", texts(&p.images)},
		field{"runtime", text(&p.runtime)},
		field{"runtimes", texts(&p.runtimes)},
		field{"operator", truth(&p.operator)},
		field{"limits", func(value *yaml.Node, _ string) error { return p.limits.UnmarshalYAML(value) }},
	)
}

// field is a key of a mapping, and what reads its value; at names it in errors.
type field struct {
	key  string
	read func(value *yaml.Node, at string) error
}

// readFields reads a mapping that has these keys, or some of them.
func readFields(n *yaml.Node, what, example string, fields ...field) error {
	return eachEntry(n, what, example, func(key string, line int, value *yaml.Node) error {
		var known []string
		for _, f := range fields {
			if f.key == key {
				return f.read(value, what+": "+key)
			}
			known = append(known, f.key)
		}
		return fmt.Errorf("line %d: %s has no key %q%s; it takes %s", line, what, key, suggest.DidYouMean(key, known), strings.Join(known, ", "))
	})
}

func text(into *string) func(*yaml.Node, string) error {
	return func(value *yaml.Node, at string) (err error) {
		*into, err = textOf(value, at)
		return err
	}
}

// texts is for a text, or a list of them.
func texts(into *[]string) func(*yaml.Node, string) error {
	return func(value *yaml.Node, at string) error {
		items := value.Content
		if value.Kind != yaml.SequenceNode {
			items = []*yaml.Node{value}
		}
		for _, item := range items {
			one, err := textOf(item, at)
			if err != nil {
				return err
			}
			*into = append(*into, one)
		}
		return nil
	}
}

func truth(into *bool) func(*yaml.Node, string) error {
	return func(value *yaml.Node, at string) error {
		if value.Decode(into) != nil {
			return fmt.Errorf("line %d: %s takes true or false", value.Line, at)
		}
		return nil
	}
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
	*o = oauth{}
	only := false
	err := readFields(n, sectionOAuth, "issuer: https://login.example.com",
		field{"issuer", text(&o.issuer)},
		field{"audience", text(&o.audience)},
		field{"jwks-url", text(&o.jwksURL)},
		field{"principal-claim", text(&o.claim)},
		field{"scopes", texts(&o.scopes)},
		field{"only-principals", truth(&only)},
	)
	o.permitted = !only
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
	number := func(key string, most float64, whole bool, set func(*sessions.Limits, float64)) field {
		return field{key, func(value *yaml.Node, _ string) error {
			v, err := strconv.ParseFloat(value.Value, 64)
			if err != nil || value.Kind != yaml.ScalarNode || v < 0 || v > most || math.IsNaN(v) {
				return fmt.Errorf("line %d: %s takes a number from 0, which is no limit, to %v", value.Line, key, most)
			}
			if whole && v != math.Trunc(v) {
				return fmt.Errorf("line %d: %s takes a whole number", value.Line, key)
			}
			*l = append(*l, func(s *sessions.Limits) { set(s, v) })
			return nil
		}}
	}
	count := func(key string, of func(*sessions.Limits) *int) field {
		return number(key, 1e9, true, func(s *sessions.Limits, v float64) { *of(s) = int(v) })
	}
	size := func(key string, of func(*sessions.Limits) *int64) field {
		return field{key, func(value *yaml.Node, _ string) error {
			v, err := units.RAMInBytes(value.Value)
			if err != nil || value.Kind != yaml.ScalarNode || v < 0 {
				return fmt.Errorf("line %d: %s takes a size such as 10MB, or 0, which is no limit", value.Line, key)
			}
			*l = append(*l, func(s *sessions.Limits) { *of(s) = v })
			return nil
		}}
	}
	return readFields(n, "limits", "workspaces: 20",
		count("workspaces", func(s *sessions.Limits) *int { return &s.Workspaces }),
		count("running", func(s *sessions.Limits) *int { return &s.Running }),
		count("sessions", func(s *sessions.Limits) *int { return &s.Sessions }),
		count("calls", func(s *sessions.Limits) *int { return &s.Calls }),
		number("calls-per-second", 1e6, false, func(s *sessions.Limits, v float64) { s.CallsPerSecond = v }),
		size("output", func(s *sessions.Limits) *int64 { return &s.Output }),
		size("file-size", func(s *sessions.Limits) *int64 { return &s.FileSize }),
	)
}
