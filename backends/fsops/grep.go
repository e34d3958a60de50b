package fsops

import (
	"cmp"
	"context"
	"io"
	"path"
	"strings"
	"sync/atomic"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// maxGrepContext is the most lines of context that can be asked for.
const maxGrepContext = 1000

// Grep implements [backends.Workspace].
//
// Lines end in LF or CRLF, which no pattern sees; without Multiline each line
// is a text of its own. A file is binary when its first 8000 bytes have a NUL.
// A line over 1 MB, and with Multiline a file over 4 MB, is searched in
// overlapping pieces: a match of up to 256 KB is found wherever it is, a longer
// one may be missed. A file that Path names is searched also when it is hidden
// or ignored.
func (t *Tree) Grep(ctx context.Context, req backends.GrepRequest) (backends.GrepResult, error) {
	g, err := t.newGrep(req)
	if err != nil {
		return backends.GrepResult{}, err
	}
	res, info, err := t.walkLookup(g.op, cmp.Or(req.Path, "."))
	if err != nil {
		return backends.GrepResult{}, err
	}
	switch {
	case walkInGit(t.fs.Root(), res.Path, res.Resolved):
		return backends.GrepResult{Resolution: res}, nil
	case info.IsDir():
		err = g.searchBelow(ctx, res)
	default:
		err = g.searchOne(ctx, res)
	}
	if err != nil {
		return backends.GrepResult{}, err
	}
	return g.result(res), nil
}

// grep is one search by content.
type grep struct {
	walk
	req   backends.GrepRequest
	match *grepPattern

	first    walkFirst[backends.GrepFile]
	matched  atomic.Int64
	lines    atomic.Int64
	withheld atomic.Int64
}

func (t *Tree) newGrep(req backends.GrepRequest) (*grep, error) {
	const op = "grep"
	if req.Context < 0 || req.Context > maxGrepContext {
		return nil, grepMistake("context is %d lines; it must be 0 to %d", req.Context, maxGrepContext)
	}
	match, err := compileGrep(req)
	if err != nil {
		return nil, err
	}
	names, err := t.grepGlob(op, req)
	if err != nil {
		return nil, err
	}
	flt, err := compileFilter(req.Filter)
	if err != nil {
		return nil, err
	}
	g := &grep{req: req, match: match}
	g.walk = walk{tree: t, op: op, hidden: req.IncludeHidden, ignored: req.IncludeIgnored, pattern: names, filter: flt, visit: g.visit}
	g.first.limit = max(req.Limit, 0)
	return g, nil
}

// grepGlob compiles GrepRequest.Glob. One that ends in "/" stands for all
// files below the directories that it matches.
func (t *Tree) grepGlob(op string, req backends.GrepRequest) (*globPattern, error) {
	glob := req.Glob
	switch {
	case glob == "":
		return nil, nil
	case glob[0] == '!':
		return nil, grepMistake(`the glob pattern %q starts with "!", but a glob can only say what to search; for a name that starts with it write \!`, glob)
	case path.IsAbs(glob):
		var err error
		if _, glob, err = t.globAbsolute(op, cmp.Or(req.Path, "."), glob); err != nil {
			return nil, err
		}
	case !strings.Contains(glob, "/"):
		glob = "**/" + glob
	}
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	return compileGlob(op, glob)
}

func (g *grep) searchBelow(ctx context.Context, res backends.Resolution) error {
	start, err := g.startAt(res)
	if err != nil {
		return err
	}
	if g.pattern != nil {
		start.pattern = g.pattern.from
	}
	return g.run(ctx, start)
}

// searchOne searches a file that was named.
func (g *grep) searchOne(ctx context.Context, res backends.Resolution) error {
	opened, f, _, err := g.tree.openRegular(g.op, res.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	switch {
	case g.pattern != nil && !g.pattern.matchesPath(path.Base(opened.Path)):
		return nil
	case !g.filter.shows(opened.Path, opened.Resolved):
		return nil
	case !g.filter.readable(opened.Path, opened.Resolved):
		g.withheld.Add(1)
		return nil
	}
	s := newGrepSearch(g.match, &g.req)
	defer s.release()
	if err := g.searchFile(ctx, s, f, opened.Path); err != nil {
		if err := ended(ctx, g.op); err != nil {
			return err
		}
		return fail(g.op, opened.Path, err)
	}
	return nil
}

// visit searches a file that the walk came by.
func (g *grep) visit(ctx context.Context, w *walkWorker, f walkFile) error {
	if !f.mode.IsRegular() {
		return nil
	}
	display := f.display()
	real := display
	if f.dir.real != f.dir.display {
		real = f.real()
	}
	if !g.filter.shows(display, real) {
		return nil
	}
	if !g.filter.readable(display, real) {
		g.withheld.Add(1)
		return nil
	}
	in, err := f.open.Open(f.name)
	if err != nil {
		return g.leaveOut(display, err)
	}
	defer in.Close()
	if w.search == nil {
		w.search = newGrepSearch(g.match, &g.req)
	}
	if err := g.searchFile(ctx, w.search, in, display); err != nil {
		if err := ended(ctx, g.op); err != nil {
			return err
		}
		return g.leaveOut(display, err)
	}
	return nil
}

func (g *grep) searchFile(ctx context.Context, s *grepSearch, in io.Reader, name string) error {
	count, lines, err := s.search(ctx, in, func() int {
		switch {
		case !g.first.wants(name):
			return 0
		case g.first.limit == 0:
			return grepKeepAll
		default:
			return g.first.limit
		}
	})
	if err != nil || count == 0 {
		return err
	}
	g.matched.Add(1)
	g.lines.Add(int64(count))
	weight := 1
	if g.req.Mode == backends.GrepContent {
		if weight = s.out.kept; weight == 0 {
			return nil
		}
	}
	g.first.add(walkResult[backends.GrepFile]{path: name, weight: weight, value: backends.GrepFile{Path: name, Count: count, Lines: lines}})
	return nil
}

func (g *grep) result(res backends.Resolution) backends.GrepResult {
	out := backends.GrepResult{
		Resolution: res,
		Matched:    int(g.matched.Load()),
		Total:      int(g.matched.Load()),
		Withheld:   int(g.withheld.Load()),
		Skipped:    int(g.skipped.Load()),
	}
	if g.req.Mode == backends.GrepContent {
		out.Total = int(g.lines.Load())
	}
	left := g.first.limit
	for _, r := range g.first.sorted() {
		if g.req.Mode == backends.GrepContent && g.first.limit > 0 {
			r.value.Lines = grepTrim(r.value.Lines, left, g.req.Context)
			left -= r.weight
		}
		out.Files = append(out.Files, r.value)
	}
	return out
}
