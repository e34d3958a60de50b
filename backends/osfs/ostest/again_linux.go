package ostest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// again is set to a test's name in the process that it runs again in.
const again = "MCP_WORKSPACE_TEST_AGAIN"

// Second tells whether this is a process that a test runs again in.
func Second() bool { return os.Getenv(again) != "" }

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

// WithMounts has the calling test, which is no subtest, run in a process of its
// own as root (of a user namespace, where this user is not), where it can mount
// what it likes and no one else sees it. It returns true there and false here,
// where the test is done.
func WithMounts(t *testing.T) bool {
	t.Helper()
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid := os.Geteuid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		// Another test may have made this process one that others cannot look
		// into, and so one whose children cannot be given a user mapping.
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

// Unprivileged has the calling test, which is no subtest, run as a user whom the
// kernel refuses things: as this one, or in a process of its own when this is
// root. It returns false where the test is done.
func Unprivileged(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	return rerun(t, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}})
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
