package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
	"github.com/mcp-workspace/mcp-workspace/sessions"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// everybody is the key of the tenant of principals without an entry.
const everybody = ""

// tenant is what answers one principal, or all that have no entry of their own.
type tenant struct {
	server   *server.MCPServer
	limits   sessions.Limits
	operator bool
}

// tenants are those of the configuration, by principal.
type tenants map[string]tenant

// of is the tenant of a principal.
func (t tenants) of(principal string) tenant {
	if own, ok := t[principal]; ok {
		return own
	}
	return t[everybody]
}

// usedBackends are those that principals work with.
func (s *settings) usedBackends() []string {
	used := []string{s.backend}
	for _, p := range s.serve.principals {
		if p.backend != "" && !slices.Contains(used, p.backend) {
			used = append(used, p.backend)
		}
	}
	return used
}

// backendOf is the backend that a principal works with.
func (s *settings) backendOf(principal string) string {
	for _, p := range s.serve.principals {
		if p.name == principal && p.backend != "" {
			return p.backend
		}
	}
	return s.backend
}

// checkTenants refuses entries of principals that cannot work.
func (s *settings) checkTenants(noAuth bool) error {
	if s.backend == "local" && !noAuth {
		return s.wrong("backend", "is local, which is one directory for everybody; use state, docker or podman, or --no-auth for yourself")
	}
	for _, p := range s.serve.principals {
		own := s.forPrincipal(p)
		if own.backend == "local" && !noAuth {
			return s.wrongPrincipal(p, errors.New("the backend is local, which is one directory for everybody; use state, docker or podman"))
		}
		if (p.image != "" || p.runtime != "" || len(p.images)+len(p.runtimes) > 0) && !slices.Contains(registry[own.backend].flags, "image") {
			return s.wrongPrincipal(p, fmt.Errorf("images and runtimes are for containers, but the backend is %s", own.backend))
		}
		if p.image != "" && p.runtime != "" {
			return s.wrongPrincipal(p, errors.New("image and runtime both say what a container is made of; give one of them"))
		}
		if err := checkImage(p.image); p.image != "" && err != nil {
			return s.wrongPrincipal(p, err)
		}
		for _, name := range append(slices.Clone(p.runtimes), p.runtime) {
			if name == "" {
				continue
			}
			if _, err := s.containers.runtimes.Set().Lookup(name); err != nil {
				return s.wrongPrincipal(p, err)
			}
		}
		if _, err := own.ruleset(); err != nil {
			return s.wrongPrincipal(p, err)
		}
	}
	return nil
}

// wrongPrincipal says which entry err is about, and where it stands.
func (s *settings) wrongPrincipal(p principal, err error) error {
	return fmt.Errorf("%s: %s: %w", s.loaded.PlaceAt(sectionPrincipals, p.line), p.name, err)
}

// forPrincipal are the settings that an entry makes of the server's.
func (s *settings) forPrincipal(p principal) *settings {
	own := *s
	if p.backend != "" {
		own.backend = p.backend
	}
	if p.permissions != "" {
		own.permissions = p.permissions
		if _, preset := permissions.Preset(p.permissions); !preset && !filepath.IsAbs(p.permissions) {
			own.permissions = filepath.Join(s.loaded.Dir(), p.permissions)
		}
	}
	if p.image != "" {
		own.containers.image, own.containers.runtime = p.image, ""
	}
	if p.runtime != "" {
		own.containers.image, own.containers.runtime = "", p.runtime
	}
	return &own
}

// opener returns what opens the backend of s with a choice of image or runtime.
func (s *settings) opener(st *stores, log *slog.Logger) func(context.Context, sessions.Choice) (backends.Backend, error) {
	return func(ctx context.Context, choice sessions.Choice) (backends.Backend, error) {
		own := *s
		if choice != (sessions.Choice{}) {
			own.containers.image, own.containers.runtime = choice.Image, choice.Runtime
		}
		open := func() (backends.Backend, error) { return registry[own.backend].open(ctx, &own, log) }
		if registry[own.backend].shared {
			return st.share(own.backend, open)
		}
		return open()
	}
}

// imageOf is the image that a choice stands for, where that is known.
func (s *settings) imageOf(choice sessions.Choice) string {
	switch c := s.containers; {
	case choice.Image != "":
		return choice.Image
	case choice.Runtime != "" || c.runtime != "" || !slices.Contains(registry[s.backend].flags, "image"):
		return ""
	case c.image != "":
		return c.image
	default:
		return defaultImage
	}
}

// stores keep one backend of those that keep their workspaces in this process,
// or hold connections that tenants can share: state. The tenants' own are views
// of it that can be closed alone.
type stores struct {
	mu     sync.Mutex
	opened map[string]*shared
}

// shared is a backend that is closed with its last user.
type shared struct {
	backends.Backend
	stores *stores
	key    string
	users  int // guarded by stores.mu
}

// share opens what open does, once for each key.
func (st *stores) share(key string, open func() (backends.Backend, error)) (backends.Backend, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if b := st.opened[key]; b != nil {
		b.users++
		return b, nil
	}
	inner, err := open()
	if err != nil {
		return nil, err
	}
	b := &shared{Backend: inner, stores: st, key: key, users: 1}
	st.opened[key] = b
	return b, nil
}

// Close implements [backends.Backend].
func (b *shared) Close() error {
	b.stores.mu.Lock()
	defer b.stores.mu.Unlock()
	if b.users--; b.users > 0 {
		return nil
	}
	delete(b.stores.opened, b.key)
	return b.Backend.Close()
}

// makeTenants makes the servers of all principals.
func (s *settings) makeTenants(manager *sessions.Manager, observe tools.Observer, more []server.ServerOption) (tenants, error) {
	made := tenants{}
	all := s.serve.limits.over(sessions.DefaultLimits)
	log := s.logger()
	st := &stores{opened: map[string]*shared{}}
	add := func(name string, own *settings, p principal) error {
		limits := p.limits.over(s.serve.perPrincipal.over(sessions.DefaultPrincipalLimits))
		limits.Output = tighter(limits.Output, all.Output)
		limits.FileSize = tighter(limits.FileSize, all.FileSize)
		rules, err := own.ruleset()
		if err != nil {
			return err
		}
		t := manager.Tenant(sessions.TenantConfig{
			Provider: own.backend, Place: own.backend, Images: p.images, Runtimes: p.runtimes,
			Open: own.opener(st, log), ImageOf: own.imageOf,
			Name: own.name, DestroyOnExit: own.destroyOnExit, Limits: limits,
		})
		srv, err := own.newServer(rules, tools.Options{Connection: t.Connection, WorkspaceArgument: true, MaxOutput: limits.Output, MaxFile: limits.FileSize, Observe: observe}, more...)
		made[name] = tenant{server: srv, limits: limits, operator: p.operator}
		return err
	}
	if err := add(everybody, s, principal{}); err != nil {
		return nil, err
	}
	for _, p := range s.serve.principals {
		if err := add(p.name, s.forPrincipal(p), p); err != nil {
			return nil, s.wrongPrincipal(p, err)
		}
	}
	return made, nil
}

// tighter is the smaller of two limits, of which 0 is none.
func tighter(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
