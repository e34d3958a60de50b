package backendtest

import (
	"slices"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// hide is a set that shows everything but what patterns match.
func hide(patterns ...string) backends.FilterSet {
	set := backends.FilterSet{Default: true}
	for _, pattern := range patterns {
		set.Rules = append(set.Rules, backends.FilterRule{Pattern: pattern})
	}
	return set
}

func testFilter(s *suite) {
	inTree := s.over(func(p *place) {
		p.writeAll("keep.txt", "needle\n", "secret.txt", "needle\n", "sub/secret.key", "needle\n", "sub/keep.key", "needle\n", "other.md", "needle\n")
	})
	names := func(sets ...backends.FilterSet) backends.Filter { return backends.Filter{Names: sets} }

	for _, c := range []struct {
		name   string
		filter backends.Filter
		want   []string
	}{
		{"the zero filter shows everything", backends.Filter{},
			[]string{"keep.txt", "other.md", "secret.txt", "sub/keep.key", "sub/secret.key"}},
		{"what a rule hides is not shown", names(hide("**/secret*")),
			[]string{"keep.txt", "other.md", "sub/keep.key"}},
		{"the first rule that matches decides", names(backends.FilterSet{Default: true, Rules: []backends.FilterRule{
			{Pattern: "**/keep.*", Show: true}, {Pattern: "**/*.txt"}, {Pattern: "**/secret.txt", Show: true}, {Pattern: "**/*.key"}}}),
			[]string{"keep.txt", "other.md", "sub/keep.key"}},
		{"a default hides what no rule matches", names(backends.FilterSet{Rules: []backends.FilterRule{
			{Pattern: "**/*.txt", Show: true}, {Pattern: "**/sub", Show: true}}}),
			[]string{"keep.txt", "secret.txt"}},
		{"every set must show a path", names(hide("**/*.md"), hide("**/secret*")),
			[]string{"keep.txt", "sub/keep.key"}},
		{"a star does not cross a slash", names(hide("/**/sub*.key", "/*secret*")),
			[]string{"keep.txt", "other.md", "secret.txt", "sub/keep.key", "sub/secret.key"}},
	} {
		inTree(c.name, func(p *place) {
			got, err := p.ws.Glob(p.Context(), backends.GlobRequest{Pattern: "**", Path: p.dir, Filter: c.filter})
			if err != nil {
				p.Fatal(err)
			}
			wantEqual(p.T, "Glob", p.relative(got.Paths), c.want)
			if got.Total != len(c.want) {
				p.Errorf("the total of Glob is %d, want %d", got.Total, len(c.want))
			}
			grep := p.grep(backends.GrepRequest{Pattern: "needle", Path: ".", Filter: c.filter})
			wantEqual(p.T, "Grep", p.relative(grepPaths(grep)), c.want)
			if grep.Total != len(c.want) || grep.Matched != len(c.want) || grep.Withheld != 0 {
				p.Errorf("Grep: total %d, matched %d, withheld %d, want %d, %[4]d, 0", grep.Total, grep.Matched, grep.Withheld, len(c.want))
			}
		})
	}

	inTree("a listing leaves out and does not count what is hidden", func(p *place) {
		for _, limit := range []int{0, 1} {
			res, err := p.ws.List(p.Context(), backends.ListRequest{Path: p.dir, Limit: limit, Filter: names(hide("**/secret*", "**/sub"))})
			if err != nil {
				p.Fatal(err)
			}
			want := []string{"keep.txt", "other.md"}
			if limit == 1 {
				want = want[:1]
			}
			wantEqual(p.T, "List", entryNames(res.Entries), want)
			if res.Total != 2 {
				p.Errorf("the total is %d, want 2", res.Total)
			}
		}
	})

	inTree("files whose content is hidden are withheld from a grep and counted", func(p *place) {
		filter := backends.Filter{Content: []backends.FilterSet{hide("**/secret*")}}
		grep := p.grep(backends.GrepRequest{Pattern: "needle", Path: ".", Filter: filter})
		wantEqual(p.T, "Grep", p.relative(grepPaths(grep)), []string{"keep.txt", "other.md", "sub/keep.key"})
		if grep.Withheld != 2 || grep.Matched != 3 {
			p.Errorf("withheld %d, matched %d, want 2 and 3", grep.Withheld, grep.Matched)
		}
		filter.Names = []backends.FilterSet{hide("**/secret.txt")}
		if grep := p.grep(backends.GrepRequest{Pattern: "needle", Path: ".", Filter: filter}); grep.Withheld != 1 {
			p.Errorf("withheld %d, want only the one whose name is shown", grep.Withheld)
		}
		glob, err := p.ws.Glob(p.Context(), backends.GlobRequest{Pattern: "**/secret*", Path: p.dir, Filter: backends.Filter{Content: []backends.FilterSet{hide("**/secret*")}}})
		if err != nil {
			p.Fatal(err)
		}
		wantEqual(p.T, "Glob", p.relative(glob.Paths), []string{"secret.txt", "sub/secret.key"})
	})

	inTree("a grep of one file is held to the filter", func(p *place) {
		grep := p.grep(backends.GrepRequest{Pattern: "needle", Path: "secret.txt", Filter: backends.Filter{Content: []backends.FilterSet{hide("**/secret*")}}})
		if len(grep.Files) != 0 || grep.Withheld != 1 {
			p.Errorf("content hidden: %q found and %d withheld, want none and 1", grepPaths(grep), grep.Withheld)
		}
	})

	s.claim("a link is held to the rules under both its names", func(p *place) {
		p.write("secret.txt", "needle\n")
		p.write("open.txt", "needle\n")
		p.symlink("secret.txt", "innocent.txt")
		p.symlink("open.txt", "secret-link.txt")
		filter := names(hide("**/secret*"))
		res, err := p.ws.List(p.Context(), backends.ListRequest{Path: p.dir, Filter: filter})
		if err != nil {
			p.Fatal(err)
		}
		wantEqual(p.T, "List", entryNames(res.Entries), []string{"open.txt"})
		glob, err := p.ws.Glob(p.Context(), backends.GlobRequest{Pattern: "*", Path: p.dir, Filter: filter})
		if err != nil {
			p.Fatal(err)
		}
		wantEqual(p.T, "Glob", p.relative(glob.Paths), []string{"open.txt"})
		grep := p.grep(backends.GrepRequest{Pattern: "needle", Path: ".", Filter: filter})
		wantEqual(p.T, "Grep", p.relative(grepPaths(grep)), []string{"open.txt"})
	})

	s.claim("a directory reached by a link is held to the rules of where it is", func(p *place) {
		p.write("private/secret.txt", "needle\n")
		p.symlink("private", "public")
		filter := names(hide(p.at("private") + "/**"))
		glob, err := p.ws.Glob(p.Context(), backends.GlobRequest{Pattern: "**", Path: p.at("public"), Filter: filter})
		if err != nil {
			p.Fatal(err)
		}
		wantEqual(p.T, "Glob", p.relative(glob.Paths), nil)
		grep := p.grep(backends.GrepRequest{Pattern: "needle", Path: "public", Filter: filter})
		wantEqual(p.T, "Grep", p.relative(grepPaths(grep)), nil)
		res, err := p.ws.List(p.Context(), backends.ListRequest{Path: p.at("public"), Filter: filter})
		if err != nil {
			p.Fatal(err)
		}
		wantEqual(p.T, "List", entryNames(res.Entries), nil)
	})

	inTree("a filter that does not parse is refused and shows nothing", func(p *place) {
		filter := names(hide("[", "{a"))
		_, err := p.ws.List(p.Context(), backends.ListRequest{Path: p.dir, Filter: filter})
		wantCode(p.T, "List", err, backends.CodeInvalidArgument)
		_, err = p.ws.Glob(p.Context(), backends.GlobRequest{Pattern: "**", Path: p.dir, Filter: filter})
		wantCode(p.T, "Glob", err, backends.CodeInvalidArgument)
		_, err = p.ws.Grep(p.Context(), backends.GrepRequest{Pattern: "needle", Path: p.dir, Filter: filter})
		wantCode(p.T, "Grep", err, backends.CodeInvalidArgument)
	})
}
