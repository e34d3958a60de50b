package tools

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Names in _meta of results and tools.
const (
	metaPrefix    = "mcp-workspace/"
	metaMaxResult = "anthropic/maxResultSizeChars"
)

// maxResultChars is how long a result clients that read metaMaxResult are
// asked to keep whole.
const maxResultChars = 500_000

// maxResult bounds the JSON text of a result, in bytes. Desktop clients refuse
// results over 1 MB; the rest is for the envelope.
const maxResult = 950_000

// answer is what a tool has to say: text for the model, facts for programs.
type answer struct {
	text   string
	image  *picture
	facts  facts
	output any // structured form: an Out of the tool's definition
}

// facts are a result's _meta, without the prefix.
type facts map[string]any

// errorField holds the failure in the structured content of a failed result,
// in place of the tool's own fields.
const errorField = "error"

// failureOutput is a failure as structured content has it.
type failureOutput struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Output  string `json:"output,omitempty" jsonschema:"what the command printed before it was stopped"`
}

// budget is how many bytes of JSON a text may take. A structured result has
// the text twice.
func (c *call) budget() int {
	if c.set.Structured {
		return maxResult / 2
	}
	return maxResult
}

func (s *toolset) result(c *call, a *answer) *mcp.CallToolResult {
	res := &mcp.CallToolResult{}
	res.Meta = c.meta(a.facts)
	if a.image != nil {
		res.Content = append(res.Content, a.image.content())
	}
	if a.text != "" || a.image == nil {
		res.Content = append(res.Content, mcp.TextContent{Type: mcp.ContentTypeText, Text: valid(a.text)})
	}
	if s.Structured {
		res.StructuredContent = a.output
	}
	return res
}

// commandError is the failure of a command that printed something first.
type commandError struct {
	err    error
	output string
	facts  facts
}

func (e *commandError) Error() string { return e.err.Error() }
func (e *commandError) Unwrap() error { return e.err }

func (s *toolset) failed(c *call, err error) *mcp.CallToolResult {
	code := string(backends.CodeOf(err))
	f := facts{"code": code}
	message := clip(valid(message(err)), maxMessage)
	text := "Error: " + message
	out := failureOutput{Code: code, Message: message}
	var cmd *commandError
	if errors.As(err, &cmd) {
		for k, v := range cmd.facts {
			f[k] = v
		}
		out.Output = valid(cmd.output)
		text += "\n" + out.Output
	}
	res := &mcp.CallToolResult{IsError: true, Content: []mcp.Content{mcp.TextContent{Type: mcp.ContentTypeText, Text: text}}}
	res.Meta = c.meta(f)
	if s.Structured {
		res.StructuredContent = map[string]any{errorField: out}
	}
	return res
}

// maxMessage bounds an error's text, in characters.
const maxMessage = 8000

// message is what an error says to a model: paths as the workspace has them,
// causes where there is nothing better.
func message(err error) string {
	var e *backends.Error
	if errors.As(err, &e) {
		return e.Error()
	}
	return err.Error()
}

func (c *call) meta(f facts) *mcp.Meta {
	m := make(map[string]any, len(f)+1)
	if c.conn != nil {
		if ref := c.conn.Ref(); ref != "" {
			m[metaPrefix+"ref"] = ref
		}
	}
	for k, v := range f {
		m[metaPrefix+k] = v
	}
	if len(m) == 0 {
		return nil
	}
	return mcp.NewMetaFromMap(m)
}

// valid shows bytes that are not UTF-8 as U+FFFD, each of them one.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// clip keeps at most limit characters of s.
func clip(s string, limit int) string {
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// jsonSize is at least the length of s in JSON, without its quotes.
func jsonSize(s string) int {
	n := len(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"', c == '\\', c == '\n', c == '\t', c == '\r':
			n++
		case c < 0x20, c == '<', c == '>', c == '&', c == 0x7f:
			n += 5
		case c >= 0x80:
			n += 2 // U+FFFD for a single byte, \u2028 for three
		}
	}
	return n
}
