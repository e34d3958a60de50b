package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/permissions"
	"github.com/mcp-workspace/mcp-workspace/sessions"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

func open(t *testing.T, cfg Config) *Log {
	t.Helper()
	l, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // again, where the test has closed it
	return l
}

// lines reads a log; a line that is no JSON object fails the test.
func lines(t *testing.T, path string) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for scan := bufio.NewScanner(bytes.NewReader(data)); scan.Scan(); {
		var m map[string]any
		if err := json.Unmarshal(scan.Bytes(), &m); err != nil {
			t.Fatalf("%q: %v", scan.Text(), err)
		}
		out = append(out, m)
	}
	return out
}

func record(t *testing.T, l *Log, target string) {
	t.Helper()
	if err := l.Record(t.Context(), Record{Kind: KindCall, Target: target}); err != nil {
		t.Fatal(err)
	}
}

func targets(t *testing.T, path string) string {
	t.Helper()
	var out []string
	for _, m := range lines(t, path) {
		out = append(out, fmt.Sprint(m["target"]))
	}
	return strings.Join(out, " ")
}

func TestCallHasEveryFieldAndTheHashOfItsSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	l := open(t, Config{Path: path})
	ctx := sessions.WithCaller(t.Context(), sessions.Caller{Principal: "alice", Session: "mcp-session-secret", RequestID: "r-1"})
	start := time.Date(2026, 7, 28, 12, 0, 0, 5, time.FixedZone("", 7200))
	err := l.Call(ctx, tools.Event{
		Tool: "execute", Operation: permissions.Execute, Ref: "docker:mcpws-1", Target: "git push",
		Decision: permissions.Ask, Rule: "git *", Approved: true, Outcome: "ok", ExitCode: 0,
		Started: start, Took: 1500 * time.Microsecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"time":"2026-07-28T10:00:00.000000005Z","event":"call","request_id":"r-1","principal":"alice",` +
		`"session":"` + SessionHash("mcp-session-secret") + `","workspace":"docker:mcpws-1","tool":"execute",` +
		`"operation":"execute","target":"git push","decision":"ask","rule":"git *","approved":true,` +
		`"outcome":"ok","exit_code":0,"duration_ms":1.5}` + "\n"
	if string(got) != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if len(SessionHash("x")) != 12 || SessionHash("") != "" {
		t.Errorf("hash %q, of none %q", SessionHash("x"), SessionHash(""))
	}
}

func TestExitCodeIsLeftOutWhenNoCommandEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	l := open(t, Config{Path: path})
	if err := l.Call(t.Context(), tools.Event{Tool: "ls", Outcome: "not_found", ExitCode: -1}); err != nil {
		t.Fatal(err)
	}
	if m := lines(t, path)[0]; m["exit_code"] != nil || m["duration_ms"] != 0.0 {
		t.Errorf("%v", m)
	}
}

func TestLinesOfManyGoroutinesStayWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	// Two logs on one file are two replicas on one machine.
	logs := []*Log{open(t, Config{Path: path}), open(t, Config{Path: path})}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 50 {
				if err := logs[i%2].Record(context.Background(), Record{Kind: KindCall, Target: strings.Repeat("x", 3000)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := len(lines(t, path)); n != 800 {
		t.Errorf("%d lines, want 800", n)
	}
}

func TestFileIsPrivateAndAppendedTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	first := open(t, Config{Path: path})
	record(t, first, "one")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	record(t, open(t, Config{Path: path}), "two")
	if got := targets(t, path); got != "one two" {
		t.Errorf("got %q", got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestRotation(t *testing.T) {
	for _, c := range []struct {
		name   string
		rotate func(t *testing.T, l *Log, path string)
		old    string
		now    string
	}{
		{"by moving and Reopen", func(t *testing.T, l *Log, path string) {
			if err := os.Rename(path, path+".1"); err != nil {
				t.Fatal(err)
			}
			if err := l.Reopen(); err != nil {
				t.Fatal(err)
			}
		}, "before", "after"},
		{"by moving alone", func(t *testing.T, _ *Log, path string) {
			if err := os.Rename(path, path+".1"); err != nil {
				t.Fatal(err)
			}
		}, "before", "after"},
		{"by moving and making a new file", func(t *testing.T, _ *Log, path string) {
			if err := os.Rename(path, path+".1"); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "before", "after"},
		{"by copying and truncating", func(t *testing.T, _ *Log, path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+".1", data, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}, "before", "after"},
		{"to where nothing can be made keeps the moved file", func(t *testing.T, _ *Log, path string) {
			if err := os.Rename(path, path+".1"); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "before after", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.log")
			l := open(t, Config{Path: path})
			record(t, l, "before")
			c.rotate(t, l, path)
			record(t, l, "after")
			if got := targets(t, path+".1"); got != c.old {
				t.Errorf("moved file has %q, want %q", got, c.old)
			}
			if c.now != "" {
				if got := targets(t, path); got != c.now {
					t.Errorf("new file has %q, want %q", got, c.now)
				}
			}
		})
	}
}

func TestLineAfterATornOneIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, []byte(`{"time":"2026`), 0o600); err != nil {
		t.Fatal(err)
	}
	record(t, open(t, Config{Path: path}), "whole")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, last, ok := bytes.Cut(data, []byte("\n"))
	if !ok || !json.Valid(last) {
		t.Errorf("%q", data)
	}
}

