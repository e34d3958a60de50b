package tools

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/permissions"
)

type readFileArgs struct {
	Path   string `arg:"path" required:"true"`
	Offset int    `arg:"offset" default:"0" min:"0"`
	Limit  int    `arg:"limit" default:"2000" min:"1"`
}

type readFileOutput struct {
	Path       string       `json:"path"`
	Text       string       `json:"text,omitempty" jsonschema:"the lines, as the text result shows them"`
	FirstLine  int          `json:"first_line,omitempty" jsonschema:"1-based number of the first line shown"`
	Lines      int          `json:"lines" jsonschema:"how many lines are shown"`
	TotalLines int          `json:"total_lines" jsonschema:"how many lines the file has"`
	Image      *imageOutput `json:"image,omitempty"`
}

// maxLineChars is where a line shown by read_file is cut.
const maxLineChars = 2000

var readFile = define[readFileArgs, readFileOutput]("read_file", "Read a file", permissions.Read,
	hints{readOnly: true, idempotent: true}, (*call).readFile)

func (c *call) readFile(in readFileArgs) (*answer, error) {
	if _, err := c.allowLook(permissions.Read, in.Path); err != nil {
		return nil, err
	}
	hashes := c.set.EditFormat == EditByLine
	file, err := c.ws.Read(c.ctx, backends.ReadRequest{
		Path: in.Path, Offset: in.Offset, Limit: in.Limit, MaxLine: maxLineChars, Hashes: hashes,
	})
	if err != nil {
		err = c.allowFailure(permissions.Read, in.Path, err)
	}
	var typed *backends.Error
	if errors.As(err, &typed) && typed.Binary != nil {
		return c.readBinary(in.Path, typed)
	}
	if err != nil {
		return nil, err
	}
	if err := c.allowFound(permissions.Read, file.Resolution); err != nil {
		return nil, err
	}
	if in.Offset > 0 && in.Offset >= file.TotalLines {
		return nil, backends.Errorf(backends.CodeInvalidArgument, "read", file.Path,
			"offset %d is past the end; the file has %d lines, and offset counts from 0", in.Offset, file.TotalLines)
	}

	c.conn.saw(file.Resolution, file.Version)

	text, shown := c.renderLines(file.Lines, in.Offset, hashes)
	f := facts{"path": valid(file.Path), "total_lines": file.TotalLines}
	if more := file.TotalLines - in.Offset - shown; more > 0 {
		text += fmt.Sprintf(" … (%d more lines) next: offset=%d\n", more, in.Offset+shown)
		f["truncated"] = true
	}
	if file.TotalLines == 0 {
		text = fmt.Sprintf("%s is empty", c.show(file.Path))
	}
	out := readFileOutput{Path: valid(file.Path), Text: valid(text), FirstLine: in.Offset + 1, Lines: shown, TotalLines: file.TotalLines}
	return &answer{text: text, facts: f, output: out}, nil
}

// renderLines numbers lines, as many as the budget has room for.
func (c *call) renderLines(in []backends.Line, offset int, hashes bool) (text string, shown int) {
	size := 0
	for _, l := range in {
		size += len(l.Text) + len("123456\t\n")
	}
	var b strings.Builder
	b.Grow(size + 64)
	budget := c.budget() - moreRoom
	for i, l := range in {
		start := b.Len()
		if hashes {
			fmt.Fprintf(&b, "%d:%s|", offset+i+1, l.Hash)
		} else {
			writeLineNumber(&b, offset+i+1)
		}
		b.WriteString(l.Text)
		if l.Cut > 0 {
			fmt.Fprintf(&b, " … (%d more characters)", l.Cut)
		}
		b.WriteByte('\n')
		if budget -= jsonSize(b.String()[start:]); budget < 0 {
			return b.String()[:start], i
		}
	}
	return b.String(), len(in)
}

// writeLineNumber is fmt.Fprintf(b, "%6d\t", n), which is a third of the cost
// of a read.
func writeLineNumber(b *strings.Builder, n int) {
	var digits [20]byte
	i := len(digits)
	for ; n > 0; n /= 10 {
		i--
		digits[i] = byte('0' + n%10)
	}
	for len(digits)-i < 6 {
		i--
		digits[i] = ' '
	}
	b.Write(digits[i:])
	b.WriteByte('\t')
}

// readBinary answers for a file that is not text: an image is shown, anything
// else refused with what it is.
func (c *call) readBinary(p string, e *backends.Error) (*answer, error) {
	if !isImage(e.Binary.MIME) {
		msg := fmt.Sprintf("is not text but %s, %d bytes", e.Binary.MIME, e.Binary.Size)
		if strings.HasPrefix(e.Binary.MIME, "text/") {
			msg += "; convert it to UTF-8 first"
		} else {
			msg += "; look into it with a command made for that format"
		}
		return nil, &backends.Error{Code: backends.CodeBinary, Path: e.Path, Message: msg}
	}
	r, info, err := c.ws.Open(c.ctx, p)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := c.allowFound(permissions.Read, info.Resolution); err != nil {
		return nil, err
	}
	img, err := fitImage(r, info.Size, e.Binary.MIME, c.budget())
	if err != nil {
		return nil, &backends.Error{Code: backends.CodeOf(err), Path: info.Path, Message: message(err)}
	}
	text := ""
	if img.scaled {
		text = fmt.Sprintf("%s is %d×%d; shown scaled down to %d×%d", c.show(info.Path), img.fullWidth, img.fullHeight, img.width, img.height)
	}
	out := readFileOutput{Path: valid(info.Path), Image: img.output()}
	return &answer{text: text, image: img, facts: facts{"path": valid(info.Path)}, output: out}, nil
}
