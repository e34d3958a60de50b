package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/mcp-workspace/mcp-workspace/internal/suggest"
)

// fileName of the configuration under the user's configuration directory.
const fileName = "mcp-workspace.yaml"

// fromFile reads the YAML file, if there is one.
func (s *Settings) fromFile(flags *pflag.FlagSet, sections Sections) error {
	path, err := s.findFile(flags)
	if path == "" || err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	switch {
	case err == nil:
	case s.sources["config"] != Default:
		return fmt.Errorf("%s: the configuration file cannot be read: %w; name one that can, or leave it out", s.Place("config"), err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil // the user's own file is optional
	default:
		// It may hold the ruleset, so it is not passed over.
		return fmt.Errorf("the configuration file cannot be read: %w; mend that, or name another with --config", err)
	}
	s.file = path
	root, err := document(printable(path), data)
	if root == nil || err != nil {
		return err
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := Resolve(root.Content[i]), Resolve(root.Content[i+1])
		line := root.Content[i].Line
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("%s:%d: a list or a mapping is no setting; write \"name: value\"", printable(path), line)
		}
		if first, twice := seen[key.Value]; twice {
			return fmt.Errorf("%s is set twice, first in line %d; remove one", s.PlaceAt(key.Value, line), first)
		}
		seen[key.Value] = key.Line
		if err := s.fromNode(flags, sections, key.Value, value, line); err != nil {
			return err
		}
	}
	return nil
}

// findFile names the file to read, or "" when there can be none.
func (s *Settings) findFile(flags *pflag.FlagSet) (string, error) {
	if given := flags.Lookup("config").Value.String(); given != "" {
		return s.Abs("config", given)
	}
	if s.sources["config"] != Default {
		return "", nil // given as "", which says that no file is to be read
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", nil //nolint:nilerr // without a home directory there is no file in it
	}
	return filepath.Join(dir, fileName), nil
}

// document returns the mapping that the file is, or nil when it is empty.
func document(path string, data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxError(path, err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, fmt.Errorf("%s:%d: a second document starts here; the settings are one document, so remove the \"---\"", path, second.Line)
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(path, err)
	}
	root := doc.Content[0]
	switch {
	case isNull(root):
		return nil, nil
	case root.Kind != yaml.MappingNode:
		return nil, fmt.Errorf("%s:%d: the file must be a mapping such as \"backend: state\"", path, root.Line)
	}
	return root, nil
}

// syntaxError puts the line, which the parser has in its text, in its place.
func syntaxError(path string, err error) error {
	line, message := cutLine(err)
	if line > 0 {
		path = fmt.Sprintf("%s:%d", path, line)
	}
	return fmt.Errorf("%s: not YAML: %s; check the indentation, and put text with special characters in quotes", path, message)
}

// cutLine takes the number of a line, 0 for none, off the text of an error that
// begins with one, as those of the YAML package and of sections do: it stands
// beside the file's name. Of several errors it is the first.
func cutLine(err error) (line int, message string) {
	message = err.Error()
	var several *yaml.TypeError
	if errors.As(err, &several) && len(several.Errors) > 0 {
		message = several.Errors[0]
	}
	message = strings.Join(strings.Fields(strings.TrimPrefix(message, "yaml: ")), " ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if number, after, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				return n, after
			}
		}
	}
	return 0, message
}

// wrongIn is what is wrong with the value of a key, which stands in line, or in
// the line that err itself names.
func (s *Settings) wrongIn(key string, line int, err error) error {
	own, message := cutLine(err)
	if own > 0 {
		line = own
	}
	if rest, ok := strings.CutPrefix(message, key); ok && (strings.HasPrefix(rest, ": ") || strings.HasPrefix(rest, " ")) {
		return fmt.Errorf("%s%s", s.PlaceAt(key, line), rest) // a section may name itself
	}
	return fmt.Errorf("%s: %s", s.PlaceAt(key, line), message)
}

// Resolve follows an alias to what it stands for.
func Resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

var errNull = errors.New("it has no value; give one, or remove the line")

// fromNode sets a flag, or decodes a section.
func (s *Settings) fromNode(flags *pflag.FlagSet, sections Sections, key string, value *yaml.Node, line int) error {
	at := s.PlaceAt(key, line)
	if target, ok := sections[key]; ok {
		if _, ignored := target.(Ignored); ignored {
			return nil
		}
		if isNull(value) {
			return fmt.Errorf("%s: %w", at, errNull)
		}
		if err := value.Decode(target); err != nil {
			return s.wrongIn(key, line, err)
		}
		s.sources[key], s.places[key] = File, at
		return nil
	}
	if key == "config" {
		return fmt.Errorf("%s cannot be set in the file itself; remove the line", at)
	}
	names := settable(flags)
	if !slices.Contains(names, key) {
		names = slices.DeleteFunc(names, func(n string) bool { return n == "config" })
		known := slices.Concat(names, slices.Sorted(maps.Keys(sections)))
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
		return s.wrongIn(key, line, err)
	}
	s.sources[key], s.places[key] = File, at
	return nil
}

// nodeValues are the texts to set f to: a scalar, or for a flag that can be
// repeated also a list, or a mapping whose entries read K=V.
func nodeValues(f *pflag.Flag, n *yaml.Node) ([]string, error) {
	_, list := f.Value.(pflag.SliceValue)
	values := []string{}
	switch {
	case isNull(n):
		return nil, errNull
	case n.Kind == yaml.ScalarNode:
		return []string{n.Value}, nil
	case list && n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			text, err := scalar(item)
			if err != nil {
				return nil, err
			}
			values = append(values, text)
		}
		return values, nil
	case list && n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, err := scalar(n.Content[i])
			if err != nil {
				return nil, err
			}
			text, err := scalar(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			values = append(values, name+"="+text)
		}
		return values, nil
	case list:
		return nil, errors.New("it takes a value or a list of values")
	default:
		return nil, errors.New("it takes a single value")
	}
}

// scalar is the text of one item of a list or a mapping.
func scalar(n *yaml.Node) (string, error) {
	at, n := n.Line, Resolve(n)
	switch {
	case isNull(n):
		return "", fmt.Errorf("line %d: an item has no value; give one, such as \"\", or remove the line", at)
	case n.Kind != yaml.ScalarNode:
		return "", fmt.Errorf("line %d: an item must be a single value", at)
	default:
		return n.Value, nil
	}
}
