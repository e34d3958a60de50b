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

var (
	_ Backend = (*Deferred)(nil)
	_ Stopper = (*Deferred)(nil)
)

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

// Describe implements [Backend].
func (d *Deferred) Describe(ctx context.Context, ref Ref) (Info, error) {
	b, err := d.Backend(ctx)
	if err != nil {
		return Info{}, err
	}
	return b.Describe(ctx, ref)
}

// Stop implements [Stopper]. A backend that stops nothing is CodeUnsupported.
func (d *Deferred) Stop(ctx context.Context, ref Ref) error {
	s, err := d.stopper(ctx)
	if err != nil {
		return err
	}
	return s.Stop(ctx, ref)
}

// InUse implements [Stopper]. A backend that stops nothing is CodeUnsupported.
func (d *Deferred) InUse(ctx context.Context, ref Ref) (bool, error) {
	s, err := d.stopper(ctx)
	if err != nil {
		return false, err
	}
	return s.InUse(ctx, ref)
}

func (d *Deferred) stopper(ctx context.Context) (Stopper, error) {
	b, err := d.Backend(ctx)
	if err != nil {
		return nil, err
	}
	if s, ok := b.(Stopper); ok {
		return s, nil
	}
	return nil, Errorf(CodeUnsupported, "stop", "", "workspaces of the backend %s take up nothing while nobody uses them, and are not stopped", d.provider)
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
