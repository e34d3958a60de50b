package fsops

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Glob implements [backends.Workspace].
//
// A pattern's leading names without wildcards are taken as part of the
// directory to search, so that src/**/*.go walks src alone; a symlink among
// them is followed, as one in Path is. The walk itself follows none.
func (t *Tree) Glob(ctx context.Context, req backends.GlobRequest) (backends.GlobResult, error) {
	const op = "glob"
	dir, pattern := cmp.Or(req.Path, "."), req.Pattern
	if path.IsAbs(pattern) {
		var err error
		if dir, pattern, err = t.globAbsolute(op, req.Path, pattern); err != nil {
			return backends.GlobResult{}, err
		}
	}
	g, err := compileGlob(op, pattern)
	if err != nil {
		return backends.GlobResult{}, err
	}
	flt, err := compileFilter(req.Filter)
	if err != nil {
		return backends.GlobResult{}, err
	}
	res, err := t.walkDirectory(op, dir)
	if err != nil {
		return backends.GlobResult{}, err
	}
	out := backends.GlobResult{Resolution: res}
	if walkInGit(t.fs.Root(), res.Path, res.Resolved) {
		return out, nil
	}

	first := walkFirst[bool]{limit: max(req.Limit, 0)}
	var total atomic.Int64
	w := &walk{tree: t, op: op, hidden: true, ignored: req.IncludeIgnored, dirs: true, pattern: g, filter: flt}
	w.visit = func(_ context.Context, _ *walkWorker, f walkFile) error {
		name, ok, err := w.globShown(f)
		if err != nil || !ok {
			return err
		}
		total.Add(1)
		if first.wants(name) {
			first.add(walkResult[bool]{path: name, weight: 1})
		}
		return nil
	}
	start, err := w.globStart(ctx, res)
	if err != nil || start == nil {
		return out, err
	}
	if err := w.run(ctx, start); err != nil {
		return backends.GlobResult{}, err
	}
	for _, r := range first.sorted() {
		out.Paths = append(out.Paths, r.path)
	}
	out.Total, out.Skipped = int(total.Load()), int(w.skipped.Load())
	return out, nil
}

// globAbsolute makes an absolute pattern relative to a directory: to start when
// that is above it, otherwise, where start is empty, to the pattern's own
// beginning.
func (t *Tree) globAbsolute(op, start, pattern string) (dir, rel string, err error) {
	if dir, err = backends.CleanPath(t.dir, cmp.Or(start, ".")); err != nil {
		return "", "", err
	}
	base, rest := splitGlobBase(pattern)
	switch {
	case inside(dir, base):
		below := strings.TrimPrefix(base[len(dir):], "/")
		return dir, globQuote(below) + "/" + rest, nil
	case start == "":
		return base, rest, nil
	default:
		return "", "", backends.Errorf(backends.CodeInvalidArgument, op, "",
			"the glob pattern %q is absolute and not below %s; make it relative, or give the directory to search as path", pattern, dir)
	}
}

// splitGlobBase splits an absolute pattern before the first name that has a
// wildcard, or else before the last name.
func splitGlobBase(p string) (base, rest string) {
	body := strings.TrimRight(p, "/")
	split := 0
	for i := 0; i < len(body) && !strings.ContainsRune("*?[{", rune(body[i])); i++ {
		switch body[i] {
		case '\\':
			i++
		case '/':
			split = i
		}
	}
	var plain strings.Builder
	for i := 0; i < split; i++ {
		if body[i] == '\\' {
			i++
		}
		plain.WriteByte(body[i])
	}
	return path.Clean("/" + plain.String()), strings.TrimLeft(p[split:], "/")
}

var globQuoter = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `}`, `\}`)

func globQuote(s string) string { return globQuoter.Replace(s) }

// walkLookup looks up what must exist.
func (t *Tree) walkLookup(op, p string) (backends.Resolution, fs.FileInfo, error) {
	res, info, err := t.lookup(op, p)
	if err == nil && info == nil {
		err = notFound(op, res.Path)
	}
	return res, info, err
}

// walkDirectory is walkLookup of what must be a directory.
func (t *Tree) walkDirectory(op, p string) (backends.Resolution, error) {
	res, info, err := t.walkLookup(op, p)
	if err == nil && !info.IsDir() {
		err = &backends.Error{Code: backends.CodeNotDirectory, Op: op, Path: res.Path, Err: syscall.ENOTDIR,
			Message: "is not a directory; give a directory to search in"}
	}
	return res, err
}

// globStart returns where the walk starts, nil when nothing can match.
func (w *walk) globStart(ctx context.Context, res backends.Resolution) (*walkDir, error) {
	start, err := w.startAt(res)
	if err != nil {
		return nil, err
	}
	below, state := w.pattern.static()
	if below != "" {
		sub, info, err := w.tree.lookup(w.op, join(res.Path, below))
		if err != nil {
			return nil, globPassable(err)
		}
		if info == nil || !info.IsDir() || walkInGit(w.tree.fs.Root(), sub.Path, sub.Resolved) {
			return nil, nil
		}
		if sub.Resolved == join(res.Resolved, below) {
			if start, err = w.walkBelow(ctx, start, below); start == nil {
				return nil, err
			}
		} else if start, err = w.startAt(sub); err != nil {
			return nil, err
		}
	}
	start.pattern = state
	return start, nil
}

// globPassable drops the error of a pattern that names something below a
// file: it matches nothing.
func globPassable(err error) error {
	if backends.CodeOf(err) == backends.CodeNotDirectory {
		return nil
	}
	return err
}

// globShown returns a match as it is answered, and whether it is: a symlink
// counts when it leads to a file.
func (w *walk) globShown(f walkFile) (string, bool, error) {
	display, real := f.display(), f.real()
	if !w.filter.shows(display, real) {
		return "", false, nil
	}
	switch {
	case f.mode.IsDir():
		return display + "/", true, nil
	case f.mode&fs.ModeSymlink != 0:
		target, info, err := w.tree.follow(w.op, real)
		if err != nil {
			return "", false, walkFatal(w.op, display, err)
		}
		if info == nil || !info.Mode().IsRegular() || !w.filter.shows(display, target) || walkInGit(w.tree.fs.Root(), target) {
			return "", false, nil
		}
	}
	return display, true, nil
}
