package fsops

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func TestIgnoreRules(t *testing.T) {
	for _, c := range []struct {
		name, rules string
		path        string // a final "/" makes it a directory
		want        bool
	}{
		{"a name anywhere", "x\n", "a/b/x", true},
		{"a name is not a part of one", "x\n", "a/xy", false},
		{"case matters", "X\n", "x", false},
		{"anchored at the start", "/x\n", "a/x", false},
		{"anchored at the start, there", "/x\n", "x", true},
		{"anchored by a slash inside", "a/x\n", "b/a/x", false},
		{"directory only, a directory", "build/\n", "a/build/", true},
		{"directory only, a file", "build/\n", "a/build", false},
		{"star stops at a slash", "a/*.o\n", "a/b/x.o", false},
		{"extension", "*.o\n", "a/b/x.o", true},
		{"extension with two dots", "*.tar.gz\n", "x.tar.gz", true},
		{"leading double star", "**/x/y\n", "a/b/x/y", true},
		{"leading double star, none", "**/x/y\n", "x/y", true},
		{"trailing double star", "a/**\n", "a/b/c", true},
		{"trailing double star is not the directory", "a/**\n", "a/", false},
		{"double star inside", "a/**/z\n", "a/z", true},
		{"double star inside, two", "a/**/z\n", "a/b/c/z", true},
		{"double star in a name is a star", "a/b**c/d\n", "a/bxc/d", true},
		{"question mark", "a?c\n", "abc", true},
		{"question mark is no slash", "/a?c\n", "a/c", false},
		{"class", "x[0-9]\n", "x5", true},
		{"negated class", "x[!0-9]\n", "x5", false},
		{"named class", "x[[:digit:]]\n", "x5", true},
		{"bracket first in a class", "x[]]\n", "x]", true},
		{"unclosed class matches nothing", "x[\n", "x[", false},
		{"later rule wins", "*.o\n!keep.o\n", "keep.o", false},
		{"later rule wins again", "*.o\n!keep.o\n*.o\n", "keep.o", true},
		{"comment", "#x\n", "#x", false},
		{"escaped hash", "\\#x\n", "#x", true},
		{"escaped exclamation mark", "\\!x\n", "!x", true},
		{"escaped star", "\\*x\n", "ax", false},
		{"trailing spaces", "x  \n", "x", true},
		{"kept trailing space", "x\\ \n", "x ", true},
		{"tab is kept", "x\t\n", "x", false},
		{"CRLF", "x\r\ny\r\n", "x", true},
		{"byte order mark", "\xef\xbb\xbfx\n", "x", true},
		{"no final newline", "x", "x", true},
		{"lone backslash at the end matches nothing", "x\\\n", "x", false},
		{"empty lines", "\n\n  \n/\n!\n", "x", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rel, dir := strings.CutSuffix(c.path, "/")
			rules := parseIgnore([]byte(c.rules))
			var level *ignoreLevel
			if rules != nil {
				level = &ignoreLevel{dir: "/w", rules: rules}
			}
			got := level.ignored([]byte("/w/"+rel), []byte(filepath.Base(rel)), dir, &ignoreScratch{})
			if got != c.want {
				t.Errorf("rules %q ignore %q: %v, want %v", c.rules, c.path, got, c.want)
			}
		})
	}
}

// git runs git without any configuration of the machine's.
func git(t testing.TB, dir string, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=/nonexistent", "XDG_CONFIG_HOME=/nonexistent")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out
}

// TestIgnoreAgreesWithGit holds random trees with random .gitignore files
// against what git lists.
func TestIgnoreAgreesWithGit(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		files := map[string]string{}
		names := []string{"a", "b", "ab", "a.b", "b.a", "a b", "#a", "!b", "aa", "A", "a]", "a-", ".a", "é", "a ", `a\b`}
		var grow func(dir string, depth int)
		grow = func(dir string, depth int) {
			for range 1 + r.IntN(6) {
				name := names[r.IntN(len(names))]
				if depth < 4 && r.IntN(5) < 2 {
					if _, ok := files[dir+name]; !ok {
						grow(dir+name+"/", depth+1)
					}
				} else if !slices.ContainsFunc(mapKeys(files), func(f string) bool { return strings.HasPrefix(f, dir+name+"/") }) {
					files[dir+name] = "x"
				}
			}
			if depth == 0 || r.IntN(3) == 0 {
				files[dir+".gitignore"] = randomIgnore(r)
			}
		}
		grow("", 0)
		tree, dir := walkTree(t, files)
		git(t, dir, nil, "init", "-q")
		if err := os.WriteFile(filepath.Join(dir, ".git/info/exclude"), []byte(randomIgnore(r)), 0o644); err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSuffix(string(git(t, dir, nil, "ls-files", "-o", "--exclude-standard", "-z")), "\x00"), "\x00")
		if len(want) == 1 && want[0] == "" {
			want = nil
		}
		slices.Sort(want)
		got := globBelow(t, tree, dir, backends.GlobRequest{Pattern: "**"})
		if !slices.Equal(got, want) {
			t.Errorf("seed %d\nonly here: %q\nonly in git: %q", seed, without(got, want), without(want, got))
			for name, content := range files {
				if strings.HasSuffix(name, ".gitignore") {
					t.Logf("%s: %q", name, content)
				}
			}
			exclude, _ := os.ReadFile(filepath.Join(dir, ".git/info/exclude"))
			t.Logf("exclude: %q", exclude)
			t.FailNow()
		}
	}
}

func mapKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

func without(a, b []string) []string {
	var out []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

func randomIgnore(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(10) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	for range r.IntN(5) {
		b.WriteString(randomIgnoreLine(r))
		b.WriteString([]string{"\n", "\n", "\n", "\r\n", "\n\n"}[r.IntN(5)])
	}
	return b.String()
}

func randomIgnoreLine(r *rand.Rand) string {
	pieces := []string{"a", "b", "a", "b", "*", "?", "/", "/", "**", "**/", "/**", "/**/", ".", "[ab]", "[!a]", "[^a]", "[a-b]", "[[:alpha:]]", "[]a]",
		"[", "]", "\\", "\\*", "\\#", "\\ ", " ", "é", "A", "-", "#", "!", "***", "[a", "[\\]]", "[[:x:]]", "[b-a]", "\\a", "[a\\-b]", "[[:]", "[--b]",
		"**\\/", "a[!b]b", "a[^x]", "[.-0]", "\\/", "a/b", "b/**/a"}
	var b strings.Builder
	switch r.IntN(8) {
	case 0, 1:
		b.WriteByte('!')
	case 2:
		b.WriteByte('/')
	case 3:
		b.WriteByte('#')
	}
	for range 1 + r.IntN(5) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	switch r.IntN(8) {
	case 0, 1:
		b.WriteByte('/')
	case 2:
		b.WriteByte(' ')
	case 3:
		b.WriteString(`\ `)
	case 4:
		b.WriteString(`a\  `)
	}
	return b.String()
}

// TestIgnoreMatchAgreesWithGit holds single patterns against git check-ignore,
// many at a time.
func TestIgnoreMatchAgreesWithGit(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, nil, "init", "-q")
	rounds := 600
	if testing.Short() {
		rounds = 100
	}
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", "b", "ab", "a/", "b/", "/", "c", ".", "]", "-", " ", "[", "é", "#", "!", "*", "\\", "a ", "a/b"}
	for range rounds {
		line := randomIgnoreLine(r)
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(line+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		var paths []string
		var in bytes.Buffer
		for range 40 {
			var b strings.Builder
			for range 1 + r.IntN(6) {
				b.WriteString(pieces[r.IntN(len(pieces))])
			}
			p := filepath.Clean("/" + b.String())[1:]
			if p == "" || strings.HasPrefix(p, "..") || p == "." {
				continue
			}
			paths = append(paths, p)
			in.WriteString(p + "\x00")
		}
		// -v -n -z: source, line, pattern, path for each.
		cmd := exec.Command("git", "check-ignore", "-v", "-n", "-z", "--stdin", "--no-index")
		cmd.Dir = dir
		cmd.Stdin = &in
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=/nonexistent")
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Fatal(err)
		}
		fields := strings.Split(string(out), "\x00")
		for i, p := range paths {
			said := fields[4*i+2] != ""
			negated := strings.HasPrefix(fields[4*i+2], "!")
			rules := parseIgnore([]byte(line + "\n"))
			got := ignoreUnsaid
			if rules != nil {
				// check-ignore asks for every directory on the way, too.
				level := &ignoreLevel{rules: rules}
				at := ""
				parts := strings.Split(p, "/")
				for j, part := range parts {
					at += "/" + part
					got = level.rules.match([]byte(at[1:]), []byte(part), j < len(parts)-1, &ignoreScratch{})
					if got == ignoreYes {
						break
					}
				}
			}
			want := ignoreUnsaid
			switch {
			case negated:
				want = ignoreNo
			case said:
				want = ignoreYes
			}
			if got != want {
				t.Errorf("pattern %q, path %q: %d, git says %d", line, p, got, want)
			}
		}
	}
}

func TestIgnoreFollowsTheRepository(t *testing.T) {
	tree, dir := walkTree(t, map[string]string{
		".gitignore":             "never\n", // above the repository
		"repo/.git/info/exclude": "excluded\n",
		"repo/.gitignore":        "*.o\n/sub/top\n",
		"repo/x.o":               "", "repo/never": "", "repo/excluded": "",
		"repo/sub/x.o": "", "repo/sub/top": "", "repo/sub/excluded": "", "repo/sub/never": "", "repo/sub/ok": "",
		"repo/inner/.git/HEAD": "", "repo/inner/x.o": "", "repo/inner/excluded": "",
		"repo/linked/.git":     "gitdir: ../.git/worktrees/linked\n",
		"repo/linked/excluded": "", "repo/linked/x.o": "",
		"repo/.git/worktrees/linked/commondir": "../..\n",
		"repo/.git/worktrees/linked/HEAD":      "",
	})
	for _, c := range []struct {
		path string
		want []string
	}{
		{"repo/sub", []string{"never", "ok"}},
		{"repo", []string{".gitignore", "inner/excluded", "inner/x.o", "linked/x.o", "never", "sub/never", "sub/ok"}},
		{"repo/inner", []string{"excluded", "x.o"}},
		{"repo/linked", []string{"x.o"}},
		{"repo/.git", nil},
		{"repo/.git/info", nil},
	} {
		if got := globBelow(t, tree, filepath.Join(dir, c.path), backends.GlobRequest{Pattern: "**", Path: c.path}); !slices.Equal(got, c.want) {
			t.Errorf("below %s: %q, want %q", c.path, got, c.want)
		}
	}
}

