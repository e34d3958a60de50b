package runtimes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcp-workspace/mcp-workspace/internal/config"
	"github.com/mcp-workspace/mcp-workspace/internal/suggest"
)

// The sections of the configuration file that are read here.
const (
	SectionRuntimes     = "runtimes"      // name: definition
	SectionBuildArgs    = "build_args"    // variable: value, for all builds
	SectionBuildNetwork = "build_network" // for all builds
)

// Config is what the configuration file says of runtimes. Its zero value is
// the configuration that says nothing.
type Config struct {
	runtimes definitions
	args     buildArgs
	network  buildNetwork
}

// Sections are what the sections of the file are decoded into: values for
// [config.Sections].
func (c *Config) Sections() map[string]any {
	return map[string]any{SectionRuntimes: &c.runtimes, SectionBuildArgs: &c.args, SectionBuildNetwork: &c.network}
}

// Set is the catalogue with the runtimes of the configuration, which replace
// those of the same name, all built with what the configuration says of builds.
func (c *Config) Set() Set {
	set := Catalogue().with(c.runtimes...)
	for i, r := range set {
		own := *r
		own.defaults = BuildOptions{Args: c.args, Network: string(c.network)}
		set[i] = &own
	}
	return set
}

type (
	definitions  []*Runtime
	buildArgs    map[string]string
	buildNetwork string
)

// UnmarshalYAML reads the section, all of which must be right.
func (d *definitions) UnmarshalYAML(n *yaml.Node) error {
	*d = nil
	p := parser{lines: map[string]int{}}
	return p.entries(n, nil, "name: {image: …}", func(name string, line int, value *yaml.Node) error {
		r, err := p.runtime(name, line, value)
		*d = append(*d, r)
		return err
	})
}

// UnmarshalYAML reads the section.
func (a *buildArgs) UnmarshalYAML(n *yaml.Node) (err error) {
	p := parser{lines: map[string]int{}}
	if *a, err = p.texts(n, []string{SectionBuildArgs}); err != nil {
		return err
	}
	return p.at(nil, checkVariables(SectionBuildArgs, *a), n.Line)
}

// UnmarshalYAML reads the section.
func (b *buildNetwork) UnmarshalYAML(n *yaml.Node) error {
	text, err := scalar(n, []string{SectionBuildNetwork})
	if err != nil {
		return err
	}
	*b = buildNetwork(text)
	return (&parser{}).at(nil, checkNetwork(text), n.Line)
}

// parser reads definitions and keeps where their parts stand.
type parser struct{ lines map[string]int }

// definitionKeys are what a definition takes.
var definitionKeys = []string{"description", "image", "base", "packages", "setup", "env", "working_dir", "build_args", "build_network"}

// otherNames are those that pydantic-ai-backend's RuntimeConfig has for them.
var otherNames = map[string]string{
	"base_image": "base", "setup_commands": "setup", "env_vars": "env", "work_dir": "working_dir",
	"package_manager": "packages",
}

func (p *parser) runtime(name string, line int, n *yaml.Node) (*Runtime, error) {
	r, at := &Runtime{Name: name}, []string{name}
	text := func(to *string, path []string, n *yaml.Node) (err error) {
		*to, err = scalar(n, path)
		return err
	}
	err := p.entries(n, at, "image: "+pythonImage, func(key string, line int, value *yaml.Node) (err error) {
		path := []string{name, key}
		switch key {
		case "description":
			return text(&r.Description, path, value)
		case "image":
			return text(&r.Image, path, value)
		case "base":
			return text(&r.Base, path, value)
		case "working_dir":
			return text(&r.WorkingDir, path, value)
		case "build_network":
			return text(&r.BuildNetwork, path, value)
		case "packages":
			return p.packages(&r.Packages, path, value)
		case "setup":
			r.Setup, err = p.list(value, path)
		case "env":
			r.Env, err = p.texts(value, path)
		case "build_args":
			r.BuildArgs, err = p.texts(value, path)
		default:
			return unknown(key, line, at, definitionKeys)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, p.at(at, r.check(), line)
}

func (p *parser) packages(to *Packages, path []string, n *yaml.Node) error {
	var keys []string
	for _, m := range managers {
		keys = append(keys, m.key)
	}
	return p.entries(n, path, "pip: [pandas]", func(key string, line int, value *yaml.Node) (err error) {
		i := slices.Index(keys, key)
		if i < 0 {
			return unknown(key, line, path, keys)
		}
		*managers[i].list(to), err = p.list(value, append(slices.Clone(path), key))
		return err
	})
}

// at puts a mistake in its line: that of the innermost part that has one.
func (p *parser) at(prefix []string, e *fieldError, line int) error {
	if e == nil {
		return nil
	}
	path := slices.Concat(prefix, e.path)
	for n := len(path); n > 0; n-- {
		if l, ok := p.lines[lineKey(path[:n])]; ok {
			line = l
			break
		}
	}
	return fmt.Errorf("line %d: %w", line, &fieldError{path, e.message})
}

func lineKey(path []string) string { return strings.Join(path, "\x00") }

// entries visits the entries of a mapping, in their order.
func (p *parser) entries(n *yaml.Node, path []string, example string, visit func(key string, line int, value *yaml.Node) error) error {
	line, n := n.Line, config.Resolve(n)
	if n.Kind != yaml.MappingNode {
		return mistake(line, path, "it must be a mapping such as \"%s\"", example)
	}
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		line, key := n.Content[i].Line, config.Resolve(n.Content[i])
		if key.Kind != yaml.ScalarNode {
			return mistake(line, path, "a list or a mapping is no name; write \"%s\"", example)
		}
		if at, twice := first[key.Value]; twice {
			return mistake(line, path, "%s is there twice, first in line %d; remove one", quoted(key.Value), at)
		}
		first[key.Value] = line
		p.lines[lineKey(append(slices.Clone(path), key.Value))] = line
		if err := visit(key.Value, line, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// list is a list of texts, or a single one.
func (p *parser) list(n *yaml.Node, path []string) ([]string, error) {
	items := []*yaml.Node{n}
	if n := config.Resolve(n); n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	var out []string
	for i, node := range items {
		text, err := scalar(node, path)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
		p.lines[lineKey(append(slices.Clone(path), item(i)))] = node.Line
	}
	return out, nil
}

// texts is a mapping of names to texts.
func (p *parser) texts(n *yaml.Node, path []string) (map[string]string, error) {
	out := map[string]string{}
	err := p.entries(n, path, "NAME: value", func(key string, _ int, value *yaml.Node) (err error) {
		out[key], err = scalar(value, append(slices.Clone(path), key))
		return err
	})
	return out, err
}

// scalar is the text of a single value.
func scalar(n *yaml.Node, path []string) (string, error) {
	line, n := n.Line, config.Resolve(n)
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", mistake(line, path, "it must be a single value")
	case n.Tag == "!!null":
		return "", mistake(line, path, "it has no value; give one, such as \"\", or remove the line")
	}
	return n.Value, nil
}

func unknown(key string, line int, path, known []string) error {
	hint := suggest.DidYouMean(key, known)
	if ours := otherNames[key]; ours != "" {
		hint = fmt.Sprintf("; did you mean %q?", ours)
	}
	return mistake(line, path, "there is no key %s%s; it takes %s", quoted(key), hint, strings.Join(known, ", "))
}

func mistake(line int, path []string, format string, args ...any) error {
	prefix := fmt.Sprintf("line %d: ", line)
	return errors.New(prefix + wrong(path, format, args...).Error())
}
