package containers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// TestUserHostIsTheCaller: what commands write to a mounted directory belongs to
// whoever started the server.
func TestUserHostIsTheCaller(t *testing.T) {
	const uid, gid = 4242, 4243
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		programs, dir := openDir(t), t.TempDir()
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		name := named(t, e)
		open := *e
		open.Host = relayTo(t, e).host
		s := launch{
			engine: &open,
			env:    []string{"XDG_CONFIG_HOME=" + programs, "HOME=" + programs}, // of that user
			flags: []string{"--name=" + name, "--network=none", "--user=host", "--mount=" + dir + ":/mine", "--working-dir=/mine",
				"--guest=" + copied(t, programs, testenv.Program(t, "mcp-workspace-guest"))},
			adjust: func(cmd *exec.Cmd) {
				cmd.Path = copied(t, programs, testenv.Server(t))
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
			},
		}.start(t)
		if got := s.run(t, "id -u; id -g; touch a"); got != fmt.Sprint(uid, "\n", gid) {
			t.Errorf("commands run as %q", got)
		}
		s.must(t, "write_file", args{"path": "b", "content": "x"})
		for _, name := range []string{"a", "b"} {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if got := info.Sys().(*syscall.Stat_t).Uid; got != uid {
				t.Errorf("%s belongs to %d", name, got)
			}
		}
	})
}

// copied is a copy of a program where every user may run it.
func copied(t *testing.T, dir, program string) string {
	t.Helper()
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.Base(program))
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
