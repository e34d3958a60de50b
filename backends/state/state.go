// Package state is the backend whose workspaces are JSON documents: files,
// symlinks and directories as data, kept in memory, in a file, in SQLite or in
// PostgreSQL. Its commands are scripts that backends/shell runs in this process.
// docs/state.md describes the document.
//
// A workspace is read from an immutable tree, so that reading takes no lock
// and copies nothing; a write makes a new tree and hands it to the store
// within a transaction of the store, which keeps writers in other processes
// out. The package knows documents and stores; what the operations on files
// mean is written in backends/fsops.
package state

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"regexp"
	"sync"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// Provider is the first part of the refs of this backend.
const Provider = "state"

// Defaults of a [Config].
const (
	DefaultWorkingDir = "/workspace"
	DefaultMaxBytes   = 1 << 30
)

// defaultMode is the mode of a file whose document does not say.
const defaultMode fs.FileMode = 0o644

// Config says where documents are kept.
type Config struct {
	// Store is "memory" (or empty), "file:DIR", "sqlite:FILE" or a URL
	// postgres://….
	Store string
	// WorkingDir is where relative paths start, absolute; it is made when
	// missing. Empty means what the document says, and DefaultWorkingDir in a
	// new one.
	WorkingDir string
	// MaxBytes is the most content that one document may hold, in bytes; 0
	// means DefaultMaxBytes. A write over it answers too_large.
	MaxBytes int64
	// MaxMemory is how many bytes of memory all scripts that run and all
	// documents in use hold together; in the store "memory" all documents. An
	// owner gets no more than it leaves to the others; see [fair.Memory]. 0 is no
	// limit. What would need more answers too_large.
	MaxMemory int64
	// Env is for every command, K=V.
	Env []string
	// Logger hears of what goes wrong beside a command's own result; nil is
	// silent.
	Logger *slog.Logger
}

// Backend makes and finds workspaces in one store.
type Backend struct {
	store      store
	workingDir string // configured; may be empty
	maxBytes   int64
	memory     *fair.Memory
	turns      *fair.Turns
	env        []string
	log        *slog.Logger

	mu     sync.Mutex
	docs   map[string]*document // those in use
	closed bool
}

var _ backends.Backend = (*Backend)(nil)

