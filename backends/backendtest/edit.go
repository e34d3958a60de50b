package backendtest

import (
	"fmt"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

const (
	byteOrderMark = "\xef\xbb\xbf"
	notUTF8       = "\xff\xfe\x80"
)

func testEdit(s *suite) {
	for _, c := range []struct {
		name                    string
		before, old, new, after string
		all                     bool
		replaced                int
	}{
		{"one occurrence is replaced", "one two three\n", "two", "2", "one 2 three\n", false, 1},
		{"text over several lines is replaced", "a\nb\nc\nd\n", "b\nc\n", "x\n", "a\nx\nd\n", false, 1},
		{"a whole file is replaced", "all of it", "all of it", "nothing", "nothing", false, 1},
		{"text is deleted", "keep drop keep\n", " drop", "", "keep keep\n", false, 1},
		{"a whole file is deleted to nothing", "gone\n", "gone\n", "", "", false, 1},
		{"text is taken literally", "a.*b $1 \\n\n", ".*b $1 \\n", "\\1$0&", "a\\1$0&\n", false, 1},
		{"white space is significant", "\tx\n  x\n", "  x", "  y", "\tx\n  y\n", false, 1},
		{"non-ASCII text is replaced", "grüße 日本\n", "ü", "ue", "grueße 日本\n", false, 1},
		{"all occurrences are replaced", "a b a b a\n", "a", "xx", "xx b xx b xx\n", true, 3},
		{"one occurrence counts as all of them", "a b\n", "a", "c", "c b\n", true, 1},
		{"occurrences are counted from the start and do not overlap", "aaaaa", "aa", "b", "bba", true, 2},
		{"what is put in is not searched again", "aaa", "a", "aa", "aaaaaa", true, 3},
		{"a missing final newline stays missing", "one\ntwo", "two", "2", "one\n2", false, 1},
		{"a final newline stays", "one\ntwo\n", "two", "2", "one\n2\n", false, 1},
		{"a byte order mark stays", byteOrderMark + "one\ntwo\n", "one", "1", byteOrderMark + "1\ntwo\n", false, 1},
		{"bytes that are not UTF-8 survive elsewhere", notUTF8 + " one " + notUTF8 + "\n", "one", "1", notUTF8 + " 1 " + notUTF8 + "\n", false, 1},
		{"a line feed matches CRLF and is written as CRLF", "a\r\nb\r\nc\r\nd\r\n", "b\nc", "x\ny\nz", "a\r\nx\r\ny\r\nz\r\nd\r\n", false, 1},
		{"lines are deleted from a CRLF file", "a\r\nb\r\nc\r\n", "b\n", "", "a\r\nc\r\n", false, 1},
		{"a line is inserted into a CRLF file", "a\r\nc\r\n", "a\n", "a\nb\n", "a\r\nb\r\nc\r\n", false, 1},
		{"a line feed alone matches each CRLF", "a\r\nb\r\n", "\n", "!\n", "a!\r\nb!\r\n", true, 2},
		{"a mixed file keeps CRLF where it is", "a\nb\r\nc\r\nd\ne\n", "b\nc\n", "x\ny\n", "a\nx\r\ny\r\nd\ne\n", false, 1},
		{"a mixed file keeps LF where it is", "a\r\nb\nc\nd\r\n", "b\nc\n", "x\ny\n", "a\r\nx\ny\nd\r\n", false, 1},
		{"one text is found under both endings", "a\nb\n-\r\na\r\nb\r\n", "a\nb", "c\nd", "c\nd\n-\r\nc\r\nd\r\n", true, 2},
		{"a lone carriage return is text", "a\rb\nc\n", "a\rb", "x", "x\nc\n", false, 1},
	} {
		s.claim(c.name, func(p *place) {
			p.write("f", c.before)
			res := p.mustEdit(backends.EditRequest{Path: "f", Old: c.old, New: c.new, ReplaceAll: c.all})
			p.wantBytes("f", c.after)
			if res.Replaced != c.replaced {
				p.Errorf("Replaced is %d, want %d", res.Replaced, c.replaced)
			}
		})
	}

	s.claim("text that occurs more than once is not_unique, and told where", func(p *place) {
		content := "x\ntarget\nx\nx\ntarget\nx\nx\nx\ntarget\n"
		p.write("f", content)
		_, err := p.edit(backends.EditRequest{Path: "f", Old: "target", New: "y"})
		wantCode(p.T, "Edit", err, backends.CodeNotUnique)
		wantMention(p.T, err, "3", "2", "5", "9")
		p.wantBytes("f", content)
	})

	s.claim("text that occurs twice under different endings is not_unique", func(p *place) {
		p.write("f", "a\nb\n-\na\r\nb\r\n")
		_, err := p.edit(backends.EditRequest{Path: "f", Old: "a\nb", New: "y"})
		wantCode(p.T, "Edit", err, backends.CodeNotUnique)
	})

	s.claim("text that does not occur is no_match, and told the nearest place", func(p *place) {
		lines := make([]string, 60)
		for i := range lines {
			lines[i] = fmt.Sprintf("func number%d() { return %d }", i+1, i*i)
		}
		lines[41] = "\tresult := compute(first, second)"
		content := strings.Join(lines, "\n")
		p.write("f", content)
		for _, all := range []bool{false, true} {
			_, err := p.edit(backends.EditRequest{Path: "f", Old: "    result := compute(first, second)", New: "y", ReplaceAll: all})
			wantCode(p.T, "Edit", err, backends.CodeNoMatch)
			wantMention(p.T, err, "42")
		}
		p.wantBytes("f", content)
	})

	s.claim("an edit that lets a file grow too far is too_large, and takes no memory for it", func(p *place) {
		content := strings.Repeat("a\n", 20_000)
		p.write("f", content)
		_, err := p.edit(backends.EditRequest{Path: "f", Old: "a", New: strings.Repeat("b", 4<<20), ReplaceAll: true})
		wantCode(p.T, "Edit to 80 GB", err, backends.CodeTooLarge)
		_, err = p.edit(backends.EditRequest{Path: "f", Old: "a", New: "bb", ReplaceAll: true, MaxBytes: 50_000})
		wantCode(p.T, "Edit past MaxBytes", err, backends.CodeTooLarge)
		wantMention(p.T, err, "60000", "50000")
		p.wantBytes("f", content)
		p.mustEdit(backends.EditRequest{Path: "f", Old: "a", New: "", ReplaceAll: true, MaxBytes: 10_000}) // it shrinks
	})

	s.claim("nothing can be replaced in an empty file", func(p *place) {
		p.write("f", "")
		_, err := p.edit(backends.EditRequest{Path: "f", Old: "a", New: "b"})
		wantCode(p.T, "Edit", err, backends.CodeNoMatch)
	})

	s.claim("an edit of nothing, or of text into itself, is refused", func(p *place) {
		p.write("f", "a\n")
		_, err := p.edit(backends.EditRequest{Path: "f", Old: "", New: "b"})
		wantCode(p.T, "Edit without Old", err, backends.CodeInvalidArgument)
		_, err = p.edit(backends.EditRequest{Path: "f", Old: "a", New: "a"})
		wantCode(p.T, "Edit of a into a", err, backends.CodeInvalidArgument)
		p.wantBytes("f", "a\n")
	})

	s.claim("a diff shows what was replaced, with three lines around it", func(p *place) {
		p.write("f", "1\n2\n3\n4\nbefore\n6\n7\n8\n9\n")
		res := p.mustEdit(backends.EditRequest{Path: "f", Old: "before", New: "after"})
		want := "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-before\n+after\n 6\n 7\n 8\n"
		if _, hunk, _ := strings.Cut(res.Diff, "@@"); "@@"+hunk != want {
			p.Errorf("the diff is\n%s\nwant a hunk\n%s", res.Diff, want)
		}
	})

	s.claim("a diff has a bound and an edit has none", func(p *place) {
		const n = 20_000
		p.writeBig("f", strings.Repeat("an old line\n", n))
		res := p.mustEdit(backends.EditRequest{Path: "f", Old: "old", New: "new", ReplaceAll: true})
		if res.Replaced != n || len(res.Diff) > backends.MaxDiff || res.Diff == "" {
			p.Errorf("replaced %d of %d, with a diff of %d bytes, at most %d wanted", res.Replaced, n, len(res.Diff), backends.MaxDiff)
		}
		p.wantBytes("f", strings.Repeat("an new line\n", n))
	})

	s.claim("a file over the limit of edits is too_large", func(p *place) {
		p.needCommands()
		p.mkdir(".")
		p.sh(`yes 'a line of text' | head -c `+fmt.Sprint(backends.MaxEditFile+1)+` >"$1/f"`, p.dir)
		p.emptyLater("f")
		_, err := p.edit(backends.EditRequest{Path: "f", Old: "x", New: "y"})
		wantCode(p.T, "Edit", err, backends.CodeTooLarge)
		_, err = p.editLines(backends.EditLinesRequest{Path: "f", NewContent: "x", InsertAfter: true})
		wantCode(p.T, "EditLines", err, backends.CodeTooLarge)
	})
}
