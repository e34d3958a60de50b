package clients

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// step is one tool call and what its answer has to show.
type step struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`

	want []string // texts that the answer holds
	not  []string // texts that it does not hold
	code string   // of the failure; empty when the call succeeds
}

// request is what a client program reads on its standard input: a command that
// starts a server, or a URL with the transport to use there, and what to call.
type request struct {
	Command   []string          `json:"command,omitempty"`
	URL       string            `json:"url,omitempty"`
	Transport string            `json:"transport,omitempty"` // with URL: "http" or "sse"
	Headers   map[string]string `json:"headers,omitempty"`   // of every HTTP request
	Steps     []step            `json:"steps"`
	Mode      string            `json:"mode,omitempty"` // the era, for clients that have both
	// Answers of the person, one for each question; "" is to decline. Without
	// any the client declares that it cannot ask.
	Answers []string `json:"answers,omitempty"`
}

// report is what a client program prints.
type report struct {
	Server  string     `json:"server"`
	Version string     `json:"version"` // of the protocol, where the client tells
	Tools   []string   `json:"tools"`
	Results []answer   `json:"results"`
	Asked   []question `json:"asked"`
}

// question is what the person was asked.
type question struct {
	Message string   `json:"message"`
	Choices []string `json:"choices"`
}

type answer struct {
	Text    string `json:"text"`
	IsError bool   `json:"isError"`
	Code    string `json:"code"`
}

// sevenTools are offered to every client, in this order or another.
var sevenTools = []string{"edit_file", "execute", "glob", "grep", "ls", "read_file", "write_file"}

// plan is the text that the steps write, with what a careless JSON or pipe
// layer damages: quotes, a tab, non-ASCII and no final newline.
const plan = "# Plan\nbuy \"milk\"\twith café\nwrite code — 你好"

// fileSteps call every tool that works on both backends, and one that fails.
func fileSteps() []step {
	return []step{
		{Tool: "write_file", Arguments: map[string]any{"path": "notes/the plan.md", "content": plan},
			want: []string{"Wrote 3 lines to ", "notes/the plan.md"}},
		{Tool: "edit_file", Arguments: map[string]any{"path": "notes/the plan.md", "old_string": "\"milk\"", "new_string": "\"bread\""},
			want: []string{"Edited ", "replaced 1 occurrence"}},
		{Tool: "grep", Arguments: map[string]any{"pattern": "bread|code", "output_mode": "content"},
			want: []string{"the plan.md:2: buy \"bread\"\twith café", "the plan.md:3: write code — 你好"}, not: []string{"# Plan"}},
		{Tool: "read_file", Arguments: map[string]any{"path": "notes/the plan.md", "offset": 1, "limit": 1},
			want: []string{"     2\tbuy \"bread\"\twith café", "1 more line"}, not: []string{"milk", "# Plan"}},
		{Tool: "ls", Arguments: map[string]any{},
			want: []string{"notes/"}},
		{Tool: "glob", Arguments: map[string]any{"pattern": "**/*.md"},
			want: []string{"notes/the plan.md"}},
		{Tool: "read_file", Arguments: map[string]any{"path": "notes/missing.md"},
			want: []string{"Error: "}, code: "not_found"},
	}
}

// executeStep runs where the files are; its exit code is a result.
func executeStep() step {
	return step{Tool: "execute", Arguments: map[string]any{"command": "cat 'notes/the plan.md'; echo problem >&2; exit 3"},
		want: []string{"Command failed (exit code 3)", "buy \"bread\"\twith café", "problem"}}
}

// checkClient holds a client's report against the steps, and that it knows
// whom it talked to.
func checkClient(t *testing.T, steps []step, got report) {
	t.Helper()
	if got.Server != "mcp-workspace" {
		t.Errorf("the server calls itself %q", got.Server)
	}
	check(t, steps, got)
}

// check holds what was offered and answered against the steps.
func check(t *testing.T, steps []step, got report) {
	t.Helper()
	tools := slices.Sorted(slices.Values(got.Tools))
	if !slices.Equal(tools, sevenTools) {
		t.Errorf("offered tools are %q, not %q", tools, sevenTools)
	}
	if len(got.Results) != len(steps) {
		t.Fatalf("%d answers to %d calls: %+v", len(got.Results), len(steps), got.Results)
	}
	for i, s := range steps {
		a := got.Results[i]
		if a.Code != s.code || a.IsError != (s.code != "" || a.IsError && s.Tool == "execute") {
			t.Errorf("%s: code %q (isError %v), not %q: %s", s.Tool, a.Code, a.IsError, s.code, a.Text)
		}
		checkText(t, s, a.Text)
	}
}

func checkText(t *testing.T, s step, text string) {
	t.Helper()
	for _, want := range s.want {
		if !strings.Contains(text, want) {
			t.Errorf("%s: no %q in the answer:\n%s", s.Tool, want, excerpt(text))
		}
	}
	for _, not := range s.not {
		if strings.Contains(text, not) {
			t.Errorf("%s: %q in the answer:\n%s", s.Tool, not, excerpt(text))
		}
	}
}

// excerpt is the end of a text that is too long to be shown.
func excerpt(text string) string {
	const most = 2000
	if len(text) <= most {
		return text
	}
	return "…" + text[len(text)-most:]
}

// decode reads what a client program printed.
func decode(t *testing.T, out []byte) report {
	t.Helper()
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("no report: %v\n%s", err, out)
	}
	return r
}
