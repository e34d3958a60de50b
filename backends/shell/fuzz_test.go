package shell

import (
	"context"
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
	f.Fuzz(func(t *testing.T, script string) {
		if script == "" || hasNUL(script) {
			t.Skip("such a command is refused")
		}
		files := vfs.New(vfs.Options{Limits: vfs.Limits{TotalBytes: 1 << 20, FileBytes: 1 << 20, Entries: 1000, OpenFiles: 32}})
		begun := time.Now()
		_, err := Run(context.Background(), backends.Command{Script: script, Timeout: time.Second, MaxOutput: 1 << 20},
			Options{Files: files, Limits: Limits{Memory: 16 << 20, Steps: 50_000, Tasks: 16, Depth: 50}})
		if code := backends.CodeOf(err); code == backends.CodeInternal {
			t.Fatalf("%v", err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Fatalf("it took %s", took)
		}
		if _, _, open := files.Used(); open != 0 {
			t.Fatalf("%d files are left open", open)
		}
	})
}
