//go:build linux || darwin

package local

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func TestNothingLeadsOutside(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	root, outside := base+"/root", base+"/outside"
	place(t, outside+"/secret", "secret\n")
	place(t, root+"/dir/file", "inside\n")
	place(t, base+"/root-beside/file", "secret\n")
	for link, target := range map[string]string{
		"file-link":    outside + "/secret",
		"dir-link":     outside,
		"up-link":      "../outside",
		"chain":        "chain2",
		"chain2":       "dir/chain3",
		"dir/chain3":   "../../outside",
		"dangling-out": outside + "/new",
		"parent":       "..",
		"self-out":     "dir/../../outside/secret",
	} {
		must(t, os.Symlink(target, filepath.Join(root, link)))
	}
	ws := open(t, Config{Root: root})
	ctx := t.Context()
	for _, p := range []string{
		"../outside/secret", "..", "../root-beside/file", "dir/../../outside/secret", "./.././outside/secret",
		outside + "/secret", "/etc/passwd", "/", base, base + "/root-beside/file", "//etc/passwd",
		"file-link", "dir-link/secret", "dir-link", "up-link/secret", "chain/secret", "dir/chain3/secret",
		"dangling-out", "parent/outside/secret", "parent", "self-out", "dir-link/new/sub/file",
	} {
		_, err := ws.Resolve(ctx, p)
		wantCode(t, "Resolve "+p, err, backends.CodePermission)
		_, err = ws.Read(ctx, backends.ReadRequest{Path: p})
		wantCode(t, "Read "+p, err, backends.CodePermission)
		_, _, err = ws.Open(ctx, p)
		wantCode(t, "Open "+p, err, backends.CodePermission)
		_, err = ws.List(ctx, backends.ListRequest{Path: p})
		wantCode(t, "List "+p, err, backends.CodePermission)
		_, err = ws.Write(ctx, backends.WriteRequest{Path: p, Content: strings.NewReader("written")})
		wantCode(t, "Write "+p, err, backends.CodePermission)
		_, err = ws.Edit(ctx, backends.EditRequest{Path: p, Old: "secret", New: "x"})
		wantCode(t, "Edit "+p, err, backends.CodePermission)
		_, err = ws.Grep(ctx, backends.GrepRequest{Path: p, Pattern: "secret"})
		wantCode(t, "Grep "+p, err, backends.CodePermission)
		_, err = ws.Glob(ctx, backends.GlobRequest{Path: p, Pattern: "**"})
		wantCode(t, "Glob "+p, err, backends.CodePermission)
	}
	found, err := ws.Grep(ctx, backends.GrepRequest{Pattern: "secret", IncludeHidden: true, IncludeIgnored: true})
	if err != nil || found.Total != 0 {
		t.Errorf("a search from the root found %+v, %v", found, err)
	}
	if get(t, outside+"/secret") != "secret\n" {
		t.Error("what is outside was changed")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
}

// The layer below does not rely on names having been resolved.
func TestFilesDoNotLeadOutside(t *testing.T) {
	base := t.TempDir()
	must(t, os.Mkdir(base+"/root", 0o755), os.Mkdir(base+"/outside", 0o755))
	place(t, base+"/outside/secret", "secret")
	must(t, os.Symlink(base+"/outside", base+"/root/abs"), os.Symlink("../outside", base+"/root/rel"), os.Symlink("../outside/secret", base+"/root/file"))
	c, err := openConfined(base + "/root")
	must(t, err)
	defer c.close()
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

func TestSpecialFilesNeitherHangNorFillMemory(t *testing.T) {
	dir := t.TempDir()
	must(t, unix.Mkfifo(dir+"/fifo", 0o644))
	l, err := net.Listen("unix", dir+"/socket")
	must(t, err)
	defer l.Close()
	names := []string{"fifo", "socket"}
	if err := unix.Mknod(dir+"/zero", unix.S_IFCHR|0o644, int(unix.Mkdev(1, 5))); err == nil {
		names = append(names, "zero")
	}
	ws := open(t, Config{Root: dir})
	for _, name := range names {
		_, err := ws.Read(t.Context(), backends.ReadRequest{Path: name})
		wantCode(t, "Read "+name, err, backends.CodeInvalidArgument)
		_, err = ws.Write(t.Context(), backends.WriteRequest{Path: name, Content: strings.NewReader("x")})
		wantCode(t, "Write "+name, err, backends.CodeInvalidArgument)
		// As when it was swapped in after it had been looked at.
		_, err = ws.files.Open(ws.files.path + "/" + name)
		wantCode(t, "open "+name, err, backends.CodeInvalidArgument)
		err = ws.files.Replace(ws.files.path+"/"+name, 0o644, func(io.Writer) error { return nil })
		wantCode(t, "Replace "+name, err, backends.CodeInvalidArgument)
	}
	if _, err := ws.Grep(t.Context(), backends.GrepRequest{Pattern: "x"}); err != nil {
		t.Error(err)
	}
}
