package pipeline

import (
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// Five requests through a shell's pipe: every answer, in order, and exit 0.
func TestShellPipeline(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh on PATH")
	}
	requests := []string{
		initialize,
		opened,
		call("2", "write_file", `{"path":"hello.txt","content":"hello\nworld\n"}`),
		call("3", "edit_file", `{"path":"hello.txt","old_string":"world","new_string":"workspace"}`),
		call("4", "read_file", `{"path":"hello.txt"}`),
	}
	// set -o pipefail is not in every sh; the server ends the pipe, so its
	// exit code is the script's.
	script := `printf '%s\n' "$@" | mcp-workspace --in-order`
	got := run(t, nil, sh, append([]string{"-c", script, "sh"}, requests...)...).answers()

	ids := make([]string, 0, len(got))
	for _, m := range got {
		ids = append(ids, string(m.ID))
	}
	if strings.Join(ids, " ") != "1 2 3 4" {
		t.Fatalf("answers to %q, not to 1 2 3 4", ids)
	}
	if got[0].Result == nil || got[0].Result.ProtocolVersion != "2025-06-18" {
		t.Errorf("initialize: %+v", got[0])
	}
	for i, want := range []string{"Wrote 2 lines to ", "replaced 1 occurrence", "     2\tworkspace"} {
		if text := got[i+1].text(); !strings.Contains(text, want) {
			t.Errorf("answer %d: no %q in %q", i+2, want, text)
		}
	}
}

// The end of the input does not cut off calls that are still running.
func TestEndOfInputWaitsForCalls(t *testing.T) {
	t.Parallel()
	local := []string{"--backend", "local", "--root", t.TempDir(), "--permissions", "permissive"}
	got := pipe(t, lines(initialize, opened, call("2", "execute", `{"command":"sleep 1; echo finished"}`)), local...)
	if text := got.byID(t, "2").text(); !strings.Contains(text, "finished") {
		t.Errorf("the call was cut off: %q", text)
	}
}

func TestLastLineWithoutNewline(t *testing.T) {
	t.Parallel()
	input := initialize + "\n" + opened + "\n" + call("2", "ls", "{}")
	got := pipe(t, strings.NewReader(input))
	if got.byID(t, "2").Result == nil {
		t.Error("the last line got no answer")
	}
}

func TestEmptyInput(t *testing.T) {
	t.Parallel()
	if got := pipe(t, strings.NewReader("")); len(got.messages) != 0 {
		t.Errorf("an answer to nothing: %+v", got.messages)
	}
}

// Garbage gets an error, and the connection lives on.
func TestGarbage(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"words":          "this is not JSON",
		"cut off":        `{"jsonrpc":"2.0","id":9,"method":`,
		"invalid UTF-8":  "\xff\xfe\x00garbage",
		"a bare number":  "42",
		"deeply nested":  strings.Repeat("[", 100_000),
		"wrong version":  `{"jsonrpc":"1.0","id":9,"method":"ping"}`,
		"no method":      `{"jsonrpc":"2.0","id":9}`,
		"unknown method": `{"jsonrpc":"2.0","id":9,"method":"no/such"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := pipe(t, lines(initialize, opened, line, call("2", "ls", "{}")), "--in-order")
			if got.byID(t, "2").Result == nil {
				t.Error("the call after the garbage got no answer")
			}
			var refused *message
			for _, m := range got.answers() {
				if m.Error != nil {
					refused = &m
				}
			}
			if refused == nil {
				t.Fatal("no JSON-RPC error")
			}
			if refused.Error.Code == 0 || refused.Error.Message == "" {
				t.Errorf("the error says nothing: %+v", refused.Error)
			}
		})
	}
}

func TestBlankLinesAreNothing(t *testing.T) {
	t.Parallel()
	got := pipe(t, lines("", initialize, "  ", opened, "", call("2", "ls", "{}")), "--in-order")
	if n := len(got.answers()); n != 2 {
		t.Errorf("%d answers to two requests: %+v", n, got.answers())
	}
}

// A line of 50 MB is one request like any other.
func TestHugeLine(t *testing.T) {
	t.Parallel()
	const size = 50 << 20
	head := strings.TrimSuffix(call("2", "write_file", `{"path":"big.txt","content":"`), "}}")
	input := io.MultiReader(
		lines(initialize, opened),
		strings.NewReader(head),
		io.LimitReader(rowsOfText{}, size),
		strings.NewReader(`"}}}`+"\n"),
		lines(call("3", "read_file", `{"path":"big.txt","limit":1}`)),
	)
	got := pipe(t, input, "--in-order")
	if text := got.byID(t, "2").text(); !strings.Contains(text, "Wrote ") {
		t.Errorf("write_file: %.300q", text)
	}
	if text := got.byID(t, "3").text(); !strings.Contains(text, "     1\t0123456789") {
		t.Errorf("read_file: %.300q", text)
	}
}

// rowsOfText is an endless JSON string of 64-byte rows: 62 characters and \n.
type rowsOfText struct{}

func (rowsOfText) Read(p []byte) (int, error) {
	const row = `01234567890123456789012345678901234567890123456789012345678901\n`
	n := 0
	for n+len(row) <= len(p) {
		n += copy(p[n:], row)
	}
	if n == 0 {
		// Never split an escape: spaces fill what no row fits in.
		for n < len(p) {
			p[n] = ' '
			n++
		}
	}
	return n, nil
}

// Logging goes to standard error, however much of it there is.
func TestStandardOutputCarriesNothingElse(t *testing.T) {
	t.Parallel()
	local := []string{"--backend", "local", "--root", t.TempDir(), "--permissions", "permissive"}
	for _, format := range []string{"text", "json"} {
		args := append([]string{"--log-level", "debug", "--log-format", format, "--in-order"}, local...)
		got := pipe(t, lines(
			initialize, opened, "garbage",
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, // worth a line in the log
			call("2", "execute", `{"command":"echo out; echo err >&2"}`),
			call("3", "read_file", `{"path":"missing"}`),
			call("4", "no_such_tool", `{}`),
		), args...)
		for _, id := range []string{"1", "2", "3", "4"} {
			got.byID(t, id)
		}
		if got.stderr == "" {
			t.Errorf("--log-level debug --log-format %s logged nothing", format)
		}
		if format == "json" {
			checkJSONLog(t, got.stderr)
		}
	}
}

func checkJSONLog(t *testing.T, log string) {
	t.Helper()
	for line := range strings.Lines(log) {
		if !json.Valid([]byte(line)) {
			t.Errorf("--log-format json wrote %q", line)
		}
	}
}

// A setting that cannot work stops the start with one line that names it.
func TestBadSettingStopsTheStart(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--backend", "no-such-backend"},
		{"--permissions", "no-such-preset"},
		{"--log-level", "loud"},
		{"--no-such-flag"},
	} {
		stdout, stderr, code := fail(t, args...)
		if code == 0 || stdout != "" {
			t.Errorf("%q: exit %d, standard output %q", args, code, stdout)
		}
		name := strings.TrimLeft(args[0], "-")
		if !strings.Contains(stderr, name) || strings.Count(strings.TrimSpace(stderr), "\n") != 0 {
			t.Errorf("%q: not one line that names %s:\n%s", args, name, stderr)
		}
	}
}
