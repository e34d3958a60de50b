// Package config fills a command's flags from where else they can be set: the
// environment and a YAML file. A flag beats the environment, which beats the
// file, which beats the default. A name that means nothing, or a value that
// does not parse, is an error of one line that says where it stands and what
// to write instead.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/mcp-workspace/mcp-workspace/internal/suggest"
)

// EnvPrefix begins the names of the environment variables that are read.
const EnvPrefix = "MCP_WORKSPACE_"

// fileName of the configuration under the user's configuration directory.
const fileName = "mcp-workspace.yaml"

// Source is where a setting came from, from the weakest to the strongest.
type Source int

// The sources.
const (
	Default Source = iota
	File
	Env
	Flag
)

// Settings tells where each flag's value came from.
type Settings struct {
	sources map[string]Source
	places  map[string]string
	// Path of the file that was read, or "".
	Path string
}

// Source is where the value of the flag came from.
func (s *Settings) Source(name string) Source { return s.sources[name] }

// Place names where the value of the flag stands, for messages: "--root",
// "MCP_WORKSPACE_ROOT", "/home/u/x.yaml:3: root".
func (s *Settings) Place(name string) string {
	if p := s.places[name]; p != "" {
		return p
	}
	return "--" + name
}

// Sections are the keys of the file that are no flags: each with what its
// content is decoded into.
type Sections map[string]any

// Load fills the flags that were not given. The file is that of the flag
// "config", of the variable MCP_WORKSPACE_CONFIG, or the user's own, which may
// be missing.
func Load(flags *pflag.FlagSet, environ []string, sections Sections) (*Settings, error) {
	s := &Settings{sources: map[string]Source{}, places: map[string]string{}}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			s.sources[f.Name] = Flag
		}
	})
	if err := s.fromEnv(flags, environ); err != nil {
		return nil, err
	}
	if err := s.fromFile(flags, sections); err != nil {
		return nil, err
	}
	return s, nil
}

// settable are the names of the flags that the environment and the file can
// set.
func settable(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			names = append(names, f.Name)
		}
	})
	return names
}

func envName(flag string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func (s *Settings) fromEnv(flags *pflag.FlagSet, environ []string) error {
	byEnv := map[string]string{}
	for _, name := range settable(flags) {
		byEnv[envName(name)] = name
	}
	for _, kv := range environ {
		key, value, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(key, EnvPrefix) {
			continue
		}
		name, ok := byEnv[key]
		if !ok {
			known := slices.Sorted(maps.Keys(byEnv))
			lower := make([]string, len(known))
			for i, k := range known {
				lower[i] = strings.ToLower(k)
			}
			hint := strings.ToUpper(suggest.DidYouMean(key, lower))
			hint = strings.Replace(hint, "DID YOU MEAN", "did you mean", 1)
			return fmt.Errorf("the environment variable %s is no setting%s; unset it, or see mcp-workspace --help for what there is", key, hint)
		}
		if s.sources[name] == Flag {
			continue
		}
		f := flags.Lookup(name)
		if err := setFlag(f, splitList(f, value)); err != nil {
			return fmt.Errorf("the environment variable %s is %q: %w", key, value, err)
		}
		s.sources[name], s.places[name] = Env, key
	}
	return nil
}

// splitList takes apart the value of a flag that can be repeated: one value a
// line, so that each may contain anything else.
func splitList(f *pflag.Flag, value string) []string {
	if _, ok := f.Value.(pflag.SliceValue); !ok {
		return []string{value}
	}
	return strings.FieldsFunc(value, func(r rune) bool { return r == '\n' })
}

// setFlag gives f its value, or values. A flag keeps no default beside them.
func setFlag(f *pflag.Flag, values []string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		if err := list.Replace(nil); err != nil {
			return err
		}
		for _, v := range values {
			if err := f.Value.Set(v); err != nil {
				return err
			}
		}
		return nil
	}
	err := f.Value.Set(values[0])
	if err != nil && f.Value.Type() == "bool" {
		return errors.New("it takes true or false")
	}
	return err
}

// fromFile reads the YAML file, if there is one.
func (s *Settings) fromFile(flags *pflag.FlagSet, sections Sections) error {
	path, err := s.findFile(flags)
	if path == "" || err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && s.sources["config"] == Default {
		return nil // the user's own file is optional
	}
	if err != nil {
		return fmt.Errorf("%s: the configuration file cannot be read: %w", s.Place("config"), err)
	}
	s.Path = path
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("%s: not YAML: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) == 0 {
		return nil // nothing but comments
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("%s:%d: the file must be a mapping such as \"backend: state\"", path, root.Line)
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		at := fmt.Sprintf("%s:%d: %s", path, key.Line, key.Value)
		if first, twice := seen[key.Value]; twice {
			return fmt.Errorf("%s is set twice, first in line %d; remove one", at, first)
		}
		seen[key.Value] = key.Line
		if err := s.fromNode(flags, sections, key.Value, value, at); err != nil {
			return err
		}
	}
	return nil
}

// findFile names the file to read. A relative path counts from the current
// directory, where whoever gave it stands.
func (s *Settings) findFile(flags *pflag.FlagSet) (string, error) {
	if f := flags.Lookup("config"); f != nil && f.Value.String() != "" {
		return filepath.Abs(f.Value.String())
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", nil // no home directory, so no file in it
	}
	return filepath.Join(dir, fileName), nil
}

func (s *Settings) fromNode(flags *pflag.FlagSet, sections Sections, key string, value *yaml.Node, at string) error {
	if target, ok := sections[key]; ok {
		if err := value.Decode(target); err != nil {
			return fmt.Errorf("%s: %s", at, strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
		}
		return nil
	}
	names := settable(flags)
	if !slices.Contains(names, key) || key == "config" {
		known := slices.Concat(names, slices.Collect(maps.Keys(sections)))
		return fmt.Errorf("%s is no setting%s; see mcp-workspace --help for what there is", at, suggest.DidYouMean(key, known))
	}
	if s.sources[key] > File {
		return nil
	}
	f := flags.Lookup(key)
	values, err := nodeValues(f, value)
	if err == nil {
		err = setFlag(f, values)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	s.sources[key], s.places[key] = File, at
	return nil
}

// nodeValues are the texts to set f to: a scalar, or for a flag that can be
// repeated also a list, or a mapping whose entries read K=V.
func nodeValues(f *pflag.Flag, n *yaml.Node) ([]string, error) {
	_, list := f.Value.(pflag.SliceValue)
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return nil, errors.New("it has no value; give one, or remove the line")
	case n.Kind == yaml.ScalarNode:
		return []string{n.Value}, nil
	case list && n.Kind == yaml.SequenceNode:
		values := []string{}
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: each item must be a single value", item.Line)
			}
			values = append(values, item.Value)
		}
		return values, nil
	case list && n.Kind == yaml.MappingNode:
		values := []string{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i+1].Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: each value must be a single one", n.Content[i].Line)
			}
			values = append(values, n.Content[i].Value+"="+n.Content[i+1].Value)
		}
		return values, nil
	case list:
		return nil, errors.New("it takes a value or a list of values")
	default:
		return nil, errors.New("it takes a single value")
	}
}