// New opens the store, and makes what it lacks (the directory, the database
// file, the table). The error says what is wrong with the store or the
// configuration, and what to do.
func New(ctx context.Context, cfg Config) (*Backend, error) {
	if cfg.WorkingDir != "" {
		cfg.WorkingDir = path.Clean(cfg.WorkingDir)
		if err := checkDocumentPath(cfg.WorkingDir); err != nil {
			return nil, fmt.Errorf("the working directory cannot be used: %w", err)
		}
	}
	if cfg.MaxBytes < 0 {
		return nil, errors.New("the most bytes a document may hold cannot be negative")
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	memory := fair.NewMemory(cfg.MaxMemory)
	s, err := openStore(ctx, cfg.Store, memory)
	if err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Backend{store: s, workingDir: cfg.WorkingDir, maxBytes: cfg.MaxBytes, memory: memory, turns: fair.NewTurns(0), env: cfg.Env, log: cfg.Logger, docs: map[string]*document{}}, nil
}

// Provider implements [backends.Backend].
func (b *Backend) Provider() string { return Provider }

// Create implements [backends.Backend]. The id of a workspace is its name, or
// "mcpws-" and 12 hex digits. A name that is in use by another owner is
// refused with permission_denied.
func (b *Backend) Create(ctx context.Context, spec backends.Spec) (backends.Workspace, error) {
	if b.isClosed() {
		return nil, errClosed("create")
	}
	id := spec.Name
	if id == "" {
		id = newID()
	} else if err := backends.ValidName(id); err != nil {
		return nil, err
	}
	dir := b.workingDir
	if dir == "" {
		dir = DefaultWorkingDir
	}
	fresh, err := (&Document{WorkingDir: dir, Owner: spec.Owner, Created: timestamp(time.Now())}).tree()
	if err != nil {
		return nil, &backends.Error{Code: backends.CodeInvalidArgument, Op: "create", Message: err.Error(), Err: err}
	}
	for {
		made, err := b.store.create(ctx, id, fresh)
		if err != nil {
			return nil, storeError("create", id, err)
		}
		if !made && spec.Name == "" {
			id = newID()
			continue
		}
		ws, err := b.open(ctx, "create", id)
		if errors.Is(err, errGone) && ctx.Err() == nil && !b.isClosed() {
			continue // destroyed by another since it was made or found
		}
		if err != nil {
			return nil, err
		}
		if !made && ws.owner != spec.Owner {
			return nil, errors.Join(backends.Errorf(backends.CodePermission, "create", "", "the workspace %s belongs to someone else; use another name", ws.Ref()), ws.Close())
		}
		if made && spec.Made != nil {
			spec.Made()
		}
		return ws, nil
	}
}

// newID returns an id that nobody has.
func newID() string {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	return "mcpws-" + hex.EncodeToString(random[:])
}

// givenID matches what newID returns.
var givenID = regexp.MustCompile(`^mcpws-[0-9a-f]{12}$`)

// Attach implements [backends.Backend].
func (b *Backend) Attach(ctx context.Context, ref backends.Ref) (backends.Workspace, error) {
	if err := checkRef("attach", ref); err != nil {
		return nil, err
	}
	ws, err := b.open(ctx, "attach", ref.ID)
	if err != nil {
		return nil, err
	}
	return ws, nil
}

func checkRef(op string, ref backends.Ref) error {
	if ref.Provider != Provider {
		return backends.Errorf(backends.CodeInvalidArgument, op, "", "%s is not the ref of a state workspace; those start with %q", ref, Provider+":")
	}
	// What passes as a name is also safe as the name of a file.
	if backends.ValidName(ref.ID) != nil {
		return backends.Errorf(backends.CodeInvalidArgument, op, "", "%q cannot be the ref of a state workspace: the part after %q is a name", ref, Provider+":")
	}
	return nil
}

// open connects to the document of id.
func (b *Backend) open(ctx context.Context, op, id string) (*Workspace, error) {
	d, err := b.use(op, id)
	if err != nil {
		return nil, err
	}
	v, err := d.current(ctx)
	if err != nil {
		b.release(d)
		return nil, storeError(op, id, err)
	}
	w := &Workspace{backend: b, doc: d, ref: backends.Ref{Provider: Provider, ID: id}, owner: v.tree.owner, dir: v.tree.workingDir}
	if b.workingDir != "" {
		w.dir, err = w.prepareDir(ctx, b.workingDir)
	}
	if err != nil {
		b.release(d)
		return nil, err
	}
	return w, nil
}

// use returns the document of id and counts the caller among its users.
func (b *Backend) use(op, id string) (*document, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errClosed(op)
	}
	d := b.docs[id]
	if d == nil || d.latest.gone.Load() {
		d = newDocument(b.store, id, b.memory)
		b.docs[id] = d
	}
	d.users++
	return d, nil
}

func (b *Backend) release(d *document) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.users--; d.users > 0 {
		return
	}
	d.held.drop()
	if b.docs[d.id] == d {
		delete(b.docs, d.id)
	}
}

func (b *Backend) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

func errClosed(op string) error {
	return backends.Errorf(backends.CodeUnavailable, op, "", "the connection to this workspace is closed")
}

