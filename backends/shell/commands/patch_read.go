package commands

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// hunk is a change at one place.
type hunk struct {
	oldStart, newStart int
	oldCount, newCount int
	// lines start with " ", "-" or "+"; their text has its newline, if there
	// is one.
	lines []hunkLine
	after string // what follows the second @@
}

type hunkLine struct {
	op   byte
	text string
}

// filePatch is the changes of one file.
type filePatch struct {
	old, new, index      string
	oldStamp, newStamp   string
	kind                 byte // 'u', 'c' or 'n'
	header               []string
	line                 int // of the patch, where the hunks start
	hunks                []*hunk
	creates, removes     bool
	renameFrom, renameTo string
	copies               bool
	oldMode, newMode     string
	git                  bool
}

// patchReader takes a patch apart.
type patchReader struct {
	p       *Proc
	content []byte
	pos     int
	line    int // number of the line at pos, from 0
}

// peek returns the next line with its newline.
func (r *patchReader) peek() (string, bool) {
	if r.pos >= len(r.content) {
		return "", false
	}
	n := bytes.IndexByte(r.content[r.pos:], '\n') + 1
	if n == 0 {
		n = len(r.content) - r.pos
	}
	return string(r.content[r.pos : r.pos+n]), true
}

func (r *patchReader) skip(line string) {
	r.pos += len(line)
	r.line++
}

var (
	unifiedHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)`)
	normalHead  = regexp.MustCompile(`^(\d+)(?:,(\d+))?([acd])(\d+)(?:,(\d+))?$`)
	contextHead = regexp.MustCompile(`^\*\*\* (\d+)(?:,(\d+))? \*\*\*\*`)
	contextNew  = regexp.MustCompile(`^--- (\d+)(?:,(\d+))? ----`)
)

// next reads the patch of the next file; nil at the end.
func (r *patchReader) next() (*filePatch, error) {
	f := &filePatch{}
	for {
		line, ok := r.peek()
		if !ok || r.p.Stopped() {
			if f.git && (f.renameFrom != "" || f.creates || f.removes || f.newMode != "") {
				return f, nil
			}
			return nil, nil
		}
		text := strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(text, "diff --git "):
			if f.git && (f.renameFrom != "" || f.creates || f.removes || f.newMode != "") {
				return f, nil // one without hunks
			}
			f = &filePatch{git: true}
			if a, b, ok := strings.Cut(strings.TrimPrefix(text, "diff --git "), " b/"); ok {
				f.old, f.new = a, "b/"+b
			}
		case f.git && strings.HasPrefix(text, "rename from "):
			f.renameFrom = "a/" + text[12:]
		case f.git && strings.HasPrefix(text, "rename to "):
			f.renameTo = "b/" + text[10:]
		case f.git && strings.HasPrefix(text, "copy from "):
			f.renameFrom, f.copies = "a/"+text[10:], true
		case f.git && strings.HasPrefix(text, "copy to "):
			f.renameTo = "b/" + text[8:]
		case f.git && strings.HasPrefix(text, "old mode "):
			f.oldMode = text[9:]
		case f.git && strings.HasPrefix(text, "new mode "):
			f.newMode = text[9:]
		case f.git && strings.HasPrefix(text, "new file mode "):
			f.newMode, f.creates = text[14:], true
		case f.git && strings.HasPrefix(text, "deleted file mode "):
			f.oldMode, f.removes = text[18:], true
		case strings.HasPrefix(text, "Index:"):
			f.index = strings.TrimSpace(text[6:])
		case strings.HasPrefix(text, "--- ") && r.follows(line, "+++ "):
			f.header = append(f.header, line)
			f.old, f.oldStamp = patchName(text[4:])
			r.skip(line)
			line, _ = r.peek()
			f.new, f.newStamp = patchName(strings.TrimRight(line[4:], "\r\n"))
			if f.hasHead(r, line, "@@ -") {
				f.header = append(f.header, line)
				r.skip(line)
				return f, r.unified(f)
			}
		case strings.HasPrefix(text, "*** ") && r.follows(line, "--- ") && !contextHead.MatchString(text):
			f.header = append(f.header, line)
			f.old, f.oldStamp = patchName(text[4:])
			r.skip(line)
			line, _ = r.peek()
			f.new, f.newStamp = patchName(strings.TrimRight(line[4:], "\r\n"))
			if f.hasHead(r, line, "***************") {
				f.header = append(f.header, line)
				r.skip(line)
				return f, r.context(f)
			}
		case normalHead.MatchString(text) && (r.follows(line, "< ") || r.follows(line, "> ")):
			return f, r.normal(f)
		case unifiedHead.MatchString(text):
			return f, r.unified(f) // without names
		}
		f.header = append(f.header, line)
		if len(f.header) > 1000 {
			f.header = f.header[500:]
		}
		r.skip(line)
	}
}

// follows tells whether the line after this one starts with prefix.
func (r *patchReader) follows(line, prefix string) bool {
	return bytes.HasPrefix(r.content[r.pos+len(line):], []byte(prefix))
}

func (f *filePatch) hasHead(r *patchReader, line, prefix string) bool {
	return r.follows(line, prefix)
}

// patchName takes the name and the time off a line of a header.
func patchName(text string) (name, stamp string) {
	name, stamp, ok := strings.Cut(text, "\t")
	if !ok {
		if at := regexp.MustCompile(` +\d{4}-\d\d-\d\d| +(Mon|Tue|Wed|Thu|Fri|Sat|Sun) `).FindStringIndex(text); at != nil {
			name, stamp = text[:at[0]], strings.TrimSpace(text[at[0]:])
		}
	}
	name = strings.TrimRight(name, " ")
	if strings.HasPrefix(name, `"`) {
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
	}
	return name, stamp
}

