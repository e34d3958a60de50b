package fsops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// walkFaulty is walkOS with errors at some places.
type walkFaulty struct {
	walkOS
	faults map[string]error // by path
	opened func(name string)
}

func (f walkFaulty) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.faults[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f.walkOS.ReadDir(name)
}

func (f walkFaulty) Open(name string) (File, error) {
	if f.opened != nil {
		f.opened(name)
	}
	if err := f.faults[name]; err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f.walkOS.Open(name)
}

func TestWalkLeavesOutWhatCannotBeRead(t *testing.T) {
	_, dir := walkTree(t, map[string]string{"a/f": "x", "b/f": "x", "c": "x", "d/.gitignore": "f", "d/f": "x"})
	for _, c := range []struct {
		name  string
		at    string
		fault error
		want  []string // nil is an error
		code  backends.Code
	}{
		{"a directory without permission", "/a", syscall.EACCES, []string{"b/f", "c"}, ""},
		{"a directory that went", "/a", syscall.ENOENT, []string{"b/f", "c"}, ""},
		{"a directory that became a file", "/a", syscall.ENOTDIR, []string{"b/f", "c"}, ""},
		{"a file without permission", "/c", syscall.EACCES, []string{"a/f", "b/f"}, ""},
		{"a file that became a symlink", "/c", syscall.ELOOP, []string{"a/f", "b/f"}, ""},
		{"a .gitignore without permission", "/d/.gitignore", syscall.EACCES, []string{"a/f", "b/f", "c", "d/f"}, ""},
		{"the start without permission", "", syscall.EACCES, nil, backends.CodePermission},
		{"too many open files", "/b", syscall.EMFILE, nil, backends.CodeInternal},
		{"the environment is gone", "/b", backends.Errorf(backends.CodeUnavailable, "read", "", "gone"), nil, backends.CodeUnavailable},
		{"an error nobody knows", "/c", errors.New("broken"), nil, backends.CodeInternal},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := New(walkFaulty{walkOS: walkOS{"/"}, faults: map[string]error{dir + c.at: c.fault}}, dir)
			res, err := tree.Grep(t.Context(), backends.GrepRequest{Pattern: "x"})
			if c.want == nil {
				if backends.CodeOf(err) != c.code {
					t.Errorf("%v, want %s", err, c.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := grepPaths(res, dir); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			missed := 1
			if errors.Is(c.fault, syscall.ENOENT) || c.at == "/d/.gitignore" {
				missed = 0
			}
			if res.Skipped != missed {
				t.Errorf("%d skipped, want %d", res.Skipped, missed)
			}
		})
	}
}

func grepPaths(res backends.GrepResult, dir string) []string {
	var out []string
	for _, f := range res.Files {
		out = append(out, strings.TrimPrefix(f.Path, dir+"/"))
	}
	return out
}

func TestWalkNeverOpensSpecialFilesNorFollowsSymlinks(t *testing.T) {
	_, dir := walkTree(t, map[string]string{"a/f": "x", "link": "-> a/f", "dir": "-> a", "loop": "-> .", "out": "-> /etc"})
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	tree := New(walkFaulty{walkOS: walkOS{"/"}, opened: func(name string) {
		if name != dir+"/a/f" {
			t.Errorf("opened %s", name)
		}
	}}, dir)
	res, err := tree.Grep(t.Context(), backends.GrepRequest{Pattern: "x"})
	if err != nil || !slices.Equal(grepPaths(res, dir), []string{"a/f"}) {
		t.Errorf("%+v, %v", res, err)
	}
	if _, err := tree.Grep(t.Context(), backends.GrepRequest{Pattern: "x", Path: "fifo"}); backends.CodeOf(err) != backends.CodeInvalidArgument {
		t.Errorf("a FIFO as path: %v", err)
	}
}

func TestWalkSurvivesDeletion(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/e/f", i)] = "x\n"
	}
	tree, dir := walkTree(t, files)
	gone := make(chan error, 1)
	go func() {
		var err error
		for i := range 300 {
			err = errors.Join(err, os.RemoveAll(fmt.Sprintf("%s/d%d", dir, i)))
		}
		gone <- err
	}()
	for running := true; running; {
		select {
		case err := <-gone:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		if _, err := tree.Grep(t.Context(), backends.GrepRequest{Pattern: "x"}); err != nil {
			t.Fatal(err)
		}
		if _, err := tree.Glob(t.Context(), backends.GlobRequest{Pattern: "**"}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWalkStopsInTheMiddle(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("d%d/f", i)] = "x\n"
	}
	_, dir := walkTree(t, files)
	ctx, cancel := context.WithCancel(t.Context())
	opened := make(chan string, 1000)
	tree := New(walkFaulty{walkOS: walkOS{"/"}, opened: func(name string) {
		opened <- name
		cancel()
	}}, dir)
	_, err := tree.Grep(ctx, backends.GrepRequest{Pattern: "x"})
	if backends.CodeOf(err) != backends.CodeCancelled {
		t.Fatalf("%v", err)
	}
	if n := len(opened); n > maxWalkers {
		t.Errorf("%d files opened after the search was given up", n)
	}
}

func TestWalkFirstKeepsTheFirst(t *testing.T) {
	f := walkFirst[int]{limit: 5}
	for _, r := range []walkResult[int]{{"d", 2, 0}, {"b", 2, 0}, {"e", 9, 0}, {"a", 1, 0}, {"c", 1, 0}, {"f", 1, 0}} {
		if f.wants(r.path) {
			f.add(r)
		}
	}
	var got []string
	for _, r := range f.sorted() {
		got = append(got, r.path)
	}
	if want := []string{"a", "b", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
