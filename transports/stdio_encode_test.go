package transports

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// decode makes JSON comparable.
func decode(t *testing.T, data []byte) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %q", err, data)
	}
	return v
}

func TestResponsesMeanWhatJSONMarshalMakesOfThem(t *testing.T) {
	priority := 0.5
	image := mcp.NewImageContent("AAAA", "image/png")
	annotated := mcp.NewTextContent("annotated")
	annotated.Annotations = &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}, Priority: &priority}
	withMeta := mcp.NewTextContent("with meta")
	withMeta.Meta = mcp.NewMetaFromMap(map[string]any{"a": 1})
	pointer := mcp.NewTextContent("by pointer")
	everything := &mcp.CallToolResult{
		Result: mcp.Result{
			ResultType: mcp.ResultTypeComplete,
			Meta: mcp.NewMetaFromMap(map[string]any{
				"mcp-workspace/ref": "state:demo", "count": 3, "long": int64(1) << 60, "f": 1.5, "yes": true, "nil": nil,
				"list": []string{"a"}, "nested": map[string]any{"x": []any{1, "<&>\u2028"}}, "key \"quoted\"\n": "",
			}),
		},
		Content:           []mcp.Content{mcp.NewTextContent("one"), image, annotated, withMeta, &pointer, mcp.NewTextContent("")},
		StructuredContent: map[string]any{"content": "<b>", "n": 1},
		IsError:           true,
	}
	token := &mcp.CallToolResult{Result: mcp.Result{Meta: &mcp.Meta{ProgressToken: "t", AdditionalFields: map[string]any{"a": "b"}}}}
	asks := server.NewInputRequestBuilder("state").Elicit("ok", mcp.ElicitationParams{Message: "?", RequestedSchema: map[string]any{"type": "object"}}).ToolResult()
	cases := map[string]any{
		"text":                   mcp.NewToolResultText("line\n\ttab \"quoted\" back\\slash \u2028\u2029 <&> \x00\x1f\x7f é 漢 🙂 \xff\xc3"),
		"error":                  mcp.NewToolResultError("Error: no"),
		"everything":             everything,
		"everything, by value":   *everything,
		"nothing":                &mcp.CallToolResult{},
		"nil":                    (*mcp.CallToolResult)(nil),
		"no result":              nil,
		"empty meta":             &mcp.CallToolResult{Result: mcp.Result{Meta: &mcp.Meta{}}},
		"progress token":         token,
		"raw structured":         &mcp.CallToolResult{RawStructuredContent: json.RawMessage("{\n \"a\" : [ 1 ]\n}"), StructuredContent: "not this"},
		"input required":         asks,
		"another kind":           mcp.ListToolsResult{Tools: []mcp.Tool{mcp.NewTool("a", mcp.WithString("b"))}},
		"an empty result":        mcp.EmptyResult{},
		"null among the content": &mcp.CallToolResult{Content: []mcp.Content{nil}},
	}
	check := func(t *testing.T, response any) {
		t.Helper()
		want, err := json.Marshal(response)
		if err != nil {
			t.Fatal(err)
		}
		got, err := appendResponse(nil, []byte(`"id"`), response)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(got) || strings.ContainsAny(string(got), "\n\u2028\u2029") {
			t.Errorf("not fit for a line: %q", got)
		}
		if !reflect.DeepEqual(decode(t, got), decode(t, want)) {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
	for name, result := range cases {
		t.Run(name, func(t *testing.T) {
			check(t, mcp.NewJSONRPCResultResponse(mcp.NewRequestId("id"), result))
		})
	}
	t.Run("errors", func(t *testing.T) {
		check(t, mcp.NewJSONRPCError(mcp.NewRequestId("id"), -32000, "no\n\xff", nil))
		check(t, mcp.NewJSONRPCError(mcp.NewRequestId("id"), -32000, "no", map[string]any{"supported": []string{"a"}}))
	})
}

func TestUnencodableIsAnError(t *testing.T) {
	for name, v := range map[string]any{"function": func() {}, "panic": panics{}} {
		if _, err := appendResponse(nil, null, mcp.NewJSONRPCResultResponse(mcp.NewRequestId(1), mcp.NewToolResultStructured(v, ""))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := appendResponse(nil, null, "no response"); err == nil {
		t.Error("no error for what is no response")
	}
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("on purpose") }

func TestStringsAreEncodedAsJSONHasThem(t *testing.T) {
	pieces := []string{"a", "\"", "\\", "\n", "\r", "\t", "\x00", "\x1f", "\x7f", "\u0080", "\u2027", "\u2028", "\u2029", "\ufffd", "\uffff", "🙂", "\xff", "\xc3", "\xe2\x80", "\xed\xa0\x80", "plain text ", "<&>"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		s := b.String()
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		got := appendString(nil, s)
		if decode(t, got) != decode(t, want) {
			t.Fatalf("%q became %s, want %s", s, got, want)
		}
	}
}