func (r *patchReader) malformed(line string) error {
	return &patchError{fmt.Sprintf("malformed patch at line %d: %s", r.line+1, strings.TrimRight(line, "\n"))}
}

var errPatchEnd = &patchError{"unexpected end of file in patch"}

func atoi(text string, missing int) int {
	if text == "" {
		return missing
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 1 << 40
	}
	return n
}

// add charges and keeps a line.
func (r *patchReader) add(h *hunk, op byte, text string) error {
	h.lines = append(h.lines, hunkLine{op, text})
	return r.p.Hold(len(text) + 64)
}

// unended takes the newline off the last line where the next line says so.
func (r *patchReader) unended(h *hunk) {
	if line, ok := r.peek(); ok && strings.HasPrefix(line, `\`) {
		if len(h.lines) > 0 {
			last := &h.lines[len(h.lines)-1]
			last.text = strings.TrimSuffix(last.text, "\n")
		}
		r.skip(line)
	}
}

func (r *patchReader) unified(f *filePatch) error {
	f.kind, f.line = 'u', r.line+1
	for {
		line, ok := r.peek()
		m := unifiedHead.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if !ok || m == nil {
			break
		}
		r.skip(line)
		h := &hunk{oldStart: atoi(m[1], 0), oldCount: atoi(m[2], 1), newStart: atoi(m[3], 0), newCount: atoi(m[4], 1), after: m[5]}
		oldLeft, newLeft := h.oldCount, h.newCount
		for oldLeft > 0 || newLeft > 0 {
			line, ok := r.peek()
			if !ok {
				return errPatchEnd
			}
			op, text := line[0], line[1:]
			switch op {
			case '\n', '\t':
				op, text = ' ', line // a blank that was lost
			case '\r':
				op, text = ' ', line
			}
			switch {
			case op == ' ' && oldLeft > 0 && newLeft > 0:
				oldLeft, newLeft = oldLeft-1, newLeft-1
			case op == '-' && oldLeft > 0:
				oldLeft--
			case op == '+' && newLeft > 0:
				newLeft--
			default:
				return r.malformed(line)
			}
			r.skip(line)
			if err := r.add(h, op, text); err != nil {
				return err
			}
			r.unended(h)
		}
		f.hunks = append(f.hunks, h)
	}
	f.settle()
	return nil
}

// settle finds out whether a file is made or removed.
func (f *filePatch) settle() {
	if len(f.hunks) == 0 {
		return
	}
	first := f.hunks[0]
	f.creates = f.creates || f.old == "/dev/null" || epoch(f.oldStamp) && first.oldCount == 0 || first.oldCount == 0 && first.oldStart == 0 && len(f.hunks) == 1
	f.removes = f.removes || f.new == "/dev/null" || epoch(f.newStamp) && first.newCount == 0
}

func (r *patchReader) normal(f *filePatch) error {
	f.kind, f.line = 'n', r.line+1
	for {
		line, ok := r.peek()
		m := normalHead.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if !ok || m == nil {
			break
		}
		r.skip(line)
		h := &hunk{oldStart: atoi(m[1], 0), newStart: atoi(m[4], 0)}
		h.oldCount, h.newCount = atoi(m[2], h.oldStart)-h.oldStart+1, atoi(m[5], h.newStart)-h.newStart+1
		switch m[3] {
		case "a":
			h.oldCount = 0
		case "d":
			h.newCount = 0
		}
		part := func(mark string, op byte, n int) error {
			for range n {
				line, ok := r.peek()
				if !ok {
					return errPatchEnd
				}
				if !strings.HasPrefix(line, mark) {
					return r.malformed(line)
				}
				r.skip(line)
				if err := r.add(h, op, line[len(mark):]); err != nil {
					return err
				}
				r.unended(h)
			}
			return nil
		}
		if err := part("< ", '-', h.oldCount); err != nil {
			return err
		}
		if m[3] == "c" {
			line, _ := r.peek()
			if !strings.HasPrefix(line, "---") {
				return r.malformed(line)
			}
			r.skip(line)
		}
		if err := part("> ", '+', h.newCount); err != nil {
			return err
		}
		f.hunks = append(f.hunks, h)
	}
	return nil
}
