package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func TestExecute(t *testing.T) {
	b := onLocal(t, t.TempDir(), Options{})
	for command, want := range map[string]string{
		"echo out; echo err >&2; echo out2": "out\nerr\nout2",
		"true":                              "(no output)",
		"echo gone wrong; exit 7":           "Command failed (exit code 7):\ngone wrong",
		"no-such-program-here; exit 0":      "",
		"kill -9 $$":                        "Command failed (exit code 137):\n\n(ended by SIGKILL)",
		"cat":                               "(no output)",
		"printf 'caf\\351'":                 "caf\ufffd",
	} {
		got := b.ok("execute", args{"command": command})
		if want != "" && got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	r := b.call("execute", args{"command": "exit 9"})
	if r.IsError || fmt.Sprint(fact(r, "exit_code")) != "9" {
		t.Errorf("a failed command is a result with its code: %+v", r)
	}
}

func TestExecuteOnState(t *testing.T) {
	b := onState(t, Options{})
	b.ok("write_file", args{"path": "notes.txt", "content": "one\ntwo\n"})
	for command, want := range map[string]string{
		"cat notes.txt | tr a-z A-Z":                 "ONE\nTWO",
		"echo out; echo err >&2; exit 7":             "Command failed (exit code 7):\nout\nerr",
		"echo three >> notes.txt; wc -l < notes.txt": "3",
		"git status":           "--backend docker",
		"no-such-program-here": "Command failed (exit code 127)",
	} {
		if got := b.ok("execute", args{"command": command}); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	if got := b.ok("read_file", args{"path": "notes.txt"}); !strings.Contains(got, "three") {
		t.Errorf("the file is %q after the command", got)
	}
}

func TestExecuteSaysWhatBecomesOfBackgroundJobs(t *testing.T) {
	slow := args{"command": "echo begun; sleep 60", "timeout": 0.2}
	local := onLocal(t, t.TempDir(), Options{})
	if got := local.fails(backends.CodeTimeout, "execute", slow); !strings.Contains(got, "start it in the background") || !strings.HasSuffix(got, "It had printed:\nbegun") {
		t.Errorf("it says %q", got)
	}
	state := onState(t, Options{NoBackground: true})
	if got := state.fails(backends.CodeTimeout, "execute", slow); strings.Contains(got, "start it in the background") || !strings.Contains(got, "do less in one command") {
		t.Errorf("it says %q", got)
	}
	if got := state.ok("execute", args{"command": "sleep 60 > log & sleep 70 & echo $!"}); !strings.Contains(got, "2 background jobs ended with the script") {
		t.Errorf("it says %q", got)
	}
	if got := state.fails(backends.CodeTimeout, "execute", args{"command": "sleep 60", "timeout": 0.2}); !strings.Contains(got, "It had printed nothing.") {
		t.Errorf("it says %q", got)
	}
}

func TestExecuteKeepsALongOutputWhole(t *testing.T) {
	b := onLocal(t, t.TempDir(), Options{})
	r := b.call("execute", args{"command": "seq 1 100000"})
	got := text(r)
	if !strings.HasPrefix(got, "1\n2\n") || !strings.HasSuffix(got, "\n99999\n100000") || len(got) > shownOutput+300 {
		t.Errorf("%d bytes: %q … %q", len(got), got[:20], got[len(got)-20:])
	}
	file, _ := fact(r, "output_file").(string)
	if fact(r, "truncated") != true || file == "" || !strings.Contains(got, "the whole output is in "+file) {
		t.Fatalf("no file is named: %v", r.Meta)
	}
	if whole := mustRead(t, file); strings.Count(string(whole), "\n") != 100000 {
		t.Errorf("the file has %d lines", strings.Count(string(whole), "\n"))
	}
	if got := b.ok("read_file", args{"path": file, "offset": 50000, "limit": 1}); !strings.Contains(got, "50001\t50001\n") {
		t.Errorf("the file cannot be read on: %q", got)
	}
	if r := b.call("execute", args{"command": "head -c 100000 /dev/zero | tr '\\0' x"}); len(text(r)) != 100000 || fact(r, "truncated") != nil {
		t.Errorf("100,000 bytes are shown whole: got %d, %v", len(text(r)), r.Meta)
	}
}

func TestExecuteStaysUnderOneMegabyte(t *testing.T) {
	b := onLocal(t, t.TempDir(), Options{Structured: true})
	r := b.call("execute", args{"command": "head -c 99000 /dev/zero; echo; echo the end"})
	encoded, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > 1_000_000 || fact(r, "truncated") != true || !strings.HasSuffix(text(r), "\nthe end") {
		t.Errorf("%d bytes, %v", len(encoded), fact(r, "truncated"))
	}
}

func TestExecuteTimeout(t *testing.T) {
	dir := t.TempDir()
	b := onLocal(t, dir, Options{})
	start := time.Now()
	got := b.fails(backends.CodeTimeout, "execute", args{"command": "echo begun; sleep 60 & sleep 60; echo never", "timeout": 0.3}, "after 0.3 s", "begun")
	if time.Since(start) > 20*time.Second || strings.Contains(got, "never") {
		t.Errorf("after %v: %q", time.Since(start), got)
	}
	r := b.call("execute", args{"command": "sleep 60", "timeout": 0.1})
	if fmt.Sprint(fact(r, "exit_code")) != "124" {
		t.Errorf("exit code: %v", r.Meta)
	}
}

func TestExecuteCancelled(t *testing.T) {
	dir := t.TempDir()
	b := onLocal(t, dir, Options{})
	b.ok("ls", nil)
	ctx, cancel := context.WithCancel(b.ctx)
	b.ctx = ctx
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	b.fails(backends.CodeCancelled, "execute", args{"command": "touch begun; sleep 60"})
}

func TestExecuteSaysWhyTheWholeOutputIsNotKept(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".mcp-workspace"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := onLocal(t, dir, Options{})
	if got := b.ok("execute", args{"command": "yes | head -c 300000"}); !strings.Contains(got, " bytes left out; the whole output could not be kept: ") || !strings.Contains(got, "not a directory") {
		t.Errorf("without a place for the whole output: %q", clip(got[len(got)/2-300:], 600))
	}
}

// notified is a client that keeps what it is notified of.
type notified struct {
	person
	ch chan mcp.JSONRPCNotification
}

func (n *notified) NotificationChannel() chan<- mcp.JSONRPCNotification { return n.ch }

func TestExecuteReportsProgress(t *testing.T) {
	dir := t.TempDir()
	b := onLocal(t, dir, Options{})
	n := &notified{ch: make(chan mcp.JSONRPCNotification, 100)}
	b.ctx = b.srv.WithContext(b.ctx, n)
	fifo := filepath.Join(dir, "stop")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan *mcp.CallToolResult)
	go func() {
		done <- b.callWith(map[string]any{
			"name": "execute", "arguments": args{"command": "echo early; echo latest; cat stop"},
			"_meta": map[string]any{"progressToken": "tok"},
		})
	}()
	got := <-n.ch
	f := got.Params.AdditionalFields
	if got.Method != "notifications/progress" || f["progressToken"] != "tok" || f["message"] != "latest" {
		t.Errorf("%+v", got)
	}
	if err := os.WriteFile(fifo, []byte("released\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := <-done; text(r) != "early\nlatest\nreleased" {
		t.Errorf("%s", text(r))
	}
}
