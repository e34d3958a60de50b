package tools

import (
	"fmt"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

type editFileArgs struct {
	Path       string `arg:"path" required:"true"`
	OldString  string `arg:"old_string" required:"true"`
	NewString  string `arg:"new_string" required:"true"`
	ReplaceAll bool   `arg:"replace_all" default:"false"`
}

type editOutput struct {
	Path     string `json:"path"`
	Replaced int    `json:"replaced" jsonschema:"occurrences replaced, or lines taken out"`
	Diff     string `json:"diff" jsonschema:"unified diff"`
}

var editFile = define[editFileArgs, editOutput]("edit_file", "Edit a file", permissions.Edit,
	hints{destructive: true}, (*call).editFile)

func (c *call) editFile(in editFileArgs) (*answer, error) {
	res, err := c.allowEdit(in.Path)
	if err != nil {
		return nil, err
	}
	if c.conn.ledElsewhere(res) {
		return nil, backends.Errorf(backends.CodeStale, "edit", res.Path, "led to another file when it was last read; read it again, then edit what is there now")
	}
	edited, err := c.ws.Edit(c.ctx, backends.EditRequest{
		Path: in.Path, Old: in.OldString, New: in.NewString, ReplaceAll: in.ReplaceAll,
		IfVersion: c.conn.lastSeen(res.Resolved), Resolved: res.Resolved, MaxBytes: c.set.MaxFile,
	})
	if err != nil {
		return nil, err
	}
	return c.edited(edited, fmt.Sprintf("Edited %s: replaced %d occurrence(s)", c.named(in.Path), edited.Replaced)), nil
}

type hashlineEditArgs struct {
	Path        string `arg:"path" required:"true"`
	StartLine   int    `arg:"start_line" required:"true" min:"0"`
	StartHash   string `arg:"start_hash" default:""`
	NewContent  string `arg:"new_content" required:"true"`
	EndLine     int    `arg:"end_line" default:"0" min:"0"`
	EndHash     string `arg:"end_hash" default:""`
	InsertAfter bool   `arg:"insert_after" default:"false"`
}

var hashlineEdit = define[hashlineEditArgs, editOutput]("hashline_edit", "Edit lines of a file", permissions.Edit,
	hints{destructive: true}, (*call).hashlineEdit)

func (c *call) hashlineEdit(in hashlineEditArgs) (*answer, error) {
	res, err := c.allowEdit(in.Path)
	if err != nil {
		return nil, err
	}
	// The hashes are the precondition: a change elsewhere in the file is none
	// of this edit's business.
	edited, err := c.ws.EditLines(c.ctx, backends.EditLinesRequest{
		Path: in.Path, StartLine: in.StartLine, StartHash: in.StartHash, EndLine: in.EndLine, EndHash: in.EndHash,
		NewContent: in.NewContent, InsertAfter: in.InsertAfter, Resolved: res.Resolved, MaxBytes: c.set.MaxFile,
	})
	if err != nil {
		return nil, err
	}
	did := fmt.Sprintf("replaced %d line(s)", edited.Replaced)
	if in.InsertAfter {
		did = fmt.Sprintf("inserted after line %d", in.StartLine)
	}
	return c.edited(edited, fmt.Sprintf("Edited %s: %s", c.named(in.Path), did)), nil
}

// allowEdit also minds what may be read: an edit tells what the file has. Who
// has been asked about the edit is not asked about reading, too.
func (c *call) allowEdit(p string) (backends.Resolution, error) {
	res, err := c.allowChange(permissions.Edit, p)
	if err != nil {
		return res, err
	}
	read := c.set.Rules.Path(permissions.Read, res.Path, res.Resolved)
	asked := c.set.Rules.Path(permissions.Edit, res.Path, res.Resolved).Action == permissions.Ask
	if read.Action == permissions.Deny || !asked {
		return res, c.allow(read, pathTarget(res))
	}
	return res, nil
}

func (c *call) edited(e backends.EditResult, text string) *answer {
	c.conn.saw(e.Resolution, e.Version)
	diff := valid(e.Diff)
	return &answer{
		text:   text,
		facts:  facts{"path": valid(e.Path), "count": e.Replaced, "diff": diff},
		output: editOutput{Path: valid(e.Path), Replaced: e.Replaced, Diff: diff},
	}
}
