package fsops

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Edit implements [backends.Workspace].
func (t *Tree) Edit(ctx context.Context, req backends.EditRequest) (backends.EditResult, error) {
	var without []byte // content that Old does not occur in
	out, err := t.edit(ctx, target{req.Path, req.Resolved, req.IfVersion, req.MaxBytes}, func(content []byte) ([]replacement, int, error) {
		reps, err := replaceText(content, req.Old, req.New, req.ReplaceAll)
		if errors.Is(err, errNoMatch) {
			without = content
		}
		return reps, len(reps), err
	})
	if errors.Is(err, errNoMatch) { // explained here, when the file is free again
		return backends.EditResult{}, noMatchError(ctx, out.Path, without, req.Old)
	}
	return out, err
}

// replacement puts text in place of content[start:end].
type replacement struct {
	start, end int
	text       string
}

// target is the file that an edit is for, and what it may grow to.
type target struct {
	path, resolved, ifVersion string
	maxBytes                  int64
}

// edit reads a whole file, lets plan say what to replace and how often that
// counts, and writes the outcome, keeping other writers away. With an error of
// plan the result tells where the file is.
func (t *Tree) edit(ctx context.Context, what target, plan func([]byte) ([]replacement, int, error)) (backends.EditResult, error) {
	none := backends.EditResult{}
	if err := ended(ctx, "edit"); err != nil {
		return none, err
	}
	res, unlock, err := t.lockTarget(ctx, "edit", what.path, what.resolved, func(res backends.Resolution) error { return t.wantFile("edit", res) })
	if err != nil {
		return none, err
	}
	defer unlock()
	letIn, err := t.lockOut(ctx, "edit", res)
	if err != nil {
		return none, err
	}
	defer letIn()
	content, version, err := t.readWhole("edit", res)
	if err != nil {
		return none, atPath(err, res.Path)
	}
	if what.ifVersion != "" && what.ifVersion != version {
		return none, backends.Errorf(backends.CodeStale, "edit", res.Path, "has changed since it was last read; read it again, then edit what is there now")
	}
	reps, replaced, err := plan(content)
	if err != nil {
		return backends.EditResult{Resolution: res}, atPath(err, res.Path)
	}
	size := sizeAfter(len(content), reps)
	switch {
	case size > backends.MaxEditFile:
		return none, backends.Errorf(backends.CodeTooLarge, "edit", res.Path, "would grow over the %d MB that an edit can handle", backends.MaxEditFile>>20)
	case what.maxBytes > 0 && size > what.maxBytes && size > int64(len(content)):
		return none, backends.Errorf(backends.CodeTooLarge, "edit", res.Path, "would have %d bytes, and the most that a file may grow to is %d; write less, or several files", size, what.maxBytes)
	}
	edited := apply(content, reps)
	// The last look before the write: a program that takes no lock is seen up
	// to here.
	_, now, err := t.readWhole("edit", res)
	if err != nil {
		return none, atPath(err, res.Path)
	}
	if now != version {
		return none, backends.Errorf(backends.CodeStale, "edit", res.Path, "was changed by someone else during the edit; nothing was written; read it again")
	}
	err = t.fs.Replace(res.Resolved, newFileMode, func(w io.Writer) error {
		if err := ended(ctx, "edit"); err != nil {
			return err
		}
		_, err := w.Write(edited)
		return err
	})
	if err != nil {
		return none, fail("edit", res.Path, err)
	}
	sum := sha256.New()
	sum.Write(edited)
	return backends.EditResult{
		Resolution: res,
		Replaced:   replaced,
		Diff:       unifiedDiff(res.Path, content, reps),
		Version:    t.versionAfter(res, int64(len(edited)), sum),
	}, nil
}

// atPath names the path in an error that was made where it is not known.
func atPath(err error, p string) error {
	var e *backends.Error
	if errors.As(err, &e) && e.Path == "" {
		e.Path = p
	}
	return err
}

// readWhole reads a text file of at most MaxEditFile bytes.
func (t *Tree) readWhole(op string, res backends.Resolution) ([]byte, string, error) {
	f, info, err := t.openResolved(op, res)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	tooLarge := func() error {
		return backends.Errorf(backends.CodeTooLarge, op, res.Path, "is over the %d MB that an edit can handle; change it with a command such as sed", backends.MaxEditFile>>20)
	}
	if info.Size() > backends.MaxEditFile {
		return nil, "", tooLarge()
	}
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := buf.ReadFrom(io.LimitReader(f, backends.MaxEditFile+1)); err != nil {
		return nil, "", fail(op, res.Path, err)
	}
	content := buf.Bytes()
	if len(content) > backends.MaxEditFile {
		return nil, "", tooLarge()
	}
	if isBinary(content) {
		return nil, "", binaryError(op, content, int64(len(content)))
	}
	return content, versionOf(content, info), nil
}

// sizeAfter is the length that content of size bytes has after reps.
func sizeAfter(size int, reps []replacement) int64 {
	after := int64(size)
	for _, r := range reps {
		after += int64(len(r.text) - (r.end - r.start))
	}
	return after
}

// apply makes reps in content.
func apply(content []byte, reps []replacement) []byte {
	out := make([]byte, 0, sizeAfter(len(content), reps))
	at := 0
	for _, r := range reps {
		out = append(out, content[at:r.start]...)
		out = append(out, r.text...)
		at = r.end
	}
	return append(out, content[at:]...)
}

// errNoMatch is the text to replace not being there, before it is explained.
var errNoMatch = errors.New("no match")

