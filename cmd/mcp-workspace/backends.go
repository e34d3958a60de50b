package main

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/local"
	"github.com/mcp-workspace/mcp-workspace/backends/state"
	"github.com/mcp-workspace/mcp-workspace/internal/config"
)

// registration is what the command line knows of a backend.
type registration struct {
	// ruleset is the preset in force when none is given.
	ruleset string
	// flags that only this backend, or a few, have a use for.
	flags []string
	// check refuses settings that cannot work together. May be nil.
	check func(*settings) error
	open  func(context.Context, *settings, *slog.Logger) (backends.Backend, error)
	// sandbox tells that the workspace is its own boundary.
	sandbox bool
	// ownShell tells that commands run in this program's own shell.
	ownShell bool
	// noBackground tells that jobs in the background end with their command.
	noBackground bool
	// shared tells that all tenants of a server use one backend: it keeps
	// workspaces in this process, or connections.
	shared bool
	// keeps tells whether a workspace without a name outlives the program, and
	// is found again by its ref only. Nil: it does not.
	keeps func(*settings) bool
}

// registry is the one place where backends are named.
var registry = map[string]registration{
	"state": {
		ruleset: "permissive",
		sandbox: true,
		flags:   []string{"store", "max-memory"},
		shared:  true,
		check:   checkState,
		open:    openState,
		keeps:   func(s *settings) bool { return s.store != "memory" },

		ownShell:     true,
		noBackground: true,
	},
	"local": {
		ruleset: "default",
		flags:   []string{"root"},
		check:   checkLocal,
		open:    openLocal,
	},
	"docker": {
		ruleset: "permissive",
		sandbox: true,
		flags:   containerFlags,
		check:   checkDocker,
		open:    openDocker,
		keeps:   always,
	},
	"podman": {
		ruleset: "permissive",
		sandbox: true,
		flags:   containerFlags,
		check:   checkPodman,
		open:    openPodman,
		keeps:   always,
	},
}

func always(*settings) bool { return true }

func backendNames() []string { return slices.Sorted(maps.Keys(registry)) }

// checkBackend refuses flags of other backends than the one in use, and what
// that says cannot work.
func (s *settings) checkBackend() error { return s.checkBackends(s.backend) }

// checkBackends is checkBackend for a server on which several are in use. A
// setting in the file is let pass where the backend was chosen over the file's
// head: the file may serve several.
func (s *settings) checkBackends(used ...string) error {
	taken := func(flag string) bool {
		return slices.ContainsFunc(used, func(name string) bool { return slices.Contains(registry[name].flags, flag) })
	}
	for _, name := range backendNames() {
		for _, flag := range registry[name].flags {
			overruled := s.loaded.Source(flag) == config.File && s.loaded.Source("backend") > config.File
			if s.given(flag) && !overruled && !taken(flag) {
				return s.wrong(flag, "is for the backend %s, but the backend is %s; add --backend %s, or leave it out", name, s.backend, name)
			}
		}
	}
	for _, name := range used {
		if check := registry[name].check; check != nil {
			if err := check(s); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkState(s *settings) error {
	if s.ref != "" && s.store == "memory" {
		return s.wrong("ref", "names a workspace that exists, but the store %q keeps none between runs; add --store file:DIR", s.store)
	}
	_, err := s.memoryLimit()
	return err
}

func openState(ctx context.Context, s *settings, log *slog.Logger) (backends.Backend, error) {
	store := s.store
	for _, scheme := range []string{"file:", "sqlite:"} {
		name, ok := strings.CutPrefix(store, scheme)
		if !ok || name == "" {
			continue
		}
		abs, err := s.loaded.Abs("store", name)
		if err != nil {
			return nil, err
		}
		store = scheme + abs
	}
	maxMemory, err := s.memoryLimit()
	if err != nil {
		return nil, err
	}
	spareMemory(maxMemory)
	return state.New(ctx, state.Config{Store: store, MaxMemory: maxMemory, WorkingDir: s.workingDir, Env: s.env, Logger: log})
}

func checkLocal(s *settings) error {
	if s.root == "" {
		return s.wrong("backend", "is local, which needs a directory to work in; add --root DIR")
	}
	// As desktop clients start programs, in the root, "." is not what is meant.
	if root, err := s.loaded.Abs("root", s.root); err == nil && !filepath.IsAbs(s.root) && filepath.Dir(root) == root {
		return s.wrong("root", "is %q, which is relative and comes out as %s, the whole machine; write the absolute path of the directory that you mean", s.root, root)
	}
	if s.destroyOnExit {
		return s.wrong("destroy-on-exit", "cannot be used with the backend local: the directory is yours, and this program does not delete it")
	}
	return nil
}

func openLocal(_ context.Context, s *settings, log *slog.Logger) (backends.Backend, error) {
	root, err := s.loaded.Abs("root", s.root)
	if err != nil {
		return nil, err
	}
	return local.New(local.Config{Root: root, WorkingDir: s.workingDir, Env: s.env, Logger: log})
}
