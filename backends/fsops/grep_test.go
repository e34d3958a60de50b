package fsops

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// grepText greps one file and writes the lines as "number:text", neighbours
// as "number-text".
func grepLinesOf(t testing.TB, content string, req backends.GrepRequest) []string {
	t.Helper()
	tree, dir := walkTree(t, map[string]string{"f": content})
	req.Path = dir + "/f"
	req.Mode = backends.GrepContent
	res, err := tree.Grep(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range res.Files {
		for _, l := range f.Lines {
			sep := ":"
			if l.Context {
				sep = "-"
			}
			s := fmt.Sprintf("%d%s%s", l.Number, sep, l.Text)
			if l.Cut > 0 {
				s += fmt.Sprintf("+%d", l.Cut)
			}
			out = append(out, s)
		}
	}
	return out
}

func TestGrepLines(t *testing.T) {
	for _, c := range []struct {
		name, content string
		req           backends.GrepRequest
		want          []string
	}{
		{"a literal", "a\nfoo\nb\nxfoo\n", backends.GrepRequest{Pattern: "foo"}, []string{"2:foo", "4:xfoo"}},
		{"several in a line count once", "foofoo\n", backends.GrepRequest{Pattern: "foo"}, []string{"1:foofoo"}},
		{"no final newline", "a\nfoo", backends.GrepRequest{Pattern: "foo$"}, []string{"2:foo"}},
		{"anchors are lines", "ab\nb\n", backends.GrepRequest{Pattern: "^b"}, []string{"2:b"}},
		{`\A and \z are lines`, "ab\nb\n", backends.GrepRequest{Pattern: `\Ab\z`}, []string{"2:b"}},
		{"CRLF is a line ending", "foo\r\nbar\r\n", backends.GrepRequest{Pattern: "o$"}, []string{"1:foo"}},
		{"a lone CR is not", "a\rb\r\nc\n", backends.GrepRequest{Pattern: "b$"}, []string{"1:a\rb"}},
		{"byte order mark", "\xef\xbb\xbffoo\n", backends.GrepRequest{Pattern: "^foo"}, []string{"1:foo"}},
		{"empty lines", "a\n\nb\n", backends.GrepRequest{Pattern: "^$"}, []string{"2:"}},
		{"a pattern that matches nothing matches all", "a\nb\n", backends.GrepRequest{Pattern: "x*"}, []string{"1:a", "2:b"}},
		{"a negated class matches no newline", "a\nb\n", backends.GrepRequest{Pattern: "a[^x]"}, nil},
		{"space matches no newline", "a\nb\n", backends.GrepRequest{Pattern: `a\sb`}, nil},
		{"case", "FOO\nfoo\n", backends.GrepRequest{Pattern: "Foo", CaseInsensitive: true}, []string{"1:FOO", "2:foo"}},
		{"case, in the pattern", "FOO_bar\nfoo_BAR\n", backends.GrepRequest{Pattern: "(?i:foo)_bar"}, []string{"1:FOO_bar"}},
		{"case outside of ASCII", "STRASSE É\n", backends.GrepRequest{Pattern: "é", CaseInsensitive: true}, []string{"1:STRASSE É"}},
		{"a Kelvin sign is a k", "\u212aelvin\n", backends.GrepRequest{Pattern: "kelvin", CaseInsensitive: true}, []string{"1:\u212aelvin"}},
		{"a long s is an s", "ta\u017fk\n", backends.GrepRequest{Pattern: "TASK", CaseInsensitive: true}, []string{"1:ta\u017fk"}},
		{"invalid UTF-8 stays", "\xff foo\n", backends.GrepRequest{Pattern: "foo"}, []string{"1:\xff foo"}},
		{"alternatives", "a1\nb2\nc3\n", backends.GrepRequest{Pattern: "a1|c3"}, []string{"1:a1", "3:c3"}},
		{"word boundary", "foobar\nfoo bar\n", backends.GrepRequest{Pattern: `\bfoo\b`}, []string{"2:foo bar"}},
		{"multiline with a newline", "a\nb\nc\n", backends.GrepRequest{Pattern: `a\nb`, Multiline: true}, []string{"1:a", "2:b"}},
		{"multiline: a dot is no newline", "a\nb\n", backends.GrepRequest{Pattern: `a.b`, Multiline: true}, nil},
		{"multiline: with (?s) it is", "a\nb\n", backends.GrepRequest{Pattern: `(?s)a.b`, Multiline: true}, []string{"1:a", "2:b"}},
		{"multiline: anchors are lines", "a\nb\nc\n", backends.GrepRequest{Pattern: `^b$\n^c$`, Multiline: true}, []string{"2:b", "3:c"}},
		{"multiline: the text's beginning", "b\nb\n", backends.GrepRequest{Pattern: `\Ab\n`, Multiline: true}, []string{"1:b"}},
		{"multiline: CRLF", "a\r\nb\r\n", backends.GrepRequest{Pattern: `a$\nb`, Multiline: true}, []string{"1:a", "2:b"}},
		{"multiline: matches that share a line", "a\nb x\ny\n", backends.GrepRequest{Pattern: `a\nb|x\ny`, Multiline: true}, []string{"1:a", "2:b x", "3:y"}},
		{"multiline: a match that ends in a newline", "a\nb\n", backends.GrepRequest{Pattern: `a\n`, Multiline: true}, []string{"1:a"}},
		{"context", "1\n2\n3\nx\n5\n6\n7\n", backends.GrepRequest{Pattern: "x", Context: 2}, []string{"2-2", "3-3", "4:x", "5-5", "6-6"}},
		{"context at the ends", "x\n2\nx\n", backends.GrepRequest{Pattern: "x", Context: 9}, []string{"1:x", "2-2", "3:x"}},
		{"context that overlaps", "x\n2\n3\nx\n5\n", backends.GrepRequest{Pattern: "x", Context: 2}, []string{"1:x", "2-2", "3-3", "4:x", "5-5"}},
		{"context with a gap", "x\n2\n3\n4\n5\nx\n", backends.GrepRequest{Pattern: "x", Context: 1}, []string{"1:x", "2-2", "5-5", "6:x"}},
		{"limit with context", "x\n2\nx\n4\n", backends.GrepRequest{Pattern: "x", Context: 1, Limit: 1}, []string{"1:x", "2-2"}},
		{"long lines are cut", "é23456789\n", backends.GrepRequest{Pattern: "9", MaxLine: 3}, []string{"1:é23+6"}},
		{"NUL after the first 8000 bytes", strings.Repeat("a\n", 5000) + "\x00foo\n", backends.GrepRequest{Pattern: "foo"}, []string{"5001:\x00foo"}},
		{"binary", "foo\n\x00", backends.GrepRequest{Pattern: "foo"}, nil},
		{"empty file", "", backends.GrepRequest{Pattern: "x*"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := grepLinesOf(t, c.content, c.req); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestGrepLineLengthDefault(t *testing.T) {
	got := grepLinesOf(t, strings.Repeat("é", 2500)+"\n", backends.GrepRequest{Pattern: "é"})
	if len(got) != 1 || got[0] != "1:"+strings.Repeat("é", 2000)+"+500" {
		t.Errorf("%.40q…", got)
	}
}

// TestGrepAcrossBlocks searches files in which everything of interest is at
// the places where one buffer ends and the next begins.
func TestGrepAcrossBlocks(t *testing.T) {
	for _, size := range []int{grepBlock, 2 * grepBlock, grepLineMax} {
		for _, shift := range []int{-9, -5, -4, -3, -2, -1, 0, 1, 2} {
			var b bytes.Buffer
			for b.Len() < size+shift-16 {
				b.WriteString("filler line\n"[:min(12, size+shift-b.Len()-5)])
			}
			for b.Len() < size+shift-1 {
				b.WriteByte('.')
			}
			b.WriteString("\nneedle\r\nafter\n")
			for range 1000 {
				b.WriteString("more\n")
			}
			lines := strings.Split(b.String(), "\n")
			n := slices.Index(lines, "needle\r") + 1
			got := grepLinesOf(t, b.String(), backends.GrepRequest{Pattern: "^needle$", Context: 2})
			want := []string{
				fmt.Sprintf("%d-%s", n-2, lines[n-3]), fmt.Sprintf("%d-%s", n-1, lines[n-2]), fmt.Sprintf("%d:needle", n),
				fmt.Sprintf("%d-after", n+1), fmt.Sprintf("%d-more", n+2)}
			if !slices.Equal(got, want) {
				t.Errorf("size %d, shift %d: got %.200q\nwant %.200q", size, shift, got, want)
			}
		}
	}
}

func TestGrepLongLines(t *testing.T) {
	long := strings.Repeat("é", 3<<20/2) // 3 MB
	for _, c := range []struct {
		name, content, pattern string
		want                   []string
	}{
		{"at the beginning", "a\nneedle" + long + "\nb\n", "^needle", []string{"1-a", "2:needl+1572865", "3-b"}},
		{"at the end", "a\n" + long + "needle\r\nb\n", "needle$", []string{"1-a", "2:ééééé+1572865", "3-b"}},
		{"not at the beginning", "a\n" + long + "needle\nb\n", "^(needle|é{5}needle)", nil},
		{"over the edge of a piece", "a\n" + strings.Repeat("x", grepLineMax-3) + "needle" + long + "\nb\n", "needle", []string{"1-a", "2:xxxxx+2621438", "3-b"}},
		{"a neighbour", "needle\n" + long + "\nb\n", "needle", []string{"1:needl+1", "2-ééééé+1572859"}},
		{"a neighbour before", long + "\nneedle\nb\n", "needle", []string{"1-ééééé+1572859", "2:needl+1", "3-b"}},
		{"the last line", "a\n" + long + "needle", "needle$", []string{"1-a", "2:ééééé+1572865"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := grepLinesOf(t, c.content, backends.GrepRequest{Pattern: c.pattern, Context: 1, MaxLine: 5}); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestGrepMultilineInWindows(t *testing.T) {
	var b strings.Builder
	line := 0
	var want []string
	for b.Len() < 2*grepWindowMax {
		if line%5000 == 0 {
			b.WriteString("begin\nend\n")
			want = append(want, fmt.Sprintf("%d:begin", line+1), fmt.Sprintf("%d:end", line+2))
			line += 2
			continue
		}
		b.WriteString("something that is in between\n")
		line++
	}
	b.WriteString("last\n")
	for _, pattern := range []string{`begin\nend`, `[b]egin\n[e]nd`, `(?s)begin.end`} {
		if got := grepLinesOf(t, b.String(), backends.GrepRequest{Pattern: pattern, Multiline: true}); !slices.Equal(got, want) {
			t.Errorf("%s: %d lines, want %d", pattern, len(got), len(want))
		}
	}
	if got := grepLinesOf(t, b.String(), backends.GrepRequest{Pattern: `\A\w+\n|last\n\z`, Multiline: true}); !slices.Equal(got, []string{"1:begin", fmt.Sprintf("%d:last", line+1)}) {
		t.Errorf("the text's ends: %q", got)
	}
	// A match over the edge of a window is found whole.
	if got := grepLinesOf(t, b.String(), backends.GrepRequest{Pattern: `(?s)end\nsome.*?begin`, Multiline: true, Limit: 3}); len(got) != 3 || got[0] != "2:end" {
		t.Errorf("a long match: %.80q", got)
	}
}

func TestGrepTree(t *testing.T) {
	tree, dir := walkTree(t, map[string]string{
		"a.go": "foo\nfoo\n", "b.txt": "foo\n", ".hid/a.go": "foo\n", ".hidden": "foo\n", "bin": "foo\x00", ".gitignore": "ignored\n",
		"ignored/x.go": "foo\n", "src/c.go": "foo\nbar\n", "src/d.go": "bar\n", ".git/config": "foo\n", "src/.git": "foo\n", "link": "-> a.go",
	})
	for _, c := range []struct {
		name  string
		req   backends.GrepRequest
		want  []string
		total int
	}{
		{"files", backends.GrepRequest{}, []string{"a.go", "b.txt", "src/c.go"}, 3},
		{"content counts lines", backends.GrepRequest{Mode: backends.GrepContent}, []string{"a.go", "b.txt", "src/c.go"}, 4},
		{"count", backends.GrepRequest{Mode: backends.GrepCount}, []string{"a.go", "b.txt", "src/c.go"}, 3},
		{"hidden", backends.GrepRequest{IncludeHidden: true}, []string{".hid/a.go", ".hidden", "a.go", "b.txt", "src/c.go"}, 5},
		{"ignored", backends.GrepRequest{IncludeIgnored: true}, []string{"a.go", "b.txt", "ignored/x.go", "src/c.go"}, 4},
		{"glob by name", backends.GrepRequest{Glob: "*.go"}, []string{"a.go", "src/c.go"}, 2},
		{"glob by path", backends.GrepRequest{Glob: "src/*.go"}, []string{"src/c.go"}, 1},
		{"glob by path, anchored", backends.GrepRequest{Glob: "./*.go"}, []string{"a.go"}, 1},
		{"glob by absolute path", backends.GrepRequest{Glob: dir + "/src/*.go"}, []string{"src/c.go"}, 1},
		{"glob of a directory", backends.GrepRequest{Glob: "src/"}, []string{"src/c.go"}, 1},
		{"glob with braces", backends.GrepRequest{Glob: "*.{txt,md}"}, []string{"b.txt"}, 1},
		{"a directory as path", backends.GrepRequest{Path: "src"}, []string{"src/c.go"}, 1},
		{"a hidden directory as path", backends.GrepRequest{Path: ".hid"}, []string{".hid/a.go"}, 1},
		{"a hidden file as path", backends.GrepRequest{Path: ".hidden"}, []string{".hidden"}, 1},
		{"an ignored file as path", backends.GrepRequest{Path: "ignored/x.go"}, []string{"ignored/x.go"}, 1},
		{"a symlink as path", backends.GrepRequest{Path: "link"}, []string{"link"}, 1},
		{"a binary file as path", backends.GrepRequest{Path: "bin"}, nil, 0},
		{"a file in .git as path", backends.GrepRequest{Path: ".git/config"}, nil, 0},
		{".git with everything", backends.GrepRequest{Path: ".git", IncludeHidden: true, IncludeIgnored: true}, nil, 0},
		{"a file that the glob leaves out", backends.GrepRequest{Path: "b.txt", Glob: "*.go"}, nil, 0},
		{"limit", backends.GrepRequest{Limit: 2}, []string{"a.go", "b.txt"}, 3},
		{"limit on lines", backends.GrepRequest{Limit: 2, Mode: backends.GrepContent}, []string{"a.go"}, 4},
		{"limit on lines, in a later file", backends.GrepRequest{Limit: 3, Mode: backends.GrepContent}, []string{"a.go", "b.txt"}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.req.Pattern = "foo"
			res, err := tree.Grep(t.Context(), c.req)
			if err != nil {
				t.Fatal(err)
			}
			if got := grepPaths(res, dir); !slices.Equal(got, c.want) || res.Total != c.total {
				t.Errorf("got %q of %d, want %q of %d", got, res.Total, c.want, c.total)
			}
		})
	}
	for name, c := range map[string]struct {
		req  backends.GrepRequest
		code backends.Code
	}{
		"missing":         {backends.GrepRequest{Pattern: "x", Path: "nowhere"}, backends.CodeNotFound},
		"empty pattern":   {backends.GrepRequest{}, backends.CodeInvalidArgument},
		"excluding glob":  {backends.GrepRequest{Pattern: "x", Glob: "!*.go"}, backends.CodeInvalidArgument},
		"absolute glob":   {backends.GrepRequest{Pattern: "x", Glob: "/elsewhere/*.go"}, backends.CodeInvalidArgument},
		"two dots":        {backends.GrepRequest{Pattern: "x", Glob: "../*.go"}, backends.CodeInvalidArgument},
		"negative":        {backends.GrepRequest{Pattern: "x", Context: -1}, backends.CodeInvalidArgument},
		"too much around": {backends.GrepRequest{Pattern: "x", Context: 1001}, backends.CodeInvalidArgument},
	} {
		if _, err := tree.Grep(t.Context(), c.req); backends.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}

func TestGrepLimitIsTheFirstLines(t *testing.T) {
	files := map[string]string{}
	var all []string
	for i := range 30 {
		name := fmt.Sprintf("d%d/f%02d", i%4, i)
		files[name] = strings.Repeat("foo\nbar\n", 1+i%5)
	}
	tree, dir := walkTree(t, files)
	flat := func(limit int) (lines []string, res backends.GrepResult) {
		res, err := tree.Grep(t.Context(), backends.GrepRequest{Pattern: "foo", Mode: backends.GrepContent, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range res.Files {
			for _, l := range f.Lines {
				lines = append(lines, fmt.Sprintf("%s:%d", f.Path, l.Number))
			}
		}
		return lines, res
	}
	all, _ = flat(0)
	if len(all) != 90 || !strings.HasPrefix(all[0], dir+"/d0/") {
		t.Fatalf("%d lines: %q", len(all), all[0])
	}
	for _, limit := range []int{1, 2, 7, 30, 89, 90, 91} {
		got, res := flat(limit)
		if !slices.Equal(got, all[:min(limit, 90)]) || res.Total != 90 || res.Matched != 30 {
			t.Errorf("limit %d: %d lines of %d in %d files", limit, len(got), res.Total, res.Matched)
		}
	}
}

func TestGrepFilter(t *testing.T) {
	tree, dir := walkTree(t, map[string]string{"ok": "foo", "names": "foo", "content": "foo", "private/x": "foo", "p": "-> private"})
	hide := func(p ...string) []backends.FilterSet {
		set := backends.FilterSet{Default: true}
		for _, p := range p {
			set.Rules = append(set.Rules, backends.FilterRule{Pattern: p})
		}
		return []backends.FilterSet{set}
	}
	flt := backends.Filter{Names: hide("**/names", "**/private/**"), Content: hide("**/content")}
	for _, c := range []struct {
		path     string
		want     []string
		withheld int
	}{
		{".", []string{"ok"}, 1}, {"names", nil, 0}, {"content", nil, 1}, {"ok", []string{"ok"}, 0}, {"p", nil, 0}, {"p/x", nil, 0},
	} {
		res, err := tree.Grep(t.Context(), backends.GrepRequest{Pattern: "foo", Path: c.path, Filter: flt})
		if err != nil {
			t.Fatal(err)
		}
		if got := grepPaths(res, dir); !slices.Equal(got, c.want) || res.Withheld != c.withheld {
			t.Errorf("%s: got %q and %d withheld, want %q and %d", c.path, got, res.Withheld, c.want, c.withheld)
		}
	}
}

func TestGrepExplainsPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		multi   bool
		says    []string
	}{
		{`foo(?=bar)`, false, []string{"lookahead", "RE2", "foobar"}},
		{`foo(?!bar)`, false, []string{"negative lookahead", "RE2"}},
		{`(?<=foo)bar`, false, []string{"lookbehind", "RE2", "foobar"}},
		{`(?<!foo)bar`, false, []string{"negative lookbehind", "RE2"}},
		{`(a)\1`, false, []string{"backreference", `\1`}},
		{`(?P<q>a)\k<q>`, false, []string{"backreference"}},
		{`(?>a)`, false, []string{"atomic", "(?:"}},
		{`a++`, false, []string{"possessive", "++"}},
		{`a*+b`, false, []string{"possessive"}},
		{`a\Z`, false, []string{`\z`}},
		{`\u00e9`, false, []string{`\x{`}},
		{`[\u00e9]`, false, []string{`\x{`}},
		{`\h`, false, []string{`[ \t]`}},
		{`foo(`, false, []string{`"("`, `foo\(`}},
		{`foo)`, false, []string{`")"`, `foo\)`}},
		{`a[b`, false, []string{"not closed", `a\[b`}},
		{`*a`, false, []string{"nothing", `\*a`}},
		{`a\`, false, []string{"backslash"}},
		{`[z-a]`, false, []string{"z-a", "range"}},
		{`a{2000}`, false, []string{"1000"}},
		{`a\nb`, false, []string{"multiline"}},
		{"a\nb", false, []string{"multiline"}},
		{"a\xff", false, []string{"UTF-8"}},
		{strings.Repeat("(", 2000) + strings.Repeat(")", 2000), false, []string{"nested"}},
	} {
		_, err := compileGrep(backends.GrepRequest{Pattern: c.pattern, Multiline: c.multi})
		if backends.CodeOf(err) != backends.CodeInvalidArgument {
			t.Errorf("%.40q: %v", c.pattern, err)
			continue
		}
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%.40q: %q does not say %q", c.pattern, err, s)
			}
		}
	}
}

func TestGrepLiterals(t *testing.T) {
	for _, c := range []struct {
		pattern string
		texts   []string // looked for
		others  [][]string
		first   bool // texts are where a match begins
		exact   bool
	}{
		{`needle`, []string{"needle"}, nil, true, true},
		{`needle[A-Z]\w+Tree`, []string{"Tree"}, [][]string{{"needle"}}, false, false},
		{`QJ\w+return`, []string{"QJ"}, [][]string{{"return"}}, true, false},
		{`\w+Deadline\w+`, []string{"Deadline"}, nil, false, false},
		{`(?:foo|bar)+ZQ`, []string{"ZQ"}, [][]string{{"foo", "bar"}}, false, false},
		{`(?:Zoo|Jar)\d+|Qux`, []string{"Zoo", "Jar", "Qux"}, nil, true, false},
		{`\w+Zoo|Qux`, []string{"Zoo", "Qux"}, nil, false, false},
		{`(?:foo)?`, nil, nil, false, false},
		{`x*(?:foo)?|Bar`, nil, nil, false, false},
		{`^Foo\b`, []string{"Foo"}, nil, true, false},
		{`\d+`, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, nil, true, false},
		{`[^a]`, nil, nil, false, false},
	} {
		p, err := compileGrep(backends.GrepRequest{Pattern: c.pattern})
		if err != nil {
			t.Fatal(err)
		}
		var others [][]string
		for _, set := range p.need.others {
			others = append(others, set.texts)
		}
		if !slices.Equal(p.need.texts, c.texts) || !slices.EqualFunc(others, c.others, slices.Equal) || p.need.first != c.first || p.need.exact != c.exact {
			t.Errorf("%s: %+v", c.pattern, p.need)
		}
	}
}

// TestGrepWhereLiteralsDoNotHelp searches files in which nearly every line has
// the literal that the pattern needs, block after block.
func TestGrepWhereLiteralsDoNotHelp(t *testing.T) {
	var b strings.Builder
	var want []string
	for n := 1; b.Len() < 3*grepBlock; n++ {
		if n%1000 == 0 {
			b.WriteString("Zoo of 9 animals\n")
			want = append(want, fmt.Sprintf("%d:Zoo of 9 animals", n))
			continue
		}
		b.WriteString("Zoo of animals\n")
	}
	got := grepLinesOf(t, b.String(), backends.GrepRequest{Pattern: `Zoo \w+ [0-9] animals`})
	if !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
	got = grepLinesOf(t, b.String(), backends.GrepRequest{Pattern: `Zoo .*[3-9]`})
	if !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
}

func TestGrepMemoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := []byte(strings.Repeat("some text with a needle here\n", 1<<15))
	for range 40 { // about 38 MB
		if _, err := f.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	tree := New(walkOS{"/"}, dir)
	res := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := tree.Grep(b.Context(), backends.GrepRequest{Pattern: "needle", Mode: backends.GrepContent, Limit: 10}); err != nil {
				b.Fatal(err)
			}
		}
	})
	if n := res.AllocedBytesPerOp(); n > 4<<20 {
		t.Errorf("%d bytes allocated in a search of 38 MB", n)
	}
}

// FuzzGrep compares a search with the obvious way to do it.
func FuzzGrep(f *testing.F) {
	for _, p := range []string{"a", "ab|c", "(?i)k", "^a$", `\bA\b`, "[ab]c?", "a.b", `\s`, "x*", "é", "(a|b)+c", "a{2,3}", "[^a]b", `\x{fffd}`, "ß", "(?s).b", "s", `a\nb`, `\Aa`, `a\z`, `$\n^`, `a\w*B`, `ab.+c|\wB`, `^a+.*[bk]$`, `(ab|A).s`,
		`\s{1,1000}[^a]`, `[\s\S]{1,600}`, `.{0,600}[;}]`, `((a?){30}){30}[ab]{900}[^ab]`, `(a{0,9}b?){1,99}`, `(?U)a{2,}b{0,5}|`, `(^a{1,3}$\n?){1,50}`, `a??b*?|\B`} {
		for _, c := range []string{"a\nab\r\nABC\n", "\u212a s\u017f é\xff\n\n", "b\r\na\r\nb"} {
			f.Add(p, []byte(c), false, false)
			f.Add(p, []byte(c), true, true)
		}
	}
	f.Fuzz(func(t *testing.T, pattern string, content []byte, fold, multi bool) {
		if len(pattern) > 60 || len(content) > 600 || isBinary(content) {
			return
		}
		req := &backends.GrepRequest{Pattern: pattern, CaseInsensitive: fold, Multiline: multi, Mode: backends.GrepContent}
		p, err := compileGrep(*req)
		flags := "(?m)"
		if fold {
			flags = "(?im)"
		}
		re, goErr := regexp.Compile(flags + pattern)
		if err != nil {
			if backends.CodeOf(err) != backends.CodeInvalidArgument {
				t.Fatal(err)
			}
			return
		}
		if goErr != nil {
			t.Fatalf("%q: compiles, but not in Go: %v", pattern, goErr)
		}
		s := newGrepSearch(p, req)
		defer s.release()
		_, lines, err := s.search(t.Context(), bytes.NewReader(content), func() int { return grepKeepAll })
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, l := range lines {
			got = append(got, l.Number)
		}
		s.direct = 1 // without looking for literals
		if _, again, err := s.search(t.Context(), bytes.NewReader(content), func() int { return grepKeepAll }); err != nil || !slices.Equal(again, lines) {
			t.Errorf("pattern %q (fold %v, multiline %v) in %q: without literals %v, %v; with %v", pattern, fold, multi, content, again, err, lines)
		}

		text := bytes.ReplaceAll(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")), []byte("\r\n"), []byte("\n"))
		all := bytes.Split(text, []byte("\n"))
		if len(all[len(all)-1]) == 0 {
			all = all[:len(all)-1]
		}
		hit := make([]bool, len(all)+1)
		if multi && p.multi {
			for _, m := range re.FindAllIndex(text, -1) {
				first := bytes.Count(text[:m[0]], []byte("\n"))
				last := bytes.Count(text[:max(m[0], m[1]-1)], []byte("\n"))
				for i := first; i <= last; i++ {
					hit[i] = true
				}
			}
		} else {
			for i, line := range all {
				hit[i] = re.Match(line)
			}
		}
		var want []int
		for i := range all {
			if hit[i] {
				want = append(want, i+1)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("pattern %q (fold %v, multiline %v) in %q: lines %v, want %v; needs %q", pattern, fold, multi, content, got, want, p.need.texts)
		}
		for _, l := range lines {
			if l.Text != string(all[l.Number-1]) && utf8.ValidString(l.Text) {
				t.Errorf("line %d is %q, want %q", l.Number, l.Text, all[l.Number-1])
			}
		}
	})
}
