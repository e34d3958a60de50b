package backendtest

import (
	"fmt"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// glob is Glob below name, with the paths it found relative to the case's
// directory.
func (p *place) glob(name string, req backends.GlobRequest) []string {
	p.Helper()
	req.Path = p.at(name)
	res, err := p.ws.Glob(p.Context(), req)
	if err != nil {
		p.Fatalf("Glob %+v: %v", req, err)
	}
	if req.Limit == 0 && res.Total != len(res.Paths) {
		p.Errorf("Glob %+v: the total is %d with %d paths", req, res.Total, len(res.Paths))
	}
	return p.relative(res.Paths)
}

// relative cuts the case's directory off paths, which must be below it.
func (p *place) relative(paths []string) []string {
	p.Helper()
	var out []string
	for _, name := range paths {
		rel, ok := cutDir(name, p.dir)
		if !ok {
			p.Errorf("%q is not below %q", name, p.dir)
		}
		out = append(out, rel)
	}
	return out
}

func cutDir(name, dir string) (string, bool) {
	if len(name) > len(dir) && name[:len(dir)] == dir && name[len(dir)] == '/' {
		return name[len(dir)+1:], true
	}
	return name, false
}

func testGlob(s *suite) {
	inTree := s.over(func(p *place) {
		for _, name := range []string{
			"README.md", "main.go", "main_test.go", "a.txt", "B.txt", ".hidden.txt",
			"src/x.go", "src/x_test.go", "src/deep/y.go", "src/deep/er/z.go", "src/deep/er/z.txt",
			"docs/a.md", "docs/b.markdown", ".config/settings.json", "with space/é.txt",
		} {
			p.write(name, name+"\n")
		}
	})
	all := []string{
		".config/settings.json", ".hidden.txt", "B.txt", "README.md", "a.txt", "docs/a.md", "docs/b.markdown", "main.go",
		"main_test.go", "src/deep/er/z.go", "src/deep/er/z.txt", "src/deep/y.go", "src/x.go", "src/x_test.go", "with space/é.txt",
	}

	inTree("patterns find what they describe, by path in byte order", func(p *place) {
		for _, c := range []struct {
			path, pattern string
			want          []string
		}{
			{".", "**", all},
			{".", "**/*", all},
			{".", "*.go", []string{"main.go", "main_test.go"}},
			{".", "**/*.go", []string{"main.go", "main_test.go", "src/deep/er/z.go", "src/deep/y.go", "src/x.go", "src/x_test.go"}},
			{".", "src/*.go", []string{"src/x.go", "src/x_test.go"}},
			{".", "src/**/*.go", []string{"src/deep/er/z.go", "src/deep/y.go", "src/x.go", "src/x_test.go"}},
			{".", "src/*/*.go", []string{"src/deep/y.go"}},
			{".", "src/**/er/*", []string{"src/deep/er/z.go", "src/deep/er/z.txt"}},
			{".", "**/deep/**", []string{"src/deep/er/z.go", "src/deep/er/z.txt", "src/deep/y.go"}},
			{".", "*.{md,txt}", []string{".hidden.txt", "B.txt", "README.md", "a.txt"}},
			{".", "{src,docs}/*.{go,md}", []string{"docs/a.md", "src/x.go", "src/x_test.go"}},
			{".", "?.txt", []string{"B.txt", "a.txt"}},
			{".", "[a-z].txt", []string{"a.txt"}},
			{".", "[!a-z].txt", []string{"B.txt"}},
			{".", "[^a-z].txt", []string{"B.txt"}},
			{".", "a.txt", []string{"a.txt"}},
			{".", "src/deep/y.go", []string{"src/deep/y.go"}},
			{".", "**/settings.json", []string{".config/settings.json"}},
			{".", ".*", []string{".hidden.txt"}},
			{".", "*/é.txt", []string{"with space/é.txt"}},
			{".", "nothing*", nil},
			{".", "src", nil},
			{"src", "*.go", []string{"src/x.go", "src/x_test.go"}},
			{"src", "**/z.*", []string{"src/deep/er/z.go", "src/deep/er/z.txt"}},
			{"src", p.at("src/deep") + "/*.go", []string{"src/deep/y.go"}},
			{".", p.dir + "/**/*.markdown", []string{"docs/b.markdown"}},
		} {
			wantEqual(p.T, fmt.Sprintf("%q below %q", c.pattern, c.path), p.glob(c.path, backends.GlobRequest{Pattern: c.pattern}), c.want)
		}
	})

	inTree("a pattern that ends in a slash finds directories", func(p *place) {
		for pattern, want := range map[string][]string{
			"*/":       {".config/", "docs/", "src/", "with space/"},
			"**/":      {".config/", "docs/", "src/", "src/deep/", "src/deep/er/", "with space/"},
			"src/*/":   {"src/deep/"},
			"**/er/":   {"src/deep/er/"},
			"a.txt/":   nil,
			"*.txt/":   nil,
			"{src,x}/": {"src/"},
		} {
			got := p.glob(".", backends.GlobRequest{Pattern: pattern})
			if pattern == "**/" && len(got) > 0 && got[0] == "" {
				got = got[1:] // whether ** takes in the directory itself is left open
			}
			wantEqual(p.T, pattern, got, want)
		}
	})

	inTree("a limit cuts the paths and not the total", func(p *place) {
		for _, limit := range []int{1, 4, len(all), len(all) + 1} {
			res, err := p.ws.Glob(p.Context(), backends.GlobRequest{Pattern: "**", Path: p.dir, Limit: limit})
			if err != nil {
				p.Fatal(err)
			}
			wantEqual(p.T, fmt.Sprintf("limit %d", limit), p.relative(res.Paths), all[:min(limit, len(all))])
			if res.Total != len(all) {
				p.Errorf("limit %d: the total is %d, want %d", limit, res.Total, len(all))
			}
		}
	})

	s.claim("directories are no files", func(p *place) {
		p.write("dir.go/x.go", "")
		wantEqual(p.T, "*.go", p.glob(".", backends.GlobRequest{Pattern: "*.go"}), nil)
		wantEqual(p.T, "**/*.go", p.glob(".", backends.GlobRequest{Pattern: "**/*.go"}), []string{"dir.go/x.go"})
	})

	s.claim("byte order goes by whole paths", func(p *place) {
		p.writeAll("a/b", "", "a-b", "", "a.b", "", "a0", "", "a-/x", "")
		wantEqual(p.T, "**", p.glob(".", backends.GlobRequest{Pattern: "**"}), []string{"a-/x", "a-b", "a.b", "a/b", "a0"})
	})

	s.claim("a malformed pattern is refused", func(p *place) {
		p.write("f", "")
		for _, pattern := range []string{"[", "a{b", "[a-"} {
			_, err := p.ws.Glob(p.Context(), backends.GlobRequest{Pattern: pattern, Path: p.dir})
			wantCode(p.T, "Glob "+pattern, err, backends.CodeInvalidArgument)
		}
	})
}
