package commands

import (
	"strings"
	"testing"
)

// There is no rg to compare with where the other commands' cases are run.
func TestRipgrep(t *testing.T) {
	files := map[string]string{
		".gitignore": "node_modules/\n*.log\n", "src/a.go": "func Foo() int\n", "src/sub/b.py": "one\nfoo bar\nthree\nFOO\n", "src/sub/.ignore": "skip.txt\n", "src/sub/skip.txt": "foo\n",
		".hidden/x": "foo\n", "node_modules/m.js": "foo\n", "z.log": "foo\n", "bin.dat": "foo\x00bar\n", "latin": "caf\xe9 bar\n", "link": "-> src",
	}
	for _, c := range []struct {
		script, stdin, want string
		code                int
	}{
		{"rg foo", "", "src/sub/b.py:foo bar\n", 0},
		{"rg foo .", "", "./src/sub/b.py:foo bar\n", 0},
		{"rg -ni foo src", "", "src/a.go:1:func Foo() int\nsrc/sub/b.py:2:foo bar\nsrc/sub/b.py:4:FOO\n", 0},
		{"rg -il foo", "", "src/a.go\nsrc/sub/b.py\n", 0},
		{"rg -ic foo", "", "src/a.go:1\nsrc/sub/b.py:2\n", 0},
		{"rg -w foo src/sub/b.py", "", "foo bar\n", 0},
		{"rg -H foo src/sub/b.py", "", "src/sub/b.py:foo bar\n", 0},
		{"rg -I foo src", "", "foo bar\n", 0},
		{"rg -l --hidden foo", "", ".hidden/x\nsrc/sub/b.py\n", 0},
		{"rg -lu foo", "", "node_modules/m.js\nsrc/sub/b.py\nsrc/sub/skip.txt\nz.log\n", 0},
		{"rg -luu foo", "", ".hidden/x\nnode_modules/m.js\nsrc/sub/b.py\nsrc/sub/skip.txt\nz.log\n", 0},
		{"rg -luuu foo", "", ".hidden/x\nbin.dat\nnode_modules/m.js\nsrc/sub/b.py\nsrc/sub/skip.txt\nz.log\n", 0},
		{"rg -lL Foo", "", "link/a.go\nsrc/a.go\n", 0},
		{"rg -t py -i foo", "", "src/sub/b.py:foo bar\nsrc/sub/b.py:FOO\n", 0},
		{"rg -T py -il foo", "", "src/a.go\n", 0},
		{"rg -il foo -g *.py", "", "src/sub/b.py\n", 0},
		{"rg -il foo -g !*.py", "", "src/a.go\n", 0},
		{"rg -l foo -g z.log", "", "z.log\n", 0},
		{"rg --files -g *.go src", "", "src/a.go\n", 0},
		{"rg --files src/sub", "", "src/sub/b.py\n", 0},
		{"rg -C1 -N foo src", "", "src/sub/b.py-one\nsrc/sub/b.py:foo bar\nsrc/sub/b.py-three\n", 0},
		{"rg -o f\\w+ src", "", "src/a.go:func\nsrc/sub/b.py:foo\n", 0},
		{"rg (\\w+)\\(\\) -r call:$1 src", "", "src/a.go:func call:Foo int\n", 0},
		{"rg -or <$0> ba. src", "", "src/sub/b.py:<bar>\n", 0},
		{"rg -F () src", "", "src/a.go:func Foo() int\n", 0},
		{"rg -S foo src", "", "src/a.go:func Foo() int\nsrc/sub/b.py:foo bar\nsrc/sub/b.py:FOO\n", 0},
		{"rg -S Foo src", "", "src/a.go:func Foo() int\n", 0},
		{"rg -e foo -e three src", "", "src/sub/b.py:foo bar\nsrc/sub/b.py:three\n", 0},
		{"rg -m1 o src/sub/b.py", "", "one\n", 0},
		{"rg --files-without-match foo src", "", "src/a.go\n", 0},
		{"rg --max-depth 1 -il foo", "", "", 1},
		{"rg bar latin", "", "caf\xe9 bar\n", 0},
		{"rg foo", "a foo\nb\n", "a foo\n", 0},
		{"rg foo -", "b\n", "", 1},
		{"rg nothing", "", "", 1},
		{"rg -q foo", "", "", 0},
		{"rg foo nope", "", "", 2},
		{"rg ( src", "", "", 2},
		{"rg -t nope x", "", "", 2},
		{"rg -U x", "", "", 2},
		{"rg", "", "", 2},
	} {
		got := runCommand(t, files, c.stdin, strings.Fields(c.script)...)
		if got.out != c.want || got.code != c.code {
			t.Errorf("%s: %q, %d, want %q, %d (%s)", c.script, got.out, got.code, c.want, c.code, got.err)
		}
	}
}
