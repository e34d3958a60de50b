package main

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"regexp"
	"strings"
	"testing"
)

// inDirectory are the flags of a workspace in dir where everything is allowed.
func inDirectory(dir string) []string {
	return []string{"--backend=local", "--root=" + dir, "--permissions=permissive"}
}

func TestCall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, dir, "a.txt", "one\ntwo\nthree\n")
	writeFile(t, dir, "x=y.txt", "equals\n")
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir, "a.png", picture.String())

	for _, c := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string // regular expressions
	}{
		{name: "no arguments", args: []string{"ls"}, stdout: `(?s)^a\.png.*a\.txt \(14 bytes\)\n`},
		{name: "integers", args: []string{"read_file", "path=a.txt", "offset=1", "limit=1"}, stdout: `^     2\ttwo\n`},
		{name: "booleans and enumerations", args: []string{"grep", "pattern=TWO", "case_insensitive=true", "output_mode=content"}, stdout: `^a\.txt:2: two\n$`},
		{name: "text that looks like a number", args: []string{"write_file", "path=n.txt", "content=007"}, stdout: `^Wrote 1 lines? to n\.txt\n$`},
		{name: "a value with an equals sign", args: []string{"read_file", "path=x=y.txt"}, stdout: `equals`},
		{name: "a value of lines", args: []string{"write_file", "path=m.txt", "content=a\nb\n"}, stdout: `^Wrote 2 lines to m\.txt\n$`},
		{name: "a value that is empty", args: []string{"write_file", "path=e.txt", "content="}, stdout: `^Wrote 0 lines to e\.txt\n$`},
		{name: "a JSON object", args: []string{"read_file", ` {"path": "a.txt", "limit": 1}`}, stdout: `^     1\tone\n`},
		{name: "an image", args: []string{"read_file", "path=a.png"}, stdout: `\(image/png, \d+ bytes of base64\)\n$`},

		{name: "a tool that fails", args: []string{"read_file", "path=missing"}, code: 1, stdout: `^Error: .*missing.*\n`},
		{name: "an argument that is none", args: []string{"ls", "dir=x"}, code: 1, stdout: `^Error: there is no argument "dir"; the arguments are path\n$`},
		{name: "a wrong type in JSON", args: []string{"read_file", `{"path": 1}`}, code: 1, stdout: `^Error: the argument "path" takes a string, not a number\n$`},
		{name: "a missing argument", args: []string{"read_file"}, code: 1, stdout: `^Error: the argument "path" is missing`},
		{name: "what a rule denies", args: []string{"read_file", "path=.env"}, code: 1, stdout: `^Error: `},

		{name: "no tool", code: 1, stderr: `name the tool to call`},
		{name: "no such tool", args: []string{"raed_file", "path=x"}, code: 1, stderr: `there is no tool "raed_file"; did you mean "read_file"\?; the tools are ls, `},
		{name: "no such tool, in JSON", args: []string{"cat", "{}"}, code: 1, stderr: `there is no tool "cat"; the tools are ls, `},
		{name: "a tool of the other edit format", args: []string{"hashline_edit"}, code: 1, stderr: `there is no tool "hashline_edit"; the tools are`},
		{name: "a tool that is denied", args: []string{"write_file", "path=a", "content=b", "--permissions=readonly"}, code: 1, stdout: "Error: write_file: the ruleset denies every write, so the tool is not offered."},
		{name: "a tool that is left out", args: []string{"ls", "--tools=grep"}, code: 1, stderr: `the tool "ls" is not offered`},
		{name: "a word that is no pair", args: []string{"read_file", "a.txt"}, code: 1, stderr: `"a.txt" is no argument; write key=value`},
		{name: "an array", args: []string{"read_file", "[]"}, code: 1, stderr: `"\[\]" is no argument; write key=value`},
		{name: "JSON that is broken", args: []string{"read_file", `{"path"}`}, code: 1, stderr: `the arguments are not a JSON object: .*; write one, or key=value`},
		{name: "a value of another type", args: []string{"read_file", "path=a.txt", "limit=all"}, code: 1, stderr: `the argument "limit" takes an integer, not "all"`},
		{name: "words behind -", args: []string{"-", "ls"}, code: 1, stderr: `"ls" is not expected behind -`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := program{args: append(append([]string{"call"}, inDirectory(dir)...), c.args...)}.run(t)
			if got.code != c.code {
				t.Errorf("it ended with %d, want %d", got.code, c.code)
			}
			matches(t, "stdout", got.stdout, c.stdout)
			if c.stderr != "" {
				c.stderr = "^mcp-workspace: .*" + c.stderr + ".*\n$"
			}
			matches(t, "stderr", got.stderr, c.stderr)
		})
	}
	if got, err := os.ReadFile(dir + "/n.txt"); err != nil || string(got) != "007" {
		t.Errorf("n.txt is %q, %v", got, err)
	}
}

