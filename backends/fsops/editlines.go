package fsops

import (
	"bytes"
	"context"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// EditLines implements [backends.Workspace].
func (t *Tree) EditLines(ctx context.Context, req backends.EditLinesRequest) (backends.EditResult, error) {
	return t.edit(ctx, target{req.Path, req.Resolved, req.IfVersion, req.MaxBytes}, func(content []byte) ([]replacement, int, error) {
		return replaceLines(content, req)
	})
}

// replaceLines says what an EditLinesRequest puts where in content, and how
// many lines it takes out.
func replaceLines(content []byte, req backends.EditLinesRequest) ([]replacement, int, error) {
	if n := bytes.Count(content, newline); n > maxEditedLines {
		return nil, 0, backends.Errorf(backends.CodeTooLarge, "edit", "", "the file has %d lines, and an edit by line handles %d at most; change it with a command such as sed", n, maxEditedLines)
	}
	lines := splitLines(content)
	first, last, err := lineRange(content, lines, req)
	if err != nil {
		return nil, 0, err
	}
	fresh, removed := newLines(req.NewContent), 0
	if req.InsertAfter {
		first = last + 1 // an empty range behind the named line
	} else {
		removed = last - first + 1
	}
	if len(fresh) == 0 && removed == 0 {
		return nil, 0, backends.Errorf(backends.CodeInvalidArgument, "edit", "", "new_content is empty; there is nothing to insert")
	}

	// Lines are [first, last] of lines, 1-based; the range may be empty.
	r := replacement{start: startOf(content, lines, first), end: startOf(content, lines, last+1)}
	ending := endingAt(lines, first)
	var b strings.Builder
	atEnd := r.end == len(content)
	unended := len(lines) > 0 && lines[len(lines)-1].ending == ""
	if atEnd && unended && len(fresh) > 0 && r.start == len(content) {
		b.WriteString(ending) // appended behind a last line that had no newline
	}
	for i, line := range fresh {
		b.WriteString(line)
		// The file keeps the final newline it had, or had not. A new file, or
		// one that was empty, gets one.
		if i < len(fresh)-1 || !atEnd || !unended {
			b.WriteString(ending)
		}
	}
	if len(fresh) == 0 && atEnd && unended && first > 1 {
		// The last line goes, and the newline before it becomes the final one
		// that was not there.
		r.start -= len(lines[first-2].ending)
	}
	r.text = b.String()
	if r.text == string(content[r.start:r.end]) {
		return nil, 0, backends.Errorf(backends.CodeInvalidArgument, "edit", "", "new_content is what is there already; nothing would change")
	}
	return []replacement{r}, removed, nil
}

// maxEditedLines bounds what an edit by line keeps in memory.
const maxEditedLines = 5_000_000

// lineRange checks the numbers and hashes of a request and returns the lines
// they name, 1-based and inclusive.
func lineRange(content []byte, lines []textLine, req backends.EditLinesRequest) (first, last int, err error) {
	invalid := func(format string, args ...any) error {
		return backends.Errorf(backends.CodeInvalidArgument, "edit", "", format, args...)
	}
	first, last = req.StartLine, req.EndLine
	if req.InsertAfter {
		if last != 0 || req.EndHash != "" {
			return 0, 0, invalid("insert_after takes start_line and start_hash only; leave end_line and end_hash out")
		}
		if first == 0 {
			if req.StartHash != "" {
				return 0, 0, invalid("start_line 0 is the start of the file and has no hash; leave start_hash out")
			}
			return 0, 0, nil
		}
	}
	if last == 0 {
		last = first
		if req.EndHash != "" {
			return 0, 0, invalid("end_hash is given without end_line")
		}
	}
	switch {
	case first < 1:
		return 0, 0, invalid("start_line is %d; lines count from 1 (0 only with insert_after)", first)
	case last < first:
		return 0, 0, invalid("end_line %d is before start_line %d", last, first)
	case last > len(lines):
		return 0, 0, invalid("line %d does not exist; the file has %d lines", last, len(lines))
	case req.StartHash == "":
		return 0, 0, invalid("start_hash is missing; it is the two characters after the number of line %d", first)
	case last != first && req.EndHash == "":
		return 0, 0, invalid("end_hash is missing; it is the two characters after the number of line %d", last)
	}
	check := func(n int, hash string) error {
		text := lines[n-1].text(content)
		if is := backends.LineHash(text); is != strings.ToLower(hash) {
			return backends.Errorf(backends.CodeStale, "edit", "", "line %d has hash %s now, not %s: %q; read the file again", n, is, hash, excerpt(text))
		}
		return nil
	}
	if err := check(first, req.StartHash); err != nil {
		return 0, 0, err
	}
	if last != first || req.EndHash != "" {
		if err := check(last, req.EndHash); err != nil {
			return 0, 0, err
		}
	}
	return first, last, nil
}

// textLine is one line of a content, by offset.
type textLine struct {
	start, end int    // of the text
	ending     string // "\n", "\r\n", or "" at the end of the file
}

func (l textLine) text(content []byte) []byte { return content[l.start:l.end] }

// splitLines finds the lines of content. A byte order mark belongs to none.
func splitLines(content []byte) []textLine {
	lines := make([]textLine, 0, bytes.Count(content, newline)+1)
	at := 0
	if bytes.HasPrefix(content, bom) {
		at = len(bom)
	}
	for at < len(content) {
		i := bytes.IndexByte(content[at:], '\n')
		if i < 0 {
			return append(lines, textLine{at, len(content), ""})
		}
		l := textLine{at, at + i, "\n"}
		at += i + 1
		if l.end > l.start && content[l.end-1] == '\r' {
			l.end--
			l.ending = "\r\n"
		}
		lines = append(lines, l)
	}
	return lines
}

// startOf is where 1-based line n starts; past the last line, the end.
func startOf(content []byte, lines []textLine, n int) int {
	switch {
	case n > len(lines):
		return len(content)
	case n < 1:
		n = 1
	}
	if len(lines) == 0 {
		return len(content)
	}
	return lines[n-1].start
}

// endingAt is the line ending that prevails at 1-based line n.
func endingAt(lines []textLine, n int) string {
	for i := min(max(n, 1), len(lines)); i >= 1; i-- {
		if lines[i-1].ending != "" {
			return lines[i-1].ending
		}
	}
	return "\n"
}

// newLines splits what a caller gives as lines: a final newline ends the last
// line and does not begin another, so "" is no line and "\n" one empty line.
func newLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(toLF(s), "\n"), "\n")
}
