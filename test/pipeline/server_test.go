package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// runTimeout ends a server that does not end with its input.
const runTimeout = 2 * time.Minute

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"pipeline","version":"1"}}}`
	opened     = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// call is one tools/call request as a line. Arguments are JSON.
func call(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

// message is a line of the server's output.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  *struct {
		ProtocolVersion string
		Content         []struct{ Text string }
		IsError         bool
		Meta            map[string]any `json:"_meta"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// text is what the model reads.
func (m message) text() string {
	if m.Result == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range m.Result.Content {
		b.WriteString(part.Text)
	}
	return b.String()
}

// outcome is how a run of the server ended.
type outcome struct {
	messages []message
	stderr   string
}

// byID returns the one answer to a request.
func (o outcome) byID(t *testing.T, id string) message {
	t.Helper()
	var found []message
	for _, m := range o.messages {
		if m.Method == "" && string(m.ID) == id {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d answers to request %s, not one\n%s", len(found), id, o.stderr)
	}
	return found[0]
}

// answers returns the messages that answer a request, in the order they came.
func (o outcome) answers() []message {
	var found []message
	for _, m := range o.messages {
		if m.Method == "" {
			found = append(found, m)
		}
	}
	return found
}

// pipe runs the server with input and waits for it to end with exit code 0.
func pipe(t *testing.T, input io.Reader, args ...string) outcome {
	t.Helper()
	return run(t, input, testenv.Server(t), args...)
}

// lines is an input of one request a line.
func lines(requests ...string) io.Reader {
	return strings.NewReader(strings.Join(requests, "\n") + "\n")
}

// run runs a command to its end, which has to be exit code 0.
func run(t *testing.T, input io.Reader, program string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\nstdout: %.2000s\nstderr: %.2000s", err, stdout.Bytes(), stderr.Bytes())
	}
	return outcome{parse(t, stdout.Bytes()), stderr.String()}
}

// parse reads the server's output, which has to be JSON-RPC messages, one a
// line, and nothing else.
func parse(t *testing.T, stdout []byte) []message {
	t.Helper()
	if len(stdout) > 0 && stdout[len(stdout)-1] != '\n' {
		t.Errorf("the output ends inside a line: %.200q", stdout[max(0, len(stdout)-200):])
	}
	var messages []message
	for line := range bytes.Lines(stdout) {
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("not a message on standard output: %v\n%.200q", err, line)
		}
		if m.JSONRPC != "2.0" {
			t.Errorf("not JSON-RPC 2.0 on standard output: %.200q", line)
		}
		messages = append(messages, m)
	}
	return messages
}

// fail runs the server with no input and returns how it ended.
func fail(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, testenv.Server(t), args...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), log.String(), cmd.ProcessState.ExitCode()
}