// replaceText finds old in content and says what puts repl in its place; see
// [backends.EditRequest] for the rules.
func replaceText(content []byte, old, repl string, all bool) ([]replacement, error) {
	invalid := func(msg string) error {
		return backends.Errorf(backends.CodeInvalidArgument, "edit", "", "%s", msg)
	}
	switch old {
	case "":
		return nil, invalid("old_string is empty; give the text to replace, or use write_file to make or replace a whole file")
	case repl:
		return nil, invalid("old_string and new_string are the same; nothing would change")
	}
	lf := newLFView(content)
	if n := bytes.Count(lf.text, []byte(toLF(old))); n > maxOccurrences {
		return nil, backends.Errorf(backends.CodeTooLarge, "edit", "", "old_string occurs %d times, and an edit handles %d at most; change the file with a command such as sed", n, maxOccurrences)
	}
	starts, view := lf.find(old)
	switch {
	case len(starts) == 0:
		return nil, errNoMatch
	case len(starts) > 1 && !all:
		return nil, backends.Errorf(backends.CodeNotUnique, "edit", "",
			"old_string occurs %d times (lines %s); add surrounding lines so that it is unique, or set replace_all", len(starts), lineNumbers(view.text, starts))
	}
	reps := make([]replacement, len(starts))
	for i, at := range starts {
		reps[i] = view.replace(at, old, repl)
	}
	return reps, nil
}

// maxOccurrences bounds what an edit of a large file keeps in memory.
const maxOccurrences = 1_000_000

// lineNumbers names the lines of the first few of offsets into text.
func lineNumbers(text []byte, offsets []int) string {
	const most = 10
	var b strings.Builder
	line, from := 1, 0
	for i, at := range offsets {
		if i == most {
			b.WriteString(", …")
			break
		}
		line += bytes.Count(text[from:at], newline)
		from = at
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, line)
	}
	return b.String()
}

// lfView is a text with every "\r\n" read as "\n", and the way back to the
// bytes it was made from.
type lfView struct {
	content []byte
	text    []byte
	// dropped holds the offsets in text of the newlines that lost a "\r", in
	// order. It is empty when text is content.
	dropped []int
}

func newLFView(content []byte) *lfView {
	v := &lfView{content: content, text: content}
	if !bytes.Contains(content, []byte("\r\n")) {
		return v
	}
	v.text = make([]byte, 0, len(content))
	for rest := content; ; {
		i := bytes.Index(rest, []byte("\r\n"))
		if i < 0 {
			v.text = append(v.text, rest...)
			return v
		}
		v.text = append(v.text, rest[:i]...)
		v.dropped = append(v.dropped, len(v.text))
		v.text = append(v.text, '\n')
		rest = rest[i+2:]
	}
}

// find returns where old occurs, without overlaps, as offsets into the text of
// the view that it returns: this one, or, when old itself spells "\r", one that
// takes the bytes as they are.
func (v *lfView) find(old string) ([]int, *lfView) {
	if strings.Contains(old, "\r") {
		if at := occurrences(v.content, old); len(at) > 0 {
			return at, &lfView{content: v.content, text: v.content}
		}
	}
	if len(v.dropped) == 0 {
		return occurrences(v.text, old), v
	}
	return occurrences(v.text, toLF(old)), v
}

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func occurrences(text []byte, old string) []int {
	var at []int
	pattern := []byte(old)
	for from := 0; ; {
		i := bytes.Index(text[from:], pattern)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + len(pattern)
	}
}

// back translates an offset in text to one in content. The offset of a newline
// that lost its "\r" becomes that of the "\r".
func (v *lfView) back(at int) int {
	return at + sort.SearchInts(v.dropped, at)
}

// replace puts repl in place of old at offset at, leaving what both begin and
// end with as it is, so that a line which only frames the change keeps its
// ending.
func (v *lfView) replace(at int, old, repl string) replacement {
	if len(v.dropped) == 0 {
		return replacement{at, at + len(old), repl}
	}
	old, repl = toLF(old), toLF(repl)
	whole := [2]int{at, at + len(old)}
	prefix := commonPrefix(old, repl)
	at, old, repl = at+prefix, old[prefix:], repl[prefix:]
	suffix := commonSuffix(old, repl)
	old, repl = old[:len(old)-suffix], repl[:len(repl)-suffix]

	text := repl
	if n := strings.Count(repl, "\n"); n > 0 {
		text = v.withEndings(repl, v.endings(at, at+len(old), n, whole))
	}
	return replacement{v.back(at), v.back(at + len(old)), text}
}

// endings says for each of n new newlines whether it gets a "\r": pair by pair
// like the newlines they replace when there are as many, otherwise all like
// the nearest newline of the edited place.
func (v *lfView) endings(start, end, n int, whole [2]int) []bool {
	out := make([]bool, 0, n)
	for at := start; at < end; at++ {
		if v.text[at] == '\n' {
			out = append(out, v.hadCR(at))
		}
	}
	if len(out) == n {
		return out
	}
	cr := false
	if i := bytes.IndexByte(v.text[whole[0]:], '\n'); i >= 0 {
		cr = v.hadCR(whole[0] + i)
	} else if i := bytes.LastIndexByte(v.text[:whole[0]], '\n'); i >= 0 {
		cr = v.hadCR(i)
	}
	return slices.Repeat([]bool{cr}, n)
}

func (v *lfView) hadCR(at int) bool {
	_, found := slices.BinarySearch(v.dropped, at)
	return found
}

func (v *lfView) withEndings(s string, cr []bool) string {
	var b strings.Builder
	for _, c := range cr {
		line, rest, _ := strings.Cut(s, "\n")
		b.WriteString(line)
		if c {
			b.WriteByte('\r')
		}
		b.WriteByte('\n')
		s = rest
	}
	b.WriteString(s)
	return b.String()
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func commonSuffix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}
