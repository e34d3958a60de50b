package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// store keeps documents by id. All methods are safe for concurrent use, also
// by several processes where the store outlives one, and give up when ctx
// ends. What they were told to keep is safe from a crash when they return nil.
type store interface {
	// create keeps t under id and reports true, or false where there is a
	// document of that id already.
	create(ctx context.Context, id string, t *tree) (bool, error)
	// stamp tells cheaply which version of a document is the latest, or
	// errGone.
	stamp(ctx context.Context, id string) (stamp, error)
	// load returns the latest version of a document, or errGone.
	load(ctx context.Context, id string) (*version, error)
	// update calls change with the latest version, keeping all other writers
	// away until its outcome is kept. The outcome is not kept when change
	// fails, nor when it is the tree that it was given. have spares a load when
	// it is the latest. change may be called again.
	update(ctx context.Context, id string, have *version, change func(*tree) (*tree, error)) (*version, error)
	// destroy removes a document. One that is gone is no error.
	destroy(ctx context.Context, id string) error
	// describe is list for one document, or errGone. It reads no more than the
	// header where that is at the start.
	describe(ctx context.Context, id string) (listed, error)
	// list describes all documents by id.
	list(ctx context.Context) ([]listed, error)
	close() error
}

// errGone is what a store answers when there is no document of an id.
var errGone = fmt.Errorf("there is no such document: %w", backends.ErrGone)

// version is a document as a store had it at one moment.
type version struct {
	tree  *tree
	stamp stamp
}

// stamp tells versions of one document apart.
type stamp struct {
	revision int64 // databases and memory
	// Files: every write gives the file a new modification time, so the rest
	// is for changes that are made by hand.
	modified, size, inode int64
}

// listed is a document in a listing.
type listed struct {
	id string
	header
	// damage says why the document cannot be read; nil when it can.
	damage error
}

// undamaged is why a document could not be described, or nil where that was for
// damage, which describes it.
func undamaged(l listed) error {
	if d := (damage{}); errors.As(l.damage, &d) {
		return nil
	}
	return l.damage
}

// openStore opens the store that is written as spec. One in memory is charged
// for what it holds.
func openStore(ctx context.Context, spec string, memory *fair.Memory) (store, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	switch {
	case spec == "" || spec == "memory":
		return newMemoryStore(memory), nil
	case kind == "file" || kind == "sqlite":
		name, err := storePath(rest)
		if err != nil {
			return nil, fmt.Errorf("the store %q: %w", spec, err)
		}
		if kind == "file" {
			return openFileStore(name)
		}
		return openSQLiteStore(ctx, name)
	case strings.HasPrefix(spec, "postgres://"), strings.HasPrefix(spec, "postgresql://"):
		return openPostgresStore(ctx, spec)
	default:
		// Not quoted in full: whatever it is, it may have a password in it.
		return nil, fmt.Errorf("a store of the kind %q is not known; use memory, file:DIR, sqlite:FILE or postgres://…", kind)
	}
}

// storePath makes the path in a store absolute. A shell leaves ~ alone where
// it is not at the start of a word.
func storePath(p string) (string, error) {
	if p == "" {
		return "", errors.New("the path is missing; write file:DIR or sqlite:FILE")
	}
	if p == "~" || strings.HasPrefix(p, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		p = home + p[1:]
	}
	return filepath.Abs(p)
}

// mutex is a lock whose waiting ends with a context.
type mutex chan struct{}

func newMutex() mutex { return make(mutex, 1) }

func (m mutex) lock(ctx context.Context) error {
	select {
	case m <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m mutex) unlock() { <-m }

// document is one document of a store as this process sees it, shared by all
// connections to it. It remembers the latest version that was seen.
type document struct {
	store   store
	id      string
	users   int // guarded by Backend.mu
	loading mutex
	writing mutex
	latest  atomicVersion
	held    held
}

func newDocument(s store, id string, memory *fair.Memory) *document {
	d := &document{store: s, id: id, loading: newMutex(), writing: newMutex()}
	if _, charged := s.(*memoryStore); !charged {
		d.held.memory = memory
	}
	return d
}

// current returns the latest version.
func (d *document) current(ctx context.Context) (*version, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	have, err := d.latest.get()
	if err != nil {
		return nil, err
	}
	st, err := d.store.stamp(ctx, d.id)
	if err != nil {
		return nil, err
	}
	if have != nil && have.stamp == st {
		return have, nil
	}
	// Of many readers who see a change, one loads it.
	if err := d.loading.lock(ctx); err != nil {
		return nil, err
	}
	defer d.loading.unlock()
	if have, err = d.latest.get(); err != nil {
		return nil, err
	}
	if have != nil && have.stamp == st {
		return have, nil
	}
	v, err := d.store.load(ctx, d.id)
	if err != nil {
		return nil, err
	}
	if err := d.held.set(v.tree); err != nil {
		return nil, err
	}
	return v, d.latest.set(have, v)
}

// update changes the document; see [store.update].
func (d *document) update(ctx context.Context, change func(*tree) (*tree, error)) error {
	if err := d.writing.lock(ctx); err != nil {
		return err
	}
	defer d.writing.unlock()
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	have, err := d.latest.get()
	if err != nil {
		return err
	}
	v, err := d.store.update(ctx, d.id, have, func(t *tree) (*tree, error) {
		if have != nil && !sameWorkspace(have.tree, t) {
			return nil, errGone
		}
		out, err := change(t)
		if err == nil {
			err = d.held.set(out)
		}
		return out, err
	})
	if err != nil {
		return err
	}
	return d.latest.set(have, v)
}

// sameWorkspace tells whether b is a later state of a, and not another
// workspace that was given the same name after a was destroyed.
func sameWorkspace(a, b *tree) bool {
	return a.created.Equal(b.created) || a.created.IsZero() || b.created.IsZero()
}

// storeError gives err, which came from a store, its code.
func storeError(op, id string, err error) error {
	var typed *backends.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &typed):
		return err
	case errors.Is(err, errGone):
		return &backends.Error{Code: backends.CodeUnavailable, Op: op, Err: err, Message: fmt.Sprintf(
			"the workspace %s does not exist, or no longer; it may have been destroyed", backends.Ref{Provider: Provider, ID: id})}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &backends.Error{Code: backends.CodeCancelled, Op: op, Err: err, Message: "given up before the store answered; a write under way may have been kept or not"}
	default:
		code, why := explain(err)
		return &backends.Error{Code: code, Op: op, Err: err, Message: fmt.Sprintf(
			"the store of workspace %s failed: %s", backends.Ref{Provider: Provider, ID: id}, why)}
	}
}

// size writes a number of bytes for people.
func size(n int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.bytes && n%unit.bytes == 0 {
			return fmt.Sprintf("%d %s", n/unit.bytes, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
