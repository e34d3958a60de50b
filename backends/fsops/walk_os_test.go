package fsops

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// walkOS is the operating system's files below root, for the tests of the
// searches.
type walkOS struct{ root string }

func (o walkOS) Root() string                           { return o.root }
func (o walkOS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }
func (o walkOS) Readlink(name string) (string, error)   { return os.Readlink(name) }
func (o walkOS) MkdirAll(name string) error             { return os.MkdirAll(name, 0o755) }

func (o walkOS) ReadDir(name string) ([]fs.DirEntry, error) {
	d, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}

func (o walkOS) Open(name string) (File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
}

func (o walkOS) Replace(name string, mode fs.FileMode, content func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if err := content(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// walkTree makes files in a new directory and returns a Tree there. A name
// that ends in "/" is a directory; content that starts with "-> " makes a
// symlink.
func walkTree(t testing.TB, files map[string]string) (*Tree, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	walkFill(t, dir, files)
	return New(walkOS{"/"}, dir), dir
}

func walkFill(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		full := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(full, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(to, full)
		} else {
			err = os.WriteFile(full, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
