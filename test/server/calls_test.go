package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// answer is what a tool answered.
type answer struct {
	reply
	text   string
	code   string
	ref    string
	exit   int
	failed bool
	state  string // to send back with a person's answer
	err    string // of JSON-RPC, when there is no result
}

func (a answer) String() string {
	return fmt.Sprintf("%d code %q error %q %s: %s", a.status, a.code, a.err, a.header.Get("Www-Authenticate"), tail(a.text, 600))
}

func toolParams(tool string, a args) map[string]any {
	if a == nil {
		a = args{}
	}
	return map[string]any{"name": tool, "arguments": a}
}

// try calls a tool; for goroutines and for calls that may have no answer.
func (c caller) try(ctx context.Context, tool string, a args) (answer, error) {
	return c.tryWith(ctx, toolParams(tool, a))
}

func (c caller) tryWith(ctx context.Context, params map[string]any) (answer, error) {
	r, err := c.request(ctx, "tools/call", params)
	if err != nil {
		return answer{}, err
	}
	got, err := c.do(r)
	if err != nil {
		return answer{}, err
	}
	return answerOf(got)
}

func answerOf(got reply) (answer, error) {
	a := answer{reply: got}
	m, err := got.message()
	switch {
	case err != nil:
		return a, err
	case m.Error != nil:
		a.err, a.failed = m.Error.Message, true
		return a, nil
	case m.Result == nil:
		return a, errors.New("a message without a result")
	}
	for _, part := range m.Result.Content {
		a.text += part.Text
	}
	for _, part := range m.Result.Contents {
		a.text += part.Text
	}
	a.failed, a.state = m.Result.IsError, m.Result.RequestState
	a.code, _ = m.Result.Meta["mcp-workspace/code"].(string)
	a.ref, _ = m.Result.Meta["mcp-workspace/ref"].(string)
	exit, _ := m.Result.Meta["mcp-workspace/exit_code"].(float64)
	a.exit = int(exit)
	return a, nil
}

// call calls a tool that has to be answered.
func (c caller) call(t *testing.T, tool string, a args) answer {
	t.Helper()
	got, err := c.try(t.Context(), tool, a)
	if err != nil {
		t.Fatalf("%s %v had no answer: %v", tool, a, err)
	}
	return got
}

// must calls a tool that has to succeed.
func (c caller) must(t *testing.T, tool string, a args) answer {
	t.Helper()
	got := c.call(t, tool, a)
	if got.failed || got.code != "" || got.exit != 0 || got.state != "" {
		t.Fatalf("%s %v failed: %v", tool, a, got)
	}
	return got
}

// write and content are what most tests do with a workspace.
func (c caller) write(t *testing.T, path, content string) answer {
	t.Helper()
	return c.must(t, "write_file", args{"path": path, "content": content})
}

// content is a file of one line.
func (c caller) content(t *testing.T, path string) string {
	t.Helper()
	_, line, _ := strings.Cut(c.must(t, "read_file", args{"path": path}).text, "\t")
	return strings.TrimSuffix(line, "\n")
}
