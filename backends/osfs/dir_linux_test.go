package osfs

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
)

// macOS takes only names in UTF-8.
func TestNamesThatAreNoText(t *testing.T) {
	root := t.TempDir()
	want := []string{"\x01\x7f", " ", "a\nb", "a\\b", "\xff\xfe", "\xc3", strings.Repeat("\xe2\x82", 127), "...", "-rf", "new\r\nline"}
	for _, name := range want {
		place(t, root+"/d\n\xff/"+name, "needle\n")
	}
	c := openFS(t, root)
	d, err := c.OpenDir(c.Path() + "/d\n\xff")
	must(t, err)
	defer d.Close()
	entries, err := d.ReadDir()
	must(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
		if text, err := readIn(d, e.Name()); err != nil || text != "needle\n" {
			t.Errorf("%q: %q, %v", e.Name(), text, err)
		}
		if info, err := e.Info(); err != nil || info.Size() != 7 {
			t.Errorf("%q: %v, %v", e.Name(), info, err)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	res, err := fsops.New(c, c.Path()).Grep(t.Context(), backends.GrepRequest{Pattern: "needle", IncludeHidden: true})
	if err != nil || res.Total != len(want) {
		t.Errorf("%+v, %v", res, err)
	}
}

// While a directory turns into a symlink to another and back, all the time, a
// search never finds what is in the other under the directory's name.
func TestSearchIsNotLedElsewhereInARace(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a", "b", "c", "sub/a", "sub/b"} {
		place(t, root+"/flip/"+name, "allowed needle\n")
		place(t, root+"/.denied/"+name, "denied needle\n")
	}
	must(t, os.Symlink(".denied", root+"/link"))
	c := openFS(t, root)
	if c.dir == nil {
		t.Skip("this kernel has no openat2, or it is forbidden")
	}
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
	before := descriptors()
	ws := fsops.New(c, c.Path())
	allowed := 0
	for ctx.Err() == nil {
		res, err := ws.Grep(context.Background(), backends.GrepRequest{Pattern: "needle", Mode: backends.GrepContent})
		must(t, err)
		for _, f := range res.Files {
			if f.Lines[0].Text != "allowed needle" {
				t.Fatalf("%s has %q", f.Path, f.Lines[0].Text)
			}
			allowed++
		}
	}
	wg.Wait()
	if allowed == 0 {
		t.Error("nothing was ever found: the race was none")
	}
	if after := descriptors(); after != before {
		t.Errorf("%d descriptors are open, %d were", after, before)
	}
}

// A file system that does not keep types with names has every entry looked at.
func TestEntriesWithoutTypes(t *testing.T) {
	root := t.TempDir()
	place(t, root+"/f", "")
	must(t, os.Mkdir(root+"/d", 0o755), os.Symlink("f", root+"/l"))
	c := openFS(t, root)
	d, err := c.openDir(".", c.Path())
	must(t, err)
	defer d.Close()
	for name, want := range map[string]os.FileMode{"f": 0, "d": os.ModeDir, "l": os.ModeSymlink} {
		if mode, there := d.look(name); !there || mode != want {
			t.Errorf("%s: %v, %v", name, mode, there)
		}
	}
	if _, there := d.look("none"); there {
		t.Error("what is not there is")
	}
}
