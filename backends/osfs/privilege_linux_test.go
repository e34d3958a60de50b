package osfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
	"github.com/mcp-workspace/mcp-workspace/backends/osfs/ostest"
)

func unmount(t *testing.T, dir string) {
	t.Helper()
	must(t, unix.Unmount(dir, unix.MNT_DETACH))
}

func TestReadOnlyFileSystem(t *testing.T) {
	if !ostest.WithMounts(t) {
		return
	}
	dir := t.TempDir()
	place(t, dir+"/f", "old\n")
	must(t, unix.Mount(dir, dir, "", unix.MS_BIND, ""), unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	defer unmount(t, dir)
	ws := openTree(t, dir)
	for _, name := range []string{"f", "new", "sub/new"} {
		_, err := ws.Write(t.Context(), backends.WriteRequest{Path: name, Content: strings.NewReader("x")})
		wantCode(t, "Write "+name, err, backends.CodeReadOnly)
	}
	_, err := ws.Edit(t.Context(), backends.EditRequest{Path: "f", Old: "old", New: "new"})
	wantCode(t, "Edit", err, backends.CodeReadOnly)
	if _, _, err := openOutputs(t, dir).Open(); !errors.Is(err, syscall.EROFS) {
		t.Errorf("a file for output: %v", err)
	}
}

func TestFileThatIsAMount(t *testing.T) {
	if !ostest.WithMounts(t) {
		return
	}
	dir := t.TempDir()
	for name, readOnly := range map[string]bool{"in a directory that can be written": false, "in one that cannot": true} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			place(t, dir+"/source", "old and longer than the new\n")
			place(t, root+"/f", "hidden\n")
			if readOnly {
				must(t, unix.Mount(root, root, "", unix.MS_BIND, ""), unix.Mount("", root, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
				defer unmount(t, root)
			}
			must(t, unix.Mount(dir+"/source", root+"/f", "", unix.MS_BIND, ""))
			defer unmount(t, root+"/f")
			ws := openTree(t, root)
			_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("new\n")})
			if err != nil || get(t, dir+"/source") != "new\n" {
				t.Fatalf("%v, %q", err, get(t, dir+"/source"))
			}
			_, err = ws.Edit(t.Context(), backends.EditRequest{Path: "f", Old: "new", New: "edited"})
			if err != nil || get(t, dir+"/source") != "edited\n" {
				t.Errorf("%v, %q", err, get(t, dir+"/source"))
			}
			noTemps(t, root)
		})
	}
}

func TestFullFileSystem(t *testing.T) {
	if !ostest.WithMounts(t) {
		return
	}
	dir := t.TempDir()
	must(t, unix.Mount("none", dir, "tmpfs", 0, "size=1m"))
	defer unmount(t, dir)
	ws := openTree(t, dir)
	big := strings.Repeat("x", 2<<20)
	old := strings.Repeat("o", 300<<10)
	place(t, dir+"/f", old)
	place(t, dir+"/source", old)
	place(t, dir+"/mounted", "")
	must(t, unix.Mount(dir+"/source", dir+"/mounted", "", unix.MS_BIND, ""))
	defer unmount(t, dir+"/mounted")
	for _, name := range []string{"f", "mounted", "new"} {
		_, err := ws.Write(t.Context(), backends.WriteRequest{Path: name, Content: strings.NewReader(big)})
		wantCode(t, "Write "+name, err, backends.CodeTooLarge)
	}
	// In place, with room for the new file beside the old one but not within it.
	must(t, os.Remove(dir+"/f"))
	place(t, dir+"/filler", strings.Repeat("f", 200<<10))
	_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "mounted", Content: strings.NewReader(big[:500<<10])})
	wantCode(t, "Write in place", err, backends.CodeTooLarge)
	if get(t, dir+"/source") != old {
		t.Error("the old content was lost")
	}
	noTemps(t, dir)
	name, out, err := openOutputs(t, dir).Open()
	must(t, err)
	if _, err := io.WriteString(out, big); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("output: %v", err)
	}
	must(t, out.Close())
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half an output is left: %v", err)
	}
}

func TestFilesTheUserMayNotWrite(t *testing.T) {
	if !ostest.Unprivileged(t) {
		return
	}
	dir := t.TempDir()
	place(t, dir+"/sealed/f", "old")
	place(t, dir+"/readonly", "old")
	place(t, dir+"/hidden/f", "old")
	must(t, os.Chmod(dir+"/sealed", 0o555), os.Chmod(dir+"/readonly", 0o444), os.Chmod(dir+"/hidden", 0))
	defer func() { must(t, os.Chmod(dir+"/sealed", 0o755), os.Chmod(dir+"/hidden", 0o755)) }()
	ws := openTree(t, dir)
	write := func(name string) error {
		_, err := ws.Write(t.Context(), backends.WriteRequest{Path: name, Content: strings.NewReader("new")})
		return err
	}
	if err := write("sealed/f"); err != nil || get(t, dir+"/sealed/f") != "new" {
		t.Errorf("a file that may be written, where no other can be made: %v", err)
	}
	wantCode(t, "new file in a directory that may not be written", write("sealed/new"), backends.CodePermission)
	wantCode(t, "file that may not be written", write("readonly"), backends.CodePermission)
	wantCode(t, "file in a directory that may not be entered", write("hidden/f"), backends.CodePermission)
	if get(t, dir+"/readonly") != "old" {
		t.Error("it was written all the same")
	}
	if _, err := Open(dir + "/hidden"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a root that may not be entered: %v", err)
	}
}

func TestOwnerIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away; see TestOwnerThatCannotBeGiven for others")
	}
	dir := t.TempDir()
	place(t, dir+"/f", "old")
	must(t, os.Chown(dir+"/f", 1234, 4321), os.Chmod(dir+"/f", 0o640))
	ws := openTree(t, dir)
	before := sys(t, dir+"/f").Ino
	_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("new")})
	must(t, err)
	if st := sys(t, dir+"/f"); st.Uid != 1234 || st.Gid != 4321 || st.Mode&0o7777 != 0o640 || st.Ino == before {
		t.Errorf("%+v", st)
	}
}

// A file that belongs to someone else, which this user may write, stays theirs.
func TestOwnerThatCannotBeGiven(t *testing.T) {
	name := "/tmp/mcp-workspace-test-owner"
	if !ostest.Second() {
		if os.Geteuid() != 0 {
			t.Skip("needs root, to make a file of someone else's")
		}
		must(t, os.MkdirAll(name, 0o777), os.Chmod(name, 0o777), os.WriteFile(name+"/f", []byte("old"), 0o666), os.Chmod(name+"/f", 0o666))
		t.Cleanup(func() { must(t, os.RemoveAll(name)) })
	}
	if !ostest.Unprivileged(t) {
		return
	}
	ws := openTree(t, name)
	_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("new")})
	if st := sys(t, name+"/f"); err != nil || st.Uid != 0 || st.Mode&0o777 != 0o666 || get(t, name+"/f") != "new" {
		t.Errorf("%v, %+v", err, st)
	}
	noTemps(t, name)
}

func TestFilesThatKeepTheirReaderWaiting(t *testing.T) {
	files := openFS(t, "/")
	self := fmt.Sprintf("/proc/%d", os.Getpid())
	for _, name := range []string{"/proc/kmsg", self + "/mounts", self + "/status", "/proc/sys/kernel/ostype", self + "/mem"} {
		start := time.Now()
		f, err := files.Open(name)
		if err == nil {
			_, err = io.CopyN(io.Discard, f, 10<<20)
			f.Close()
		}
		dir, inDir := files.OpenDir(path.Dir(name))
		if inDir == nil {
			var f io.ReadCloser
			if f, inDir = dir.Open(path.Base(name)); inDir == nil {
				_, inDir = io.CopyN(io.Discard, f, 10<<20)
				f.Close()
			}
			must(t, dir.Close())
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%s: %s, %v, %v", name, took, err, inDir)
		}
		if a, b := backends.CodeOf(err), backends.CodeOf(inDir); a != b {
			t.Errorf("%s: %v by its path, %v in its directory", name, err, inDir)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	res, err := fsops.New(files, "/").Read(ctx, backends.ReadRequest{Path: "/proc/self/mounts"})
	if err != nil || res.TotalLines == 0 {
		t.Errorf("/proc/self/mounts: %d lines, %v", res.TotalLines, err)
	}
}

// As in a container whose file system is read-only, with no /tmp.
func TestFileThatIsAMountWhereNoTemporaryFileCanBe(t *testing.T) {
	if !ostest.WithMounts(t) {
		return
	}
	dir := t.TempDir()
	place(t, dir+"/source", "old and longer than the new\n")
	place(t, dir+"/root/f", "hidden\n")
	must(t, unix.Mount(dir+"/source", dir+"/root/f", "", unix.MS_BIND, ""))
	defer unmount(t, dir+"/root/f")
	for _, scratch := range scratchDirs {
		must(t, unix.Mount("none", scratch, "tmpfs", unix.MS_RDONLY, ""))
		defer unmount(t, scratch)
	}
	t.Setenv("TMPDIR", dir+"/none")
	ws := openTree(t, dir+"/root")
	_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("new\n")})
	wantCode(t, "nowhere", err, backends.CodeReadOnly)
	if err == nil || !strings.Contains(err.Error(), "/dev/shm") || get(t, dir+"/source") != "old and longer than the new\n" {
		t.Errorf("%v, %q", err, get(t, dir+"/source"))
	}
	must(t, unix.Mount("", "/dev/shm", "", unix.MS_REMOUNT, ""))
	_, err = ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("new\n")})
	if err != nil || get(t, dir+"/source") != "new\n" {
		t.Errorf("in memory: %v, %q", err, get(t, dir+"/source"))
	}
	if left, err := os.ReadDir("/dev/shm"); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// What the kernel shows as files takes no file beside it, and is written as it is.
func TestFilesOfTheKernel(t *testing.T) {
	ws := openTree(t, "/")
	name := fmt.Sprintf("/proc/%d/task/%d/comm", os.Getpid(), os.Getpid())
	before := get(t, name)
	_, err := ws.Write(t.Context(), backends.WriteRequest{Path: name, Content: strings.NewReader("written")})
	if err != nil || get(t, name) != "written\n" {
		t.Errorf("%v, %q", err, get(t, name))
	}
	must(t, os.WriteFile(name, []byte(before), 0))
	_, err = ws.Write(t.Context(), backends.WriteRequest{Path: "/dev/null", Content: strings.NewReader("x")})
	wantCode(t, "device", err, backends.CodeInvalidArgument)
}
