package tools

import (
	"fmt"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

type lsArgs struct {
	Path string `arg:"path" default:"."`
}

type lsOutput struct {
	Path    string    `json:"path"`
	Entries []lsEntry `json:"entries"`
	Total   int       `json:"total"`
}

type lsEntry struct {
	Name string `json:"name"`
	Kind string `json:"kind" jsonschema:"file, directory, symlink or other"`
	Size int64  `json:"size,omitempty" jsonschema:"bytes"`
	Link string `json:"link,omitempty" jsonschema:"where a symlink points"`
}

// lsLimit is how many entries a listing shows.
const lsLimit = 5000

var ls = define[lsArgs, lsOutput]("ls", "List a directory", permissions.Ls,
	hints{readOnly: true, idempotent: true}, (*call).ls)

func (c *call) ls(in lsArgs) (*answer, error) {
	if _, err := c.allowLook(permissions.Ls, in.Path); err != nil {
		return nil, err
	}
	list, err := c.ws.List(c.ctx, backends.ListRequest{Path: in.Path, Limit: lsLimit, Filter: c.set.Rules.Filter(permissions.Ls)})
	if err != nil {
		return nil, c.allowFailure(permissions.Ls, in.Path, err)
	}
	if err := c.allowFound(permissions.Ls, list.Resolution); err != nil {
		return nil, err
	}
	out := lsOutput{Path: list.Path, Total: list.Total, Entries: []lsEntry{}}
	text := c.newLines()
	for _, e := range list.Entries {
		form := lsEntry{Name: valid(e.Name), Kind: kindNames[e.Kind], Size: e.Size, Link: valid(e.Link)}
		if !text.add(renderEntry(e), form) {
			break
		}
		out.Entries = append(out.Entries, form)
	}
	f := facts{"path": valid(list.Path), "count": list.Total}
	if more := list.Total - text.count; more > 0 {
		text.more(more)
		f["truncated"] = true
	}
	if list.Total == 0 {
		text.force(fmt.Sprintf("%s is an empty directory", c.show(list.Path)))
	}
	return &answer{text: text.String(), facts: f, output: out}, nil
}

var kindNames = map[backends.Kind]string{
	backends.KindFile: "file", backends.KindDirectory: "directory", backends.KindSymlink: "symlink", backends.KindOther: "other",
}

// renderEntry is one line of a listing. A name that would break the line, or
// could be taken for more than a name, is quoted.
func renderEntry(e backends.Entry) string {
	name := oneLine(e.Name)
	link := ""
	if e.Link != "" {
		link = " -> " + oneLine(e.Link)
	}
	switch e.Kind {
	case backends.KindDirectory:
		return name + "/" + link
	case backends.KindFile:
		return fmt.Sprintf("%s (%d bytes)%s", name, e.Size, link)
	case backends.KindSymlink:
		return name + link + " (leads nowhere in this workspace)"
	default:
		return name + " (special file)"
	}
}

// oneLine is s, quoted when it has control characters in it.
func oneLine(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Sprintf("%q", s)
	}
	return s
}
