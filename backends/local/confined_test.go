//go:build linux || darwin

package local

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
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
		_, err = ws.files.Open(ws.files.Path() + "/" + name)
		wantCode(t, "open "+name, err, backends.CodeInvalidArgument)
		err = ws.files.Replace(ws.files.Path()+"/"+name, 0o644, func(io.Writer) error { return nil })
		wantCode(t, "Replace "+name, err, backends.CodeInvalidArgument)
	}
	if _, err := ws.Grep(t.Context(), backends.GrepRequest{Pattern: "x"}); err != nil {
		t.Error(err)
	}
}
