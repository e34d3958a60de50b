package fsops

import (
	"bytes"
	"context"
	"crypto/sha256"
	"hash"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// newFileMode is the mode of files that a write makes.
const newFileMode fs.FileMode = 0o644

// Write implements [backends.Workspace].
func (t *Tree) Write(ctx context.Context, req backends.WriteRequest) (backends.WriteResult, error) {
	if err := ended(ctx, "write"); err != nil {
		return backends.WriteResult{}, err
	}
	res, unlock, err := t.lockTarget(ctx, "write", req.Path, req.Resolved, func(res backends.Resolution) error {
		return t.readyToWrite(req.Path, res)
	})
	if err != nil {
		return backends.WriteResult{}, err
	}
	defer unlock()
	mode := req.Mode.Perm()
	if mode == 0 {
		mode = newFileMode
	}
	meter := meter{sum: sha256.New()}
	letIn := func() {}
	defer func() { letIn() }()
	err = t.fs.Replace(res.Resolved, mode, func(w io.Writer) error {
		if req.Content != nil {
			if _, err := io.Copy(io.MultiWriter(w, &meter), contextReader{ctx, req.Content}); err != nil {
				return err
			}
		}
		// Only now, because the content may have been long in coming.
		unlock, err := t.lockOut(ctx, "write", res)
		if err == nil {
			letIn = unlock
		}
		return err
	})
	if err != nil {
		return backends.WriteResult{}, fail("write", res.Path, err)
	}
	out := backends.WriteResult{Resolution: res, Bytes: meter.bytes, Lines: meter.lineCount(), Created: !res.Exists}
	out.Exists = true
	out.Version = t.versionAfter(res, meter.bytes, meter.sum)
	return out, nil
}

// readyToWrite looks at where a write of p leads, and makes the parents of a
// new file.
func (t *Tree) readyToWrite(p string, res backends.Resolution) error {
	if res.Exists {
		if err := t.wantFile("write", res); err != nil {
			return err
		}
	}
	switch p[strings.LastIndexByte(p, '/')+1:] {
	case "", ".", "..":
		return backends.Errorf(backends.CodeInvalidArgument, "write", res.Path, `the path %q names a directory by how it ends; leave the end out to write a file, and know that a file's parent directories are made with it`, p)
	}
	if res.Exists {
		return nil
	}
	if err := t.fs.MkdirAll(path.Dir(res.Resolved)); err != nil {
		return fail("write", res.Path, err)
	}
	return nil
}

// versionAfter names the state of a file that was just written: where it can,
// from what was written, which another writer may have replaced already. Of a
// large file that has another size by now, or is gone, the version is one that
// no file has, so that an edit on top of it is refused.
func (t *Tree) versionAfter(res backends.Resolution, size int64, sum hash.Hash) string {
	if size > hashedSize {
		if info, err := t.fs.Lstat(res.Resolved); err == nil && info.Mode().IsRegular() && info.Size() == size {
			return versionByTime(info)
		}
	}
	return versionBySum(sum.Sum(nil))
}

// meter counts and sums what is written through it.
type meter struct {
	sum   hash.Hash
	bytes int64
	lines int
	open  bool // the last line has no newline yet
}

func (m *meter) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if m.bytes <= hashedSize {
		m.sum.Write(p)
	}
	m.bytes += int64(len(p))
	m.lines += bytes.Count(p, newline)
	m.open = p[len(p)-1] != '\n'
	return len(p), nil
}

func (m *meter) lineCount() int {
	if m.open {
		return m.lines + 1
	}
	return m.lines
}

// contextReader ends with ctx.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := ended(r.ctx, "write"); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
