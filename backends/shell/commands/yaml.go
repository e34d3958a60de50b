package commands

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"go.yaml.in/yaml/v3"
)

// yamlDecoder reads the documents of a stream as values of jq.
type yamlDecoder struct {
	d     *yaml.Decoder
	r     *jqReader
	order *jqOrder
	nodes int
	p     *Proc
}

func newYamlDecoder(p *Proc, r io.Reader, order *jqOrder) *yamlDecoder {
	jr := &jqReader{p: p, r: r}
	return &yamlDecoder{d: yaml.NewDecoder(jr), r: jr, order: order, p: p}
}

// next reads a document; io.EOF when there are no more.
func (d *yamlDecoder) next() (any, error) {
	var root yaml.Node
	if err := d.d.Decode(&root); err != nil {
		if d.r.fail != nil {
			return nil, d.r.fail
		}
		return nil, err
	}
	// The nodes of the parser take more than the text.
	d.nodes = 0
	return d.value(&root, 0)
}

// maxYamlNodes bounds what aliases of aliases stand for.
const maxYamlNodes = 2_000_000

func (d *yamlDecoder) value(n *yaml.Node, depth int) (any, error) {
	if d.nodes++; d.nodes > maxYamlNodes || depth > 1000 {
		return nil, errors.New("the document is too large or nests too deep")
	}
	if d.nodes%1024 == 0 && d.p.Stopped() {
		return nil, io.EOF
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return nil, nil
		}
		return d.value(n.Content[0], depth+1)
	case yaml.AliasNode:
		return d.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := d.value(c, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.MappingNode:
		out := map[string]any{}
		keys, err := d.mapping(n, out, depth, false)
		if err != nil {
			return nil, err
		}
		d.order.came(out, keys)
		return out, nil
	case yaml.ScalarNode:
		return d.scalar(n)
	}
	return nil, nil
}

// mapping adds the pairs of n to out. Those that "<<" merges do not replace
// what is there.
func (d *yamlDecoder) mapping(n *yaml.Node, out map[string]any, depth int, merged bool) (keys []string, err error) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Tag == "!!merge" {
			sources := []*yaml.Node{v}
			if v.Kind == yaml.AliasNode {
				sources[0] = v.Alias
			}
			if sources[0].Kind == yaml.SequenceNode {
				sources = sources[0].Content
			}
			for _, s := range sources {
				if s.Kind == yaml.AliasNode {
					s = s.Alias
				}
				if depth > 1000 || s.Kind != yaml.MappingNode {
					return nil, fmt.Errorf("line %d: << takes mappings", k.Line)
				}
				more, err := d.mapping(s, out, depth+1, true)
				if err != nil {
					return nil, err
				}
				keys = append(keys, more...)
			}
			continue
		}
		key := k.Value
		if k.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a key is a list or a mapping", k.Line)
		}
		_, there := out[key]
		if there && merged {
			continue
		}
		x, err := d.value(v, depth+1)
		if err != nil {
			return nil, err
		}
		if !there {
			keys = append(keys, key)
			d.order.met(key)
		}
		out[key] = x
	}
	return keys, nil
}

func (d *yamlDecoder) scalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return b, err
	case "!!int":
		var i int
		if n.Decode(&i) == nil {
			return i, nil
		}
		return jqNumber(n.Value), nil
	case "!!float":
		var f float64
		err := n.Decode(&f)
		return f, err
	}
	return n.Value, nil
}

// printYAML writes v as a document.
func (j *jqRun) printYAML(w *bufio.Writer, v any) error {
	if s, ok := v.(string); ok && j.raw {
		w.WriteString(s)
		w.WriteByte('\n')
		return nil
	}
	if j.yamlSep && j.any && !isScalar(v) {
		w.WriteString("---\n")
	}
	j.yamlSep = !isScalar(v)
	if err := jqCheck(j.p.Context(), v); err != nil {
		return err
	}
	node, err := j.yamlNode(v, 0)
	if err != nil {
		return err
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(max(len(j.write.indent), 2))
	if err := e.Encode(node); err != nil {
		return err
	}
	return e.Close()
}

func isScalar(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

// yamlNode makes nodes of v, keys in their order.
func (j *jqRun) yamlNode(v any, depth int) (*yaml.Node, error) {
	if depth > 1000 {
		return nil, errJqDeep
	}
	switch v := v.(type) {
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		for _, x := range v {
			if err := j.p.Hold(0); err != nil || j.p.Stopped() {
				return nil, errJqStopped
			}
			c, err := j.yamlNode(x, depth+1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, c)
		}
		return n, nil
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		keys := j.order.keys(v)
		if j.write.sorted {
			keys = slices.Sorted(slices.Values(keys))
		}
		for _, k := range keys {
			c, err := j.yamlNode(v[k], depth+1)
			if err != nil {
				return nil, err
			}
			key := &yaml.Node{}
			key.SetString(k)
			n.Content = append(n.Content, key, c)
		}
		return n, nil
	case float64:
		var text string
		switch {
		case math.IsNaN(v):
			text = ".nan"
		case math.IsInf(v, 0):
			text = map[bool]string{true: ".inf", false: "-.inf"}[v > 0]
		default:
			text = jqFloat(v)
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: text}, nil
	default:
		n := &yaml.Node{}
		err := n.Encode(v)
		return n, err
	}
}
