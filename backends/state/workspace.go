package state

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
)

// Workspace is one connection to a document.
type Workspace struct {
	backend *Backend
	doc     *document
	ref     backends.Ref
	owner   string
	dir     string
	view    atomic.Pointer[view]
	closed  atomic.Bool
}

var _ backends.Workspace = (*Workspace)(nil)

// view is the operations over one version of a document.
type view struct {
	version *version
	ops     *fsops.Tree
}

// Ref implements [backends.Workspace].
func (w *Workspace) Ref() backends.Ref { return w.ref }

// WorkingDir implements [backends.Workspace].
func (w *Workspace) WorkingDir() string { return w.dir }

// prepareDir makes the directory dir when it is missing, and returns it with
// symlinks resolved.
func (w *Workspace) prepareDir(ctx context.Context, dir string) (string, error) {
	v, err := w.doc.current(ctx)
	if err != nil {
		return "", storeError("open", w.ref.ID, err)
	}
	w.dir = "/"
	info, err := fsops.New(v.tree, "/").Stat(ctx, dir)
	switch {
	case err == nil && info.Kind == backends.KindDirectory:
		return info.Resolved, nil
	case err == nil:
		return "", backends.Errorf(backends.CodeNotDirectory, "open", dir, "the working directory is a file in the workspace %s; choose another", w.ref)
	case backends.CodeOf(err) != backends.CodeNotFound:
		return "", err
	}
	var resolved string
	err = w.doc.update(ctx, func(t *tree) (*tree, error) {
		x := begin(t, w.backend.maxBytes)
		res, err := fsops.New(x, "/").Resolve(ctx, dir)
		if err != nil {
			return nil, err
		}
		resolved = res.Resolved
		if err := x.MkdirAll(resolved); err != nil {
			return nil, err
		}
		return x.commit(), nil
	})
	return resolved, storeError("open", w.ref.ID, err)
}

// ready tells whether the connection can be used.
func (w *Workspace) ready(op string) error {
	if w.closed.Load() || w.backend.isClosed() {
		return errClosed(op)
	}
	return nil
}

// latest returns the operations over the latest version of the document: one
// state for the whole of an operation, whoever writes meanwhile.
func (w *Workspace) latest(ctx context.Context, op string) (*fsops.Tree, error) {
	if err := w.ready(op); err != nil {
		return nil, err
	}
	v, err := w.doc.current(ctx)
	if err != nil {
		return nil, storeError(op, w.ref.ID, err)
	}
	if have := w.view.Load(); have != nil && have.version == v {
		return have.ops, nil
	}
	fresh := &view{v, fsops.New(v.tree, w.dir)}
	w.view.Store(fresh)
	return fresh.ops, nil
}

// change runs do over the latest version of the document and keeps what it
// wrote. do may run again when another writer came first.
func (w *Workspace) change(ctx context.Context, op string, do func(*fsops.Tree) error) error {
	if err := w.ready(op); err != nil {
		return err
	}
	err := w.doc.update(ctx, func(t *tree) (*tree, error) {
		x := begin(t, w.backend.maxBytes)
		if err := do(fsops.New(x, w.dir)); err != nil {
			return nil, err
		}
		return x.commit(), nil
	})
	return storeError(op, w.ref.ID, err)
}

// Resolve implements [backends.Workspace].
func (w *Workspace) Resolve(ctx context.Context, path string) (backends.Resolution, error) {
	ops, err := w.latest(ctx, "resolve")
	if err != nil {
		return backends.Resolution{}, err
	}
	return ops.Resolve(ctx, path)
}

// Stat implements [backends.Workspace]. The time of a directory is that of the
// workspace: a document records none.
func (w *Workspace) Stat(ctx context.Context, path string) (backends.FileInfo, error) {
	ops, err := w.latest(ctx, "stat")
	if err != nil {
		return backends.FileInfo{}, err
	}
	return ops.Stat(ctx, path)
}

