package commands

import (
	"fmt"
	"strings"
)

// context reads the hunks of a context diff.
func (r *patchReader) context(f *filePatch) error {
	f.kind, f.line = 'c', r.line+1
	for {
		line, ok := r.peek()
		if !ok || !strings.HasPrefix(line, "***************") {
			break
		}
		r.skip(line)
		line, _ = r.peek()
		m := contextHead.FindStringSubmatch(line)
		if m == nil {
			return r.malformed(line)
		}
		r.skip(line)
		h := &hunk{oldStart: atoi(m[1], 0)}
		oldTo := atoi(m[2], h.oldStart)
		h.oldCount = oldTo - h.oldStart + 1
		if h.oldStart == 0 {
			h.oldCount = 0
		}
		old, err := r.half(h.oldCount, "-!", func(line string) bool { return contextNew.MatchString(line) })
		if err != nil {
			return err
		}
		line, ok = r.peek()
		m = contextNew.FindStringSubmatch(line)
		if !ok || m == nil {
			return r.malformed(line)
		}
		r.skip(line)
		h.newStart = atoi(m[1], 0)
		h.newCount = atoi(m[2], h.newStart) - h.newStart + 1
		if h.newStart == 0 {
			h.newCount = 0
		}
		fresh, err := r.half(h.newCount, "+!", func(line string) bool {
			return strings.HasPrefix(line, "***************") || !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "!")
		})
		if err != nil {
			return err
		}
		if err := h.join(old, fresh); err != nil {
			return &patchError{fmt.Sprintf("malformed patch at line %d: the two halves of a hunk do not fit", r.line)}
		}
		f.hunks = append(f.hunks, h)
	}
	f.settle()
	return nil
}

// half reads one half of a hunk. It has no lines where it would have only
// context.
func (r *patchReader) half(count int, marks string, end func(string) bool) ([]hunkLine, error) {
	h := &hunk{}
	for len(h.lines) < count {
		line, ok := r.peek()
		if !ok || end(line) {
			if len(h.lines) == 0 {
				return nil, nil
			}
			return nil, errPatchEnd
		}
		if len(line) < 2 || line[1] != ' ' || line[0] != ' ' && strings.IndexByte(marks, line[0]) < 0 {
			return nil, r.malformed(line)
		}
		r.skip(line)
		if err := r.add(h, line[0], line[2:]); err != nil {
			return nil, err
		}
		r.unended(h)
	}
	return h.lines, nil
}

// join makes one list of the halves. A half without lines is the context of
// the other.
func (h *hunk) join(old, fresh []hunkLine) error {
	if old == nil {
		for _, l := range fresh {
			if l.op == ' ' {
				old = append(old, l)
			}
		}
	}
	if fresh == nil {
		for _, l := range old {
			if l.op == ' ' {
				fresh = append(fresh, l)
			}
		}
	}
	for len(old) > 0 || len(fresh) > 0 {
		switch {
		case len(old) > 0 && old[0].op != ' ':
			h.lines = append(h.lines, hunkLine{'-', old[0].text})
			old = old[1:]
		case len(fresh) > 0 && fresh[0].op != ' ':
			h.lines = append(h.lines, hunkLine{'+', fresh[0].text})
			fresh = fresh[1:]
		case len(old) == 0 || len(fresh) == 0:
			return errPatchEnd
		default:
			h.lines = append(h.lines, hunkLine{' ', old[0].text})
			old, fresh = old[1:], fresh[1:]
		}
	}
	return nil
}

// reversed is the hunk that undoes this one.
func (h *hunk) reversed() *hunk {
	out := &hunk{oldStart: h.newStart, oldCount: h.newCount, newStart: h.oldStart, newCount: h.oldCount, after: h.after}
	var added []hunkLine
	for _, l := range h.lines {
		switch l.op {
		case '-':
			added = append(added, hunkLine{'+', l.text})
		case '+':
			out.lines = append(out.lines, hunkLine{'-', l.text})
		default:
			out.lines = append(append(out.lines, added...), l)
			added = nil
		}
	}
	out.lines = append(out.lines, added...)
	return out
}
