package commands

import (
	"strings"
	"testing"
)

const patchOf5 = "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n"

func TestPatch(t *testing.T) {
	f := map[string]string{"f": "1\n2\n3\n4\n5\n"}
	runCases(t, []commandCase{
		{name: "a file", files: f, stdin: patchOf5, argv: "patch -p1", out: "patching file f\n", after: map[string]string{"f": "1\n2\nthree\n4\n5\n", "f.orig": "-"}},
		{name: "backwards", files: map[string]string{"f": "1\n2\nthree\n4\n5\n"}, stdin: patchOf5, argv: "patch -p1 -R", out: "patching file f\n", after: f},
		{name: "dry run", files: f, stdin: patchOf5, argv: "patch -p1 --dry-run", out: "checking file f\n", after: f},
		{name: "silent", files: f, stdin: patchOf5, argv: "patch -sp1", after: map[string]string{"f": "1\n2\nthree\n4\n5\n"}},
		{name: "offset", files: map[string]string{"f": "0\n0\n1\n2\n3\n4\n5\n"}, stdin: patchOf5, argv: "patch -p1", out: "patching file f\nHunk #1 succeeded at 4 (offset 2 lines).\n", after: map[string]string{"f": "0\n0\n1\n2\nthree\n4\n5\n"}},
		{name: "fuzz", files: map[string]string{"f": "1\n2\n3\nfour\n5\n"}, stdin: patchOf5, argv: "patch -p1", out: "patching file f\nHunk #1 succeeded at 2 with fuzz 1.\n",
			after: map[string]string{"f": "1\n2\nthree\nfour\n5\n", "f.orig": "1\n2\n3\nfour\n5\n"}},
		{name: "reject", files: map[string]string{"f": "a\nb\n"}, stdin: patchOf5, argv: "patch -p1", out: "patching file f\nHunk #1 FAILED at 2.\n1 out of 1 hunk FAILED -- saving rejects to file f.rej\n", code: 1,
			after: map[string]string{"f": "a\nb\n", "f.rej": patchOf5}},
		{name: "already applied", files: map[string]string{"f": "1\n2\nthree\n4\n5\n"}, stdin: patchOf5, argv: "patch -N -p1 -r -",
			out: "patching file f\nReversed (or previously applied) patch detected!  Skipping patch.\n1 out of 1 hunk ignored\n", code: 1},
		{name: "new file", stdin: "--- /dev/null\n+++ b/d/new\n@@ -0,0 +1 @@\n+x\n", argv: "patch -p1", out: "patching file d/new\n", after: map[string]string{"d/new": "x\n"}},
		{name: "removed file", files: map[string]string{"d/f": "x\n"}, stdin: "--- a/d/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", argv: "patch -p1", out: "patching file d/f\n", after: map[string]string{"d": "-"}},
		{name: "rename", files: f, stdin: "diff --git a/f b/g\nrename from f\nrename to g\n", argv: "patch -p1", out: "patching file g (renamed from f)\n", after: map[string]string{"f": "-", "g": "1\n2\n3\n4\n5\n"}},
		{name: "garbage", stdin: "hello\n", argv: "patch", err: "Only garbage was found in the patch input.", code: 2},
		{name: "malformed", files: f, stdin: "--- f\n+++ f\n@@ -1,2 +1,2 @@\n 1\nxxx\n", argv: "patch", out: "patching file f\n", err: "malformed patch at line 5: xxx", code: 2, after: f},
		{name: "cut", files: f, stdin: "--- f\n+++ f\n@@ -1,2 +1,2 @@\n 1\n", argv: "patch", out: "patching file f\n", err: "unexpected end of file in patch", code: 2},
		{name: "counts that are too large", files: f, stdin: "--- f\n+++ f\n@@ -1,99999999999999999999 +1,2 @@\n 1\n", argv: "patch", out: "patching file f\n", err: "unexpected end of file", code: 2},
		{name: "no such directory", argv: "patch -d nope", err: "Can't change to directory nope", code: 2},
	})
}

func TestPatchRefusesNamesThatLeadElsewhere(t *testing.T) {
	for _, name := range []string{"../x", "/etc/x", "a/../../x"} {
		got := runCommand(t, nil, "--- "+name+"\n+++ "+name+"\n@@ -0,0 +1 @@\n+bad\n", "patch", "-p0")
		if got.code != 1 || !strings.Contains(got.out, "Ignoring potentially dangerous file name") {
			t.Errorf("%s: %d %q %q", name, got.code, got.out, got.err)
		}
		for _, made := range []string{"/x", "/etc/x"} {
			if _, err := got.files.Stat(made); err == nil {
				t.Errorf("%s was made", made)
			}
		}
	}
	got := runCommand(t, map[string]string{"f": "-> other", "other": "1\n2\n3\n4\n"}, patchOf5, "patch", "-p1", "-r", "-")
	if got.code != 1 || got.read(t, "other") != "1\n2\n3\n4\n" {
		t.Errorf("a symlink was followed: %d %q", got.code, got.out)
	}
}
