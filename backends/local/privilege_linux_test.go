package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Tests whose subject is what the kernel refuses run again in a process of
// their own, where it does: with this variable set to the test's name.
const again = "MCP_WORKSPACE_TEST_AGAIN"

// rerun runs the calling test again in a process that attr describes, from a
// program that any user can execute. It returns false in the first process.
func rerun(t *testing.T, attr *syscall.SysProcAttr) bool {
	t.Helper()
	if os.Getenv(again) == t.Name() {
		return true
	}
	dir, err := os.MkdirTemp("", "mcp-workspace-test-")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	self, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	must(t, os.Chmod(dir, 0o755), os.WriteFile(dir+"/test", self, 0o755))
	cmd := exec.Command(dir+"/test", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), again+"="+t.Name())
	cmd.Dir = "/"
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) && !errors.As(err, new(*exec.ExitError)) {
		t.Skipf("this user may not start such a process: %v", err)
	}
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// withMounts has the test run where it can mount what it likes and no one else
// sees it.
func withMounts(t *testing.T) bool {
	t.Helper()
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid := os.Geteuid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		// New, in another test, may have made this process one whose children
		// cannot be given a user mapping.
		must(t, unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0))
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	if !rerun(t, attr) {
		return false
	}
	must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	return true
}

// unprivileged has the test run as a user whom the kernel refuses things.
func unprivileged(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	return rerun(t, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}})
}

func unmount(t *testing.T, dir string) {
	t.Helper()
	must(t, unix.Unmount(dir, unix.MNT_DETACH))
}

func TestReadOnlyFileSystem(t *testing.T) {
	if !withMounts(t) {
		return
	}
	dir := t.TempDir()
	place(t, dir+"/f", "old\n")
	must(t, unix.Mount(dir, dir, "", unix.MS_BIND, ""), unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	defer unmount(t, dir)
	ws := open(t, Config{Root: dir})
	for _, name := range []string{"f", "new", "sub/new"} {
		_, err := ws.Write(t.Context(), backends.WriteRequest{Path: name, Content: strings.NewReader("x")})
		wantCode(t, "Write "+name, err, backends.CodeReadOnly)
	}
	_, err := ws.Edit(t.Context(), backends.EditRequest{Path: "f", Old: "old", New: "new"})
	wantCode(t, "Edit", err, backends.CodeReadOnly)
	var out strings.Builder
	exit, err := ws.Run(t.Context(), backends.Command{Script: "cat f; exit 3", KeepAbove: 1, Output: func(_ backends.Stream, p []byte) { out.Write(p) }})
	if err != nil || exit != (backends.Exit{Code: 3}) || out.String() != "old\n" {
		t.Errorf("Run: %+v, %v, %q", exit, err, out.String())
	}
}

func TestFileThatIsAMount(t *testing.T) {
	if !withMounts(t) {
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
			ws := open(t, Config{Root: root})
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
	if !withMounts(t) {
		return
	}
	dir := t.TempDir()
	must(t, unix.Mount("none", dir, "tmpfs", 0, "size=1m"))
	defer unmount(t, dir)
	ws := open(t, Config{Root: dir})
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
	exit, err := ws.Run(t.Context(), backends.Command{Script: "head -c 3000000 /dev/zero; exit 3", KeepAbove: 1000})
	if err != nil || exit != (backends.Exit{Code: 3}) {
		t.Errorf("Run: %+v, %v", exit, err)
	}
	if entries, err := os.ReadDir(dir + "/" + outputDir); err != nil || len(entries) > 0 {
		t.Errorf("half an output is left: %v, %v", entries, err)
	}
}

func TestFilesTheUserMayNotWrite(t *testing.T) {
	if !unprivileged(t) {
		return
	}
	dir := t.TempDir()
	place(t, dir+"/sealed/f", "old")
	place(t, dir+"/readonly", "old")
	place(t, dir+"/hidden/f", "old")
	must(t, os.Chmod(dir+"/sealed", 0o555), os.Chmod(dir+"/readonly", 0o444), os.Chmod(dir+"/hidden", 0))
	defer func() { must(t, os.Chmod(dir+"/sealed", 0o755), os.Chmod(dir+"/hidden", 0o755)) }()
	ws := open(t, Config{Root: dir})
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
	_, err := ws.Run(t.Context(), backends.Command{Script: "true", Dir: "hidden"})
	wantCode(t, "command there", err, backends.CodePermission)
	if get(t, dir+"/readonly") != "old" {
		t.Error("it was written all the same")
	}
	_, err = New(Config{Root: dir + "/hidden"})
	wantCode(t, "root that may not be entered", err, backends.CodePermission)
}

func TestOwnerIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away; see TestOwnerThatCannotBeGiven for others")
	}
	dir := t.TempDir()
	place(t, dir+"/f", "old")
	must(t, os.Chown(dir+"/f", 1234, 4321), os.Chmod(dir+"/f", 0o640))
	ws := open(t, Config{Root: dir})
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
	if os.Getenv(again) == "" {
		if os.Geteuid() != 0 {
			t.Skip("needs root, to make a file of someone else's")
		}
		must(t, os.MkdirAll(name, 0o777), os.Chmod(name, 0o777), os.WriteFile(name+"/f", []byte("old"), 0o666), os.Chmod(name+"/f", 0o666))
		t.Cleanup(func() { must(t, os.RemoveAll(name)) })
	}
	if !unprivileged(t) {
		return
	}
	ws := open(t, Config{Root: name})
	_, err := ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader("new")})
	if st := sys(t, name+"/f"); err != nil || st.Uid != 0 || st.Mode&0o777 != 0o666 || get(t, name+"/f") != "new" {
		t.Errorf("%v, %+v", err, st)
	}
	noTemps(t, name)
}

func TestFilesThatKeepTheirReaderWaiting(t *testing.T) {
	ws := open(t, Config{Root: "/"})
	self := fmt.Sprintf("/proc/%d", os.Getpid())
	for _, name := range []string{"/proc/kmsg", self + "/mounts", self + "/status", "/proc/sys/kernel/ostype", self + "/mem"} {
		start := time.Now()
		f, err := ws.files.Open(name)
		if err == nil {
			_, err = io.CopyN(io.Discard, f, 10<<20)
			f.Close()
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: %s, %v", name, took, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	res, err := ws.Read(ctx, backends.ReadRequest{Path: "/proc/self/mounts"})
	if err != nil || res.TotalLines == 0 {
		t.Errorf("/proc/self/mounts: %d lines, %v", res.TotalLines, err)
	}
}

// As root the kernel shows commands everything.
func TestCommandsCannotLookIntoTheServer(t *testing.T) {
	if !unprivileged(t) {
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
