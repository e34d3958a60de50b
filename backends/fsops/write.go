package fsops

import (
	"bytes"
	"context"
	"crypto/sha256"
	"hash"
	"io"
	"io/fs"
	"path"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// newFileMode is the mode of files that a write makes.
const newFileMode fs.FileMode = 0o644

// Write implements [backends.Workspace].
func (t *Tree) Write(ctx context.Context, req backends.WriteRequest) (backends.WriteResult, error) {
	if err := ended(ctx, "write"); err != nil {
		return backends.WriteResult{}, err
	}
	res, unlock, err := t.lockTarget("write", req.Path, req.Resolved)
	if err != nil {
		return backends.WriteResult{}, err
	}
	defer unlock()
	if res.Exists {
		info, err := t.fs.Lstat(res.Resolved)
		if err == nil {
			err = wantRegular("write", res, info)
		}
		if err != nil {
			return backends.WriteResult{}, fail("write", res.Path, err)
		}
	} else if err := t.fs.MkdirAll(path.Dir(res.Resolved)); err != nil {
		return backends.WriteResult{}, fail("write", res.Path, err)
	}
	mode := req.Mode.Perm()
	if mode == 0 {
		mode = newFileMode
	}
	meter := meter{sum: sha256.New()}
	err = t.fs.Replace(res.Resolved, mode, func(w io.Writer) error {
		if req.Content == nil {
			return nil
		}
		_, err := io.Copy(io.MultiWriter(w, &meter), contextReader{ctx, req.Content})
		return err
	})
	if err != nil {
		return backends.WriteResult{}, fail("write", res.Path, err)
	}
	out := backends.WriteResult{Resolution: res, Bytes: meter.bytes, Lines: meter.lineCount(), Created: !res.Exists}
	out.Exists = true
	if out.Version, err = t.versionAfter(res, meter.bytes, meter.sum); err != nil {
		return backends.WriteResult{}, fail("write", res.Path, err)
	}
	return out, nil
}

// versionAfter names the state of a file that was just written.
func (t *Tree) versionAfter(res backends.Resolution, size int64, sum hash.Hash) (string, error) {
	if size <= hashedSize {
		return versionBySum(sum.Sum(nil)), nil
	}
	info, err := t.fs.Lstat(res.Resolved)
	if err != nil {
		return "", err
	}
	return versionByTime(info), nil
}

// lockTarget resolves p and keeps other writers of this Tree away from where
// it leads. When want is set and the path leads elsewhere, it is stale.
func (t *Tree) lockTarget(op, p, want string) (backends.Resolution, func(), error) {
	res, err := t.resolve(op, p)
	if err != nil {
		return res, nil, err
	}
	unlock := t.locks.lock(res.Resolved)
	// Another writer may have made or replaced it while this one waited.
	again, err := t.resolve(op, p)
	if err == nil && (again.Resolved != res.Resolved || want != "" && again.Resolved != want) {
		err = backends.Errorf(backends.CodeStale, op, res.Path, "a symlink on this path has changed and leads to %s now; try again", again.Resolved)
	}
	if err != nil {
		unlock()
		return res, nil, err
	}
	return again, unlock, nil
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
