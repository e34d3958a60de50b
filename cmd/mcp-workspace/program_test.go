package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// asProgram in the environment makes the test binary the program itself, so
// that the tests run what users run, under the race detector where they do.
const asProgram = "TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program is one run of the program.
type program struct {
	args  []string
	env   []string // all there is
	dir   string   // current directory; "" is an empty one
	stdin string
}

// outcome is how a run ended.
type outcome struct {
	stdout, stderr string
	code           int
}

func (p program) command(t *testing.T) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, p.args...)
	cmd.Env = append([]string{asProgram + "=1"}, p.env...)
	if testing.CoverMode() != "" { // or the program warns on standard error
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+t.TempDir())
	}
	cmd.Dir = p.dir
	if cmd.Dir == "" {
		cmd.Dir = t.TempDir()
	}
	return cmd
}

// run runs the program to its end.
func (p program) run(t *testing.T) outcome {
	t.Helper()
	cmd := p.command(t)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(p.stdin), &stdout, &stderr
	err := cmd.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// run runs the program with args, which must succeed, and returns what it
// printed.
func run(t *testing.T, args ...string) string {
	t.Helper()
	got := program{args: args}.run(t)
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("%q ended with %d\nstdout: %s\nstderr: %s", args, got.code, got.stdout, got.stderr)
	}
	return got.stdout
}

// peer is a run of the program that a test talks MCP with.
type peer struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	lines  *bufio.Reader
	stderr bytes.Buffer
}

// start starts the program and initializes the connection.
func (p program) start(t *testing.T) *peer {
	t.Helper()
	s := &peer{Cmd: p.command(t)}
	s.Stderr = &s.stderr
	var err error
	if s.stdin, err = s.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if s.stdout, err = s.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	s.lines = bufio.NewReader(s.stdout)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	s.send(t, initialize)
	s.answer(t)
	s.send(t, initialized)
	return s
}

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// toolCall is a request, and arguments JSON.
func toolCall(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

func (s *peer) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(s.stdin, line+"\n"); err != nil {
		t.Fatalf("writing to the server: %v; it said: %s", err, s.stderr.String())
	}
}

// answer reads the next message.
func (s *peer) answer(t *testing.T) message {
	t.Helper()
	line, err := s.lines.ReadString('\n')
	if err != nil {
		t.Fatalf("reading from the server: %v", errors.Join(err, s.Wait(), errors.New(s.stderr.String())))
	}
	return parseMessage(t, line)
}

// call makes a call and returns its result, which must not be an error.
func (s *peer) call(t *testing.T, tool, arguments string) result {
	t.Helper()
	s.send(t, toolCall(1, tool, arguments))
	m := s.answer(t)
	if m.Result.IsError || m.Error != nil {
		t.Fatalf("%s %s answered %+v", tool, arguments, m)
	}
	return m.Result
}

// end waits for the end of the process and returns its exit code.
func (s *peer) end(t *testing.T) int {
	t.Helper()
	if err := s.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return s.ProcessState.ExitCode()
}

// message is what the tests look at of a JSON-RPC message.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  result          `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// result is what they look at of a tool's result.
type result struct {
	Content []struct {
		Type, Text string
	} `json:"content"`
	IsError bool           `json:"isError"`
	Meta    map[string]any `json:"_meta"`
	Tools   []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

func (r result) text() string {
	var b strings.Builder
	for _, c := range r.Content {
		b.WriteString(c.Text)
	}
	return b.String()
}

func parseMessage(t *testing.T, line string) message {
	t.Helper()
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
		t.Fatalf("this is no MCP message (%v): %s", err, line)
	}
	return m
}

// parseResults reads what call - prints: one result a line.
func parseResults(t *testing.T, out string) []result {
	t.Helper()
	var results []result
	for line := range strings.Lines(out) {
		var r result
		if err := json.Unmarshal([]byte(line), &r); err != nil || len(r.Content) == 0 {
			t.Fatalf("this is no result (%v): %s", err, line)
		}
		results = append(results, r)
	}
	return results
}

func writeFile(t *testing.T, dir, name, content string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// documents are the ids of the documents in the directory of a file store.
func documents(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, p := range paths {
		ids = append(ids, strings.TrimSuffix(filepath.Base(p), ".json"))
	}
	return ids
}