// matches holds what was printed against a regular expression; "" wants
// nothing.
func matches(t *testing.T, stream, got, want string) {
	t.Helper()
	if want == "" && got != "" || !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("%s is %q, want %s", stream, got, want)
	}
}

func TestCallWithoutAPersonToAsk(t *testing.T) {
	t.Parallel()
	for fallback, code := range map[string]string{"error": "approval_required", "deny": "permission_denied"} {
		got := program{
			args:  []string{"call", "-", "--permissions=strict", "--ask-fallback=" + fallback},
			stdin: `{"tool": "ls"}`,
		}.run(t)
		results := parseResults(t, got.stdout)
		if got.code != 1 || len(results) != 1 || results[0].Meta["mcp-workspace/code"] != code {
			t.Errorf("with %s it answered %+v", fallback, got)
		}
	}
}

func TestCallsFromStandardInput(t *testing.T) {
	t.Parallel()
	got := program{args: []string{"call", "-"}, stdin: strings.Join([]string{
		`{"tool": "write_file", "arguments": {"path": "a.txt", "content": "<one> & é\n"}}`,
		``,
		`{"tool": "edit_file", "arguments": {"path": "a.txt", "old_string": "one", "new_string": "two"}}`,
		`nonsense`,
		`{"tool": "read_file", "arguments": {"path": "a.txt"}, "id": 1}`,
		`{"tool": "ls"} {"tool": "ls"}`,
		`{"tool": "ls"}}`,
		`{"tool": "sl"}`,
		`["ls"]`,
		`{"tool": "ls", "arguments": ["."]}`,
		`{"tool": "read_file", "arguments": {"path": "missing"}}`,
		"\t" + `{"tool": "read_file", "arguments": {"path": "a.txt"}}` + "\r",
		`{"tool": "ls", "arguments": null}`, // and no newline at the end
	}, "\n")}.run(t)
	if got.code != 1 || got.stderr != "" {
		t.Errorf("it ended with %d and said %q", got.code, got.stderr)
	}
	want := []struct {
		failed bool
		text   string
	}{
		{false, "Wrote 1 lines to a.txt"},
		{false, "Edited a.txt: replaced 1 occurrence"},
		{true, `Error: line 4: not a call such as {"tool": "ls", "arguments": {}}: `},
		{true, `Error: line 5: not a call such as {"tool": "ls", "arguments": {}}: json: unknown field "id"`},
		{true, "Error: line 6: there is more behind the call; write one call a line"},
		{true, "Error: line 7: there is more behind the call"},
		{true, `Error: line 8: there is no tool "sl"`},
		{true, "Error: line 9: not a call"},
		{true, "Error: line 10: not a call"},
		{true, "Error: /workspace/missing: "},
		{false, "     1\t<two> & é"},
		{false, "a.txt (11 bytes)"},
	}
	results := parseResults(t, got.stdout)
	if len(results) != len(want) {
		t.Fatalf("%d results, want %d:\n%s", len(results), len(want), got.stdout)
	}
	for i, w := range want {
		r := results[i]
		if r.IsError != w.failed || !strings.HasPrefix(r.text(), w.text) {
			t.Errorf("result %d is %v %q, want %v %q", i, r.IsError, r.text(), w.failed, w.text)
		}
		if code := r.Meta["mcp-workspace/code"]; w.failed != (code != nil) {
			t.Errorf("result %d has the code %v", i, code)
		}
	}
}

