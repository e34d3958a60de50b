package fsops

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// diffContext is how many unchanged lines frame a change in a diff.
const diffContext = 3

// change is a run of whole lines that was replaced.
type change struct {
	start, end int // offsets of the old lines in the old content
	fresh      []byte
}

// unifiedDiff shows what reps did to content. The changes are known, so
// nothing has to be searched for; lines they share at their edges are context.
func unifiedDiff(name string, content []byte, reps []replacement) string {
	changes := lineChanges(content, reps)
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", name, name)
	w := diffWriter{content: content, b: &b, line: 1}
	for i := 0; i < len(changes); {
		// Changes whose contexts meet share a hunk.
		j := i + 1
		for j < len(changes) && linesBetween(content[changes[j-1].end:changes[j].start], 2*diffContext) {
			j++
		}
		before := b.Len()
		w.hunk(changes[i:j])
		if b.Len() > backends.MaxDiff {
			kept := b.String()[:before]
			return kept + fmt.Sprintf("… (%d more changes)\n", len(changes)-i)
		}
		i = j
	}
	return b.String()
}

// linesBetween tells whether between has at most n lines.
func linesBetween(between []byte, n int) bool {
	for range n + 1 {
		i := bytes.IndexByte(between, '\n')
		if i < 0 {
			return true
		}
		between = between[i+1:]
	}
	return len(between) == 0
}

// lineChanges widens replacements to whole lines and joins those that share
// one.
func lineChanges(content []byte, reps []replacement) []change {
	var out []change
	for i := 0; i < len(reps); {
		start := lineStart(content, reps[i].start)
		end := changeEnd(content, reps[i])
		j := i + 1
		for j < len(reps) && lineStart(content, reps[j].start) < end {
			end = max(end, changeEnd(content, reps[j]))
			j++
		}
		var fresh []byte
		at := start
		for _, r := range reps[i:j] {
			fresh = append(fresh, content[at:r.start]...)
			fresh = append(fresh, r.text...)
			at = r.end
		}
		fresh = append(fresh, content[at:end]...)
		out = append(out, trimChange(content, change{start, end, fresh}))
		i = j
	}
	return out
}

func lineStart(content []byte, at int) int {
	return bytes.LastIndexByte(content[:at], '\n') + 1
}

// changeEnd is the offset behind the last line that r changes. Where r ends at
// the start of a line, that line is untouched, unless what comes before it no
// longer ends with a newline.
func changeEnd(content []byte, r replacement) int {
	at := r.end
	if at == 0 || content[at-1] == '\n' {
		joins := false
		switch {
		case r.text != "":
			joins = r.text[len(r.text)-1] != '\n'
		case r.start > 0:
			joins = content[r.start-1] != '\n'
		}
		if !joins {
			return at
		}
	}
	return at + len(firstLine(content[at:]))
}

// trimChange takes lines off both ends that are the same before and after.
func trimChange(content []byte, c change) change {
	old := content[c.start:c.end]
	for {
		line := firstLine(old)
		if len(line) == 0 || !bytes.HasPrefix(c.fresh, line) || line[len(line)-1] != '\n' && len(c.fresh) != len(line) {
			break
		}
		old, c.fresh, c.start = old[len(line):], c.fresh[len(line):], c.start+len(line)
	}
	for len(old) > 0 && len(c.fresh) > 0 {
		line := old[bytes.LastIndexByte(old[:len(old)-1], '\n')+1:]
		freshLine := c.fresh[bytes.LastIndexByte(c.fresh[:len(c.fresh)-1], '\n')+1:]
		if !bytes.Equal(line, freshLine) {
			break
		}
		old, c.fresh, c.end = old[:len(old)-len(line)], c.fresh[:len(c.fresh)-len(line)], c.end-len(line)
	}
	return c
}

func firstLine(b []byte) []byte {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i+1]
	}
	return b
}

// diffWriter writes hunks in order, counting lines as it goes.
type diffWriter struct {
	content []byte
	b       *strings.Builder
	at      int // offset in content that line is known for
	line    int // 1-based number of the old line at at
	shift   int // new lines minus old lines so far
}

func (w *diffWriter) hunk(changes []change) {
	start := changes[0].start
	for range diffContext {
		if start == 0 {
			break
		}
		start = bytes.LastIndexByte(w.content[:start-1], '\n') + 1
	}
	end := changes[len(changes)-1].end
	for range diffContext {
		if end == len(w.content) {
			break
		}
		end += len(firstLine(w.content[end:]))
	}
	w.line += bytes.Count(w.content[w.at:start], newline)
	w.at = start

	var body strings.Builder
	oldLines, newLines := 0, 0
	context := func(text []byte) {
		n := writeLines(&body, ' ', text)
		oldLines += n
		newLines += n
	}
	at := start
	for _, c := range changes {
		context(w.content[at:c.start])
		oldLines += writeLines(&body, '-', w.content[c.start:c.end])
		newLines += writeLines(&body, '+', c.fresh)
		at = c.end
	}
	context(w.content[at:end])
	fmt.Fprintf(w.b, "@@ -%s +%s @@\n%s", span(w.line, oldLines), span(w.line+w.shift, newLines), body.String())
	w.shift += newLines - oldLines
}

// span is a hunk's "start,count"; an empty one names the line before it.
func span(start, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", start-1)
	case 1:
		return fmt.Sprint(start)
	default:
		return fmt.Sprintf("%d,%d", start, count)
	}
}

// writeLines writes text line by line behind mark and returns how many lines
// that were.
func writeLines(b *strings.Builder, mark byte, text []byte) int {
	n := 0
	for len(text) > 0 {
		line := firstLine(text)
		b.WriteByte(mark)
		b.Write(line)
		if line[len(line)-1] != '\n' {
			b.WriteString("\n\\ No newline at end of file\n")
		}
		text = text[len(line):]
		n++
	}
	return n
}
