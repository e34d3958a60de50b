package engines

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/docker/docker/api/types/container"
)

func TestEveryEngineRunsTheImages(t *testing.T) {
	for name, get := range map[string]func(testing.TB) *Engine{
		"docker": Docker, "podman": Podman, "rootless podman": RootlessPodman,
	} {
		t.Run(name, func(t *testing.T) {
			engine := get(t)
			container := engine.UniqueName(t, "mcpwst-")
			version := engine.CLI(t, "run", "--name", container, engine.Debian, "python3", "--version")
			if !strings.HasPrefix(version, "Python 3.") {
				t.Errorf("python3 in the Debian image says %q", version)
			}
			engine.CLI(t, "rm", container)
			if got := engine.CLI(t, "run", "--name", container, engine.Busybox, "sh", "-c", "echo shell"); got != "shell" {
				t.Errorf("sh in the busybox image says %q", got)
			}
			engine.CLI(t, "rm", container)
			if out, err := engine.Command(t.Context(), "run", "--name", container, engine.Scratch, "/bin/sh").CombinedOutput(); err == nil {
				t.Errorf("the scratch image has a shell: %s", out)
			}
			engine.CLI(t, "rm", container)
		})
	}
}

func TestContainersReachTheNetwork(t *testing.T) {
	for name, get := range map[string]func(testing.TB) *Engine{
		"docker": Docker, "podman": Podman, "rootless podman": RootlessPodman,
	} {
		t.Run(name, func(t *testing.T) {
			engine := get(t)
			container := engine.UniqueName(t, "mcpwst-")
			// The image's own package source is what this machine can reach.
			engine.CLI(t, "run", "--name", container, engine.Debian, "apt-get", "update", "-q", "-o", "APT::Update::Error-Mode=any")
			engine.CLI(t, "rm", container)
		})
	}
}

// recorder is a test that keeps its failures and cleanups to itself.
type recorder struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (r *recorder) Errorf(format string, _ ...any) { r.failures = append(r.failures, format) }
func (r *recorder) Cleanup(f func())               { r.cleanups = append(r.cleanups, f) }

func (r *recorder) end() {
	for len(r.cleanups) > 0 {
		last := r.cleanups[len(r.cleanups)-1]
		r.cleanups = r.cleanups[:len(r.cleanups)-1]
		last()
	}
}