func TestCallsFromStandardInputThatSucceed(t *testing.T) {
	t.Parallel()
	for name, stdin := range map[string]string{"none": "", "blank lines": "\n \n", "one": `{"tool": "ls"}` + "\n"} {
		if got := (program{args: []string{"call", "-"}, stdin: stdin}).run(t); got.code != 0 || got.stderr != "" {
			t.Errorf("%s: it ended with %d and said %q", name, got.code, got.stderr)
		}
	}
}

// TestCallsShareOneConnection: an edit knows what was read in it.
func TestCallsShareOneConnection(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, dir, "a.txt", "one\n")
	cmd := program{args: append([]string{"call", "-"}, inDirectory(dir)...)}.command(t)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	results := json.NewDecoder(stdout)
	call := func(line string) result {
		t.Helper()
		if _, err := stdin.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
		var r result
		if err := results.Decode(&r); err != nil {
			t.Fatal(err) // each is answered before the next is given
		}
		return r
	}
	call(`{"tool": "read_file", "arguments": {"path": "a.txt"}}`)
	writeFile(t, dir, "a.txt", "changed, one\n")
	r := call(`{"tool": "edit_file", "arguments": {"path": "a.txt", "old_string": "one", "new_string": "two"}}`)
	if r.Meta["mcp-workspace/code"] != "stale" {
		t.Errorf("the edit answered %+v", r)
	}
	stdin.Close()
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
}

// TestALargeCall: a file of 20 MB goes in one line.
func TestALargeCall(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("0123456789abcde\n", 20<<20/16)
	line, err := json.Marshal(map[string]any{"tool": "write_file", "arguments": map[string]any{"path": "a.txt", "content": content}})
	if err != nil {
		t.Fatal(err)
	}
	got := program{args: []string{"call", "-"}, stdin: string(line)}.run(t)
	if got.code != 0 || !strings.Contains(got.stdout, "Wrote 1310720 lines to a.txt") {
		t.Errorf("it ended with %d: %.200s%.200s", got.code, got.stdout, got.stderr)
	}
}

// TestARefIsFoundByAnotherProcess, and one that is gone is an error.
func TestARefIsFoundByAnotherProcess(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"file:" + t.TempDir(), "sqlite:" + t.TempDir() + "/w.db"} {
		flag := "--store=" + store
		got := program{args: []string{"call", "-", flag}, stdin: `{"tool": "write_file", "arguments": {"path": "a.txt", "content": "x\n"}}`}.run(t)
		ref, ok := parseResults(t, got.stdout)[0].Meta["mcp-workspace/ref"].(string)
		if !ok {
			t.Fatalf("there is no ref in %s", got.stdout)
		}
		if got := run(t, "call", "read_file", "path=a.txt", flag, "--ref="+ref); got != "     1\tx\n" {
			t.Errorf("reading it by its ref printed %q", got)
		}
		other := program{args: []string{"call", "ls", flag}}.run(t)
		if !strings.Contains(other.stdout, "empty") || !strings.Contains(other.stderr, "ref=state:") {
			t.Errorf("another workspace has %+v", other)
		}

		gone := program{args: []string{"call", "ls", flag, "--ref=state:gone"}}.run(t)
		if gone.code != 1 || !strings.HasPrefix(gone.stdout, "Error: ") || gone.stderr != "" {
			t.Errorf("a ref that is gone answered %+v", gone)
		}
		gone = program{args: []string{"call", "-", flag, "--ref=state:gone"}, stdin: `{"tool": "ls"}`}.run(t)
		if code := parseResults(t, gone.stdout)[0].Meta["mcp-workspace/code"]; code != "unavailable" {
			t.Errorf("a ref that is gone has the code %v", code)
		}
		if got := run(t, "call", "ls", flag, "--name=gone"); !strings.Contains(got, "empty") {
			t.Errorf("the workspace was made after all, with %q", got)
		}
	}
}
