package tools

import (
	"fmt"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

type globArgs struct {
	Pattern        string `arg:"pattern" required:"true"`
	Path           string `arg:"path" default:"."`
	IncludeIgnored bool   `arg:"include_ignored" default:"false"`
}

type globOutput struct {
	Paths   []string `json:"paths"`
	Total   int      `json:"total" jsonschema:"paths that match, those not shown included"`
	Skipped int      `json:"skipped,omitempty" jsonschema:"directories that could not be read"`
}

// globLimit is how many paths a glob shows.
const globLimit = 100

var glob = define[globArgs, globOutput]("glob", "Find files by name", permissions.Glob,
	hints{readOnly: true, idempotent: true}, (*call).glob)

func (c *call) glob(in globArgs) (*answer, error) {
	if _, err := c.allowLook(permissions.Glob, in.Path); err != nil {
		return nil, err
	}
	found, err := c.ws.Glob(c.ctx, backends.GlobRequest{
		Pattern: in.Pattern, Path: in.Path, Limit: globLimit, IncludeIgnored: in.IncludeIgnored, Filter: c.set.Rules.Filter(permissions.Glob),
	})
	if err != nil {
		return nil, c.allowFailure(permissions.Glob, in.Path, err)
	}
	if err := c.allowFound(permissions.Glob, found.Resolution); err != nil {
		return nil, err
	}
	out := globOutput{Paths: []string{}, Total: found.Total, Skipped: found.Skipped}
	text := c.newLines()
	for _, p := range found.Paths {
		if !text.add(oneLine(c.show(p)), p) {
			break
		}
		out.Paths = append(out.Paths, valid(p))
	}
	f := facts{"path": valid(found.Path), "count": found.Total}
	if more := found.Total - text.count; more > 0 {
		text.more(more)
		f["truncated"] = true
	}
	if found.Total == 0 {
		text.force(fmt.Sprintf("No files match %s in %s", clip(oneLine(in.Pattern), 200), clip(c.show(found.Path), 500)))
	}
	if found.Skipped > 0 {
		text.force(fmt.Sprintf("(%d directories could not be read)", found.Skipped))
	}
	return &answer{text: text.String(), facts: f, output: out}, nil
}
