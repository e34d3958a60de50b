package fsops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// walkDirs is walkOS with directories that stay open.
type walkDirs struct {
	walkOS
	faults     map[string]error // of ReadDir, by path
	opened     func(name string)
	open, most *atomic.Int32 // directories
}

func newWalkDirs() walkDirs {
	return walkDirs{walkOS: walkOS{"/"}, open: new(atomic.Int32), most: new(atomic.Int32)}
}

func (o walkDirs) OpenDir(name string) (Dir, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	n := o.open.Add(1)
	for most := o.most.Load(); n > most && !o.most.CompareAndSwap(most, n); most = o.most.Load() {
	}
	return &walkOpenDir{o, f, name}, nil
}

type walkOpenDir struct {
	fs   walkDirs
	file *os.File
	name string
}

func (d *walkOpenDir) ReadDir() ([]fs.DirEntry, error) {
	if err := d.fs.faults[d.name]; err != nil {
		return nil, err
	}
	return d.file.ReadDir(-1)
}

func (d *walkOpenDir) Open(name string) (io.ReadCloser, error) {
	if d.fs.opened != nil {
		d.fs.opened(name)
	}
	fd, err := unix.Openat(int(d.file.Fd()), name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (d *walkOpenDir) Close() error {
	d.fs.open.Add(-1)
	return d.file.Close()
}

// walkWide is a tree in which directories at every level have more files than
// one worker takes at a time.
func walkWide() map[string]string {
	files := map[string]string{".gitignore": "ignored\n", "ignored/f": "x"}
	for _, dir := range []string{"", "a/", "a/b/", "a/b/c/", "d/", "d/e/", "f/", "f/g/", "f/h/", "f/i/"} {
		for i := range 3*walkBatch + 5 {
			files[fmt.Sprintf("%sf%03d", dir, i)] = "x\n"
		}
	}
	return files
}

func TestWalkWithOpenDirectoriesFindsTheSame(t *testing.T) {
	plain, dir := walkTree(t, walkWide())
	opener := newWalkDirs()
	open := New(opener, dir)
	for _, req := range []backends.GrepRequest{{Pattern: "x"}, {Pattern: "x", IncludeIgnored: true, Limit: 7}, {Pattern: "x", Path: "a/b", Glob: "*1"}} {
		want, err := plain.Grep(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := open.Grep(t.Context(), req); err != nil || got.Total == 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: found %d, %v; want %d", req, got.Total, err, want.Total)
		}
	}
	want, err := plain.Glob(t.Context(), backends.GlobRequest{Pattern: "**"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := open.Glob(t.Context(), backends.GlobRequest{Pattern: "**"})
	if err != nil || !slices.Equal(got.Paths, want.Paths) {
		t.Errorf("glob found %d, %v; want %d", got.Total, err, want.Total)
	}
	if n := opener.open.Load(); n != 0 {
		t.Errorf("%d directories are still open", n)
	}
	if n := opener.most.Load(); n > 2*maxWalkers {
		t.Errorf("%d directories were open at once", n)
	}
}

func TestWalkClosesDirectoriesWhenItEndsEarly(t *testing.T) {
	_, dir := walkTree(t, walkWide())
	ctx, cancel := context.WithCancel(t.Context())
	given := newWalkDirs()
	given.opened = func(string) { cancel() }
	if _, err := New(given, dir).Grep(ctx, backends.GrepRequest{Pattern: "x"}); backends.CodeOf(err) != backends.CodeCancelled {
		t.Errorf("given up: %v", err)
	}
	broken := newWalkDirs()
	broken.faults = map[string]error{dir + "/a/b": errors.New("broken")}
	if _, err := New(broken, dir).Grep(t.Context(), backends.GrepRequest{Pattern: "x"}); backends.CodeOf(err) != backends.CodeInternal {
		t.Errorf("broken: %v", err)
	}
	for name, opener := range map[string]walkDirs{"given up": given, "broken": broken} {
		if n := opener.open.Load(); n != 0 {
			t.Errorf("%s: %d directories are still open", name, n)
		}
	}
}
