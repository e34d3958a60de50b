package fsops

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// List implements [backends.Workspace].
func (t *Tree) List(ctx context.Context, req backends.ListRequest) (backends.ListResult, error) {
	none := backends.ListResult{}
	if err := ended(ctx, "list"); err != nil {
		return none, err
	}
	filter, err := compileFilter(req.Filter)
	if err != nil {
		return none, err
	}
	res, info, err := t.lookup("list", req.Path)
	switch {
	case err != nil:
		return none, err
	case info == nil:
		return none, notFound("list", res.Path)
	case !info.IsDir():
		return none, backends.Errorf(backends.CodeNotDirectory, "list", res.Path, "is not a directory; read it with read_file")
	}
	names, err := t.fs.ReadDir(res.Resolved)
	if err != nil {
		return none, fail("list", res.Path, err)
	}
	entries := make([]listed, 0, len(names))
	for _, d := range names {
		e := t.listed(res.Resolved, d)
		if filter.shows(join(res.Path, d.Name()), e.resolved) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b listed) int {
		if byKind := cmp.Compare(a.rank(), b.rank()); byKind != 0 {
			return byKind
		}
		return strings.Compare(a.Name, b.Name)
	})
	out := backends.ListResult{Resolution: res, Total: len(entries)}
	if req.Limit > 0 && len(entries) > req.Limit {
		entries = entries[:req.Limit]
	}
	out.Entries = make([]backends.Entry, 0, len(entries))
	for _, e := range entries {
		if err := ended(ctx, "list"); err != nil {
			return none, err
		}
		// A file that has gone since is listed as it was, without a size.
		if e.Link == "" && e.Kind == backends.KindFile {
			if info, err := e.dir.Info(); err == nil {
				e.Size = info.Size()
			}
		}
		out.Entries = append(out.Entries, e.Entry)
	}
	return out, nil
}

// listed is an entry on its way into a listing.
type listed struct {
	backends.Entry
	dir      fs.DirEntry
	resolved string // where the name leads
}

// rank puts directories first.
func (l listed) rank() int {
	if l.Kind == backends.KindDirectory {
		return 0
	}
	return 1
}

// listed looks at one name of directory parent, following it when it is a
// symlink.
func (t *Tree) listed(parent string, d fs.DirEntry) listed {
	name := join(parent, d.Name())
	e := listed{Entry: backends.Entry{Name: d.Name(), Kind: kindOf(d.Type())}, dir: d, resolved: name}
	if e.Kind != backends.KindSymlink {
		return e
	}
	if target, err := t.fs.Readlink(name); err == nil {
		e.Link = target
	}
	// What leads nowhere, or out of the workspace, stays a symlink.
	resolved, info, err := t.follow("list", name)
	if err == nil {
		e.resolved = resolved
	}
	if err == nil && info != nil {
		e.Kind = kindOf(info.Mode())
		if e.Kind == backends.KindFile {
			e.Size = info.Size()
		}
	}
	return e
}