// Destroy implements [backends.Backend].
func (b *Backend) Destroy(ctx context.Context, ref backends.Ref) error {
	if err := checkRef("destroy", ref); err != nil {
		return err
	}
	if b.isClosed() {
		return errClosed("destroy")
	}
	if err := b.store.destroy(ctx, ref.ID); err != nil {
		return storeError("destroy", ref.ID, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.docs[ref.ID]; d != nil {
		d.latest.gone.Store(true)
		delete(b.docs, ref.ID)
	}
	return nil
}

// List implements [backends.Backend]. The status is "ready", or "damaged" for
// a document that cannot be read; attaching says why.
func (b *Backend) List(ctx context.Context) ([]backends.Info, error) {
	if b.isClosed() {
		return nil, errClosed("list")
	}
	found, err := b.store.list(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, &backends.Error{Code: backends.CodeCancelled, Op: "list", Err: context.Cause(ctx)}
		}
		if typed := (*backends.Error)(nil); errors.As(err, &typed) {
			return nil, err
		}
		code, why := explain(err)
		return nil, &backends.Error{Code: code, Op: "list", Err: err, Message: "the store cannot be listed: " + why}
	}
	out := make([]backends.Info, 0, len(found))
	for _, l := range found {
		out = append(out, l.info())
	}
	return out, nil
}

// info is what a listing tells of a document.
func (l listed) info() backends.Info {
	info := backends.Info{Ref: backends.Ref{Provider: Provider, ID: l.id}, Status: "ready", Owner: l.owner, WorkingDir: l.workingDir, Created: l.created}
	if !givenID.MatchString(l.id) {
		info.Name = l.id
	}
	if l.damage != nil {
		info.Status = "damaged"
	}
	return info
}

// Describe implements [backends.Backend]. The status is as in a listing.
func (b *Backend) Describe(ctx context.Context, ref backends.Ref) (backends.Info, error) {
	if err := checkRef("describe", ref); err != nil {
		return backends.Info{}, err
	}
	if b.isClosed() {
		return backends.Info{}, errClosed("describe")
	}
	if err := ctx.Err(); err != nil {
		return backends.Info{}, storeError("describe", ref.ID, err)
	}
	l, err := b.store.describe(ctx, ref.ID)
	if err != nil {
		return backends.Info{}, storeError("describe", ref.ID, err)
	}
	return l.info(), nil
}

// Close implements [backends.Backend]. Documents in memory are gone with it;
// all others stay.
func (b *Backend) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	b.mu.Unlock()
	if err := b.store.close(); err != nil {
		return &backends.Error{Code: backends.CodeInternal, Op: "close", Err: err, Message: "the store could not be closed: " + err.Error()}
	}
	return nil
}

// Document returns what the workspace of ref holds. The content of its files
// is shared with the workspace: do not write into it.
func (b *Backend) Document(ctx context.Context, ref backends.Ref) (*Document, error) {
	d, err := b.documentOf("document", ref)
	if err != nil {
		return nil, err
	}
	defer b.release(d)
	v, err := d.current(ctx)
	if err != nil {
		return nil, storeError("document", ref.ID, err)
	}
	return v.tree.document(), nil
}

// Update lets change have the workspace of ref as plain data and keeps what
// becomes of it, in one transaction; nothing is kept when change fails or the
// outcome is not a file tree. Created cannot be changed. change may be called
// again when another writer came first.
func (b *Backend) Update(ctx context.Context, ref backends.Ref, change func(*Document) error) error {
	d, err := b.documentOf("update", ref)
	if err != nil {
		return err
	}
	defer b.release(d)
	err = d.update(ctx, func(t *tree) (*tree, error) {
		doc := t.document()
		if err := change(doc); err != nil {
			return nil, err
		}
		doc.Created = t.created
		changed, err := doc.tree()
		if backends.CodeOf(err) == backends.CodeTooLarge {
			return nil, err
		}
		if err != nil {
			return nil, &backends.Error{Code: backends.CodeInvalidArgument, Op: "update", Message: err.Error(), Err: err}
		}
		if changed.bytes > b.maxBytes && changed.bytes > t.bytes {
			return nil, tooLargeError("", b.maxBytes)
		}
		return changed, nil
	})
	return storeError("update", ref.ID, err)
}

func (b *Backend) documentOf(op string, ref backends.Ref) (*document, error) {
	if err := checkRef(op, ref); err != nil {
		return nil, err
	}
	return b.use(op, ref.ID)
}