func TestLeavesNothing(t *testing.T) {
	tests := []struct {
		name     string
		make     func(t *testing.T, e *Engine, name string)
		failures int
	}{
		{"passes when nothing is left", func(*testing.T, *Engine, string) {}, 0},
		{"fails for a container by its name", func(t *testing.T, e *Engine, name string) {
			e.CLI(t, "create", "--name", name+"-x", e.Busybox, "true")
		}, 1},
		{"fails for a container by its label", func(t *testing.T, e *Engine, name string) {
			e.CLI(t, "create", "--label", "mcpws-test="+name, e.Busybox, "true")
		}, 1},
		{"fails for a volume", func(t *testing.T, e *Engine, name string) {
			e.CLI(t, "volume", "create", name)
		}, 1},
		{"fails for a network", func(t *testing.T, e *Engine, name string) {
			e.CLI(t, "network", "create", "--label", "mcpws-test="+name, "net"+name)
		}, 1},
		{"leaves what others made alone", func(t *testing.T, e *Engine, _ string) {
			other := e.UniqueName(t, "mcpwst-")
			e.CLI(t, "create", "--name", other, "--label", "mcpws-test="+other, e.Busybox, "true")
			t.Cleanup(func() {
				// It must still be there.
				if out, err := e.Command(context.Background(), "rm", other).CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
		}, 0},
	}
	for _, engine := range []*Engine{Docker(t), Podman(t)} {
		for _, test := range tests {
			t.Run(engine.Provider+" "+test.name, func(t *testing.T) {
				name := "mcpwst-" + randomHex()
				made := Made{NamePrefix: name, Label: "mcpws-test=" + name}
				inner := &recorder{TB: t}
				engine.LeavesNothing(inner, made)
				test.make(t, engine, name)
				inner.end()
				if len(inner.failures) != test.failures {
					t.Errorf("failures: %q, want %d", inner.failures, test.failures)
				}
				left, err := Find(t.Context(), engine.Client(t), made)
				if err != nil {
					t.Fatal(err)
				}
				if len(left) != 0 {
					t.Errorf("not removed: %v", left)
				}
			})
		}
	}
}

func TestOwnDockerKeepsAContainerOverARestart(t *testing.T) {
	for name, end := range map[string]func(*OwnEngine, testing.TB){
		"stopped": (*OwnEngine).Stop, "killed": (*OwnEngine).Kill,
	} {
		t.Run(name, func(t *testing.T) {
			engine := OwnDocker(t, Own{})
			engine.CLI(t, "run", "-d", "--name", "kept", engine.Busybox, "sh", "-c", "trap exit TERM; sleep 1000 & wait")
			end(engine, t)
			if _, err := engine.Client(t).Ping(t.Context()); err == nil {
				t.Fatal("the engine still answers")
			}
			engine.Start(t)
			if got := engine.CLI(t, "ps", "-a", "--format", "{{.Names}}"); got != "kept" {
				t.Errorf("containers after the restart: %q", got)
			}
			engine.CLI(t, "start", "kept")
		})
	}
}

func TestOwnDockerHasADiskOfTheGivenSize(t *testing.T) {
	engine := OwnDocker(t, Own{DiskMB: 64})
	file, err := os.Create(filepath.Join(engine.DataDir(), "filler"))
	if err != nil {
		t.Fatal(err)
	}
	var written int64
	block := make([]byte, 1<<20)
	for err == nil && written < 1<<30 {
		var n int
		n, err = file.Write(block)
		written += int64(n)
	}
	if !errors.Is(err, syscall.ENOSPC) || written > 64<<20 {
		t.Errorf("wrote %d bytes until %v", written, err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	if err := os.Remove(file.Name()); err != nil {
		t.Error(err)
	}
	engine.CLI(t, "run", "--rm", engine.Busybox, "true")
}

func TestOwnDockerLeavesNothingOnTheMachine(t *testing.T) {
	var dir string
	t.Run("engine", func(t *testing.T) {
		engine := OwnDocker(t, Own{DiskMB: 64})
		dir = engine.dir
		engine.CLI(t, "run", "-d", engine.Busybox, "sleep", "1000")
	})
	if dir == "" {
		t.Skip("no engine")
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	for what, file := range map[string]string{"a mount": "/proc/mounts", "a loop device": "/sys/block/loop*/loop/backing_file"} {
		names, err := filepath.Glob(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err == nil && strings.Contains(string(content), dir) {
				t.Errorf("%s of %s is left", what, dir)
			}
		}
	}
	if left := mentioning(t, dir); len(left) != 0 {
		t.Errorf("processes left: %q", left)
	}
}

// mentioning returns the command lines of processes that mention a path.
func mentioning(t *testing.T, path string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(content), path) { // else it has ended
			found = append(found, strings.ReplaceAll(string(content), "\x00", " "))
		}
	}
	return found
}

func TestStartTwiceAtOnceGivesOneEngine(t *testing.T) {
	own := OwnDocker(t, Own{})
	own.Stop(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := script(t.Context(), own.env, "start"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	daemons := 0
	for _, command := range mentioning(t, own.dir) {
		if strings.HasPrefix(command, "dockerd ") {
			daemons++
		}
	}
	if daemons != 1 {
		t.Errorf("%d daemons run", daemons)
	}
	before := own.CLI(t, "info", "--format", "{{.ID}} {{.Images}}")
	own.Start(t)
	if after := own.CLI(t, "info", "--format", "{{.ID}} {{.Images}}"); after != before {
		t.Errorf("start of a running engine: %q became %q", before, after)
	}
}

func TestStopTwiceIsNoError(t *testing.T) {
	own := OwnDocker(t, Own{})
	for range 2 {
		if _, err := script(t.Context(), own.env, "stop"); err != nil {
			t.Error(err)
		}
	}
	if _, err := script(t.Context(), own.env, "status"); err == nil {
		t.Error("status says that a stopped engine runs")
	}
}

func TestContainersOfTheClientAreThoseOfTheCommandLine(t *testing.T) {
	for _, engine := range []*Engine{Docker(t), Podman(t)} {
		t.Run(engine.Provider, func(t *testing.T) {
			name := engine.UniqueName(t, "mcpwst-")
			c := engine.Client(t)
			made, err := c.ContainerCreate(t.Context(), &container.Config{Image: engine.Scratch, Cmd: []string{"/none"}}, nil, nil, nil, name)
			if err != nil {
				t.Fatal(err)
			}
			if got := engine.CLI(t, "inspect", "--format", "{{.Id}}", name); got != made.ID {
				t.Errorf("the command line finds %s, the client made %s", got, made.ID)
			}
			engine.CLI(t, "rm", name)
		})
	}
}
