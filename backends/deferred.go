package backends

import (
	"context"
	"sync"
)

// Deferred is a Backend that is opened with its first use, so that a server
// starts at once and says what is wrong to whoever asks for something. An
// opening that failed is tried again by the next use.
type Deferred struct {
	provider string
	open     func(context.Context) (Backend, error)

	mu     sync.Mutex // held while opening
	opened Backend
	closed bool
}

var _ Backend = (*Deferred)(nil)

// Defer returns the backend of provider that open opens.
func Defer(provider string, open func(context.Context) (Backend, error)) *Deferred {
	return &Deferred{provider: provider, open: open}
}

// Backend opens the backend if that has not happened yet.
func (d *Deferred) Backend(ctx context.Context) (Backend, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return nil, Errorf(CodeUnavailable, "open", "", "the backend %s is closed", d.provider)
	case d.opened != nil:
		return d.opened, nil
	}
	b, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	d.opened = b
	return b, nil
}

// Provider implements [Backend].
func (d *Deferred) Provider() string { return d.provider }

// Create implements [Backend].
func (d *Deferred) Create(ctx context.Context, spec Spec) (Workspace, error) {
	b, err := d.Backend(ctx)
	if err != nil {
		return nil, err
	}
	return b.Create(ctx, spec)
}

// Attach implements [Backend].
func (d *Deferred) Attach(ctx context.Context, ref Ref) (Workspace, error) {
	b, err := d.Backend(ctx)
	if err != nil {
		return nil, err
	}
	return b.Attach(ctx, ref)
}

// Destroy implements [Backend].
func (d *Deferred) Destroy(ctx context.Context, ref Ref) error {
	b, err := d.Backend(ctx)
	if err != nil {
		return err
	}
	return b.Destroy(ctx, ref)
}

// List implements [Backend].
func (d *Deferred) List(ctx context.Context) ([]Info, error) {
	b, err := d.Backend(ctx)
	if err != nil {
		return nil, err
	}
	return b.List(ctx)
}

// Close implements [Backend]. A backend that was never used is not opened for it.
func (d *Deferred) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.opened == nil {
		return nil
	}
	return d.opened.Close()
}
