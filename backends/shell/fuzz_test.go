package shell

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// FuzzRun runs any text as a script: it ends, within its limits, and meets no
// defect of the shell.
func FuzzRun(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s.script)
	}
	for _, s := range []string{`${`, `$((`, `a[`, `declare -A a=(x y)`, `${x@}`, `${!x@}`, `${#a[@]:1}`, "<<E\n$(", `[[ a =~ ( ]]`, `case x in`, `a=([x]=`, `printf %*.*f`, `{a..`, `~+/`, `read -d`, `${a[@]:${#a[@]}:-1}`, `trap - 99`, `getopts : x -`} {
		f.Add(s)
	}
	f.Fuzz(runFuzzed)
}

// runFuzzed runs a script within tight limits, and fails where it meets a
// defect, does not end, or leaves anything behind.
func runFuzzed(t *testing.T, script string) {
	if script == "" || strings.ContainsRune(script, 0) {
		t.Skip("such a command is refused")
	}
	files := vfs.New(vfs.Options{Limits: vfs.Limits{TotalBytes: 1 << 20, FileBytes: 1 << 20, Entries: 1000, OpenFiles: 32}})
	opt := Options{Files: files, Dir: "/", Limits: Limits{Memory: 16 << 20, Steps: 50_000, Tasks: 16, Depth: 50}, Logger: slog.New(slog.DiscardHandler)}
	m := newMachine(t.Context(), opt)
	defer m.cancel(nil)
	begun := time.Now()
	_, err := m.run(t.Context(), backends.Command{Script: script, Timeout: time.Second, MaxOutput: 1 << 20}, opt, "/")
	if code := backends.CodeOf(err); code == backends.CodeInternal {
		t.Fatalf("%v\n%s", err, script)
	}
	if took := time.Since(begun); took > 4*time.Second {
		t.Fatalf("it took %s\n%s", took, script)
	}
	if _, _, open := files.Used(); open != 0 {
		t.Fatalf("%d files are left open\n%s", open, script)
	}
	if n := m.tasks.Load(); n != 0 {
		t.Fatalf("%d tasks are left\n%s", n, script)
	}
	if n := m.memory.Used(); n != 0 {
		t.Fatalf("%d bytes are still counted\n%s", n, script)
	}
}