// List implements [backends.Workspace].
func (w *Workspace) List(ctx context.Context, req backends.ListRequest) (backends.ListResult, error) {
	ops, err := w.latest(ctx, "list")
	if err != nil {
		return backends.ListResult{}, err
	}
	return ops.List(ctx, req)
}

// Read implements [backends.Workspace].
func (w *Workspace) Read(ctx context.Context, req backends.ReadRequest) (backends.ReadResult, error) {
	ops, err := w.latest(ctx, "read")
	if err != nil {
		return backends.ReadResult{}, err
	}
	return ops.Read(ctx, req)
}

// Open implements [backends.Workspace]. What was opened stays as it was,
// whatever becomes of the file.
func (w *Workspace) Open(ctx context.Context, path string) (io.ReadCloser, backends.FileInfo, error) {
	ops, err := w.latest(ctx, "open")
	if err != nil {
		return nil, backends.FileInfo{}, err
	}
	return ops.Open(ctx, path)
}

// Glob implements [backends.Workspace].
func (w *Workspace) Glob(ctx context.Context, req backends.GlobRequest) (backends.GlobResult, error) {
	ops, err := w.latest(ctx, "glob")
	if err != nil {
		return backends.GlobResult{}, err
	}
	return ops.Glob(ctx, req)
}

// Grep implements [backends.Workspace].
func (w *Workspace) Grep(ctx context.Context, req backends.GrepRequest) (backends.GrepResult, error) {
	ops, err := w.latest(ctx, "grep")
	if err != nil {
		return backends.GrepResult{}, err
	}
	return ops.Grep(ctx, req)
}

// Write implements [backends.Workspace].
func (w *Workspace) Write(ctx context.Context, req backends.WriteRequest) (res backends.WriteResult, err error) {
	// The content is read before the document is locked: it may come slowly.
	content, err := w.gather(ctx, req)
	if err != nil {
		return res, err
	}
	err = w.change(ctx, "write", func(ops *fsops.Tree) (err error) {
		req.Content = bytes.NewReader(content)
		res, err = ops.Write(ctx, req)
		return err
	})
	if err != nil {
		return backends.WriteResult{}, err
	}
	return res, nil
}

// gather reads the content of a write.
func (w *Workspace) gather(ctx context.Context, req backends.WriteRequest) ([]byte, error) {
	if req.Content == nil {
		return nil, nil
	}
	limit := w.backend.maxBytes
	to := contentWriter{room: limit, limit: limit, path: req.Path}
	_, err := io.Copy(&to, readerFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return req.Content.Read(p)
	}))
	var typed *backends.Error
	switch {
	case err == nil:
		return to.buf, nil
	case errors.As(err, &typed):
		return nil, err
	case ctx.Err() != nil:
		return nil, &backends.Error{Code: backends.CodeCancelled, Op: "write", Err: context.Cause(ctx), Message: "given up before anything was written"}
	default:
		return nil, &backends.Error{Code: backends.CodeInternal, Op: "write", Path: req.Path, Err: err, Message: "the content could not be read, and nothing was written: " + err.Error()}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Edit implements [backends.Workspace].
func (w *Workspace) Edit(ctx context.Context, req backends.EditRequest) (res backends.EditResult, err error) {
	err = w.change(ctx, "edit", func(ops *fsops.Tree) (err error) {
		res, err = ops.Edit(ctx, req)
		return err
	})
	if err != nil {
		return backends.EditResult{}, err
	}
	return res, nil
}

// EditLines implements [backends.Workspace].
func (w *Workspace) EditLines(ctx context.Context, req backends.EditLinesRequest) (res backends.EditResult, err error) {
	err = w.change(ctx, "edit", func(ops *fsops.Tree) (err error) {
		res, err = ops.EditLines(ctx, req)
		return err
	})
	if err != nil {
		return backends.EditResult{}, err
	}
	return res, nil
}

// Close implements [backends.Workspace].
func (w *Workspace) Close() error {
	if !w.closed.Swap(true) {
		w.backend.release(w.doc)
	}
	return nil
}
