package sessions

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Choice is what a client may choose for a new workspace. The zero Choice is
// what the tenant has for those who choose nothing.
type Choice struct {
	Image   string
	Runtime string // by name
}

// TenantConfig is what holds for principals under the same configuration.
type TenantConfig struct {
	// Provider is the first part of refs.
	Provider string
	// Open returns the backend that makes workspaces of a choice. It is called
	// once for each, when it is first needed, and again after it has failed; the
	// Manager closes what it returns. All choices work on one engine or store.
	Open func(ctx context.Context, choice Choice) (backends.Backend, error)
	// Place names the engine or store: tenants that share one have the same, and
	// its workspaces are counted once. Empty is shared with no other tenant.
	Place string
	// Images and Runtimes may be chosen.
	Images, Runtimes []string
	// ImageOf tells which image workspaces of a choice are made from; nil or ""
	// is not known, and then not checked.
	ImageOf func(choice Choice) string
	// Name, when set, is that of the workspace of whoever names none, sessions
	// included. Otherwise a session has a workspace of its own, and requests
	// without a session the one called "default".
	Name string
	// DestroyOnExit removes the own workspace of a session when that ends.
	DestroyOnExit bool
	// Limits of each principal; Workspaces and Running are heeded here.
	Limits Limits
}

// Tenant is where the principals under one configuration have their workspaces.
// It is safe for concurrent use.
type Tenant struct {
	m     *Manager
	cfg   TenantConfig
	place *place

	mu   sync.Mutex
	made map[Choice]*making
}

// making is the backend of a choice; backend and err are set when done is closed.
type making struct {
	done    chan struct{}
	backend backends.Backend
	err     error
}

// place is an engine or a store, as several tenants may share it.
type place struct {
	name    string
	tenants []*Tenant // not empty

	mu    sync.Mutex
	last  []backends.Info // of the last listing that succeeded
	fails error           // of the last listing
}

// Tenant adds a tenant.
func (m *Manager) Tenant(cfg TenantConfig) *Tenant {
	t := &Tenant{m: m, cfg: cfg, made: map[Choice]*making{}}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.places {
		if cfg.Place != "" && p.name == cfg.Place {
			t.place = p
			p.mu.Lock()
			p.tenants = append(p.tenants, t)
			p.mu.Unlock()
			return t
		}
	}
	t.place = &place{name: cfg.Place, tenants: []*Tenant{t}}
	m.places = append(m.places, t.place)
	return t
}

// Limits are those of each principal.
func (t *Tenant) Limits() Limits { return t.cfg.Limits }

// backend opens the backend of a choice if that has not happened yet. A caller
// whose ctx ends gives up waiting, not the opening.
func (t *Tenant) backend(ctx context.Context, choice Choice) (backends.Backend, error) {
	t.mu.Lock()
	mk := t.made[choice]
	if mk == nil {
		mk = &making{done: make(chan struct{})}
		t.made[choice] = mk
		opening := context.WithoutCancel(ctx)
		go func() {
			mk.backend, mk.err = t.cfg.Open(opening, choice)
			if mk.err != nil {
				t.mu.Lock()
				delete(t.made, choice)
				t.mu.Unlock()
			}
			close(mk.done)
		}()
	}
	t.mu.Unlock()
	select {
	case <-mk.done:
		return mk.backend, mk.err
	case <-ctx.Done():
		return nil, &backends.Error{Code: backends.CodeCancelled, Op: "open", Err: context.Cause(ctx), Message: "given up while the backend was still being opened; try again"}
	}
}

// closeBackends closes those that were opened.
func (t *Tenant) closeBackends() error {
	t.mu.Lock()
	var all []*making
	for _, mk := range t.made {
		all = append(all, mk)
	}
	t.mu.Unlock()
	var errs []error
	for _, mk := range all {
		<-mk.done
		if mk.err == nil {
			errs = append(errs, mk.backend.Close())
		}
	}
	return errors.Join(errs...)
}

// stopper is the backend as far as it can stop what runs; nil when it cannot.
func (t *Tenant) stopper(ctx context.Context) (backends.Stopper, error) {
	b, err := t.backend(ctx, Choice{})
	if d, ok := b.(*backends.Deferred); ok && err == nil {
		b, err = d.Backend(ctx)
	}
	if err != nil {
		return nil, err
	}
	s, _ := b.(backends.Stopper)
	return s, nil
}

// allowed refuses what the tenant's clients may not choose.
func (t *Tenant) allowed(c Choice) error {
	refuse := func(what, chosen string, all []string) error {
		if len(all) == 0 {
			return backends.Errorf(backends.CodePermission, "choose", "", "you cannot choose the %s of your workspaces; leave it out", what)
		}
		return backends.Errorf(backends.CodePermission, "choose", "", "%q is not a %s that you can choose; those are: %s", chosen, what, strings.Join(all, ", "))
	}
	switch {
	case c.Image != "" && c.Runtime != "":
		return backends.Errorf(backends.CodeInvalidArgument, "choose", "", "an image and a runtime were chosen, which both say what a workspace is made from; choose one")
	case c.Image != "" && !slices.Contains(t.cfg.Images, c.Image):
		return refuse("image", c.Image, t.cfg.Images)
	case c.Runtime != "" && !slices.Contains(t.cfg.Runtimes, c.Runtime):
		return refuse("runtime", c.Runtime, t.cfg.Runtimes)
	}
	return nil
}

func (t *Tenant) imageOf(c Choice) string {
	if t.cfg.ImageOf == nil {
		return c.Image
	}
	return t.cfg.ImageOf(c)
}

// choiceOf is the choice that a workspace with that image was made by, as far as
// can be told.
func (t *Tenant) choiceOf(image string) Choice {
	if image == "" || sameImage(image, t.imageOf(Choice{})) {
		return Choice{}
	}
	for _, name := range t.cfg.Images {
		if c := (Choice{Image: name}); sameImage(image, t.imageOf(c)) {
			return c
		}
	}
	for _, name := range t.cfg.Runtimes {
		if c := (Choice{Runtime: name}); sameImage(image, t.imageOf(c)) {
			return c
		}
	}
	return Choice{}
}

// sameImage tells whether a workspace with the image has was made from wanted.
// Podman puts localhost/ before the names of images that were made there.
func sameImage(has, wanted string) bool {
	return has == wanted || has == "localhost/"+wanted
}

// checkImage refuses a choice for a workspace that exists with another image.
func (t *Tenant) checkImage(c Choice, has string) error {
	wanted := t.imageOf(c)
	if c == (Choice{}) || has == "" || wanted == "" || sameImage(has, wanted) {
		return nil
	}
	return backends.Errorf(backends.CodeInvalidArgument, "choose", "", "this workspace exists and was made from the image %s, not from %s; leave the choice out, or name another workspace", has, wanted)
}
