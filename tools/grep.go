package tools

import (
	"fmt"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

type grepArgs struct {
	Pattern         string `arg:"pattern" required:"true"`
	Path            string `arg:"path" default:"."`
	GlobPattern     string `arg:"glob_pattern" default:""`
	OutputMode      string `arg:"output_mode" default:"files_with_matches" enum:"files_with_matches,content,count"`
	IgnoreHidden    bool   `arg:"ignore_hidden" default:"true"`
	IncludeIgnored  bool   `arg:"include_ignored" default:"false"`
	CaseInsensitive bool   `arg:"case_insensitive" default:"false"`
	Context         int    `arg:"context" default:"0" min:"0"`
	Multiline       bool   `arg:"multiline" default:"false"`
}

type grepOutput struct {
	Files    []grepFileOutput `json:"files"`
	Total    int              `json:"total" jsonschema:"files, or in content mode lines, that match, those not shown included"`
	Withheld int              `json:"withheld,omitempty" jsonschema:"files that were not searched because reading them needs approval"`
	Skipped  int              `json:"skipped,omitempty" jsonschema:"files and directories that could not be read"`
}

type grepFileOutput struct {
	Path  string           `json:"path"`
	Count int              `json:"count,omitempty" jsonschema:"matching lines; count mode only"`
	Lines []grepLineOutput `json:"lines,omitempty" jsonschema:"content mode only"`
}

type grepLineOutput struct {
	Line    int    `json:"line" jsonschema:"1-based"`
	Text    string `json:"text"`
	Context bool   `json:"context,omitempty" jsonschema:"a neighbour, not a match"`
}

const (
	grepLimit      = 50   // files or lines a grep shows
	grepMaxContext = 100  // lines of context at most
	grepMaxLine    = 1000 // characters of a line shown
)

var grepModes = map[string]backends.GrepMode{
	"files_with_matches": backends.GrepFiles, "content": backends.GrepContent, "count": backends.GrepCount,
}

var grep = define[grepArgs, grepOutput]("grep", "Search file contents", permissions.Grep,
	hints{readOnly: true, idempotent: true}, (*call).grep)

func (c *call) grep(in grepArgs) (*answer, error) {
	if in.Context > grepMaxContext {
		return nil, invalid("the argument \"context\" is %d; it can be at most %d. Use read_file to see more of a file", in.Context, grepMaxContext)
	}
	approved, err := c.allowLook(permissions.Grep, in.Path)
	if err != nil {
		return nil, err
	}
	filter := c.set.Rules.Filter(permissions.Grep)
	if approved {
		filter = c.set.Rules.ApprovedFilter(permissions.Grep)
	}
	found, err := c.ws.Grep(c.ctx, backends.GrepRequest{
		Pattern: in.Pattern, Path: in.Path, Glob: in.GlobPattern, Mode: grepModes[in.OutputMode], Limit: grepLimit,
		IncludeHidden: !in.IgnoreHidden, IncludeIgnored: in.IncludeIgnored, CaseInsensitive: in.CaseInsensitive,
		Multiline: in.Multiline, Context: in.Context, MaxLine: grepMaxLine, Filter: filter,
	})
	if err != nil {
		return nil, c.allowFailure(permissions.Grep, in.Path, err)
	}
	if err := c.allowFound(permissions.Grep, found.Resolution); err != nil {
		return nil, err
	}
	// A file that may not be read is hidden from the search. Where it was named,
	// finding nothing would mislead.
	if d := c.set.Rules.Path(permissions.Read, found.Path, found.Resolved); found.Total == 0 && d.Action == permissions.Deny {
		return nil, c.denied(d)
	}
	text := c.newLines()
	out := grepOutput{Files: []grepFileOutput{}, Total: found.Total, Withheld: found.Withheld, Skipped: found.Skipped}
	var shown int
	if mode := grepModes[in.OutputMode]; mode == backends.GrepContent {
		shown = c.renderMatches(text, found.Files, &out)
	} else {
		shown = c.renderFiles(text, found.Files, mode, &out)
	}
	f := facts{"path": valid(found.Path), "count": found.Total}
	if more := found.Total - shown; more > 0 {
		text.more(more)
		f["truncated"] = true
	}
	if found.Total == 0 {
		text.force(fmt.Sprintf("No matches for %s in %s", clip(oneLine(in.Pattern), 200), clip(c.show(found.Path), 500)))
	}
	if found.Withheld > 0 {
		text.force(fmt.Sprintf("(%d file(s) were not searched: reading them needs approval; read_file asks for it)", found.Withheld))
	}
	if found.Skipped > 0 {
		text.force(fmt.Sprintf("(%d file(s) or directories could not be read)", found.Skipped))
	}
	return &answer{text: text.String(), facts: f, output: out}, nil
}

// renderFiles lists files, with their counts or without, and returns how many
// it had room for.
func (c *call) renderFiles(text *lines, files []backends.GrepFile, mode backends.GrepMode, out *grepOutput) int {
	for i, file := range files {
		line, o := oneLine(c.show(file.Path)), grepFileOutput{Path: valid(file.Path)}
		if mode == backends.GrepCount {
			line, o.Count = fmt.Sprintf("%s: %d", line, file.Count), file.Count
		}
		if !text.add(line, o) {
			return i
		}
		out.Files = append(out.Files, o)
	}
	return len(files)
}

// renderMatches lists matching lines as "path:line: text", their neighbours as
// "path-line- text", and returns how many matches it had room for.
func (c *call) renderMatches(text *lines, files []backends.GrepFile, out *grepOutput) int {
	shown, last := 0, 0
	for _, file := range files {
		name := oneLine(c.show(file.Path))
		o := grepFileOutput{Path: valid(file.Path)}
		for i, l := range file.Lines {
			sep := ":"
			if l.Context {
				sep = "-"
			}
			line := fmt.Sprintf("%s%s%d%s %s", name, sep, l.Number, sep, l.Text)
			if l.Cut > 0 {
				line += fmt.Sprintf(" … (%d more characters)", l.Cut)
			}
			if i > 0 && l.Number > last+1 && hasContext(file.Lines) {
				text.force("--")
			}
			last = l.Number
			form := grepLineOutput{Line: l.Number, Text: valid(l.Text), Context: l.Context}
			if !text.add(line, form) {
				if o.Lines != nil {
					out.Files = append(out.Files, o)
				}
				return shown
			}
			if !l.Context {
				shown++
			}
			o.Lines = append(o.Lines, form)
		}
		out.Files = append(out.Files, o)
	}
	return shown
}

func hasContext(lines []backends.GrepLine) bool {
	for _, l := range lines {
		if l.Context {
			return true
		}
	}
	return false
}
