// Package engines gives tests a real Docker Engine and a real Podman to work
// with. scripts/test-engines.sh installs and runs them, beside any engine that
// the machine has for other purposes and without touching it; this package
// finds what runs or has the script start it. It knows nothing of backends and
// workspaces.
//
// The engines are shared by all test packages, which go test runs in parallel:
// a test names what it makes with [Engine.UniqueName] or labels it, looks only
// at that, and removes it; [Engine.LeavesNothing] checks. What harms others
// (restarting the engine, filling its disk) needs an engine of its own,
// [OwnDocker].
package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/test/testenv"
)

// startTimeout bounds one run of the script. The longest it has to do is to
// install the packages and to make the Debian image, about two minutes with a
// near mirror.
const startTimeout = 8 * time.Minute

// Engine is a running container engine with the images that tests use.
type Engine struct {
	// Provider is "docker" or "podman".
	Provider string
	// Host is the address of its socket, unix:///….
	Host string
	// Debian has bash, python3, git, procps and certificates; no curl.
	Debian string
	// Busybox has /bin/sh and the applets of busybox, and only root in
	// /etc/passwd.
	Busybox string
	// Scratch has no file at all.
	Scratch string
}

// Docker returns the shared Docker Engine, started when it does not run. Where
// none can be started the test is skipped with the reason, or fails when CI is
// "true".
func Docker(t testing.TB) *Engine {
	t.Helper()
	return shared(t, "docker")
}

// Podman returns the shared Podman service that runs as root, started when it
// does not run. It skips or fails as [Docker] does.
func Podman(t testing.TB) *Engine {
	t.Helper()
	return shared(t, "podman")
}

// startShared starts both engines, once in a process; the script makes other
// processes wait.
var startShared = sync.OnceValues(func() (map[string]string, error) {
	return script(context.Background(), nil, "start")
})

func shared(t testing.TB, provider string) *Engine {
	t.Helper()
	found, err := startShared()
	if err != nil {
		unavailable(t, provider, err)
	}
	return engineOf(provider, found)
}

func engineOf(provider string, found map[string]string) *Engine {
	return &Engine{
		Provider: provider,
		Host:     found[provider],
		Debian:   found["debian"],
		Busybox:  found["busybox"],
		Scratch:  found["scratch"],
	}
}

// unavailable ends a test whose engine cannot be had.
func unavailable(t testing.TB, what string, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s cannot be started: %v", what, err)
	}
	reason, _, _ := strings.Cut(err.Error(), "\n")
	t.Skipf("%s cannot be started: %s", what, reason)
}

// script runs scripts/test-engines.sh with additional variables and returns
// the name=value lines that it printed. Its first message is the first line of
// the error.
func script(ctx context.Context, env []string, arguments ...string) (map[string]string, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("container engines for the tests need Linux")
	}
	if os.Geteuid() != 0 {
		return nil, errors.New("container engines for the tests need root")
	}
	root, err := testenv.Root()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(root, "scripts", "test-engines.sh"), arguments...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(stderr.String())
		return nil, fmt.Errorf("%s\nscripts/test-engines.sh %s: %w", said, strings.Join(arguments, " "), err)
	}
	found := map[string]string{}
	for line := range strings.Lines(stdout.String()) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			found[name] = value
		}
	}
	return found, nil
}
