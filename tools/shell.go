package tools

import (
	"slices"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// shellView is the workspace as the check of a command sees it.
type shellView struct{ c *call }

// Dir is where the command starts.
func (v shellView) Dir() string { return v.c.ws.WorkingDir() }

// Resolve follows symlinks.
func (v shellView) Resolve(path string) (string, bool) {
	res, err := v.c.ws.Resolve(v.c.ctx, path)
	if err != nil {
		return path, false
	}
	return res.Resolved, res.Exists
}

// expandLimit is how many paths a shell pattern may stand for and still be
// checked one by one.
const expandLimit = 2000

// Expand lists the files and directories that an unquoted shell pattern stands
// for.
func (v shellView) Expand(pattern string) ([]string, bool) {
	var all []string
	for _, p := range []string{pattern, strings.TrimSuffix(pattern, "/") + "/"} {
		found, err := v.c.ws.Glob(v.c.ctx, backends.GlobRequest{Pattern: p, IncludeIgnored: true, Limit: expandLimit})
		if err != nil || found.Total > expandLimit {
			return nil, false
		}
		for _, path := range found.Paths {
			path = strings.TrimSuffix(path, "/")
			if !hiddenFrom(pattern, path) {
				all = append(all, path)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), true
}

// hiddenFrom tells whether a shell leaves path out of what pattern stands for
// because a name in it starts with a dot and the pattern's does not.
func hiddenFrom(pattern, path string) bool {
	patterns, names := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(patterns) != len(names) {
		return false // "**": not told name by name, so checked
	}
	for i, name := range names {
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(strings.TrimPrefix(patterns[i], `\`), ".") {
			return true
		}
	}
	return false
}