func TestIgnoreNeedsNoRepository(t *testing.T) {
	tree, dir := walkTree(t, map[string]string{
		".gitignore": "/out/\n", "out/x": "", "src/x": "", "src/out/x": "", "src/.gitignore": "y\n!out\n", "src/y": "",
		"src/deep/z": "",
	})
	want := []string{".gitignore", "src/.gitignore", "src/deep/z", "src/out/x", "src/x"}
	if got := globBelow(t, tree, dir, backends.GlobRequest{Pattern: "**"}); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// Without a repository the parents of the start say nothing.
	if got := globBelow(t, tree, filepath.Join(dir, "src/deep"), backends.GlobRequest{Pattern: "**", Path: "src/deep"}); !slices.Equal(got, []string{"z"}) {
		t.Errorf("got %q", got)
	}
	if got := globBelow(t, tree, dir, backends.GlobRequest{Pattern: "out/*"}); got != nil {
		t.Errorf("an ignored directory named by the pattern: %q", got)
	}
	if got := globBelow(t, tree, dir, backends.GlobRequest{Pattern: "out/*", IncludeIgnored: true}); !slices.Equal(got, []string{"out/x"}) {
		t.Errorf("included: %q", got)
	}
}

func TestIgnoreFileMustBeRegular(t *testing.T) {
	tree, dir := walkTree(t, map[string]string{"rules": "x\n", ".gitignore": "-> rules", "x": ""})
	if got := globBelow(t, tree, dir, backends.GlobRequest{Pattern: "**"}); !slices.Equal(got, []string{"rules", "x"}) && !slices.Equal(got, []string{".gitignore", "rules", "x"}) {
		t.Errorf("got %q", got)
	}
}

func TestIgnoreTakesLinearTime(t *testing.T) {
	name := []byte(strings.Repeat("a", 4000))
	for _, pattern := range []string{
		"/" + strings.Repeat("a*", 300) + "b",
		"/" + strings.Repeat("**/", 1000) + "b",
		"/" + strings.Repeat("[a-c]*", 300) + "b",
		"/" + strings.Repeat("**/*a", 300) + "b",
	} {
		rules := parseIgnore([]byte(pattern))
		begin := time.Now()
		if rules.match(name, name, false, &ignoreScratch{}) != ignoreUnsaid {
			t.Errorf("%.20s… matches", pattern)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("%.20s… took %v", pattern, took)
		}
	}
}

func FuzzIgnore(f *testing.F) {
	for _, s := range []string{"a/**/b", "*.o\n!x.o", "[[:alpha:]-", "\\", "a\\ ", "!", "/", "**", "***/a", "x[]-]", "a/[^/]b"} {
		f.Add([]byte(s), []byte("a/x/b"))
	}
	f.Fuzz(func(t *testing.T, rules, name []byte) {
		parsed := parseIgnore(rules)
		if parsed == nil || len(name) == 0 {
			return
		}
		base := name[bytes.LastIndexByte(name, '/')+1:]
		scratch := &ignoreScratch{}
		for _, dir := range []bool{false, true} {
			got := parsed.match(name, base, dir, scratch)
			// The index over names and extensions must agree with the rules
			// tried one by one.
			want := ignoreUnsaid
			for i := range parsed.rules {
				rule := &parsed.rules[i]
				subject := name
				if rule.baseOnly {
					subject = base
				}
				if (dir || !rule.dirOnly) && rule.match(subject, scratch) {
					want = ignoreYes
					if rule.negate {
						want = ignoreNo
					}
				}
			}
			if got != want {
				t.Errorf("rules %q, name %q, directory %v: %d, one by one %d", rules, name, dir, got, want)
			}
		}
	})
}

// globBelow returns what a glob finds, relative to dir.
func globBelow(t testing.TB, tree *Tree, dir string, req backends.GlobRequest) []string {
	t.Helper()
	res, err := tree.Glob(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if req.Limit == 0 && res.Total != len(res.Paths) {
		t.Errorf("total %d of %d paths", res.Total, len(res.Paths))
	}
	var out []string
	for _, p := range res.Paths {
		rel, ok := strings.CutPrefix(p, dir+"/")
		if !ok {
			t.Errorf("%s is not below %s", p, dir)
		}
		out = append(out, rel)
	}
	return out
}
