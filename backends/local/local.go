//go:build linux || darwin

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
	"github.com/mcp-workspace/mcp-workspace/backends/osfs"
)

var (
	_ backends.Backend   = (*Backend)(nil)
	_ backends.Workspace = (*workspace)(nil)
)

// Backend has one environment: the directory it was made for. Create and Attach
// both answer with that; see [New].
type Backend struct {
	root string // canonical
	dir  string // the working directory, canonical when the Backend was made
	env  []string
	log  *slog.Logger

	mu     sync.Mutex
	ws     *workspace
	closed bool
}

// New returns a Backend for the directory cfg.Root. It fails with an
// [*backends.Error] whose message says what to do: CodeNotFound and
// CodeNotDirectory for the root, CodePermission when it may not be entered or
// WorkingDir leads out of it, CodeInvalidArgument for a path that is not
// absolute or an Env that is not K=V.
//
// On Linux it makes this process one that others of its user cannot look into,
// which also means that it leaves no core dump.
func New(cfg Config) (*Backend, error) {
	invalid := func(path, format string, args ...any) error {
		return backends.Errorf(backends.CodeInvalidArgument, "open", path, format, args...)
	}
	switch {
	case cfg.Root == "":
		return nil, invalid("", "no directory is given for the local backend; name one with --root")
	case !filepath.IsAbs(cfg.Root):
		return nil, invalid(cfg.Root, "the root is not an absolute path")
	case cfg.WorkingDir != "" && !filepath.IsAbs(cfg.WorkingDir):
		return nil, invalid(cfg.WorkingDir, "the working directory is not an absolute path")
	}
	for _, kv := range cfg.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" || strings.Contains(kv, "\x00") {
			return nil, invalid("", "%q is no environment variable; one looks like NAME=value", kv)
		}
	}
	root, err := filepath.EvalSymlinks(cfg.Root)
	if err != nil {
		return nil, rootError(cfg.Root, err)
	}
	b := &Backend{root: root, dir: root, env: environment(os.Environ(), cfg.Env), log: cfg.Logger}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if cfg.WorkingDir != "" {
		b.dir = filepath.Clean(cfg.WorkingDir)
		// The root's own spelling may go through symlinks that are resolved now.
		if rel, err := filepath.Rel(cfg.Root, b.dir); err == nil && filepath.IsLocal(rel) {
			b.dir = filepath.Join(root, rel)
		}
	}
	files, err := osfs.Open(root)
	if err != nil {
		return nil, rootError(cfg.Root, err)
	}
	defer files.Close()
	if err := hideFromCommands(); err != nil {
		b.log.Warn("commands can read the environment that this process was started with", "error", err)
	}
	at, err := fsops.New(files, root).Resolve(context.Background(), b.dir)
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	b.dir = at.Resolved
	return b, nil
}

func rootError(path string, err error) error {
	code, message := backends.CodeInternal, fmt.Sprintf("the root cannot be used: %v", err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code, message = backends.CodeNotFound, "the root does not exist; make the directory first, or name another with --root"
	case errors.Is(err, syscall.ENOTDIR):
		code, message = backends.CodeNotDirectory, "the root is not a directory; name one with --root"
	case errors.Is(err, fs.ErrPermission):
		code, message = backends.CodePermission, "the root may not be entered by this user; change its permissions, or name another with --root"
	}
	return &backends.Error{Code: code, Op: "open", Path: path, Message: message, Err: err}
}

// Provider implements [backends.Backend].
func (b *Backend) Provider() string { return Provider }

func (b *Backend) ref() backends.Ref { return backends.Ref{Provider: Provider, ID: b.root} }

// Create answers with the directory's workspace, whatever the name: there is
// one. It does not make the root again once that is gone.
func (b *Backend) Create(ctx context.Context, spec backends.Spec) (backends.Workspace, error) {
	if spec.Name != "" {
		if err := backends.ValidName(spec.Name); err != nil {
			return nil, err
		}
	}
	return b.open(ctx)
}

// Attach answers with the directory's workspace when ref names it.
func (b *Backend) Attach(ctx context.Context, ref backends.Ref) (backends.Workspace, error) {
	if err := b.checkRef("attach", ref); err != nil {
		return nil, err
	}
	return b.open(ctx)
}

