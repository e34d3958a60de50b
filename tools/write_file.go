package tools

import (
	"fmt"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

type writeFileArgs struct {
	Path    string `arg:"path" required:"true"`
	Content string `arg:"content" required:"true"`
}

type writeFileOutput struct {
	Path    string `json:"path"`
	Lines   int    `json:"lines"`
	Bytes   int64  `json:"bytes"`
	Created bool   `json:"created" jsonschema:"false when a file was replaced"`
}

var writeFile = define[writeFileArgs, writeFileOutput]("write_file", "Write a file", permissions.Write,
	hints{destructive: true, idempotent: true}, (*call).writeFile)

func (c *call) writeFile(in writeFileArgs) (*answer, error) {
	if err := c.fits(in.Path, int64(len(in.Content))); err != nil {
		return nil, err
	}
	res, err := c.allowChange(permissions.Write, in.Path)
	if err != nil {
		return nil, err
	}
	wrote, err := c.ws.Write(c.ctx, backends.WriteRequest{Path: in.Path, Content: strings.NewReader(in.Content), Resolved: res.Resolved})
	if err != nil {
		return nil, err
	}
	c.conn.saw(wrote.Resolution, wrote.Version)
	out := writeFileOutput{Path: valid(wrote.Path), Lines: wrote.Lines, Bytes: wrote.Bytes, Created: wrote.Created}
	return &answer{
		text:   fmt.Sprintf("Wrote %d lines to %s", wrote.Lines, c.named(in.Path)),
		facts:  facts{"path": valid(wrote.Path), "total_lines": wrote.Lines},
		output: out,
	}, nil
}

// fits refuses a file that would be larger than this server lets a tool write.
func (c *call) fits(path string, size int64) error {
	if limit := c.set.MaxFile; limit > 0 && size > limit {
		return backends.Errorf(backends.CodeTooLarge, "write", path, "would have %d bytes, and the most that this server takes in one file is %d; write less, or several files", size, limit)
	}
	return nil
}
