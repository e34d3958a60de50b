//go:build linux || darwin

package osfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
)

// openFS opens the files below dir, which may be reached through symlinks.
func openFS(t testing.TB, dir string) *FS {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	must(t, err)
	files, err := Open(dir)
	must(t, err)
	t.Cleanup(func() { _ = files.Close() }) // some tests have closed it
	return files
}

// openTree is openFS with the operations on it.
func openTree(t testing.TB, dir string) *fsops.Tree {
	t.Helper()
	files := openFS(t, dir)
	return fsops.New(files, files.Path())
}

func wantCode(t *testing.T, what string, err error, want backends.Code) {
	t.Helper()
	if got := backends.CodeOf(err); got != want {
		t.Errorf("%s: error %v has code %q, want %q", what, err, got, want)
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func place(t testing.TB, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
}

func get(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	return string(data)
}

func TestRootsThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	place(t, dir+"/file", "")
	for name, tc := range map[string]struct {
		root string
		want error
	}{
		"missing":      {dir + "/none", fs.ErrNotExist},
		"a file":       {dir + "/file", syscall.ENOTDIR},
		"below a file": {dir + "/file/x", syscall.ENOTDIR},
	} {
		if _, err := Open(tc.root); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

func TestRootThatIsGone(t *testing.T) {
	dir := t.TempDir() + "/root"
	place(t, dir+"/f", "")
	c := openFS(t, dir)
	if err := c.Check(); c.Gone() || err != nil {
		t.Errorf("gone while it is there: %v", err)
	}
	must(t, os.RemoveAll(dir))
	wantCode(t, "removed", c.Check(), backends.CodeUnavailable)
	place(t, dir+"/f", "")
	wantCode(t, "another in its place", c.Check(), backends.CodeUnavailable)
	_, err := c.Open(c.Path() + "/f")
	wantCode(t, "Open", err, backends.CodeUnavailable)
	_, err = c.OpenDir(c.Path())
	wantCode(t, "OpenDir", err, backends.CodeUnavailable)
}

func TestRootThatIsClosed(t *testing.T) {
	for _, root := range []string{"/", t.TempDir()} {
		c := openFS(t, root)
		must(t, c.Close())
		wantCode(t, "Check", c.Check(), backends.CodeUnavailable)
		_, err := c.Lstat(c.Path())
		wantCode(t, "Lstat", err, backends.CodeUnavailable)
		_, err = c.Open(filepath.Join(c.Path(), "a/f"))
		wantCode(t, "Open", err, backends.CodeUnavailable)
		_, err = c.OpenDir(c.Path())
		wantCode(t, "OpenDir", err, backends.CodeUnavailable)
		_, _, err = NewOutputs(c, filepath.Join(c.Path(), "tmp/a/b"), nil).Open()
		wantCode(t, "Outputs", err, backends.CodeUnavailable)
	}
}
