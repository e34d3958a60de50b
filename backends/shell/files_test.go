package shell

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// newFiles makes a file system with the directory dir in it.
func newFiles(t testing.TB, dir string) *vfs.FS {
	t.Helper()
	f := vfs.New(vfs.Options{Limits: vfs.Limits{TotalBytes: 256 << 20, FileBytes: 128 << 20, Entries: 1 << 17, OpenFiles: 256}})
	mkdirAll(t, f, dir)
	return f
}

func mkdirAll(t testing.TB, f *vfs.FS, dir string) {
	t.Helper()
	if _, err := f.Stat(dir); err == nil {
		return
	}
	mkdirAll(t, f, path.Dir(dir))
	if err := f.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// entry is a file as two trees are compared by.
type entry struct {
	kind    string
	content string
	mode    fs.FileMode // of a file
}

// listFS lists what is below dir.
func listFS(t testing.TB, f *vfs.FS, dir string) map[string]entry {
	t.Helper()
	out := map[string]entry{}
	var walk func(at string)
	walk = func(at string) {
		entries, err := f.ReadDir(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			name := path.Join(at, e.Name())
			rel := strings.TrimPrefix(name, dir+"/")
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case e.IsDir():
				out[rel] = entry{kind: "dir"}
				walk(name)
			case e.Type()&fs.ModeSymlink != 0:
				target, err := f.Readlink(name)
				if err != nil {
					t.Fatal(err)
				}
				out[rel] = entry{kind: "link", content: target}
			default:
				r, err := f.Open(name)
				if err != nil {
					t.Fatal(err)
				}
				b, err := io.ReadAll(r)
				if err = errors.Join(err, r.Close()); err != nil {
					t.Fatal(err)
				}
				out[rel] = entry{"file", string(b), info.Mode().Perm()}
			}
		}
	}
	walk(dir)
	return out
}

// listOS is listFS for a directory of the machine.
func listOS(t testing.TB, dir string) map[string]entry {
	t.Helper()
	out := map[string]entry{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		rel := strings.TrimPrefix(name, dir+"/")
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			out[rel] = entry{kind: "dir"}
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			out[rel] = entry{kind: "link", content: target}
		case d.Type().IsRegular():
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			out[rel] = entry{"file", string(b), info.Mode().Perm()}
		default:
			out[rel] = entry{kind: "other"}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
