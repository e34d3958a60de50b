package fsops

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func TestGlob(t *testing.T) {
	tree, dir := walkTree(t, map[string]string{
		"a.go": "", "b.txt": "", ".hidden.go": "", "a-b": "", "a/x.go": "", "a/y_test.go": "", "a.b/z.go": "",
		"src/m/deep/n.go": "", "src/m/deep/n.ts": "", "src/m/o.tsx": "", ".git/config.go": "", "sub/.git": "gitdir: x\n", "sub/f.go": "",
		"li[n]k/q": "", "file.go": "-> a.go", "dirlink": "-> src", "gone": "-> nowhere", "loop/up": "-> ..", "empty/": "",
		"br{ace": "", "new\nline.go": "",
	})
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo.go"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, pattern, path string
		want                []string
	}{
		{"names in this directory", "*.go", "", []string{".hidden.go", "a.go", "file.go", "new\nline.go"}},
		{"any depth, in byte order of the whole path", "**/*.go", "", []string{
			".hidden.go", "a.b/z.go", "a.go", "a/x.go", "a/y_test.go", "file.go", "new\nline.go", "src/m/deep/n.go", "sub/f.go"}},
		{"braces", "**/*.{ts,tsx}", "", []string{"src/m/deep/n.ts", "src/m/o.tsx"}},
		{"braces with a slash", "{a,src/m}/*", "", []string{"a/x.go", "a/y_test.go", "src/m/o.tsx"}},
		{"a static beginning", "src/**/n.*", "", []string{"src/m/deep/n.go", "src/m/deep/n.ts"}},
		{"no wildcard", "a/x.go", "", []string{"a/x.go"}},
		{"leading ./", "./a/*.go", "", []string{"a/x.go", "a/y_test.go"}},
		{"doubled slashes", "a//x.go", "", []string{"a/x.go"}},
		{"relative to path", "*.go", "a", []string{"a/x.go", "a/y_test.go"}},
		{"directories", "*/", "", []string{"a.b/", "a/", "empty/", "li[n]k/", "loop/", "src/", "sub/"}},
		{"directories at any depth", "src/**/", "", []string{"src/", "src/m/", "src/m/deep/"}},
		{"a directory by name", "a/", "", []string{"a/"}},
		{"escaped", `li\[n\]k/*`, "", []string{"li[n]k/q"}},
		{"escaped brace", `br\{ace`, "", []string{"br{ace"}},
		{"class", "[ab].*", "", []string{"a.go", "b.txt"}},
		{"a negated class is no slash", "a[!x]x.go", "", nil},
		{"a symlink in the pattern's beginning", "dirlink/m/*", "", []string{"dirlink/m/o.tsx"}},
		{"a symlink as path", "m/*", "dirlink", []string{"dirlink/m/o.tsx"}},
		{"nothing below a file", "a.go/*", "", nil},
		{"nothing there", "nowhere/*", "", nil},
		{".git, named", ".git/*", "", nil},
		{".git as path", "*", ".git", nil},
		{"a file called .git", "sub/.git", "", nil},
		{"double star inside of a name is a star", "a**", "", []string{"a-b", "a.go"}},
		{"only the start", ".", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := globBelow(t, tree, dir, backends.GlobRequest{Pattern: c.pattern, Path: c.path}); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if strings.HasPrefix(c.pattern, ".") || c.path != "" {
				return
			}
			if got := globBelow(t, tree, dir, backends.GlobRequest{Pattern: globQuote(dir) + "/" + c.pattern}); !slices.Equal(got, c.want) {
				t.Errorf("absolute: got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestGlobElsewhere(t *testing.T) {
	_, dir := walkTree(t, map[string]string{"w/a.go": "", "other/b.go": "", "other/c/d.go": ""})
	tree := New(walkOS{dir}, dir+"/w")
	res, err := tree.Glob(t.Context(), backends.GlobRequest{Pattern: dir + "/other/**/*.go"})
	if err != nil || !slices.Equal(res.Paths, []string{dir + "/other/b.go", dir + "/other/c/d.go"}) || res.Path != dir+"/other" {
		t.Errorf("%+v, %v", res, err)
	}
	for name, c := range map[string]struct {
		req  backends.GlobRequest
		code backends.Code
	}{
		"absolute, with another path": {backends.GlobRequest{Pattern: dir + "/other/*", Path: "."}, backends.CodeInvalidArgument},
		"outside of the root":         {backends.GlobRequest{Pattern: "/etc/*"}, backends.CodePermission},
		"two dots":                    {backends.GlobRequest{Pattern: "../*"}, backends.CodeInvalidArgument},
		"two dots in braces":          {backends.GlobRequest{Pattern: "{a,..}/*"}, backends.CodeInvalidArgument},
		"empty":                       {backends.GlobRequest{}, backends.CodeInvalidArgument},
		"NUL":                         {backends.GlobRequest{Pattern: "a\x00"}, backends.CodeInvalidArgument},
		"unclosed class":              {backends.GlobRequest{Pattern: "[a"}, backends.CodeInvalidArgument},
		"unclosed brace":              {backends.GlobRequest{Pattern: "{a,b"}, backends.CodeInvalidArgument},
		"braces without end":          {backends.GlobRequest{Pattern: strings.Repeat("{a,b}", 40)}, backends.CodeInvalidArgument},
		"braces within braces":        {backends.GlobRequest{Pattern: strings.Repeat("{a,", 2000) + strings.Repeat("}", 2000)}, backends.CodeInvalidArgument},
		"missing path":                {backends.GlobRequest{Pattern: "*", Path: "nowhere"}, backends.CodeNotFound},
		"a file as path":              {backends.GlobRequest{Pattern: "*", Path: "a.go"}, backends.CodeNotDirectory},
	} {
		if _, err := tree.Glob(t.Context(), c.req); backends.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
}

func TestGlobLimitKeepsTheFirst(t *testing.T) {
	files := map[string]string{}
	for _, d := range []string{"b", "a", "a-", "c/d"} {
		for _, f := range []string{"3", "1", "2", "10"} {
			files[d+"/"+f] = ""
		}
	}
	tree, dir := walkTree(t, files)
	all := globBelow(t, tree, dir, backends.GlobRequest{Pattern: "**"})
	if !slices.IsSorted(all) || len(all) != 16 {
		t.Fatalf("%q", all)
	}
	for limit := 1; limit < 18; limit++ {
		res, err := tree.Glob(t.Context(), backends.GlobRequest{Pattern: "**", Limit: limit})
		if err != nil || res.Total != 16 || len(res.Paths) != min(limit, 16) {
			t.Fatalf("limit %d: %d of %d, %v", limit, len(res.Paths), res.Total, err)
		}
		for i, p := range res.Paths {
			if p != dir+"/"+all[i] {
				t.Errorf("limit %d: %q at %d", limit, p, i)
			}
		}
	}
}

func TestGlobFilter(t *testing.T) {
	tree, dir := walkTree(t, map[string]string{
		"ok": "", "private/x": "", "private/y/z": "", "secret": "", "link": "-> secret", "fine": "-> ok", "p": "-> private",
	})
	flt := backends.Filter{Names: []backends.FilterSet{{Default: true, Rules: []backends.FilterRule{{Pattern: "**/private/**"}, {Pattern: "**/secret"}}}}}
	if got := globBelow(t, tree, dir, backends.GlobRequest{Pattern: "**", Filter: flt}); !slices.Equal(got, []string{"fine", "ok"}) {
		t.Errorf("got %q", got)
	}
	if got := globBelow(t, tree, dir, backends.GlobRequest{Pattern: "**", Path: "p", Filter: flt}); got != nil {
		t.Errorf("through a symlink: %q", got)
	}
	if got := globBelow(t, tree, dir, backends.GlobRequest{Pattern: "*/", Filter: flt}); !slices.Equal(got, []string{"private/"}) {
		t.Errorf("directories: %q", got)
	}
}

func TestGlobStopsWhenCancelled(t *testing.T) {
	tree, _ := walkTree(t, map[string]string{"a/b": "", "c/d": ""})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no more")
	cancel(why)
	if _, err := tree.Glob(ctx, backends.GlobRequest{Pattern: "**"}); backends.CodeOf(err) != backends.CodeCancelled || !errors.Is(err, why) {
		t.Errorf("glob: %v", err)
	}
	if _, err := tree.Grep(ctx, backends.GrepRequest{Pattern: "x"}); backends.CodeOf(err) != backends.CodeCancelled {
		t.Errorf("grep: %v", err)
	}
}

var globFuzzFiles = func() []string {
	var files []string
	for _, d := range []string{"", "a/", "b/", "a/b/", "a/b/c/", "ab/", "ab/a/"} {
		for _, f := range []string{"a", "b", "x.go", "ab.ts", ".a", "é", "*", "[", "x{"} {
			if !slices.Contains([]string{"a/", "b/", "a/b/", "ab/a/"}, d+f+"/") {
				files = append(files, d+f)
			}
		}
	}
	return files
}()

func FuzzGlob(f *testing.F) {
	for _, p := range []string{"**", "*", "**/*.go", "a/**/b/*", "{a,b}/*", "a/{b,**}/x*", "[a-c]*", "**/a/**", `\*`, "a**", "*/", "{a/b,ab}/{a,c}/*", "?", "é", "[!a]*"} {
		f.Add(p)
	}
	files := map[string]string{}
	for _, name := range globFuzzFiles {
		files[name] = ""
	}
	tree, dir := walkTree(f, files)
	dirs := []string{"a", "b", "ab", "a/b", "a/b/c", "ab/a"}
	f.Fuzz(func(t *testing.T, pattern string) {
		if len(pattern) > 80 || path.IsAbs(pattern) || strings.ToValidUTF8(pattern, "") != pattern || strings.Contains(pattern, "\x00") {
			return
		}
		res, err := tree.Glob(t.Context(), backends.GlobRequest{Pattern: pattern})
		if err != nil {
			if backends.CodeOf(err) != backends.CodeInvalidArgument {
				t.Errorf("%q: %v", pattern, err)
			}
			return
		}
		if !globComparable(pattern) {
			return
		}
		var want []string
		names := globFuzzFiles
		p := pattern
		if strings.HasSuffix(p, "/") {
			names, p = dirs, strings.TrimRight(p, "/")
		}
		for _, name := range names {
			// Braces are expanded first: at the end of a name doublestar does
			// not see all that they can stand for.
			ok := doublestar.MatchUnvalidated(p, name)
			alternatives, _ := expandGlob(p)
			for _, alt := range alternatives {
				ok = ok || doublestar.MatchUnvalidated(alt, name)
			}
			if ok {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		var got []string
		for _, g := range res.Paths {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(g, dir+"/"), "/"))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("pattern %q\nonly here: %q\nonly doublestar: %q", pattern, without(got, want), without(want, got))
		}
	})
}

// globComparable tells whether doublestar.Match can be expected to agree: it
// lets a class match a slash, takes "." and empty names as they stand, and does
// not see at the end of a name that several stars in a row, or a star and "/**",
// can stand for nothing.
func globComparable(p string) bool {
	alternatives, ok := expandGlob(p)
	if !ok {
		return false
	}
	slashes := strings.HasSuffix(p, "/")
	for _, alt := range alternatives {
		if strings.Contains(alt, "[") || strings.HasSuffix(alt, "/") != slashes || strings.Contains(alt, `\/`) || strings.Contains(alt, "***") || strings.HasSuffix(strings.TrimSuffix(alt, "/"), "*/**") {
			return false
		}
		segs := strings.Split(strings.TrimSuffix(alt, "/"), "/")
		for i, s := range segs {
			if s == "" || s == "." || i > 0 && s == "**" && segs[i-1] == "**" {
				return false
			}
		}
	}
	return true
}
