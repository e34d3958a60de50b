//go:build linux

package audit

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workspace/mcp-workspace/tools"
)

// smallDisk is a file system of one block of 4 KiB for files.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8k"); err != nil {
		t.Skipf("a file system that can be full needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullDiskLosesLinesGoesOnAndSaysHowMany(t *testing.T) {
	dir := smallDisk(t)
	path, ballast := filepath.Join(dir, "audit.log"), filepath.Join(dir, "ballast")
	told := &logged{}
	l, err := Open(Config{Path: path, Logger: slog.New(told)})
	if err != nil {
		t.Fatal(err)
	}
	record(t, l, "before")
	if err := os.WriteFile(ballast, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	// The file's own block takes a part of the line that does not fit.
	var failed int
	for range 10 {
		err := l.Record(t.Context(), Record{Kind: KindCall, Target: strings.Repeat("x", 1500)})
		if err != nil {
			failed++
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("%v", err)
			}
		}
	}
	if failed == 0 || l.Lost() != uint64(failed) {
		t.Fatalf("%d failed, %d lost", failed, l.Lost())
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	record(t, l, "after")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	var lost struct {
		Event string
		Lines int
	}
	if err := json.Unmarshal([]byte(got[len(got)-2]), &lost); err != nil || lost.Event != "lost" || lost.Lines != failed {
		t.Errorf("%+v, %v, want %d lost", lost, err, failed)
	}
	if last := got[len(got)-1]; !json.Valid([]byte(last)) || !strings.Contains(last, `"after"`) {
		t.Errorf("last line %q", last)
	}
	// Once when it began and once, at the end, for those since.
	if len(told.records) != 2 || !strings.Contains(told.records[0], "lines=1 ") {
		t.Errorf("logged %q", told.records)
	}
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, fifo, filepath.Join(dir, "missing", "audit.log"), ""} {
		if l, err := Open(Config{Path: path}); err == nil {
			t.Errorf("%q was opened", path)
			_ = l.Close()
		}
	}
}

// toolServer has a tool "touch" that counts its calls and is logged by l.
func toolServer(t *testing.T, l *Log, calls *int) func() string {
	t.Helper()
	srv := server.NewMCPServer("test", "1", l.ServerOptions()...)
	srv.AddTool(mcp.NewTool("touch"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		*calls++
		_ = l.Call(ctx, tools.Event{Tool: "touch", Outcome: "ok", ExitCode: -1}) // as an observer, which cannot fail
		return mcp.NewToolResultText("secret"), nil
	})
	return func() string {
		msg := srv.HandleMessage(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"touch"}}`))
		data, err := json.Marshal(msg)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
}

func TestRequiredLogThatFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.log")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		required      bool
		calls         int
		first, second string
	}{
		{"withholds the first answer and then refuses calls", true, 1, "answer is withheld", "nothing was done"},
		{"lets calls go on when it is not required", false, 2, "secret", "secret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t, Config{Path: path, Required: c.required})
			var calls int
			call := toolServer(t, l, &calls)
			for i, want := range []string{c.first, c.second} {
				got := call()
				if !strings.Contains(got, want) || strings.Contains(got, "/dev/full") || strings.Contains(got, dir) {
					t.Errorf("call %d: %s", i, got)
				}
			}
			if calls != c.calls {
				t.Errorf("%d calls were made", calls)
			}
		})
	}
}

func TestRequiredLogServesAgainWhenItCanBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	l := open(t, Config{Path: path, Required: true})
	var calls int
	call := toolServer(t, l, &calls)
	call()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := call(); !strings.Contains(got, "secret") {
		t.Fatalf("%s", got)
	}
	got := lines(t, path)
	if len(got) != 2 || got[0]["event"] != "lost" || got[0]["lines"] != 1.0 || got[1]["tool"] != "touch" {
		t.Errorf("%v", got)
	}
}
