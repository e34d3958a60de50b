package fsops

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func TestReplaceTextKeepsWhatItDoesNotTouch(t *testing.T) {
	for _, c := range []struct {
		name, content, old, repl, want string
		all                            bool
	}{
		{name: "a plain word", content: "a b c\n", old: "b", repl: "X", want: "a X c\n"},
		{name: "LF in old matches CRLF", content: "a\r\nb\r\nc\r\n", old: "a\nb", repl: "a\nX", want: "a\r\nX\r\nc\r\n"},
		{name: "new lines get the CRLF of the place", content: "a\r\nb\r\n", old: "a\n", repl: "a\nx\ny\n", want: "a\r\nx\r\ny\r\nb\r\n"},
		{name: "new lines in one line of a CRLF file", content: "a b\r\nc\r\n", old: "a b", repl: "a\nb", want: "a\r\nb\r\nc\r\n"},
		{name: "each line of a mixed file keeps its ending", content: "one\r\ntwo\nthree\r\n", old: "one\ntwo\nthree", repl: "ONE\nTWO\nTHREE", want: "ONE\r\nTWO\nTHREE\r\n"},
		{name: "framing lines of a mixed file stay", content: "one\r\ntwo\nthree\r\n", old: "one\ntwo\nthree\n", repl: "one\nTWO\nthree\n", want: "one\r\nTWO\nthree\r\n"},
		{name: "CRLF spelled out in old and new", content: "a\r\nb\r\n", old: "a\r\nb", repl: "x\r\ny", want: "x\r\ny\r\n"},
		{name: "a lone CR in old", content: "a\rb\n", old: "a\rb", repl: "ab", want: "ab\n"},
		{name: "CRLF in new of an LF file is meant", content: "a\nb\n", old: "a\n", repl: "a\r\n", want: "a\r\nb\n"},
		{name: "no final newline", content: "a\nb", old: "b", repl: "c", want: "a\nc"},
		{name: "byte order mark", content: "\xef\xbb\xbfa\n", old: "a", repl: "b", want: "\xef\xbb\xbfb\n"},
		{name: "invalid UTF-8 elsewhere", content: "\xff\xfe\na\n", old: "a", repl: "b", want: "\xff\xfe\nb\n"},
		{name: "all, not overlapping", content: "aaaa\n", old: "aa", repl: "b", all: true, want: "bb\n"},
		{name: "all over mixed endings", content: "x\r\ny\nx\ny\n", old: "x\ny", repl: "x\nz", all: true, want: "x\r\nz\nx\nz\n"},
		{name: "deletion of a CRLF line", content: "a\r\nb\r\nc\r\n", old: "b\n", repl: "", want: "a\r\nc\r\n"},
		{name: "a newline removed from CRLF", content: "a\r\nb\r\n", old: "a\nb", repl: "ab", want: "ab\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			reps, err := replaceText([]byte(c.content), c.old, c.repl, c.all)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(apply([]byte(c.content), reps)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestReplaceTextRefuses(t *testing.T) {
	for _, c := range []struct {
		name, content, old, repl string
		code                     backends.Code
		says                     string
	}{
		{"empty old", "a", "", "b", backends.CodeInvalidArgument, "write_file"},
		{"no change", "a", "a", "a", backends.CodeInvalidArgument, "nothing would change"},
		{"twice, one LF and one CRLF", "a\r\nb\na\nb\n", "a\nb", "x", backends.CodeNotUnique, "2 times (lines 1, 3)"},
		{"nothing alike", "alpha\n", "zzzzzzzz", "x", backends.CodeNoMatch, "nothing in the file resembles it"},
		{"indentation", "if x {\n\treturn 1\n}\n", "if x {\n    return 1\n}", "x", backends.CodeNoMatch, "the file has 1 tab(s), old_string has 4 space(s)"},
		{"trailing white space", "a = 1 \nb = 2\n", "a = 1\nb = 2", "x", backends.CodeNoMatch, "white space at the end"},
		{"case", "func Main() {}\n", "func main() {}", "x", backends.CodeNoMatch, "upper and lower case"},
		{"curly quotes", "say “hello there”\n", `say "hello there"`, "x", backends.CodeNoMatch, "quotes"},
		{"a changed word", "total = price * count\n", "total = price * amount", "x", backends.CodeNoMatch, `"total = price * count"`},
		{"past the end", "a line\nlast line\n", "last line\nmore\n", "x", backends.CodeNoMatch, "the file ends before line 2"},
		{"replacement characters", "a\xff\n", "a\ufffd", "x", backends.CodeNoMatch, "U+FFFD"},
		{"empty file", "", "a", "b", backends.CodeNoMatch, "the file is empty"},
		{"more often than memory should hold", strings.Repeat("a", maxOccurrences+1), "a", "b", backends.CodeTooLarge, "1000001 times"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := replaceText([]byte(c.content), c.old, c.repl, false)
			if errors.Is(err, errNoMatch) {
				err = noMatchError(t.Context(), "f", []byte(c.content), c.old)
			}
			if backends.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %s: %v\nwant %s saying %q", backends.CodeOf(err), err, c.code, c.says)
			}
		})
	}
}

