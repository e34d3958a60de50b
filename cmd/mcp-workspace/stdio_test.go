package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestAPipelineHasAllItsAnswers: the end of the input is not the end of what
// was asked before.
func TestAPipelineHasAllItsAnswers(t *testing.T) {
	t.Parallel()
	got := program{args: []string{"--in-order"}, stdin: strings.Join([]string{
		initialize, initialized,
		toolCall(1, "write_file", `{"path":"a.txt","content":"one\n"}`),
		toolCall(2, "edit_file", `{"path":"a.txt","old_string":"one","new_string":"two"}`),
		toolCall(3, "read_file", `{"path":"a.txt"}`), // and no newline at the end
	}, "\n")}.run(t)
	if got.code != 0 || got.stderr != "" {
		t.Errorf("it ended with %d and said %q", got.code, got.stderr)
	}
	var ids []string
	var last message
	for line := range strings.Lines(got.stdout) {
		last = parseMessage(t, line)
		ids = append(ids, string(last.ID))
	}
	if !slices.Equal(ids, []string{"0", "1", "2", "3"}) || last.Result.text() != "     1\ttwo\n" {
		t.Errorf("it answered\n%s", got.stdout)
	}
}

// TestStdioIsTheDefault: the word may be there or not.
func TestStdioIsTheDefault(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"stdio"}, {"--in-order", "stdio"}, {"stdio", "--in-order"}} {
		got := program{args: args, stdin: initialize}.run(t)
		if m := parseMessage(t, got.stdout); got.code != 0 || string(m.ID) != "0" || m.Error != nil {
			t.Errorf("%q answered %+v", args, got)
		}
	}
}

// TestStandardOutputCarriesMCPOnly, whatever goes wrong and is logged.
func TestStandardOutputCarriesMCPOnly(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		got := program{
			args: append(inDirectory(t.TempDir()), "--log-level=debug", "--log-format="+format, "--in-order"),
			stdin: strings.Join([]string{
				initialize, initialized, "nonsense", `{"jsonrpc":"2.0","id":7,"method":"nonsense"}`, "[]", "",
				toolCall(1, "execute", `{"command":"echo out; echo err >&2; (sleep 1 &)"}`),
				toolCall(2, "nonsense", `{}`),
			}, "\n"),
		}.run(t)
		if got.code != 0 {
			t.Errorf("it ended with %d and said %s", got.code, got.stderr)
		}
		n := 0
		for line := range strings.Lines(got.stdout) {
			parseMessage(t, line)
			n++
		}
		if n < 5 {
			t.Errorf("it answered\n%s", got.stdout)
		}
	}
}

// TestDesktopClients start programs in the root directory and with almost
// nothing in the environment.
func TestDesktopClients(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, env := range map[string][]string{
		"nothing":    nil,
		"all empty":  {"PATH=", "HOME=", "XDG_CONFIG_HOME=", "TMPDIR=", "USER="},
		"wrong home": {"PATH=/nowhere", "HOME=/nowhere"},
	} {
		state := program{args: []string{"--store=file:" + filepath.Join(dir, name), "--name=demo"}, env: env, dir: "/"}.start(t)
		state.call(t, "write_file", `{"path":"a.txt","content":"x"}`)
		state.stdin.Close()
		if code := state.end(t); code != 0 {
			t.Errorf("%s: state ended with %d and said %s", name, code, state.stderr.String())
		}
		if got := documents(t, filepath.Join(dir, name)); !slices.Equal(got, []string{"demo"}) {
			t.Errorf("%s: there are the documents %q", name, got)
		}

		local := program{args: inDirectory(dir), env: env, dir: "/"}.start(t)
		if got := local.call(t, "execute", `{"command":"sed s/a/b/ <<<a 2>/dev/null || echo a | sed s/a/b/; pwd"}`).text(); !strings.HasPrefix(got, "b\n") {
			t.Errorf("%s: the command printed %q", name, got)
		}
		local.stdin.Close()
		if code := local.end(t); code != 0 {
			t.Errorf("%s: local ended with %d and said %s", name, code, local.stderr.String())
		}
	}
}

// TestEnvironmentOfCommands is what --env says, and nothing of the client's.
func TestEnvironmentOfCommands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := writeFile(t, dir, "settings.yaml", "env:\n  FROM_FILE: a b=c\n  TWO: |-\n    one\n    two\n")
	args := append([]string{"call", "execute", "command=env", "--config=" + file}, inDirectory(dir)...)
	got := program{args: args, env: []string{"TOKEN=hidden", "PATH=/usr/bin:/bin"}}.run(t)
	if got.code != 0 || !strings.Contains(got.stdout, "FROM_FILE=a b=c\n") || !strings.Contains(got.stdout, "TWO=one\ntwo\n") {
		t.Errorf("it answered %+v", got)
	}
	if strings.Contains(got.stdout, "hidden") || strings.Contains(got.stdout, asProgram) {
		t.Errorf("the server's own environment reached the command:\n%s", got.stdout)
	}
}

