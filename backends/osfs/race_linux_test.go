package osfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// The same with a symlink that stays inside, where a ruleset may have denied
// what it leads to.
func TestNamesAreNotLedElsewhereInside(t *testing.T) {
	root := t.TempDir()
	place(t, root+"/flip/sub/f", "allowed\n")
	place(t, root+"/denied/sub/f", "denied\n")
	must(t, os.Symlink("denied", root+"/link"))
	c := openFS(t, root)
	if c.dir == nil {
		t.Skip("this kernel has no openat2, or it is forbidden")
	}
	// What is at rest is refused in the first place.
	_, err := c.Open(c.path + "/link/sub/f")
	wantLoop(t, "Open", err)
	_, err = c.Lstat(c.path + "/link/sub/f")
	wantLoop(t, "Lstat", err)
	_, err = c.Readlink(c.path + "/link/sub/f")
	wantLoop(t, "Readlink", err)
	_, err = c.ReadDir(c.path + "/link/sub")
	wantLoop(t, "ReadDir", err)
	_, err = c.Lock(t.Context(), c.path+"/link/sub/f")
	wantLoop(t, "Lock", err)
	wantLoop(t, "Replace", c.Replace(c.path+"/link/sub/f", 0o644, text("written\n")))
	wantLoop(t, "Replace new", c.Replace(c.path+"/link/g", 0o644, text("written\n")))
	wantLoop(t, "MkdirAll", c.MkdirAll(c.path+"/link/a/b"))

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			if err := unix.Renameat2(unix.AT_FDCWD, root+"/flip", unix.AT_FDCWD, root+"/link", unix.RENAME_EXCHANGE); err != nil {
				t.Error(err)
				cancel()
			}
		}
	})
	var done atomic.Int64
	wg.Go(func() {
		for ctx.Err() == nil {
			f, err := c.Open(c.path + "/flip/sub/f")
			if err != nil {
				continue
			}
			data, err := io.ReadAll(f)
			f.Close()
			if err != nil || string(data) == "denied\n" {
				t.Errorf("%q was read, %v", data, err)
				cancel()
			}
			done.Add(1)
		}
	})
	wg.Go(func() {
		for ctx.Err() == nil {
			if c.Replace(c.path+"/flip/sub/f", 0o644, text("allowed\n")) == nil && c.Replace(c.path+"/flip/sub/g", 0o644, text("x")) == nil {
				done.Add(1)
			}
			_ = c.MkdirAll(c.path + "/flip/made") // refused or not, whichever it finds there
		}
	})
	wg.Wait()
	if done.Load() == 0 {
		t.Error("nothing was ever read or written: the race was none")
	}
	var found []string
	must(t, filepath.WalkDir(root+"/denied", func(name string, _ fs.DirEntry, err error) error {
		found = append(found, strings.TrimPrefix(name, root))
		return err
	}))
	if !slices.Equal(found, []string{"/denied", "/denied/sub", "/denied/sub/f"}) || get(t, root+"/denied/sub/f") != "denied\n" {
		t.Errorf("%q", found)
	}
}

func wantLoop(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, syscall.ELOOP) {
		t.Errorf("%s: %v, want ELOOP", what, err)
	}
}

// Names longer than the kernel takes at once are reached in stages.
func TestDeepPaths(t *testing.T) {
	for how, prepare := range map[string]func(*FS){"openat2": func(*FS) {}, "os.Root": func(c *FS) { c.dir = nil }} {
		t.Run(how, func(t *testing.T) {
			c := openFS(t, t.TempDir())
			prepare(c)
			deep := c.path + strings.Repeat("/"+strings.Repeat("d", 99), 60)
			must(t, c.MkdirAll(deep), c.Replace(deep+"/f", 0o644, text("deep")))
			f, err := c.Open(deep + "/f")
			must(t, err)
			defer f.Close()
			if data, err := io.ReadAll(f); err != nil || string(data) != "deep" {
				t.Errorf("%q, %v", data, err)
			}
			if info, err := c.Lstat(deep + "/f"); err != nil || info.Size() != 4 || info.Name() != "f" {
				t.Errorf("%v, %v", info, err)
			}
			if entries, err := c.ReadDir(deep); err != nil || len(entries) != 1 {
				t.Errorf("%v, %v", entries, err)
			}
		})
	}
}

// Where openat2 is missing the contract holds through os.Root.
func TestWithoutOpenat2(t *testing.T) {
	c := openFS(t, t.TempDir())
	c.dir.Close()
	c.dir = nil
	must(t, c.MkdirAll(c.path+"/a/b"), c.Replace(c.path+"/a/b/f", 0o644, text("x")), os.Symlink("f", c.path+"/a/b/l"))
	if text, err := c.Readlink(c.path + "/a/b/l"); err != nil || text != "f" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := c.Lstat(c.path + "/a/b/l"); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%v, %v", info, err)
	}
	unlock, err := c.Lock(t.Context(), c.path+"/a/b/f")
	must(t, err)
	unlock()
	wantCode(t, "Open outside", func() error { _, err := c.Open(c.path + "/../x"); return err }(), backends.CodePermission)
}