func hashOf(s string) string { return backends.LineHash([]byte(s)) }

func TestReplaceLines(t *testing.T) {
	abc := "a\nb\nc\n"
	for _, c := range []struct {
		name, content, want string
		req                 backends.EditLinesRequest
	}{
		{"one line", abc, "a\nX\nc\n", backends.EditLinesRequest{StartLine: 2, StartHash: hashOf("b"), NewContent: "X"}},
		{"a range", abc, "X\nY\nc\n", backends.EditLinesRequest{StartLine: 1, StartHash: hashOf("a"), EndLine: 2, EndHash: hashOf("b"), NewContent: "X\nY\n"}},
		{"deletion", abc, "a\nc\n", backends.EditLinesRequest{StartLine: 2, StartHash: hashOf("b")}},
		{"an empty line in place of one", abc, "a\n\nc\n", backends.EditLinesRequest{StartLine: 2, StartHash: hashOf("b"), NewContent: "\n"}},
		{"insertion", abc, "a\nX\nb\nc\n", backends.EditLinesRequest{StartLine: 1, StartHash: hashOf("a"), NewContent: "X", InsertAfter: true}},
		{"insertion at the start", abc, "X\na\nb\nc\n", backends.EditLinesRequest{NewContent: "X", InsertAfter: true}},
		{"insertion at the end", abc, "a\nb\nc\nX\n", backends.EditLinesRequest{StartLine: 3, StartHash: hashOf("c"), NewContent: "X", InsertAfter: true}},
		{"insertion behind an unended line", "a\nb", "a\nb\nX", backends.EditLinesRequest{StartLine: 2, StartHash: hashOf("b"), NewContent: "X", InsertAfter: true}},
		{"into an empty file", "", "X\n", backends.EditLinesRequest{NewContent: "X", InsertAfter: true}},
		{"an unended last line", "a\nb", "a\nX", backends.EditLinesRequest{StartLine: 2, StartHash: hashOf("b"), NewContent: "X"}},
		{"an unended last line deleted", "a\nb", "a", backends.EditLinesRequest{StartLine: 2, StartHash: hashOf("b")}},
		{"the only line deleted, behind a BOM", "\xef\xbb\xbfa", "\xef\xbb\xbf", backends.EditLinesRequest{StartLine: 1, StartHash: hashOf("a")}},
		{"CRLF", "a\r\nb\r\n", "a\r\nX\r\nY\r\n", backends.EditLinesRequest{StartLine: 2, StartHash: hashOf("b"), NewContent: "X\nY"}},
		{"upper case hash", abc, "a\nX\nc\n", backends.EditLinesRequest{StartLine: 2, StartHash: strings.ToUpper(hashOf("b")), NewContent: "X"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			reps, _, err := replaceLines([]byte(c.content), c.req)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(apply([]byte(c.content), reps)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestReplaceLinesRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		code backends.Code
		req  backends.EditLinesRequest
	}{
		{"wrong hash", backends.CodeStale, backends.EditLinesRequest{StartLine: 2, StartHash: "zz", NewContent: "X"}},
		{"wrong end hash", backends.CodeStale, backends.EditLinesRequest{StartLine: 1, StartHash: hashOf("a"), EndLine: 2, EndHash: "zz", NewContent: "X"}},
		{"no hash", backends.CodeInvalidArgument, backends.EditLinesRequest{StartLine: 2, NewContent: "X"}},
		{"line 0", backends.CodeInvalidArgument, backends.EditLinesRequest{StartHash: "00", NewContent: "X"}},
		{"past the end", backends.CodeInvalidArgument, backends.EditLinesRequest{StartLine: 4, StartHash: "00", NewContent: "X"}},
		{"backwards", backends.CodeInvalidArgument, backends.EditLinesRequest{StartLine: 2, StartHash: hashOf("b"), EndLine: 1, EndHash: hashOf("a")}},
		{"nothing to insert", backends.CodeInvalidArgument, backends.EditLinesRequest{StartLine: 1, StartHash: hashOf("a"), InsertAfter: true}},
		{"no change", backends.CodeInvalidArgument, backends.EditLinesRequest{StartLine: 1, StartHash: hashOf("a"), NewContent: "a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := replaceLines([]byte("a\nb\nc\n"), c.req); backends.CodeOf(err) != c.code {
				t.Errorf("got %v, want %s", err, c.code)
			}
		})
	}
}

// patched runs patch(1) over content, which must turn it into what the diff is
// of.
func patched(tb testing.TB, content []byte, diff string) []byte {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "f")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command("patch", "--binary", "--quiet", "--fuzz=0", name)
	cmd.Stdin = strings.NewReader(diff)
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("patch: %v\n%s\n%s", err, out, diff)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

func TestDiffIsWhatPatchTakes(t *testing.T) {
	long := strings.Repeat("line\n", 40)
	for _, c := range []struct {
		name, content, old, repl string
		all                      bool
	}{
		{"one line", "a\nb\nc\nd\ne\nf\ng\nh\n", "e", "X", false},
		{"a joined line", "a\nb\nc\n", "a\nb", "ab", false},
		{"a newline gone before the next line", "a\nb\nc\n", "a\n", "a", false},
		{"a split line", "a b\nc\n", "a b", "a\nb", false},
		{"the first line", "a\nb\n", "a\n", "", false},
		{"the last line", "a\nb\n", "b\n", "", false},
		{"an unended last line", "a\nb", "b", "c\nd", false},
		{"far apart", "x\n" + long + "x\n" + long + "x", "x", "yy", true},
		{"close together", "x\na\nx\nb\nx\nc\nd\ne\nf\ng\nx\n", "x", "z\nz", true},
		{"CRLF", "a\r\nb\r\nc\r\n", "b", "x\ny", false},
		{"everything", "a\n", "a\n", "b\n", false},
		{"everything gone", "a\n", "a\n", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := []byte(c.content)
			reps, err := replaceText(content, c.old, c.repl, c.all)
			if err != nil {
				t.Fatal(err)
			}
			want := apply(content, reps)
			diff := unifiedDiff("f", content, reps)
			if got := patched(t, content, diff); !bytes.Equal(got, want) {
				t.Errorf("patched to %q, want %q\n%s", got, want, diff)
			}
		})
	}
}

func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\nc", "b", "x\ny", true)
	f.Add("\xef\xbb\xbfone\ntwo\n", "one\n", "", false)
	f.Add("x\rx\r\nx", "x", "\r\n", true)
	f.Fuzz(func(t *testing.T, content, old, repl string, all bool) {
		reps, err := replaceText([]byte(content), old, repl, all)
		if err != nil {
			return
		}
		got := string(apply([]byte(content), reps))
		at := 0
		for _, r := range reps {
			if r.start < at || r.end < r.start || r.end > len(content) {
				t.Fatalf("replacements out of order: %+v", reps)
			}
			at = r.end
		}
		if !strings.Contains(content, "\r") && !strings.Contains(old+repl, "\r") {
			n := 1
			if all {
				n = -1
			}
			if want := strings.Replace(content, old, repl, n); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
		// With line endings aside, an edit is what it is without them.
		if !strings.Contains(strings.ReplaceAll(content, "\r\n", ""), "\r") && !strings.Contains(old+repl, "\r") {
			n := 1
			if all {
				n = -1
			}
			if want := strings.Replace(toLF(content), old, repl, n); toLF(got) != want {
				t.Fatalf("but for endings: got %q, want %q", toLF(got), want)
			}
		}
		if diff := unifiedDiff("f", []byte(content), reps); got != content && !strings.Contains(diff, "@@ ") && len(diff) < backends.MaxDiff/2 && len(content)+len(got) < backends.MaxDiff/2 {
			t.Fatalf("a change without a hunk: %q", diff)
		}
	})
}

func FuzzEditLines(f *testing.F) {
	f.Add("a\r\nb\nc", 2, 3, "x\n", false)
	f.Add("", 0, 0, "x", true)
	f.Fuzz(func(t *testing.T, content string, start, end int, fresh string, insert bool) {
		lines := splitLines([]byte(content))
		hash := func(n int) string {
			if n < 1 || n > len(lines) {
				return ""
			}
			return backends.LineHash(lines[n-1].text([]byte(content)))
		}
		req := backends.EditLinesRequest{StartLine: start, StartHash: hash(start), NewContent: fresh, InsertAfter: insert}
		if !insert && end != 0 {
			req.EndLine, req.EndHash = end, hash(end)
		}
		reps, removed, err := replaceLines([]byte(content), req)
		if err != nil {
			return
		}
		got := splitLines(apply([]byte(content), reps))
		want := len(lines) - removed + len(newLines(fresh))
		// A line that is empty and unended cannot be told from none.
		if len(got) != want && len(got) != want-1 {
			t.Fatalf("%d lines, want %d: %q", len(got), want, apply([]byte(content), reps))
		}
	})
}
