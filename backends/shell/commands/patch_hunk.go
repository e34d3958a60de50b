package commands

import (
	"fmt"
	"strconv"
	"strings"
)

// shift is how much further a hunk starts in the new file than in the old,
// which is 0 but where one of both has no lines.
func (h *hunk) shift() int {
	switch {
	case h.oldCount == 0 && h.newCount > 0:
		return 1
	case h.newCount == 0 && h.oldCount > 0:
		return -1
	}
	return 0
}

// edges are how many lines of context a hunk starts and ends with.
func (h *hunk) edges() (before, after int) {
	for before < len(h.lines) && h.lines[before].op == ' ' {
		before++
	}
	for after < len(h.lines)-before && h.lines[len(h.lines)-1-after].op == ' ' {
		after++
	}
	return before, after
}

func (h *hunk) context() int {
	before, after := h.edges()
	return max(before, after)
}

// old are the lines that the hunk expects.
func (h *hunk) old() []string {
	var out []string
	for _, l := range h.lines {
		if l.op != '+' {
			out = append(out, l.text)
		}
	}
	return out
}

// locate finds the line, from 0, where a hunk fits, or -1. fuzz is how many
// lines of context may differ.
func (app *application) locate(h *hunk, fuzz int) int {
	pattern := h.old()
	first := h.oldStart - 1 + app.offset
	if h.oldCount == 0 {
		first++ // after that line
	}
	if len(pattern) == 0 {
		return max(app.frozen, min(first, len(app.in)))
	}
	before, after := h.edges()
	context := max(before, after)
	top, bottom := fuzz+before-context, fuzz+after-context
	fits := func(at int) bool {
		if at < app.frozen || at+len(pattern) > len(app.in)+max(bottom, 0) {
			return false
		}
		for i := max(top, 0); i < len(pattern)-max(bottom, 0); i++ {
			if at+i >= len(app.in) || !app.same(app.in[at+i], pattern[i]) {
				return false
			}
		}
		return true
	}
	settle := func(at int) int {
		app.offset += at - first
		return at
	}
	last := len(app.in) - len(pattern)
	switch {
	case top < 0 && bottom < 0:
		if last == 0 && fits(0) {
			return settle(0)
		}
		return -1
	case top < 0:
		if fits(0) {
			return settle(0)
		}
		return -1
	case bottom < 0:
		if last >= 0 && fits(last) {
			return settle(last)
		}
		return -1
	}
	for d := 0; d <= max(len(app.in), first)+1; d++ {
		if d%1024 == 0 && app.a.p.Stopped() {
			return -1
		}
		if fits(first + d) {
			return settle(first + d)
		}
		if d > 0 && fits(first-d) {
			return settle(first - d)
		}
	}
	return -1
}

// same compares lines; with -l blanks count as one.
func (app *application) same(a, b string) bool {
	if a == b {
		return true
	}
	return app.a.blanks && strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

// apply changes the lines at a place that was located.
func (app *application) apply(h *hunk, at int) {
	app.out = append(app.out, app.in[app.frozen:at]...)
	for _, l := range h.lines {
		switch l.op {
		case '+':
			app.out = append(app.out, l.text)
		case '-':
			at++
		default:
			if at < len(app.in) {
				app.out = append(app.out, app.in[at])
			}
			at++
		}
	}
	app.frozen = min(at, len(app.in))
	app.grown += h.newCount - h.oldCount
}

// rejected writes hunks for a file of rejects.
func (a *patcher) rejected(f *filePatch, hunks []*hunk) string {
	var b strings.Builder
	context := f.kind == 'c' || f.kind == 'n'
	if v, ok := a.o.Value("reject-format"); ok {
		context = v == "context"
	}
	old, fresh := f.old, f.new
	if a.reverse {
		old, fresh = fresh, old
	}
	stamp := func(s string) string {
		if s == "" {
			return ""
		}
		return "\t" + s
	}
	oldStamp, newStamp := f.oldStamp, f.newStamp
	if a.reverse {
		oldStamp, newStamp = newStamp, oldStamp
	}
	if context {
		if f.kind == 'n' {
			old, fresh = "/dev/null", "/dev/null"
		}
		fmt.Fprintf(&b, "*** %s%s\n--- %s%s\n", old, stamp(oldStamp), fresh, stamp(newStamp))
	} else {
		fmt.Fprintf(&b, "--- %s%s\n+++ %s%s\n", old, stamp(oldStamp), fresh, stamp(newStamp))
	}
	for _, h := range hunks {
		if context {
			h.asContext(&b)
		} else {
			h.asUnified(&b)
		}
	}
	return b.String()
}

func (h *hunk) asUnified(b *strings.Builder) {
	part := func(start, count int) string {
		if count == 1 {
			return strconv.Itoa(start)
		}
		return fmt.Sprintf("%d,%d", start, count)
	}
	fmt.Fprintf(b, "@@ -%s +%s @@%s\n", part(h.oldStart, h.oldCount), part(h.newStart, h.newCount), h.after)
	for _, l := range h.lines {
		writePatchLine(b, string(l.op), l.text)
	}
}

func writePatchLine(b *strings.Builder, mark, text string) {
	b.WriteString(mark + text)
	if !strings.HasSuffix(text, "\n") {
		b.WriteString("\n\\ No newline at end of file\n")
	}
}

func (h *hunk) asContext(b *strings.Builder) {
	part := func(start, count int) string {
		if count <= 1 {
			return strconv.Itoa(start)
		}
		return fmt.Sprintf("%d,%d", start, start+count-1)
	}
	half := func(mine byte) {
		for i, l := range h.lines {
			if l.op != ' ' && l.op != mine {
				continue
			}
			mark := string(l.op)
			if l.op == mine && h.changes(i) {
				mark = "!"
			}
			writePatchLine(b, mark+" ", l.text)
		}
	}
	fmt.Fprintf(b, "***************%s\n*** %s ****\n", h.after, part(h.oldStart, h.oldCount))
	half('-')
	fmt.Fprintf(b, "--- %s ----\n", part(h.newStart, h.newCount))
	half('+')
}

// changes tells whether the run of changed lines that line i is part of takes
// lines away and adds some.
func (h *hunk) changes(i int) bool {
	from, to := i, i
	for from > 0 && h.lines[from-1].op != ' ' {
		from--
	}
	for to < len(h.lines) && h.lines[to].op != ' ' {
		to++
	}
	found := map[byte]bool{}
	for _, l := range h.lines[from:to] {
		found[l.op] = true
	}
	return found['-'] && found['+']
}
