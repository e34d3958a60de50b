//go:build linux || darwin

package osfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
)

// withoutOpenat2 runs a test as the system has it and as one without openat2.
func withoutOpenat2(t *testing.T, test func(t *testing.T, open func(dir string) *FS)) {
	t.Run("as it is", func(t *testing.T) {
		test(t, func(dir string) *FS { return openFS(t, dir) })
	})
	t.Run("os.Root", func(t *testing.T) {
		test(t, func(dir string) *FS {
			c := openFS(t, dir)
			if c.dir != nil {
				must(t, c.dir.Close())
				c.dir = nil
			}
			return c
		})
	})
}

// readIn reads a file of an open directory.
func readIn(d fsops.Dir, name string) (string, error) {
	f, err := d.Open(name)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(f)
	return string(data), errors.Join(err, f.Close())
}

func TestOpenDirectory(t *testing.T) {
	withoutOpenat2(t, func(t *testing.T, open func(string) *FS) {
		root := t.TempDir()
		big := strings.Repeat("0123456789abcdef", 1<<16)
		place(t, root+"/d/f", "text")
		place(t, root+"/d/empty", "")
		place(t, root+"/d/big", big)
		place(t, root+"/d/sub/f", "")
		must(t, os.Symlink("f", root+"/d/link"), unix.Mkfifo(root+"/d/fifo", 0o644))
		c := open(root)
		d, err := c.OpenDir(c.Path() + "/d")
		must(t, err)
		entries, err := d.ReadDir()
		must(t, err)
		var got []string
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || info.Mode().Type() != e.Type() || info.Name() != e.Name() || info.IsDir() != e.IsDir() {
				t.Errorf("%v is %v, %v", e, info, err)
			}
			got = append(got, fmt.Sprint(e.Name(), " ", e.Type()))
		}
		slices.Sort(got)
		want := []string{"big ----------", "empty ----------", "f ----------", "fifo p---------", "link L---------", "sub d---------"}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		for name, want := range map[string]string{"f": "text", "empty": "", "big": big} {
			if text, err := readIn(d, name); err != nil || text != want {
				t.Errorf("%s: %d bytes, %v", name, len(text), err)
			}
		}
		// A file outlasts its directory.
		f, err := d.Open("f")
		must(t, err, d.Close())
		if data, err := io.ReadAll(f); err != nil || string(data) != "text" {
			t.Errorf("%q, %v", data, err)
		}
		must(t, f.Close())
		for name, dir := range map[string]string{"a file": "/d/f", "a symlink": "/d/link", "nothing": "/none", "outside": "/../x"} {
			if d, err := c.OpenDir(c.Path() + dir); err == nil {
				t.Errorf("%s was opened as a directory: %v", name, d)
			}
		}
	})
}

func TestOpenDirectoryOpensNothingElse(t *testing.T) {
	base := t.TempDir()
	place(t, base+"/outside", "secret")
	place(t, base+"/root/d/sub/f", "text")
	must(t, os.Symlink(base+"/outside", base+"/root/d/out"), os.Symlink("sub/f", base+"/root/d/in"), os.Symlink("none", base+"/root/d/dangling"),
		unix.Mkfifo(base+"/root/d/fifo", 0o644))
	short, err := os.MkdirTemp("", "") // a socket's path is at most 108 bytes
	must(t, err)
	defer os.RemoveAll(short)
	l, err := net.Listen("unix", short+"/socket")
	must(t, err)
	defer l.Close()
	must(t, os.Rename(short+"/socket", base+"/root/d/socket"))
	withoutOpenat2(t, func(t *testing.T, open func(string) *FS) {
		c := open(base + "/root")
		d, err := c.OpenDir(c.Path() + "/d")
		must(t, err)
		defer d.Close()
		for name, want := range map[string]error{
			"": syscall.EINVAL, ".": syscall.EINVAL, "..": syscall.EINVAL, "../d": syscall.EINVAL, "sub/f": syscall.EINVAL, "/etc/passwd": syscall.EINVAL,
			"sub": syscall.EISDIR, "out": syscall.ELOOP, "in": syscall.ELOOP, "dangling": syscall.ELOOP, "none": fs.ErrNotExist,
		} {
			if text, err := readIn(d, name); !errors.Is(err, want) {
				t.Errorf("%q: %q, %v, want %v", name, text, err, want)
			}
		}
		for _, name := range []string{"fifo", "socket"} {
			_, err := d.Open(name)
			wantCode(t, name, err, backends.CodeInvalidArgument)
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v does not name the file", err)
			}
		}
	})
}

// swapping is an FS in which something happens after a directory was listed and
// before anything in it is opened.
type swapping struct {
	*FS
	in   string
	swap func()
}

func (s swapping) OpenDir(name string) (fsops.Dir, error) {
	d, err := s.FS.OpenDir(name)
	if err == nil && name == s.in {
		d = swappingDir{d, s.swap}
	}
	return d, err
}

type swappingDir struct {
	fsops.Dir
	swap func()
}

func (d swappingDir) ReadDir() ([]fs.DirEntry, error) {
	entries, err := d.Dir.ReadDir()
	d.swap()
	return entries, err
}

