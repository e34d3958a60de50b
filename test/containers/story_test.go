package containers

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/test/engines"
)

// The small project that somebody works on: its total forgets the quantity.
const (
	cart = `"""A shopping cart."""


class Cart:
    def __init__(self):
        self.items = []

    def add(self, name, price, quantity=1):
        self.items.append((name, price, quantity))

    def total(self):
        return sum(price for _, price, quantity in self.items)
`
	cartTest = `import unittest

from shop.cart import Cart


class CartTest(unittest.TestCase):
    def test_empty(self):
        self.assertEqual(Cart().total(), 0)

    def test_quantity(self):
        cart = Cart()
        cart.add("tea", 3, quantity=2)
        cart.add("milk", 1)
        self.assertEqual(cart.total(), 7)
`
	fault   = "sum(price for _, price, quantity in self.items)"
	mended  = "sum(price * quantity for _, price, quantity in self.items)"
	theDiff = `diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -9,4 +9,4 @@ class Cart:
         self.items.append((name, price, quantity))
 
     def total(self):
-        return sum(price for _, price, quantity in self.items)
+        return sum(price * quantity for _, price, quantity in self.items)`
)

// project makes a repository with one commit, and beside it a bare one.
func project(t *testing.T) (work, bare string) {
	t.Helper()
	dir := t.TempDir()
	work, bare = filepath.Join(dir, "project"), filepath.Join(dir, "origin.git")
	for _, d := range []string{"shop", "tests"} {
		if err := os.MkdirAll(filepath.Join(work, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{
		"shop/__init__.py": "", "shop/cart.py": cart, "tests/__init__.py": "", "tests/test_cart.py": cartTest, ".gitignore": "__pycache__/\n",
	} {
		writeFile(t, filepath.Join(work, name), content)
	}
	git(t, work, "init", "--quiet", "--initial-branch=main")
	git(t, work, "add", ".")
	git(t, work, "commit", "--quiet", "--message=A cart")
	git(t, dir, "clone", "--quiet", "--bare", work, bare)
	return work, bare
}

func git(t *testing.T, dir string, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "HOME="+t.TempDir(),
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", arguments, err, out)
	}
}

// work finds the fault in the project at dir and mends it, as a model would.
func work(t *testing.T, s *server, dir string) {
	t.Helper()
	in := "cd " + dir + " && "
	failing := s.call(t, "execute", args{"command": in + "python3 -m unittest"})
	if failing.exit != 1 || !strings.Contains(failing.text, "AssertionError: 4 != 7") || !strings.Contains(failing.text, "FAILED (failures=1)") {
		t.Fatalf("the test does not fail as it should (exit %d): %s", failing.exit, failing.text)
	}
	found := s.must(t, "grep", args{"pattern": `def total`, "path": dir, "glob_pattern": "*.py", "output_mode": "content", "context": 1})
	file := dir + "/shop/cart.py"
	if !strings.Contains(found, "shop/cart.py:11:     def total(self):") || strings.Contains(found, "test_cart") {
		t.Fatalf("grep found: %s", found)
	}
	if shown := s.must(t, "read_file", args{"path": file, "offset": 10, "limit": 2}); !strings.Contains(shown, "    12\t        return "+fault) {
		t.Fatalf("the file reads: %s", shown)
	}
	s.must(t, "edit_file", args{"path": file, "old_string": fault, "new_string": mended})
	if passing := s.run(t, in+"python3 -m unittest"); !strings.Contains(passing, "Ran 2 tests") || !strings.HasSuffix(strings.TrimSpace(passing), "OK") {
		t.Errorf("the test still fails: %s", passing)
	}
	var lines []string
	for line := range strings.Lines(s.run(t, in+"git diff")) {
		if !strings.HasPrefix(line, "index ") {
			lines = append(lines, line)
		}
	}
	if diff := strings.TrimSpace(strings.Join(lines, "")); diff != theDiff {
		t.Errorf("git diff shows\n%s\nand not\n%s", diff, theDiff)
	}
	if status := s.run(t, in+"git status --short"); status != " M shop/cart.py" {
		t.Errorf("git status shows %q", status)
	}
}

func TestAFaultIsFoundAndMendedInAClone(t *testing.T) {
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		_, bare := project(t)
		s := start(t, e, "--name="+named(t, e), "--network=none", "--mount=type=bind,src="+bare+",dst=/origin.git,readonly")
		s.run(t, "git clone --quiet /origin.git project")
		work(t, s, "/workspace/project")
		s.refused(t, "read_only", "write_file", args{"path": "/origin.git/HEAD", "content": "x"})
		if got := s.call(t, "execute", args{"command": "cd project && git -c user.name=A -c user.email=a@example.com commit -qam Mend && git push -q"}); got.exit == 0 {
			t.Errorf("what is mounted read-only was pushed to: %s", got.text)
		}
	})
}

// TestAFaultIsMendedInADirectoryOfAnotherUser: git refuses to work in what
// belongs to somebody else unless it is told that this is meant.
func TestAFaultIsMendedInADirectoryOfAnotherUser(t *testing.T) {
	const owner = 12345
	onBoth(t, func(t *testing.T, e *engines.Engine) {
		dir, _ := project(t)
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, owner, owner)
		})
		if err != nil {
			t.Fatal(err)
		}
		s := start(t, e, "--name="+named(t, e), "--network=none", "--mount="+dir+":/project", "--working-dir=/project")
		work(t, s, "/project")
		file := filepath.Join(dir, "shop/cart.py")
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(content, []byte(mended)) {
			t.Errorf("the file of the machine was not changed:\n%s", content)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if uid := info.Sys().(*syscall.Stat_t).Uid; uid != owner {
			t.Errorf("the file now belongs to %d", uid)
		}
	})
}
