package backendtest

import (
	"slices"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// ignoreCases are trees with .gitignore files, and what git would leave out of
// them.
var ignoreCases = []struct {
	name    string
	ignore  []string // path and content of .gitignore files in turn
	kept    []string
	ignored []string
}{
	{"a name without a slash holds at every depth",
		[]string{".gitignore", "*.log\ntemp\n"},
		[]string{"log", "x.txt", "sub/temporary"},
		[]string{"a.log", "sub/b.log", "sub/deep/c.log", "temp", "sub/temp/x"}},
	{"a pattern with a slash holds below its file only",
		[]string{".gitignore", "/top\nsub/inner\n"},
		[]string{"sub/top", "inner", "deep/sub/inner"},
		[]string{"top", "sub/inner"}},
	{"a pattern that ends in a slash holds for directories only",
		[]string{".gitignore", "build/\n"},
		[]string{"sub/build", "builds/x"},
		[]string{"build/x", "deep/build/y", "deep/build/er/z"}},
	{"a later negation takes a file back in",
		[]string{".gitignore", "*.log\n!keep.log\n"},
		[]string{"keep.log", "sub/keep.log"},
		[]string{"a.log", "sub/a.log"}},
	{"nothing is taken back in below an ignored directory",
		[]string{".gitignore", "out/\n!out/keep\n"},
		[]string{"keep"},
		[]string{"out/keep", "out/x"}},
	{"a directory's contents can be taken back in one by one",
		[]string{".gitignore", "/vendor/*\n!/vendor/own\n"},
		[]string{"vendor/own/x", "sub/vendor/y"},
		[]string{"vendor/a", "vendor/other/x"}},
	{"a nested file adds to and overrides those above it",
		[]string{".gitignore", "*.txt\n", "sub/.gitignore", "!*.txt\n*.md\n"},
		[]string{"sub/a.txt", "sub/deep/b.txt", "c.md"},
		[]string{"a.txt", "other/b.txt", "sub/c.md", "sub/deep/d.md"}},
	{"a nested file's slash is its own directory",
		[]string{"sub/.gitignore", "/x\n"},
		[]string{"x", "sub/deep/x"},
		[]string{"sub/x"}},
	{"two stars hold over any depth",
		[]string{".gitignore", "**/cache\na/**/z\nlogs/**\n"},
		[]string{"a/z.txt", "b/a/z", "logs.txt"},
		[]string{"cache/x", "sub/cache/y", "a/z", "a/b/z", "a/b/c/z", "logs/x", "logs/deep/y"}},
	{"a star does not cross a slash",
		[]string{".gitignore", "/a/*/c\n?.tmp\n[0-9].dat\n"},
		[]string{"a/b/x/c", "ab.tmp", "x.dat"},
		[]string{"a/b/c", "a.tmp", "sub/b.tmp", "7.dat"}},
	{"comments, blank lines and escapes",
		[]string{".gitignore", "# x\n\n\\#hash\n\\!bang\ntrailing   \nspace\\ \n"},
		[]string{"x", "hash", "bang", "space"},
		[]string{"#hash", "!bang", "trailing", "space "}},
	{"CRLF in the ignore file",
		[]string{".gitignore", "*.log\r\n!keep.log\r\n"},
		[]string{"keep.log", "x"},
		[]string{"a.log"}},
}

func testIgnored(s *suite) {
	for _, c := range ignoreCases {
		s.claim(c.name, func(p *place) {
			p.writeAll(c.ignore...)
			everything := slices.Concat(c.kept, c.ignored)
			for _, name := range everything {
				p.write(name, "needle\n")
			}
			slices.Sort(everything)
			kept := slices.Sorted(slices.Values(c.kept))
			withoutIgnoreFiles := func(paths []string) []string {
				return slices.DeleteFunc(paths, func(name string) bool {
					return slices.Contains(c.ignore, name)
				})
			}
			got := withoutIgnoreFiles(p.glob(".", backends.GlobRequest{Pattern: "**"}))
			wantEqual(p.T, "Glob", got, kept)
			got = withoutIgnoreFiles(p.glob(".", backends.GlobRequest{Pattern: "**", IncludeIgnored: true}))
			wantEqual(p.T, "Glob with IncludeIgnored", got, everything)
			grep := p.grep(backends.GrepRequest{Pattern: "needle", Path: "."})
			wantEqual(p.T, "Grep", p.relative(grepPaths(grep)), kept)
			grep = p.grep(backends.GrepRequest{Pattern: "needle", Path: ".", IncludeIgnored: true})
			wantEqual(p.T, "Grep with IncludeIgnored", p.relative(grepPaths(grep)), everything)
		})
	}

	s.claim("the rules above the searched directory hold, up to the top of its repository", func(p *place) {
		p.writeAll(".git/HEAD", "ref: refs/heads/main\n", ".gitignore", "*.log\n/sub/anchored\n", "sub/a.log", "needle\n", "sub/anchored", "needle\n", "sub/f", "needle\n")
		wantEqual(p.T, "Glob", p.glob("sub", backends.GlobRequest{Pattern: "**"}), []string{"sub/f"})
		grep := p.grep(backends.GrepRequest{Pattern: "needle", Path: "sub"})
		wantEqual(p.T, "Grep", p.relative(grepPaths(grep)), []string{"sub/f"})
	})

	s.claim("ignored directories are not found as directories", func(p *place) {
		p.writeAll(".gitignore", "build/\n", "build/x", "", "src/x", "")
		wantEqual(p.T, "Glob", p.glob(".", backends.GlobRequest{Pattern: "*/"}), []string{"src/"})
		wantEqual(p.T, "Glob with IncludeIgnored", p.glob(".", backends.GlobRequest{Pattern: "*/", IncludeIgnored: true}), []string{"build/", "src/"})
	})

	s.claim(".git is never searched, whatever is included", func(p *place) {
		p.writeAll(".git/config", "needle\n", "sub/.git/HEAD", "needle\n", ".github/x", "needle\n", "f", "needle\n", "git/x", "needle\n")
		kept := []string{".github/x", "f", "git/x"}
		for _, ignored := range []bool{false, true} {
			wantEqual(p.T, "Glob", p.glob(".", backends.GlobRequest{Pattern: "**", IncludeIgnored: ignored}), kept)
			wantEqual(p.T, "Glob of .git", p.glob(".", backends.GlobRequest{Pattern: ".git/*", IncludeIgnored: ignored}), nil)
			grep := p.grep(backends.GrepRequest{Pattern: "needle", Path: ".", IncludeHidden: true, IncludeIgnored: ignored})
			wantEqual(p.T, "Grep", p.relative(grepPaths(grep)), kept)
		}
	})

	s.claim("ignored files can be read and listed", func(p *place) {
		p.writeAll(".gitignore", "*.log\n", "a.log", "text\n")
		p.wantBytes("a.log", "text\n")
		wantEqual(p.T, "List", entryNames(p.list(".")), []string{".gitignore", "a.log"})
	})
}