func TestSearchWhileWhatItFoundIsSwapped(t *testing.T) {
	for name, tc := range map[string]struct {
		swap    func(base string) error
		skipped int
	}{
		"a directory for a symlink to the outside": {func(base string) error {
			return errors.Join(os.Rename(base+"/root/d", base+"/old"), os.Symlink(base+"/outside", base+"/root/d"))
		}, 1},
		"a directory for a symlink to another": {func(base string) error {
			return errors.Join(os.Rename(base+"/root/d", base+"/old"), os.Symlink(".hidden", base+"/root/d"))
		}, 1},
		"a directory for a file": {func(base string) error {
			return errors.Join(os.Rename(base+"/root/d", base+"/old"), os.WriteFile(base+"/root/d", []byte("needle"), 0o644))
		}, 1},
		"a directory for nothing": {func(base string) error { return os.RemoveAll(base + "/root/d") }, 0},
		"a file for a FIFO": {func(base string) error {
			return errors.Join(os.Remove(base+"/root/f"), unix.Mkfifo(base+"/root/f", 0o644))
		}, 1},
		"a file for a symlink": {func(base string) error {
			return errors.Join(os.Remove(base+"/root/f"), os.Symlink(base+"/outside/f", base+"/root/f"))
		}, 1},
		"a file for a directory": {func(base string) error {
			return errors.Join(os.Remove(base+"/root/f"), os.Mkdir(base+"/root/f", 0o755))
		}, 1},
		"a file for nothing": {func(base string) error { return os.Remove(base + "/root/f") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			place(t, base+"/outside/f", "needle outside\n")
			place(t, base+"/root/.hidden/f", "needle hidden\n")
			place(t, base+"/root/d/g", "no match\n")
			place(t, base+"/root/f", "no match\n")
			place(t, base+"/root/there", "needle\n")
			c := openFS(t, base+"/root")
			if c.dir == nil && strings.HasSuffix(name, "to another") {
				t.Skip("this system has no openat2, or it is forbidden")
			}
			ws := fsops.New(swapping{c, c.Path(), func() { must(t, tc.swap(base)) }}, c.Path())
			res, err := ws.Grep(t.Context(), backends.GrepRequest{Pattern: "needle"})
			if err != nil || res.Total != 1 || res.Skipped != tc.skipped {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// Not even after it has been opened.
func TestOpenDirectoryThatIsSwapped(t *testing.T) {
	base := t.TempDir()
	place(t, base+"/outside/f", "secret")
	place(t, base+"/root/d/f", "text")
	c := openFS(t, base+"/root")
	d, err := c.OpenDir(c.Path() + "/d")
	must(t, err)
	defer d.Close()
	must(t, os.Rename(base+"/root/d", base+"/root/e"), os.Symlink(base+"/outside", base+"/root/d"))
	if text, err := readIn(d, "f"); err != nil || text != "text" {
		t.Errorf("%q, %v", text, err)
	}
	_, err = c.OpenDir(c.Path() + "/d")
	wantCode(t, "OpenDir", err, backends.CodePermission)
}

func TestManyEntries(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 100,000 files")
	}
	const many = 100_000
	root := t.TempDir()
	for i := range many {
		fd, err := unix.Open(fmt.Sprintf("%s/file-%06d", root, i), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
		must(t, err, unix.Close(fd))
	}
	place(t, root+"/file-077777", "needle\n")
	c := openFS(t, root)
	entries, err := c.ReadDir(c.Path())
	must(t, err)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	slices.Sort(names)
	if len(names) != many || names[0] != "file-000000" || names[many-1] != fmt.Sprintf("file-%06d", many-1) || len(slices.Compact(names)) != many {
		t.Errorf("%d entries", len(names))
	}
	res, err := fsops.New(c, c.Path()).Grep(t.Context(), backends.GrepRequest{Pattern: "needle"})
	if err != nil || res.Total != 1 || res.Files[0].Path != c.Path()+"/file-077777" || res.Skipped != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

// descriptors counts what this process has open, of the first thousand.
func descriptors() int {
	n := 0
	for fd := range 1000 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			n++
		}
	}
	return n
}

// A search that runs out of descriptors says so: what it found until then would
// pass for all there is.
func TestSearchWithoutDescriptors(t *testing.T) {
	root := t.TempDir()
	for i := range 50 {
		place(t, fmt.Sprintf("%s/d%02d/f", root, i), "needle\n")
	}
	c := openFS(t, root)
	ws := fsops.New(c, c.Path())
	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	before := descriptors()
	low := limit
	low.Cur = 0 // whatever is open stays open
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	_, grepErr := ws.Grep(t.Context(), backends.GrepRequest{Pattern: "needle"})
	_, dirErr := c.OpenDir(c.Path())
	_, listErr := c.ReadDir(c.Path())
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	for what, err := range map[string]error{"Grep": grepErr, "OpenDir": dirErr, "ReadDir": listErr} {
		if !errors.Is(err, syscall.EMFILE) {
			t.Errorf("%s: %v, want %v", what, err, syscall.EMFILE)
		}
	}
	// In the middle of a search.
	middle := swapping{c, c.Path(), func() { must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low)) }}
	_, err := fsops.New(middle, c.Path()).Grep(t.Context(), backends.GrepRequest{Pattern: "needle"})
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("half way: %v, want %v", err, syscall.EMFILE)
	}
	if after := descriptors(); after != before {
		t.Errorf("%d descriptors are open, %d were", after, before)
	}
	if res, err := ws.Grep(t.Context(), backends.GrepRequest{Pattern: "needle"}); err != nil || res.Total != 50 {
		t.Errorf("afterwards: %d, %v", res.Total, err)
	}
}
