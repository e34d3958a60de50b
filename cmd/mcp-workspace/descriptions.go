package main

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mcp-workspace/mcp-workspace/internal/config"
	"github.com/mcp-workspace/mcp-workspace/internal/suggest"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// descriptions is the key of the configuration file that replaces what a model
// reads about the tools.
const descriptions = "descriptions"

// textsByTool is the section "descriptions" of the configuration file: for
// each tool its description, or a mapping of description and arguments. Which
// arguments there are is known to the tools.
type textsByTool map[string]tools.Text

// UnmarshalYAML reads either form.
func (t *textsByTool) UnmarshalYAML(n *yaml.Node) error {
	known := tools.Names(tools.EditByString)
	for _, name := range tools.Names(tools.EditByLine) {
		if !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	*t = textsByTool{}
	return eachEntry(n, descriptions, "tool: text", func(name string, line int, value *yaml.Node) error {
		if !slices.Contains(known, name) {
			return fmt.Errorf("line %d: there is no tool %q%s; the tools are %s", line, name, suggest.DidYouMean(name, known), strings.Join(known, ", "))
		}
		text, err := toolText(name, value)
		(*t)[name] = text
		return err
	})
}

func toolText(tool string, n *yaml.Node) (text tools.Text, err error) {
	if n.Kind == yaml.ScalarNode {
		text.Description, err = textOf(n, tool)
		return text, err
	}
	err = eachEntry(n, tool, "description: text", func(key string, line int, value *yaml.Node) error {
		switch key {
		case "description":
			text.Description, err = textOf(value, tool+": description")
			return err
		case "arguments":
			text.Arguments = map[string]string{}
			return eachEntry(value, tool+": arguments", "argument: text", func(name string, _ int, value *yaml.Node) error {
				text.Arguments[name], err = textOf(value, tool+": arguments: "+name)
				return err
			})
		default:
			return fmt.Errorf("line %d: %s has no key %q; it takes description and arguments", line, tool, key)
		}
	})
	return text, err
}

// eachEntry visits the entries of a mapping, in their order.
func eachEntry(n *yaml.Node, what, example string, visit func(key string, line int, value *yaml.Node) error) error {
	n = config.Resolve(n)
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: %s must be a mapping such as \"%s\"", n.Line, what, example)
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := config.Resolve(n.Content[i])
		if first, twice := lines[key.Value]; twice {
			return fmt.Errorf("line %d: %s has %q twice, first in line %d; remove one", key.Line, what, key.Value, first)
		}
		lines[key.Value] = key.Line
		if err := visit(key.Value, key.Line, config.Resolve(n.Content[i+1])); err != nil {
			return err
		}
	}
	return nil
}

// textOf is the text of a scalar. An empty one would leave the model without.
func textOf(n *yaml.Node, what string) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" {
		return "", fmt.Errorf("line %d: %s must be text; write some, or remove the line", n.Line, what)
	}
	return n.Value, nil
}
