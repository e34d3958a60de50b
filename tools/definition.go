package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

// definition is everything there is to say about one tool.
type definition struct {
	name      string
	title     string
	operation permissions.Operation
	hints     hints
	params    []param
	output    func() (*jsonschema.Schema, error)
	decode    func(arguments any, others ...string) (any, error) // see the function
	run       func(c *call, args any) (*answer, error)
}

// hints are a tool's annotations; see the MCP specification.
type hints struct {
	readOnly, destructive, idempotent, openWorld bool
}

// param is one argument of a tool, as its schema has it.
type param struct {
	name     string
	index    int // of the field in the struct of arguments
	kind     reflect.Kind
	required bool
	fallback any // default
	enum     []string
	minimum  *float64
}

// define makes a tool of a function from typed arguments to an answer whose
// structured form is an Out.
//
// In is a struct whose fields are strings, bools, ints or float64s with the
// tags `arg:"name"`, and `required:"true"` or `default:"value"`, `enum:"a,b"`,
// `min:"0"`.
func define[In, Out any](name, title string, op permissions.Operation, h hints, run func(*call, In) (*answer, error)) definition {
	params := paramsOf(reflect.TypeFor[In]())
	return definition{
		name: name, title: title, operation: op, hints: h, params: params,
		output: func() (*jsonschema.Schema, error) { return outputSchema[Out]() },
		decode: func(arguments any, others ...string) (any, error) {
			var in In
			err := decode(arguments, params, reflect.ValueOf(&in).Elem(), others...)
			return in, err
		},
		run: func(c *call, args any) (*answer, error) { return run(c, args.(In)) },
	}
}

func paramsOf(t reflect.Type) []param {
	var out []param
	for i := range t.NumField() {
		f := t.Field(i)
		p := param{name: f.Tag.Get("arg"), index: i, kind: f.Type.Kind(), required: f.Tag.Get("required") == "true"}
		if s, ok := f.Tag.Lookup("default"); ok {
			p.fallback = mustParse(p.kind, s)
		}
		if s, ok := f.Tag.Lookup("enum"); ok {
			p.enum = strings.Split(s, ",")
		}
		if s, ok := f.Tag.Lookup("min"); ok {
			n := mustParse(reflect.Float64, s).(float64)
			p.minimum = &n
		}
		out = append(out, p)
	}
	return out
}

// parseScalar reads s as a value of kind.
func parseScalar(kind reflect.Kind, s string) (any, error) {
	switch kind {
	case reflect.Bool:
		return strconv.ParseBool(s)
	case reflect.Int:
		return strconv.Atoi(s)
	case reflect.Float64:
		return strconv.ParseFloat(s, 64)
	default:
		return s, nil
	}
}

// mustParse reads a struct tag, which is part of the program.
func mustParse(kind reflect.Kind, s string) any {
	v, err := parseScalar(kind, s)
	if err != nil {
		panic(err)
	}
	return v
}

// typeNames are JSON Schema's words for the kinds of arguments.
var typeNames = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Float64: "number",
}

// aType is the type of an argument, for messages.
func (p *param) aType() string {
	if p.kind == reflect.Int {
		return "an integer"
	}
	return "a " + typeNames[p.kind]
}

// describe renders the tool for tools/list.
func (d *definition) describe(opts Options) (mcp.Tool, error) {
	text, err := d.text(opts)
	if err != nil {
		return mcp.Tool{}, err
	}
	tool := mcp.Tool{
		Name:           d.name,
		Title:          d.title,
		Description:    text.Description,
		RawInputSchema: d.inputSchema(text, opts.WorkspaceArgument),
		Annotations: mcp.ToolAnnotation{
			Title:           d.title,
			ReadOnlyHint:    &d.hints.readOnly,
			DestructiveHint: &d.hints.destructive,
			IdempotentHint:  &d.hints.idempotent,
			OpenWorldHint:   &d.hints.openWorld,
		},
		Meta: mcp.NewMetaFromMap(map[string]any{metaMaxResult: maxResultChars}),
	}
	if opts.Structured {
		schema, err := d.output()
		if err != nil {
			return mcp.Tool{}, fmt.Errorf("output schema of %s: %w", d.name, err)
		}
		if tool.RawOutputSchema, err = json.Marshal(schema); err != nil {
			return mcp.Tool{}, fmt.Errorf("output schema of %s: %w", d.name, err)
		}
	}
	return tool, nil
}

