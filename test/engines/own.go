package engines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Own says what a Docker Engine of a test's own is like.
type Own struct {
	// DiskMB is the size of the file system that its images, containers and
	// volumes are on, in megabytes; 0 is no limit of its own. The busybox image
	// and the engine's own files need about 20, Debian 320 more.
	DiskMB int
	// Debian has the Debian image made there too, which takes some seconds.
	Debian bool
}

// OwnEngine is a Docker Engine that one test may stop, kill and fill.
type OwnEngine struct {
	Engine
	dir string
	env []string
}

// ownPrefix begins the directories of such engines; the pid of the test process
// follows, so that another can end what a killed one left.
const ownPrefix = "mcpws-engine-"

// OwnDocker starts a Docker Engine for this test alone, with the busybox and
// scratch images, which takes about three seconds. It is ended and its
// containers, volumes and files are removed after the test. It skips or fails as
// [Docker] does.
func OwnDocker(t testing.TB, own Own) *OwnEngine {
	t.Helper()
	// The shared start installs the packages and says why it cannot.
	if _, err := startShared(); err != nil {
		unavailable(t, "docker", err)
	}
	endAbandoned(t)
	// Not t.TempDir: a socket's path may have 107 bytes.
	dir, err := os.MkdirTemp("/var/tmp", ownPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		t.Fatal(err)
	}
	images := "busybox scratch"
	if own.Debian {
		images += " debian"
	}
	e := &OwnEngine{dir: dir, env: []string{
		"TEST_ENGINES_DIR=" + dir,
		"TEST_ENGINES=docker",
		"TEST_ENGINES_IMAGES=" + images,
	}}
	if own.DiskMB > 0 {
		e.env = append(e.env, "TEST_ENGINES_DISK="+strconv.Itoa(own.DiskMB))
	}
	t.Cleanup(func() {
		if err := clean(dir); err != nil {
			t.Errorf("ending the engine of the test: %v", err)
		}
	})
	e.Start(t)
	return e
}

// Start starts the engine again after [OwnEngine.Stop] or [OwnEngine.Kill] and
// returns when it answers. One that runs is left alone.
func (e *OwnEngine) Start(t testing.TB) {
	t.Helper()
	found, err := script(context.Background(), e.env, "start")
	if err != nil {
		t.Fatalf("starting the engine of the test: %v", err)
	}
	e.Engine = *engineOf("docker", found)
}

// Stop ends the engine as a service manager does: containers are stopped, and
// are there after [OwnEngine.Start]. It returns when the process is gone.
func (e *OwnEngine) Stop(t testing.TB) {
	t.Helper()
	e.signal(t, syscall.SIGTERM)
}

// Kill ends the engine's daemon without letting it do anything.
func (e *OwnEngine) Kill(t testing.TB) {
	t.Helper()
	e.signal(t, syscall.SIGKILL)
}

// DataDir is the directory on the file system whose size is [Own].DiskMB. A
// test fills the disk with a file in it.
func (e *OwnEngine) DataDir() string { return filepath.Join(e.dir, "docker") }

func (e *OwnEngine) signal(t testing.TB, signal syscall.Signal) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(e.dir, "docker.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatalf("the engine's pid: %v", err)
	}
	if err := endProcess(t.Context(), pid, signal); err != nil {
		t.Fatalf("ending dockerd (process %d) with %v: %v", pid, signal, err)
	}
}

// endAbandoned ends the engines of test processes that were killed.
func endAbandoned(t testing.TB) {
	t.Helper()
	dirs, err := filepath.Glob("/var/tmp/" + ownPrefix + "*-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), ownPrefix), "-")
		if _, err := strconv.Atoi(owner); err != nil {
			continue // not one of ours
		}
		if _, err := os.Stat(filepath.Join("/proc", owner)); !errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := clean(dir); err != nil {
			t.Logf("ending the engine that process %s left in %s: %v", owner, dir, err)
		}
	}
}

func clean(dir string) error {
	_, err := script(context.Background(), []string{"TEST_ENGINES_DIR=" + dir}, "clean")
	return err
}

// RootlessPodman returns a Podman service that runs as a user without rights,
// started when it does not run. Its socket can be used by root, as which tests
// run. The test is skipped, with CI too, where the machine cannot run it. Where
// cgroups are version 1, limits of memory, CPU and processes are ignored.
func RootlessPodman(t testing.TB) *Engine {
	t.Helper()
	if _, err := startShared(); err != nil {
		unavailable(t, "podman", err)
	}
	found, err := script(context.Background(), []string{"TEST_ENGINES=rootless"}, "start")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 4 {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		t.Skip(reason)
	}
	if err != nil {
		unavailable(t, "rootless podman", err)
	}
	e := engineOf("rootless", found)
	e.Provider = "podman"
	if e.Host == "" {
		t.Fatal(fmt.Errorf("scripts/test-engines.sh printed no address of rootless Podman: %v", found))
	}
	return e
}
