package backendtest

import (
	"fmt"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// grep is Grep with a path like at has it.
func (p *place) grep(req backends.GrepRequest) backends.GrepResult {
	p.Helper()
	req.Path = p.at(req.Path)
	res, err := p.ws.Grep(p.Context(), req)
	if err != nil {
		p.Fatalf("Grep %+v: %v", req, err)
	}
	return res
}

// shown writes a grep's lines as ripgrep would: "path:1:match", "path-2-context".
func (p *place) shown(res backends.GrepResult) []string {
	p.Helper()
	var out []string
	for _, f := range res.Files {
		name := p.relative([]string{f.Path})[0]
		for _, l := range f.Lines {
			format := "%s:%d:%s"
			if l.Context {
				format = "%s-%d-%s"
			}
			out = append(out, fmt.Sprintf(format, name, l.Number, l.Text))
		}
	}
	return out
}

func testGrep(s *suite) {
	inTree := s.over(func(p *place) {
		p.writeAll(
			"a.go", "package a\n\nfunc Alpha() {}\nfunc beta() {}\n",
			"b.txt", "alpha\nnothing\nalpha alpha\n",
			"sub/c.go", "package sub\n// alpha and Alpha\n",
			"sub/deep/d.md", "# Title\nalpha\r\n",
			"none.txt", "nothing here\n",
			".hidden", "alpha\n",
			".dir/e.txt", "alpha\n",
			"empty", "",
		)
	})

	inTree("files with a match are found, by path in byte order", func(p *place) {
		res := p.grep(backends.GrepRequest{Pattern: "alpha", Path: "."})
		wantEqual(p.T, "Grep", p.relative(grepPaths(res)), []string{"b.txt", "sub/c.go", "sub/deep/d.md"})
		if res.Total != 3 || res.Matched != 3 || res.Withheld != 0 {
			p.Errorf("total %d, matched %d, withheld %d, want 3, 3, 0", res.Total, res.Matched, res.Withheld)
		}
		for _, f := range res.Files {
			if f.Count < 1 || f.Lines != nil {
				p.Errorf("%+v, want a count of 1 or more and no lines", f)
			}
		}
	})

	inTree("matching lines are shown with their numbers", func(p *place) {
		res := p.grep(backends.GrepRequest{Pattern: "alpha", Path: ".", Mode: backends.GrepContent})
		wantEqual(p.T, "Grep", p.shown(res), []string{
			"b.txt:1:alpha", "b.txt:3:alpha alpha", "sub/c.go:2:// alpha and Alpha", "sub/deep/d.md:2:alpha"})
		if res.Total != 4 || res.Matched != 3 {
			p.Errorf("total %d, matched %d, want 4 and 3", res.Total, res.Matched)
		}
	})

	inTree("matching lines are counted by file", func(p *place) {
		res := p.grep(backends.GrepRequest{Pattern: "alpha", Path: ".", Mode: backends.GrepCount})
		var got []string
		for _, f := range res.Files {
			got = append(got, fmt.Sprintf("%s %d", p.relative([]string{f.Path})[0], f.Count))
		}
		wantEqual(p.T, "Grep", got, []string{"b.txt 2", "sub/c.go 1", "sub/deep/d.md 1"})
		if res.Total != 3 || res.Matched != 3 {
			p.Errorf("total %d, matched %d, want 3 and 3", res.Total, res.Matched)
		}
	})

	inTree("nothing found is an empty answer", func(p *place) {
		for _, mode := range []backends.GrepMode{backends.GrepFiles, backends.GrepContent, backends.GrepCount} {
			res := p.grep(backends.GrepRequest{Pattern: "no such text", Path: ".", Mode: mode})
			if len(res.Files) != 0 || res.Total != 0 || res.Matched != 0 {
				p.Errorf("mode %d: %+v", mode, res)
			}
		}
	})

	for _, c := range []struct {
		name string
		req  backends.GrepRequest
		want []string
	}{
		{"hidden names are searched when included", backends.GrepRequest{Pattern: "^alpha$", IncludeHidden: true},
			[]string{".dir/e.txt", ".hidden", "b.txt", "sub/deep/d.md"}},
		{"case is ignored when asked", backends.GrepRequest{Pattern: "ALPHA", CaseInsensitive: true},
			[]string{"a.go", "b.txt", "sub/c.go", "sub/deep/d.md"}},
		{"case counts otherwise", backends.GrepRequest{Pattern: "ALPHA"}, nil},
		{"a glob without a slash is held against names", backends.GrepRequest{Pattern: "alpha|Alpha", Glob: "*.go"},
			[]string{"a.go", "sub/c.go"}},
		{"a glob with a slash is held against paths", backends.GrepRequest{Pattern: "alpha|Alpha", Glob: "sub/*.go"},
			[]string{"sub/c.go"}},
		{"a glob with two stars is held against paths", backends.GrepRequest{Pattern: "alpha", Glob: "sub/**"},
			[]string{"sub/c.go", "sub/deep/d.md"}},
		{"a glob has braces", backends.GrepRequest{Pattern: "alpha|Alpha", Glob: "*.{go,md}"},
			[]string{"a.go", "sub/c.go", "sub/deep/d.md"}},
		{"a glob that nothing matches finds nothing", backends.GrepRequest{Pattern: "alpha", Glob: "*.rs"}, nil},
		{"a pattern is a regular expression", backends.GrepRequest{Pattern: `func \w+\(\)`}, []string{"a.go"}},
		{"anchors are those of lines", backends.GrepRequest{Pattern: `^nothing$`}, []string{"b.txt"}},
		{"flags inside a pattern hold", backends.GrepRequest{Pattern: `(?i)TITLE`}, []string{"sub/deep/d.md"}},
		{"a directory below is searched", backends.GrepRequest{Pattern: "alpha", Path: "sub"}, []string{"sub/c.go", "sub/deep/d.md"}},
		{"one file is searched", backends.GrepRequest{Pattern: "alpha", Path: "sub/c.go"}, []string{"sub/c.go"}},
		{"one hidden file is searched", backends.GrepRequest{Pattern: "alpha", Path: ".hidden"}, []string{".hidden"}},
		{"one hidden directory is searched", backends.GrepRequest{Pattern: "alpha", Path: ".dir"}, []string{".dir/e.txt"}},
	} {
		inTree(c.name, func(p *place) {
			wantEqual(p.T, "Grep", p.relative(grepPaths(p.grep(c.req))), c.want)
		})
	}

	s.claim("lines around matches are shown once and told apart", func(p *place) {
		p.write("f", "1\n2\n3 hit\n4\n5 hit\n6\n7\n8\n9\n10\n11 hit")
		res := p.grep(backends.GrepRequest{Pattern: "hit", Path: ".", Mode: backends.GrepContent, Context: 2})
		wantEqual(p.T, "context 2", p.shown(res), []string{
			"f-1-1", "f-2-2", "f:3:3 hit", "f-4-4", "f:5:5 hit", "f-6-6", "f-7-7", "f-9-9", "f-10-10", "f:11:11 hit"})
		if res.Total != 3 {
			p.Errorf("the total is %d, want 3", res.Total)
		}
		res = p.grep(backends.GrepRequest{Pattern: "hit", Path: ".", Mode: backends.GrepContent, Context: 1})
		wantEqual(p.T, "context 1", p.shown(res), []string{
			"f-2-2", "f:3:3 hit", "f-4-4", "f:5:5 hit", "f-6-6", "f-10-10", "f:11:11 hit"})
	})

	s.claim("a pattern spans lines when asked", func(p *place) {
		p.write("f", "func a() {\n\treturn\n}\nfunc b() {}\n")
		const pattern = `\{\s+return`
		res := p.grep(backends.GrepRequest{Pattern: pattern, Path: ".", Mode: backends.GrepContent, Multiline: true})
		wantEqual(p.T, "multiline", p.shown(res), []string{"f:1:func a() {", "f:2:\treturn"})
		if res := p.grep(backends.GrepRequest{Pattern: pattern, Path: "."}); len(res.Files) != 0 {
			p.Errorf("without Multiline %q was found", grepPaths(res))
		}
	})

	s.claim("a dot matches no newline unless told to", func(p *place) {
		p.write("f", "begin\nend\n")
		if res := p.grep(backends.GrepRequest{Pattern: "begin.+end", Path: ".", Multiline: true}); len(res.Files) != 0 {
			p.Error("a dot matched a newline")
		}
		if res := p.grep(backends.GrepRequest{Pattern: "(?s)begin.+end", Path: ".", Multiline: true}); len(res.Files) != 1 {
			p.Error("(?s) did not make a dot match a newline")
		}
	})

	s.claim("a limit cuts what is shown and not the total", func(p *place) {
		for i := range 4 {
			p.write(fmt.Sprintf("f%d", i), "hit\nmiss\nhit\n")
		}
		res := p.grep(backends.GrepRequest{Pattern: "hit", Path: ".", Limit: 3})
		wantEqual(p.T, "files", p.relative(grepPaths(res)), []string{"f0", "f1", "f2"})
		if res.Total != 4 || res.Matched != 4 {
			p.Errorf("files: total %d, matched %d, want 4 and 4", res.Total, res.Matched)
		}
		res = p.grep(backends.GrepRequest{Pattern: "hit", Path: ".", Limit: 2, Mode: backends.GrepCount})
		wantEqual(p.T, "counts", p.relative(grepPaths(res)), []string{"f0", "f1"})
		if res.Total != 4 {
			p.Errorf("counts: total %d, want 4", res.Total)
		}
		res = p.grep(backends.GrepRequest{Pattern: "hit", Path: ".", Limit: 3, Mode: backends.GrepContent})
		wantEqual(p.T, "lines", p.shown(res), []string{"f0:1:hit", "f0:3:hit", "f1:1:hit"})
		if res.Total != 8 || res.Matched != 4 {
			p.Errorf("lines: total %d, matched %d, want 8 and 4", res.Total, res.Matched)
		}
		res = p.grep(backends.GrepRequest{Pattern: "hit", Path: ".", Limit: 1, Context: 1, Mode: backends.GrepContent})
		wantEqual(p.T, "lines with context", p.shown(res), []string{"f0:1:hit", "f0-2-miss"})
	})

	s.claim("binary files are skipped", func(p *place) {
		p.writeAll("text", "needle\n", "binary", "needle\n\x00\n", "image.png", "\x89PNG\r\n\x1a\n\x00needle\n", "latin1", "needle \xe9\n")
		res := p.grep(backends.GrepRequest{Pattern: "needle", Path: "."})
		wantEqual(p.T, "Grep", p.relative(grepPaths(res)), []string{"latin1", "text"})
	})

	s.claim("long lines are cut by characters, by default at 2000", func(p *place) {
		p.write("f", strings.Repeat("é", 2500)+"\n")
		for limit, want := range map[int]int{0: 2000, 10: 10, 3000: 2500} {
			res := p.grep(backends.GrepRequest{Pattern: "é", Path: ".", Mode: backends.GrepContent, MaxLine: limit})
			if len(res.Files) != 1 || len(res.Files[0].Lines) != 1 {
				p.Fatalf("%+v", res)
			}
			if l := res.Files[0].Lines[0]; l.Text != strings.Repeat("é", want) || l.Cut != 2500-want {
				p.Errorf("MaxLine %d: %d bytes and Cut %d, want %d characters and Cut %d", limit, len(l.Text), l.Cut, want, 2500-want)
			}
		}
	})

	s.claim("a match at the very end of a big file is found", func(p *place) {
		const lines = 100_000
		p.writeBig("f", strings.Repeat("just another line\n", lines)+"the needle")
		res := p.grep(backends.GrepRequest{Pattern: "needle$", Path: ".", Mode: backends.GrepContent})
		wantEqual(p.T, "Grep", p.shown(res), []string{fmt.Sprintf("f:%d:the needle", lines+1)})
	})

	s.claim("many files are all searched", func(p *place) {
		var want []string
		for i := range 60 {
			name := fmt.Sprintf("d%d/f%03d", i%7, i)
			content := "nothing\n"
			if i%3 == 0 {
				content = "needle\n"
				want = append(want, name)
			}
			p.write(name, content)
		}
		res := p.grep(backends.GrepRequest{Pattern: "needle", Path: "."})
		wantEqual(p.T, "Grep", p.relative(grepPaths(res)), sorted(want))
	})

	for _, c := range []struct{ name, pattern, mention string }{
		{"a pattern that does not parse is refused", "a(b", ""},
		{"lookahead is refused with advice", "foo(?=bar)", "look"},
		{"lookbehind is refused with advice", "(?<!foo)bar", "look"},
		{"a backreference is refused with advice", `(\w)\1`, "backreference"},
	} {
		s.claim(c.name, func(p *place) {
			p.write("f", "foobar\n")
			_, err := p.ws.Grep(p.Context(), backends.GrepRequest{Pattern: c.pattern, Path: p.dir})
			wantCode(p.T, "Grep "+c.pattern, err, backends.CodeInvalidArgument)
			wantMention(p.T, err, c.mention)
		})
	}

	s.claim("a malformed glob is refused", func(p *place) {
		p.write("f", "text\n")
		_, err := p.ws.Grep(p.Context(), backends.GrepRequest{Pattern: "text", Path: p.dir, Glob: "["})
		wantCode(p.T, "Grep", err, backends.CodeInvalidArgument)
	})
}
