package docker_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

func TestEngineWithAFullDiskSaysSo(t *testing.T) {
	engine := engines.OwnDocker(t, engines.Own{DiskMB: 120})
	b := newBackend(t, &engine.Engine, docker.Config{GuestPath: ownAgent(t)})
	fillDisk(t, engine.DataDir())
	_, err := b.Create(t.Context(), backends.Spec{})
	wantCode(t, "Create", err, backends.CodeUnavailable, "disk is full")
	t.Log(err)
	if err := os.Remove(filepath.Join(engine.DataDir(), "filling")); err != nil {
		t.Fatal(err)
	}
	if list, err := b.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("left %+v, %v", list, err)
	}
	ws := create(t, b, backends.Spec{})
	if got := run(t, ws, "echo works"); got != "works" {
		t.Errorf("with room again, a command says %q", got)
	}
}

// fillDisk leaves 64 KB on the file system of dir.
func fillDisk(t *testing.T, dir string) {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(dir, "filling"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	free := int64(fs.Bfree) * fs.Bsize
	if free > 1<<30 {
		t.Fatalf("there are %d bytes to fill, which is not the small disk that was meant", free)
	}
	block := make([]byte, 64<<10)
	for range free/int64(len(block)) - 1 {
		if _, err := file.Write(block); err != nil {
			return // it is full
		}
	}
}

func TestUserHostOwnsWhatIsWritten(t *testing.T) { onBoth(t, testUserHostOwnsWhatIsWritten) }

func testUserHostOwnsWhatIsWritten(t *testing.T, engine *engines.Engine) {
	dir := t.TempDir()
	options, err := docker.Flags{User: docker.UserHost, Mounts: []string{dir + ":/workspace"}}.Parse()
	if err != nil {
		t.Fatal(err)
	}
	b := newBackend(t, engine, docker.Config{Options: options})
	user, err := b.User(t.Context())
	if err != nil || user != "0:0" {
		t.Errorf("the user is %q, %v", user, err)
	}
	ws := create(t, b, backends.Spec{})
	run(t, ws, "echo x >f")
	info, err := os.Stat(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if uidOf(info) != uidOf(own) {
		t.Errorf("the file belongs to %d, want %d", uidOf(info), uidOf(own))
	}
}

func uidOf(info os.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }
