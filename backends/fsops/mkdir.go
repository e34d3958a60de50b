package fsops

import (
	"context"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// MakeDir finds the directory p, or makes it with the parents it lacks. What is
// there and no directory is CodeNotDirectory.
func (t *Tree) MakeDir(ctx context.Context, p string) (backends.FileInfo, error) {
	info, err := t.Stat(ctx, p)
	if backends.CodeOf(err) == backends.CodeNotFound {
		var at backends.Resolution
		if at, err = t.Resolve(ctx, p); err != nil {
			return backends.FileInfo{}, err
		}
		if err := t.fs.MkdirAll(at.Resolved); err != nil {
			return backends.FileInfo{}, fail("mkdir", at.Path, err)
		}
		info, err = t.Stat(ctx, p)
	}
	if err == nil && info.Kind != backends.KindDirectory {
		err = backends.Errorf(backends.CodeNotDirectory, "mkdir", info.Path, "is a file, not a directory")
	}
	if err != nil {
		return backends.FileInfo{}, err
	}
	return info, nil
}
