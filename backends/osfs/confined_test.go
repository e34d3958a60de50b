//go:build linux || darwin

package osfs

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// The layer below does not rely on names having been resolved.
func TestFilesDoNotLeadOutside(t *testing.T) {
	base := t.TempDir()
	must(t, os.Mkdir(base+"/root", 0o755), os.Mkdir(base+"/outside", 0o755))
	place(t, base+"/outside/secret", "secret")
	must(t, os.Symlink(base+"/outside", base+"/root/abs"), os.Symlink("../outside", base+"/root/rel"), os.Symlink("../outside/secret", base+"/root/file"))
	c, err := Open(base + "/root")
	must(t, err)
	defer c.Close()
	hello := func(w io.Writer) error { _, err := io.WriteString(w, "hello"); return err }
	for _, dir := range []string{base + "/root/abs", base + "/root/rel", base + "/outside", base + "/root/.."} {
		_, err := c.Lstat(dir + "/secret")
		wantCode(t, "Lstat "+dir, err, backends.CodePermission)
		_, err = c.Open(dir + "/secret")
		wantCode(t, "Open "+dir, err, backends.CodePermission)
		_, err = c.Readlink(dir + "/secret")
		wantCode(t, "Readlink "+dir, err, backends.CodePermission)
		_, err = c.ReadDir(dir)
		wantCode(t, "ReadDir "+dir, err, backends.CodePermission)
		wantCode(t, "MkdirAll "+dir, c.MkdirAll(dir+"/a/b"), backends.CodePermission)
		wantCode(t, "Replace "+dir, c.Replace(dir+"/secret", 0o644, hello), backends.CodePermission)
		wantCode(t, "Replace new "+dir, c.Replace(dir+"/new", 0o644, hello), backends.CodePermission)
	}
	_, err = c.Open(base + "/root/file")
	wantCode(t, "Open of a link", err, backends.CodePermission)
	if err := c.Replace(base+"/root/file", 0o644, hello); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("Replace of a link: %v", err)
	}
	if get(t, base+"/outside/secret") != "secret" {
		t.Error("what is outside was changed")
	}
}