func TestStandardErrorTakesLines(t *testing.T) {
	if os.Getenv("AUDIT_TO_STDERR") != "" {
		l := open(t, Config{Path: "-"})
		record(t, l, "said")
		if err := l.Reopen(); err != nil {
			t.Fatal(err)
		}
		record(t, l, "again")
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(os.Stderr, "still open")
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "AUDIT_TO_STDERR=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if got := stderr.String(); strings.Count(got, `"event":"call"`) != 2 || !strings.HasSuffix(got, "still open\n") {
		t.Errorf("%q", got)
	}
}

func TestNilLogRecordsNothing(t *testing.T) {
	var l *Log
	if err := l.Record(t.Context(), Record{Kind: KindCall}); err != nil || l.Ready() != nil || l.Reopen() != nil ||
		l.Close() != nil || l.Lost() != 0 || l.ServerOptions() != nil {
		t.Error("a nil log does something")
	}
}

func TestRefusedStrangersCannotFillTheDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	l := open(t, Config{Path: path})
	l.refused.SetLimit(0) // no second passes
	for range refusedAtOnce + 300 {
		if err := l.Record(t.Context(), Record{Kind: KindRefused, Reason: "unauthenticated", Remote: "192.0.2.1"}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := l.Record(t.Context(), Record{Kind: KindRefused, Principal: "alice", Reason: "foreign_workspace"}); err != nil {
			t.Fatal(err)
		}
	}
	l.refused.SetBurst(refusedAtOnce + 1)
	l.refused.SetLimitAt(time.Now().Add(-time.Second), 1000)
	if err := l.Record(t.Context(), Record{Kind: KindRefused, Reason: "unauthenticated"}); err != nil {
		t.Fatal(err)
	}
	got := lines(t, path)
	if len(got) != refusedAtOnce+3+1 {
		t.Fatalf("%d lines", len(got))
	}
	if last := got[len(got)-1]; last["skipped"] != 300.0 {
		t.Errorf("%v", last)
	}
	if l.Lost() != 0 {
		t.Errorf("%d lost", l.Lost())
	}
}

func TestAppendOnlyPermissionIsEnough(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, nil, 0o200); err != nil {
		t.Fatal(err)
	}
	record(t, open(t, Config{Path: path}), "x")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := targets(t, path); got != "x" {
		t.Errorf("%q", got)
	}
}

// logged keeps what a logger was told.
type logged struct {
	slog.Handler
	mu      sync.Mutex
	records []string
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		fmt.Fprintf(&b, " %s", a)
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, b.String())
	return nil
}

func BenchmarkCall(b *testing.B) {
	l, err := Open(Config{Path: filepath.Join(b.TempDir(), "audit.log")})
	if err != nil {
		b.Fatal(err)
	}
	ctx := sessions.WithCaller(b.Context(), sessions.Caller{Principal: "alice", Session: "s", RequestID: "r"})
	e := tools.Event{Tool: "read_file", Operation: permissions.Read, Ref: "docker:mcpws-1", Target: "src/main.go", Outcome: "ok", ExitCode: -1, Took: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Call(ctx, e); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}
