package local

import (
	"os"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/osfs/ostest"
)

// As root the kernel shows commands everything.
func TestCommandsCannotLookIntoTheServer(t *testing.T) {
	if !ostest.Unprivileged(t) {
		return
	}
	ws := open(t, Config{Root: t.TempDir()})
	for _, file := range []string{"environ", "mem", "maps"} {
		exit, err := ws.Run(t.Context(), backends.Command{Script: "head -c 1 /proc/$PPID/" + file + " 2>/dev/null; exec 3</proc/$PPID/" + file})
		if err != nil || exit.Code == 0 {
			t.Errorf("%s can be opened: %+v, %v", file, exit, err)
		}
	}
	// What commands need themselves, and this process.
	var out strings.Builder
	exit, err := ws.Run(t.Context(), backends.Command{Script: "exec 3</proc/self/environ; ls /dev/fd; echo x >/dev/stdout",
		Output: func(_ backends.Stream, p []byte) { out.Write(p) }})
	if err != nil || exit.Code != 0 {
		t.Errorf("%+v, %v: %s", exit, err, &out)
	}
	if _, err := os.Executable(); err != nil {
		t.Error(err)
	}
	if names, err := os.ReadDir("/proc/self/fd"); err != nil || len(names) < 3 {
		t.Errorf("%v, %v", names, err)
	}
}