// TestOneNameIsOneWorkspace, also for two processes that start at once.
func TestOneNameIsOneWorkspace(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"file:" + t.TempDir(), "sqlite:" + t.TempDir() + "/w.db"} {
		flags := []string{"--store=" + store, "--name=demo"}
		var runs sync.WaitGroup
		const processes = 4
		for i := range processes {
			runs.Go(func() {
				got := program{
					args:  append([]string{"call", "-"}, flags...),
					stdin: fmt.Sprintf(`{"tool": "write_file", "arguments": {"path": "%d.txt", "content": "x"}}`, i),
				}.run(t)
				if got.code != 0 || !strings.Contains(got.stdout, `"state:demo"`) {
					t.Errorf("%s: process %d answered %+v", store, i, got)
				}
			})
		}
		runs.Wait()
		got := run(t, append([]string{"call", "glob", "pattern=*.txt"}, flags...)...)
		for i := range processes {
			if !strings.Contains(got, fmt.Sprintf("%d.txt", i)) {
				t.Errorf("%s: the file of process %d is not in\n%s", store, i, got)
			}
		}
		if dir, ok := strings.CutPrefix(store, "file:"); ok && !slices.Equal(documents(t, dir), []string{"demo"}) {
			t.Errorf("there are the documents %q", documents(t, dir))
		}
	}
}

func TestNothingIsMadeUntilAToolIsUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := program{args: []string{"--store=file:" + dir}}.start(t)
	s.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	s.answer(t)
	if got := documents(t, dir); len(got) != 0 {
		t.Errorf("there are the documents %q", got)
	}
	s.call(t, "ls", `{}`)
	s.call(t, "ls", `{}`)
	if got := documents(t, dir); len(got) != 1 {
		t.Errorf("there are the documents %q, want one", got)
	}
	s.stdin.Close()
	s.end(t)
	if got := documents(t, dir); len(got) != 1 {
		t.Errorf("there are the documents %q at the end, want one", got)
	}
}

// TestDestroyOnExit removes the document, however the connection ends. It does
// not run beside other tests: a process that one of them is just starting
// holds our side of the pipe open for a moment.
func TestDestroyOnExit(t *testing.T) {
	for how, end := range map[string]struct {
		close func(*testing.T, *peer)
		code  int
	}{
		"the client closes its side": {func(_ *testing.T, s *peer) { s.stdin.Close() }, 0},
		"the client is gone": {func(t *testing.T, s *peer) {
			s.stdout.Close()
			s.send(t, toolCall(2, "ls", `{}`))
		}, 1},
	} {
		for _, flag := range []string{"--name=demo", "--ref=state:demo", ""} {
			t.Run(how+flag, func(t *testing.T) {
				dir := t.TempDir()
				store := "--store=file:" + dir
				run(t, "call", "ls", store, "--name=demo")
				run(t, "call", "ls", store, "--name=other")
				args := []string{store, "--destroy-on-exit"}
				left := []string{"demo", "other"}
				if flag != "" {
					args, left = append(args, flag), []string{"other"}
				}
				s := program{args: args}.start(t)
				s.call(t, "write_file", `{"path":"a.txt","content":"x"}`)
				end.close(t, s)
				if code := s.end(t); code != end.code {
					t.Errorf("it ended with %d and said %s", code, s.stderr.String())
				}
				if got := documents(t, dir); !slices.Equal(got, left) {
					t.Errorf("there are the documents %q, want %q", got, left)
				}
			})
		}
	}
}

// TestDestroyOnExitOfACall: the connection of a call is the call.
func TestDestroyOnExitOfACall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, call := range [][]string{{"ls"}, {"read_file", "path=missing"}} {
		args := append([]string{"call", "--store=file:" + dir, "--destroy-on-exit"}, call...)
		if got := (program{args: args}).run(t); got.stderr != "" || got.stdout == "" {
			t.Errorf("%q answered %+v", call, got)
		}
		if got := documents(t, dir); len(got) != 0 {
			t.Errorf("after %q there are the documents %q", call, got)
		}
	}
}

// TestTheEndOfTheInputWaitsForCalls that are running.
func TestTheEndOfTheInputWaitsForCalls(t *testing.T) {
	t.Parallel()
	s := program{args: inDirectory(t.TempDir())}.start(t)
	s.send(t, toolCall(1, "execute", `{"command":"sleep 1; echo done"}`))
	s.stdin.Close()
	rest, err := io.ReadAll(s.lines)
	if err != nil {
		t.Fatal(err)
	}
	if m := parseMessage(t, string(rest)); m.Result.text() != "done" {
		t.Errorf("it answered %s", rest)
	}
	if code := s.end(t); code != 0 {
		t.Errorf("it ended with %d and said %s", code, s.stderr.String())
	}
}
