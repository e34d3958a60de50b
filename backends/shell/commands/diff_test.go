package commands

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	f := map[string]string{"a": "1\n2\n3\n4\n5\n", "b": "1\nx\n3\n5\n6\n", "n": "1\n2", "nul": "a\x00", "nul2": "b\x00", "x/f": "1\n", "y/f": "2\n", "x/only": "o\n", "y/k/": ""}
	runCases(t, []commandCase{
		{name: "normal", files: f, argv: "diff a b", out: "2c2\n< 2\n---\n> x\n4d3\n< 4\n5a5\n> 6\n", code: 1},
		{name: "unified", files: f, argv: "diff -U1 -L a -L b a b", out: "--- a\n+++ b\n@@ -1,5 +1,5 @@\n 1\n-2\n+x\n 3\n-4\n 5\n+6\n", code: 1},
		{name: "context", files: f, argv: "diff -C0 -L a -L n a n", out: "*** a\n--- n\n***************\n*** 2,5 ****\n! 2\n! 3\n! 4\n! 5\n--- 2 ----\n! 2\n\\ No newline at end of file\n", code: 1},
		{name: "side by side", files: f, argv: "diff -y -W 20 a b", out: "1\t1\n2     |\tx\n3\t3\n4     <\n5\t5\n      >\t6\n", code: 1},
		{name: "the same", files: f, argv: "diff a a"},
		{name: "says that they are the same", files: f, argv: "diff -s a a", out: "Files a and a are identical\n"},
		{name: "brief", files: f, argv: "diff -q a b", out: "Files a and b differ\n", code: 1},
		{name: "binary", files: f, argv: "diff nul nul2", out: "Binary files nul and nul2 differ\n", code: 1},
		{name: "directories", files: f, argv: "diff -r x y", out: "diff -r x/f y/f\n1c1\n< 1\n---\n> 2\nOnly in y: k\nOnly in x: only\n", code: 1},
		{name: "new files", files: f, argv: "diff -rNq x y", out: "Files x/f and y/f differ\nFiles x/only and y/only differ\n", code: 1},
		{name: "missing", files: f, argv: "diff a nope", err: "diff: nope: No such file or directory", code: 2},
		{name: "operands", files: f, argv: "diff a", err: "missing operand after 'a'", code: 2},
		{name: "styles exclude each other", files: f, argv: "diff -u -c a b", err: "conflicting output style options", code: 2},
		{name: "wrong context", files: f, argv: "diff -U x a b", err: "invalid context length 'x'", code: 2},
		{name: "wrong expression", files: f, argv: "diff -I \\( a b", err: "\\(", code: 2},
	})
}

// TestDiffThenPatchGivesTheSecondFile holds diff and patch against each other on
// random files, in all formats that patch reads.
func TestDiffThenPatchGivesTheSecondFile(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	lines := func(n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf("line %d\n", r.Intn(20))
		}
		return out
	}
	for i := range 150 {
		a := lines(r.Intn(40))
		b := append([]string(nil), a...)
		for range r.Intn(6) {
			at := r.Intn(len(b) + 1)
			b = append(b[:at:at], append(lines(r.Intn(4)), b[min(len(b), at+r.Intn(4)):]...)...)
		}
		old, fresh := strings.Join(a, ""), strings.Join(b, "")
		if r.Intn(4) == 0 {
			fresh = strings.TrimSuffix(fresh, "\n")
		}
		for _, format := range []string{"-u", "-c", "--normal", "-U0"} {
			files := newFiles(t, map[string]string{"a": old, "b": fresh})
			d := runOn(t, files, "", "diff", format, "a", "b")
			if (d.code == 0) != (old == fresh) || d.code > 1 {
				t.Fatalf("diff %s is %d for %q and %q", format, d.code, old, fresh)
			}
			if d.code == 0 {
				continue
			}
			p := runOn(t, files, d.out, "patch", "a")
			if _, err := files.Stat("/work/a"); err != nil && fresh == "" {
				continue // it is empty, and said to be gone
			}
			if got := p.read(t, "a"); p.code != 0 || got != fresh {
				t.Fatalf("%d, %s: patch is %d, %q, should be %q\n%s%s\npatch:\n%s", i, format, p.code, got, fresh, p.out, p.err, d.out)
			}
		}
	}
}

func TestDiffOfLargeFilesThatHaveLittleInCommonEnds(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	var a, b strings.Builder
	for range 20_000 {
		fmt.Fprintf(&a, "%d\n", r.Intn(5000))
		fmt.Fprintf(&b, "%d\n", r.Intn(5000))
	}
	got := runCommand(t, map[string]string{"a": a.String(), "b": b.String()}, "", "diff", "a", "b")
	if got.code != 1 {
		t.Errorf("diff is %d: %s", got.code, got.err)
	}
}