// checkRef refuses a ref that is not the root's.
func (b *Backend) checkRef(op string, ref backends.Ref) error {
	if ref.Provider != Provider {
		return backends.Errorf(backends.CodeInvalidArgument, op, "", "%s is no workspace of the local backend; its refs start with %s:", ref, Provider)
	}
	if filepath.Clean(ref.ID) == b.root {
		return nil
	}
	if info, err := os.Stat(ref.ID); filepath.IsAbs(ref.ID) && err == nil && info.IsDir() {
		return backends.Errorf(backends.CodePermission, op, "", "%s is not the directory this server was started for; the only workspace here is %s", ref, b.ref())
	}
	return &backends.Error{Code: backends.CodeUnavailable, Op: op, Err: backends.ErrGone,
		Message: fmt.Sprintf("there is no workspace %s; the only one here is %s", ref, b.ref())}
}

// open returns the workspace, opening the directory when that has not happened
// yet or when what was opened is there no more.
func (b *Backend) open(ctx context.Context) (backends.Workspace, error) {
	if ctx.Err() != nil {
		return nil, &backends.Error{Code: backends.CodeCancelled, Op: "open", Err: context.Cause(ctx), Message: "the call was cancelled"}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, closedError()
	}
	if b.ws != nil {
		if !b.ws.files.Gone() {
			return b.ws, nil
		}
		b.ws.files.Close()
		b.ws = nil
	}
	if at, err := filepath.EvalSymlinks(b.root); err != nil || at != b.root {
		return nil, goneError(b.root)
	}
	files, err := osfs.Open(b.root)
	if err != nil {
		return nil, rootError(b.root, err)
	}
	ws, err := b.start(ctx, files)
	if err != nil {
		files.Close()
		return nil, err
	}
	b.ws = ws
	return ws, nil
}

// start makes the working directory and what works in it.
func (b *Backend) start(ctx context.Context, files *osfs.FS) (*workspace, error) {
	tree := fsops.New(files, b.root)
	dir, err := tree.Stat(ctx, b.dir)
	if backends.CodeOf(err) == backends.CodeNotFound {
		var at backends.Resolution
		if at, err = tree.Resolve(ctx, b.dir); err == nil {
			err = files.MkdirAll(at.Resolved)
		}
		if err == nil {
			dir, err = tree.Stat(ctx, b.dir)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	if dir.Kind != backends.KindDirectory {
		return nil, backends.Errorf(backends.CodeNotDirectory, "open", b.dir, "the working directory is a file; name another with --working-dir")
	}
	return &workspace{
		Tree:    fsops.New(files, dir.Resolved),
		files:   files,
		ref:     b.ref(),
		env:     b.env,
		log:     b.log,
		outputs: osfs.NewOutputs(files, filepath.Join(b.root, outputDir), b.log),
	}, nil
}

// Describe describes the directory when ref names it and it is there.
func (b *Backend) Describe(ctx context.Context, ref backends.Ref) (backends.Info, error) {
	if err := b.checkRef("describe", ref); err != nil {
		return backends.Info{}, err
	}
	if ctx.Err() != nil {
		return backends.Info{}, &backends.Error{Code: backends.CodeCancelled, Op: "describe", Err: context.Cause(ctx), Message: "the call was cancelled"}
	}
	found, err := b.List(ctx)
	if err != nil {
		return backends.Info{}, err
	}
	if len(found) == 0 {
		return backends.Info{}, goneError(b.root)
	}
	return found[0], nil
}

// Destroy answers CodeUnsupported: the directory is the user's. One that is
// gone already is no error.
func (b *Backend) Destroy(_ context.Context, ref backends.Ref) error {
	err := b.checkRef("destroy", ref)
	if backends.CodeOf(err) == backends.CodeUnavailable {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(b.root); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return backends.Errorf(backends.CodeUnsupported, "destroy", b.root, "this directory is yours and is not removed from here; delete it yourself if you want it gone")
}

// List describes the directory, or nothing when it is gone.
func (b *Backend) List(context.Context) ([]backends.Info, error) {
	info, err := os.Stat(b.root)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, rootError(b.root, err)
	}
	return []backends.Info{{Ref: b.ref(), Status: "ready", WorkingDir: b.dir}}, nil
}

// Close lets go of the directory. Its workspaces answer CodeUnavailable from
// then on.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.ws != nil {
		b.ws.files.Close()
		b.ws = nil
	}
	return nil
}

func closedError() error {
	return backends.Errorf(backends.CodeUnavailable, "open", "", "the connection to this workspace is closed")
}

func goneError(root string) error {
	return &backends.Error{Code: backends.CodeUnavailable, Op: "open", Path: root, Err: backends.ErrGone,
		Message: "the workspace's directory has been removed, or another one is in its place"}
}