// inputSchema is written by hand so that arguments stay in their order, which
// is the order in which a model is likely to give them.
func (d *definition) inputSchema(text Text, workspace bool) json.RawMessage {
	var b strings.Builder
	var required []string
	b.WriteString(`{"type":"object","properties":{`)
	for i, p := range d.params {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%s:{"type":%s,"description":%s`, quote(p.name), quote(typeNames[p.kind]), quote(text.Arguments[p.name]))
		if p.fallback != nil {
			fmt.Fprintf(&b, `,"default":%s`, quote(p.fallback))
		}
		if p.enum != nil {
			fmt.Fprintf(&b, `,"enum":%s`, quote(p.enum))
		}
		if p.minimum != nil {
			fmt.Fprintf(&b, `,"minimum":%s`, quote(*p.minimum))
		}
		b.WriteByte('}')
		if p.required {
			required = append(required, p.name)
		}
	}
	if workspace {
		fmt.Fprintf(&b, `,%s:{"type":"string","description":%s}`, quote(workspaceArgument), quote(workspaceArgumentText))
	}
	b.WriteByte('}')
	if required != nil {
		fmt.Fprintf(&b, `,"required":%s`, quote(required))
	}
	b.WriteString(`,"additionalProperties":false}`)
	return json.RawMessage(b.String())
}

// quote is v in JSON. Only strings, numbers and lists of them come here.
func quote(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// decode fills in, a struct of arguments, from what a client sent. An argument
// that is unknown, of another type, or missing is refused by name; null counts
// as left out. The others have been taken out of arguments already, and are named
// beside those that there are.
func decode(arguments any, params []param, in reflect.Value, others ...string) error {
	given, ok := arguments.(map[string]any)
	if !ok && arguments != nil {
		return invalid("the arguments must be a JSON object, such as %s", example(params))
	}
	used := 0
	for i := range params {
		p := &params[i]
		value, present := given[p.name]
		if present {
			used++
		}
		if value == nil {
			if p.required {
				return invalid("the argument %q is missing; it takes %s", p.name, p.aType())
			}
			if value = p.fallback; value == nil {
				continue
			}
		}
		if err := p.set(in.Field(p.index), value); err != nil {
			return err
		}
	}
	if used == len(given) {
		return nil
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.name
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return invalid("there is no argument %q; the arguments are %s", name, strings.Join(append(names, others...), ", "))
		}
	}
	return nil
}

// set puts value, as JSON decodes it, into field.
func (p *param) set(field reflect.Value, value any) error {
	wrong := func() error {
		return invalid("the argument %q takes %s, not %s", p.name, p.aType(), jsonKind(value))
	}
	switch p.kind {
	case reflect.String:
		s, ok := value.(string)
		if !ok {
			return wrong()
		}
		if p.enum != nil && !slices.Contains(p.enum, s) {
			return invalid("the argument %q is %q; it can be %s", p.name, s, strings.Join(p.enum, ", "))
		}
		field.SetString(s)
	case reflect.Bool:
		b, ok := value.(bool)
		if !ok {
			return wrong()
		}
		field.SetBool(b)
	case reflect.Int, reflect.Float64:
		n, ok := number(value)
		if !ok {
			return wrong()
		}
		if p.kind == reflect.Int && (n != math.Trunc(n) || math.Abs(n) > 1<<53) {
			return invalid("the argument %q takes a whole number, not %v", p.name, value)
		}
		if p.minimum != nil && n < *p.minimum {
			return invalid("the argument %q is %v; it must be at least %v", p.name, value, *p.minimum)
		}
		if p.kind == reflect.Int {
			field.SetInt(int64(n))
		} else {
			field.SetFloat(n)
		}
	}
	return nil
}

func number(value any) (float64, bool) {
	switch n := value.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	default:
		return 0, false
	}
}

func jsonKind(value any) string {
	switch value.(type) {
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case float64, int, json.Number:
		return "a number"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}

// example shows the arguments that are required.
func example(params []param) string {
	var parts []string
	for _, p := range params {
		if p.required {
			parts = append(parts, fmt.Sprintf("%q: …", p.name))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func invalid(format string, args ...any) error {
	return backends.Errorf(backends.CodeInvalidArgument, "call", "", format, args...)
}

// outputSchema is the schema of a tool's structured content: the fields of Out,
// or an error, for clients hold failed results against it too. No field is
// required, because neither has those of the other.
func outputSchema[Out any]() (*jsonschema.Schema, error) {
	schema, err := jsonschema.For[Out](nil)
	if err != nil {
		return nil, err
	}
	failure, err := jsonschema.For[failureOutput](nil)
	if err != nil {
		return nil, err
	}
	failure.Description = "set when the call failed, and then alone"
	schema.Properties[errorField] = failure
	schema.Required = nil
	return schema, nil
}

// ParseArguments reads "key=value" pairs as the arguments of a tool, each
// value by the type its argument has.
func ParseArguments(format EditFormat, tool string, pairs []string) (map[string]any, error) {
	all := definitions(format)
	i := slices.IndexFunc(all, func(d definition) bool { return d.name == tool })
	if i < 0 {
		return nil, fmt.Errorf("there is no tool %q; the tools are %s", tool, strings.Join(Names(format), ", "))
	}
	args := map[string]any{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no argument; write key=value, for instance path=notes.txt", pair)
		}
		if _, twice := args[name]; twice {
			return nil, fmt.Errorf("the argument %q is given twice", name)
		}
		// A name that does not exist is refused by the tool itself.
		args[name] = value
		for _, p := range all[i].params {
			if p.name != name {
				continue
			}
			v, err := parseScalar(p.kind, value)
			if err != nil {
				return nil, fmt.Errorf("the argument %q takes %s, not %q", name, p.aType(), value)
			}
			args[name] = v
		}
	}
	return args, nil
}
