package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/docker"
	"github.com/mcp-workspace/mcp-workspace/backends/docker/address"
	"github.com/mcp-workspace/mcp-workspace/backends/podman"
	"github.com/mcp-workspace/mcp-workspace/internal/config"
	"github.com/mcp-workspace/mcp-workspace/runtimes"
)

// defaultImage is what a container is made of when nothing else is said.
const defaultImage = "python:3.12-slim"

// defaultDir is where commands start in what has no directory of its own.
const defaultDir = "/workspace"

// containerSettings are the flags of backends whose workspaces are containers.
type containerSettings struct {
	image    string
	runtime  string
	guest    string
	run      docker.Flags
	runtimes runtimes.Config
	options  docker.Options // run, parsed
}

// containerFlags are their names.
var containerFlags = []string{"image", "runtime", "network", "memory", "cpus", "pids-limit", "user", "read-only", "cap-drop", "mount", "tmpfs", "gpus",
	"oci-runtime", "add-host", "guest"}

func (c *containerSettings) addFlags(f *pflag.FlagSet) {
	f.StringVar(&c.image, "image", "", "containers: the `image` of a new one (default "+defaultImage+")")
	f.StringVar(&c.runtime, "runtime", "", "containers: the `name` of a runtime instead of an image; see mcp-workspace runtimes list")
	f.StringVar(&c.run.Network, "network", "", "containers: none, bridge, or the `name` of a network (default bridge)")
	f.StringVar(&c.run.Memory, "memory", "", "containers: limit of memory, such as 2g")
	f.StringVar(&c.run.CPUs, "cpus", "", "containers: limit of processors, such as 1.5")
	f.StringVar(&c.run.PidsLimit, "pids-limit", "", fmt.Sprintf("containers: limit of processes and threads; -1 is none (default %d)", docker.DefaultPids))
	f.StringVar(&c.run.User, "user", "", "containers: `user[:group]` that commands run as; host is your own uid and gid (default the image's)")
	f.BoolVar(&c.run.ReadOnly, "read-only", false, "containers: a read-only root file system")
	f.StringArrayVar(&c.run.CapDrop, "cap-drop", nil, "containers: drop a Linux `capability`, or ALL (repeat)")
	f.StringArrayVar(&c.run.Mounts, "mount", nil, "containers: type=bind,src=DIR,dst=/PATH, or `DIR:/PATH[:ro]` (repeat)")
	f.StringArrayVar(&c.run.Tmpfs, "tmpfs", nil, "containers: an empty `directory` in memory (repeat)")
	f.StringVar(&c.run.GPUs, "gpus", "", "containers: GPUs to use, such as all")
	f.StringVar(&c.run.OCIRuntime, "oci-runtime", "", "containers: the engine's `runtime`, such as runsc")
	f.StringArrayVar(&c.run.AddHosts, "add-host", nil, "containers: another name for an address, `host:ip` (repeat)")
	f.StringVar(&c.guest, "guest", "", "containers: the guest agent's executable `file`, when the program has none of its own")
}

func checkDocker(s *settings) error { return checkContainers(s, docker.Config.Check) }
func checkPodman(s *settings) error { return checkContainers(s, podman.Check) }

// checkContainers parses docker run's flags, and has the backend check them, so
// that a mistake stops the start and not the first call.
func checkContainers(s *settings, check func(docker.Config) error) error {
	c := &s.containers
	if c.image != "" && c.runtime != "" {
		return s.wrong("runtime", "and --image both say what a container is made of; give one of them")
	}
	if s.given("image") && c.image == "" {
		return s.wrong("image", "is empty; name an image, such as %s", defaultImage)
	}
	if s.given("runtime") {
		if _, err := c.runtimes.Set().Lookup(c.runtime); err != nil {
			return s.wrong("runtime", "is wrong: %v", err)
		}
	}
	if s.workingDir != "" && !path.IsAbs(filepath.ToSlash(s.workingDir)) {
		return s.wrong("working-dir", "is %q; it must be an absolute path in the container", s.workingDir)
	}
	if s.loaded.Source("mount") == config.File {
		c.run.Dir = s.loaded.Dir() // relative sources count from there, as all paths in the file do
	}
	var err error
	if c.options, err = c.run.Parse(); err != nil {
		return s.wrongFlag(err)
	}
	return s.wrongFlag(check(docker.Config{Image: c.image, WorkingDir: s.workingDir, Options: c.options}))
}

// checkImage refuses what can be no image's name.
func checkImage(name string) error {
	if err := docker.CheckImage(name); err != nil {
		return fmt.Errorf("image %w", err)
	}
	return nil
}

// wrongFlag is an error of the backend's, which names the flag first, with the
// place where the flag's setting stands.
func (s *settings) wrongFlag(err error) error {
	var e *backends.Error
	if !errors.As(err, &e) {
		return err
	}
	flag, rest, _ := strings.Cut(strings.TrimPrefix(e.Message, "--"), " ")
	return fmt.Errorf("%s %s", s.loaded.Place(flag), rest)
}

// container is what a backend of containers is configured with.
func (s *settings) container(log *slog.Logger) (docker.Config, error) {
	c := &s.containers
	cfg := docker.Config{Image: c.image, WorkingDir: s.workingDir, Env: s.env, Options: c.options, Scope: s.scope, Logger: log}
	if !s.given("working-dir") { // one that is given as empty is the image's own
		cfg.WorkingDir = defaultDir
	}
	if c.guest != "" {
		file, err := s.loaded.Abs("guest", c.guest)
		if err != nil {
			return cfg, err
		}
		cfg.GuestPath = file
	}
	switch {
	case c.runtime != "":
		runtime, err := c.runtimes.Set().Lookup(c.runtime)
		if err != nil {
			return cfg, err
		}
		cfg.Runtime = runtime
		if s.workingDir == "" {
			cfg.WorkingDir = runtime.Dir()
		}
	case c.image == "":
		cfg.Image, cfg.AnyImage = defaultImage, true
	}
	return cfg, nil
}

// openDocker and openPodman look for the engine with the first use: the program
// starts, and says what it can do, also where the engine is not running yet.

func openDocker(_ context.Context, s *settings, log *slog.Logger) (backends.Backend, error) {
	return s.deferred(docker.Provider, log, address.Docker, docker.New)
}

func openPodman(_ context.Context, s *settings, log *slog.Logger) (backends.Backend, error) {
	return s.deferred(podman.Provider, log, address.Podman, podman.New)
}

func (s *settings) deferred(provider string, log *slog.Logger, find func(env []string, home string) (address.Address, error),
	open func(context.Context, docker.Config) (*docker.Backend, error)) (backends.Backend, error) {
	cfg, err := s.container(log)
	if err != nil {
		return nil, err
	}
	return backends.Defer(provider, func(ctx context.Context) (backends.Backend, error) {
		home, err := os.UserHomeDir()
		if err != nil {
			log.Debug("no home directory is known, so no engine of a user is looked for", "error", err)
		}
		at, err := find(os.Environ(), home)
		if err != nil {
			return nil, err
		}
		cfg := cfg
		if cfg.Client, err = at.Client(ctx); err != nil {
			return nil, err
		}
		b, err := open(ctx, cfg)
		if err != nil {
			return nil, errors.Join(err, cfg.Client.Close())
		}
		return b, nil
	}), nil
}

// containerBackends are the backends whose workspaces are containers.
func containerBackends() []string {
	var names []string
	for _, name := range backendNames() {
		if strings.Contains(" "+strings.Join(registry[name].flags, " ")+" ", " image ") {
			names = append(names, name)
		}
	}
	return names
}
