//go:build linux || darwin

package osfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// text is a Replace's content.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// noTemps fails when a file that was being written is left in dir.
func noTemps(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func sys(t *testing.T, name string) *syscall.Stat_t {
	t.Helper()
	info, err := os.Lstat(name)
	must(t, err)
	return info.Sys().(*syscall.Stat_t)
}

func TestReplaceIsByRename(t *testing.T) {
	dir := t.TempDir()
	place(t, dir+"/f", "old")
	before := sys(t, dir+"/f").Ino
	c := openFS(t, dir)
	must(t, c.Replace(c.path+"/f", 0o644, text("new")))
	if get(t, dir+"/f") != "new" || sys(t, dir+"/f").Ino == before {
		t.Error("the file was not replaced by another")
	}
	noTemps(t, dir)
}

func TestReplaceKeepsTheMode(t *testing.T) {
	dir := t.TempDir()
	c := openFS(t, dir)
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o644, 0o666, 0o755, 0o777} {
		place(t, dir+"/f", "old")
		must(t, os.Chmod(dir+"/f", mode), c.Replace(c.path+"/f", 0o644, text("new")))
		if info, err := os.Stat(dir + "/f"); err != nil || info.Mode() != mode {
			t.Errorf("%v became %v, %v", mode, info.Mode(), err)
		}
		must(t, os.Remove(dir+"/f"), c.Replace(c.path+"/f", mode, text("new")))
		if info, err := os.Stat(dir + "/f"); err != nil || info.Mode() != mode {
			t.Errorf("a new file of %v has %v, %v", mode, info.Mode(), err)
		}
	}
	must(t, os.Chmod(dir+"/f", 0o755|fs.ModeSetuid), c.Replace(c.path+"/f", 0o644, text("new")))
	if info, err := os.Stat(dir + "/f"); err != nil || info.Mode() != 0o755 {
		t.Errorf("a set-id file became %v, %v", info.Mode(), err)
	}
}

func TestReplaceThatFails(t *testing.T) {
	dir := t.TempDir()
	place(t, dir+"/f", "old")
	place(t, dir+"/linked", "old")
	must(t, os.Link(dir+"/linked", dir+"/other"))
	c := openFS(t, dir)
	broken := errors.New("broken")
	for _, name := range []string{"f", "linked", "new"} {
		err := c.Replace(c.path+"/"+name, 0o644, func(w io.Writer) error {
			if _, err := io.WriteString(w, "half"); err != nil {
				return err
			}
			return broken
		})
		if !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if get(t, dir+"/f") != "old" || get(t, dir+"/linked") != "old" {
		t.Error("the old content is gone")
	}
	if _, err := os.Stat(dir + "/new"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := c.Replace(c.path+"/none/f", 0o644, text("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	must(t, os.Mkdir(dir+"/sub", 0o755))
	if err := c.Replace(c.path+"/sub", 0o644, text("x")); !errors.Is(err, syscall.EISDIR) {
		t.Error(err)
	}
	noTemps(t, dir)
}

func TestReplaceDoesNotWriteThroughHardLinks(t *testing.T) {
	dir := t.TempDir()
	place(t, dir+"/f", "old and longer than the new")
	must(t, os.Link(dir+"/f", dir+"/other"))
	c := openFS(t, dir)
	must(t, c.Replace(c.path+"/f", 0o644, text("new")))
	if get(t, dir+"/f") != "new" || get(t, dir+"/other") != "old and longer than the new" {
		t.Errorf("%q, %q", get(t, dir+"/f"), get(t, dir+"/other"))
	}
	noTemps(t, dir)
}

func TestReadersSeeOldOrNew(t *testing.T) {
	dir := t.TempDir()
	ws := openTree(t, dir)
	texts := []string{strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<19)}
	place(t, dir+"/f", texts[0])
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		for i := range 100 {
			if _, err := ws.Write(t.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader(texts[i%2])}); err != nil {
				t.Error(err)
			}
		}
	})
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if got := get(t, dir+"/f"); got != texts[0] && got != texts[1] {
			t.Fatalf("%d bytes that are neither", len(got))
		}
	}
	wg.Wait()
	noTemps(t, dir)
}
