package clients

import (
	"slices"
	"strings"
	"testing"
)

// askingRules ask a person before anything is changed.
const askingRules = `
default: allow
write: {default: ask}
execute: {default: ask}
`

// approval is a run of calls that a person is asked about.
type approval struct {
	steps   []step
	answers []string
	asked   []string // what each question is about
	choices []string // what can be answered
}

// approvalOf is the run for clients of an era: without sessions there is no
// connection that an answer could hold for.
func approvalOf(version string) approval {
	write := func(content string) step {
		return step{Tool: "write_file", Arguments: map[string]any{"path": "a.txt", "content": content}}
	}
	allowed, refused, declined := write("one\n"), write("two\n"), write("three\n")
	allowed.want = []string{"Wrote 1 line"}
	refused.code, declined.code = "approval_refused", "approval_refused"
	read := step{Tool: "read_file", Arguments: map[string]any{"path": "a.txt"}, want: []string{"one"}, not: []string{"two", "three"}}
	run := step{Tool: "execute", Arguments: map[string]any{"command": "echo approved"}, want: []string{"approved"}}
	a := approval{
		steps:   []step{allowed, refused, declined, read, run, run},
		answers: []string{"once", "no", "", "connection"},
		asked:   []string{"a.txt", "a.txt", "a.txt", "echo approved"},
		choices: []string{"once", "connection", "no"},
	}
	if version == statelessEra {
		a.answers = []string{"once", "no", "", "once", "once"}
		a.asked = append(a.asked, "echo approved")
		a.choices = []string{"once", "no"}
	}
	return a
}

// checkApproval holds what was asked and answered against the run.
func (a approval) check(t *testing.T, got report) {
	t.Helper()
	checkClient(t, a.steps, got)
	if len(got.Asked) != len(a.asked) {
		t.Fatalf("the person was asked %d times, not %d: %+v", len(got.Asked), len(a.asked), got.Asked)
	}
	for i, q := range got.Asked {
		if !strings.Contains(q.Message, a.asked[i]) {
			t.Errorf("question %d is not about %q: %s", i, a.asked[i], q.Message)
		}
		if !slices.Equal(q.Choices, a.choices) {
			t.Errorf("question %d offers %q, not %q", i, q.Choices, a.choices)
		}
	}
}

// person answers questions, for clients in this process. It is for one call at
// a time.
type person struct {
	answers []string
	asked   []question
}

// answer notes a question; ok is false when the person declines.
func (p *person) answer(message string, schema any) (answer string, ok bool) {
	q := question{Message: message}
	if object, isObject := schema.(map[string]any); isObject {
		properties, _ := object["properties"].(map[string]any)
		field, _ := properties["answer"].(map[string]any)
		choices, _ := field["enum"].([]any)
		for _, c := range choices {
			text, _ := c.(string)
			q.Choices = append(q.Choices, text)
		}
	}
	p.asked = append(p.asked, q)
	if n := len(p.asked); n <= len(p.answers) {
		answer = p.answers[n-1]
	}
	return answer, answer != ""
}

func TestApprovalByClientPrograms(t *testing.T) {
	for _, client := range networkClients {
		if client.program == "programs/fastmcp_client.py" {
			continue // elicitation is that of the Python SDK, which it is built on
		}
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			a := approvalOf(client.version)
			to := guarded(t, "--permissions", writeFile(t, "rules.yaml", askingRules))
			a.check(t, client.drive(t, to, a.steps, a.answers))
		})
	}
}
