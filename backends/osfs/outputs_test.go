//go:build linux || darwin

package osfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// openOutputs keeps outputs where a local workspace does.
func openOutputs(t *testing.T, root string) *Outputs {
	t.Helper()
	files := openFS(t, root)
	return NewOutputs(files, filepath.Join(files.Path(), ".mcp-workspace/output"), nil)
}

// keep writes one output and returns where it is.
func keep(t *testing.T, o *Outputs, text string) string {
	t.Helper()
	name, f, err := o.Open()
	must(t, err)
	_, err = io.WriteString(f, text)
	must(t, err, f.Close())
	return name
}

func TestOldOutputsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	o := openOutputs(t, dir)
	for i := range 10 {
		place(t, fmt.Sprintf("%s/.mcp-workspace/output/20250101-00000%d.000000-AAAAAAA2.txt", dir, i), "old")
	}
	var last string
	for range keptOutputs {
		last = keep(t, o, "output\n")
	}
	if get(t, last) != "output\n" || get(t, dir+"/.mcp-workspace/.gitignore") != "*\n" {
		t.Error("the output or .gitignore is not what it should be")
	}
	entries, err := os.ReadDir(filepath.Dir(last))
	if err != nil || len(entries) != keptOutputs || entries[keptOutputs-1].Name() != filepath.Base(last) {
		t.Errorf("%d files are kept, %v", len(entries), err)
	}
	if info, err := os.Stat(last); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A result names its output file; with many commands at once it would be gone
// before anyone could read it.
func TestOutputsOfLateAreAllKept(t *testing.T) {
	o := openOutputs(t, t.TempDir())
	var wg sync.WaitGroup
	for range 2 * keptOutputs {
		wg.Go(func() { keep(t, o, "output\n") })
	}
	wg.Wait()
	if entries, err := os.ReadDir(o.path()); err != nil || len(entries) != 2*keptOutputs {
		t.Errorf("%d files are kept, %v", len(entries), err)
	}
}

func TestOutputsAmongFilesOfTheUser(t *testing.T) {
	notes := func(t *testing.T, dir string) {
		for i := range keptOutputs + 20 {
			place(t, fmt.Sprintf("%s/note %02d.txt", dir, i), "mine")
		}
	}
	for name, prepare := range map[string]func(t *testing.T, root string) (dir string, kept bool){
		"in it": func(_ *testing.T, root string) (string, bool) { return root + "/.mcp-workspace/output", true },
		"it is a symlink": func(t *testing.T, root string) (string, bool) {
			must(t, os.Mkdir(root+"/.mcp-workspace", 0o755), os.Symlink("../notes", root+"/.mcp-workspace/output"))
			return root + "/notes", false
		},
		"its parent is one": func(t *testing.T, root string) (string, bool) {
			must(t, os.Symlink("other", root+"/.mcp-workspace"))
			return root + "/other/output", false
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir, kept := prepare(t, root)
			notes(t, dir)
			_, f, err := openOutputs(t, root).Open()
			if (err == nil) != kept {
				t.Errorf("%v", err)
			}
			if f != nil {
				must(t, f.Close())
			}
			found, err := filepath.Glob(dir + "/note *.txt")
			if err != nil || len(found) != keptOutputs+20 {
				t.Errorf("%d files are left, %v", len(found), err)
			}
			if entries, err := os.ReadDir(dir); err != nil || !kept && len(entries) != len(found) {
				t.Errorf("%d entries, %v", len(entries), err)
			}
		})
	}
}

// As for a container: the root is "/", and what the directory is in is the
// image's, if it is there at all.
func TestOutputsBelowTheRootOfTheMachine(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"in a directory that is there": func(dir string) error { return os.Mkdir(dir+"/tmp", 0o755) },
		"in one that is not":           func(string) error { return nil },
		"in a symlink to another": func(dir string) error {
			return errors.Join(os.Mkdir(dir+"/v", 0o755), os.Symlink(dir+"/v", dir+"/tmp"))
		},
		"in a symlink to one that is not": func(dir string) error { return os.Symlink("v/w", dir+"/tmp") },
		"in one that others may write too": func(dir string) error {
			return errors.Join(os.Mkdir(dir+"/tmp", 0o755), os.Chmod(dir+"/tmp", 0o777|fs.ModeSticky))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, prepare(dir))
			o := NewOutputs(openFS(t, "/"), dir+"/tmp/.mcp-workspace/output", nil)
			if at := keep(t, o, "output\n"); filepath.Dir(at) != dir+"/tmp/.mcp-workspace/output" || get(t, at) != "output\n" {
				t.Errorf("it is in %s", at)
			}
			for _, made := range []string{"/tmp/.mcp-workspace", "/tmp/.mcp-workspace/output"} {
				if info, err := os.Stat(dir + made); err != nil || info.Mode().Perm() != 0o700 {
					t.Errorf("%s: %v, %v", made, info, err)
				}
			}
		})
	}
}

func TestOutputThatCannotBeWrittenIsRemoved(t *testing.T) {
	o := openOutputs(t, t.TempDir())
	name, f, err := o.Open()
	must(t, err, f.(*outputFile).file.Close())
	if _, err := io.WriteString(f, "x"); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if err := f.Close(); err == nil {
		t.Error("Close does not tell")
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
}

func TestOutputsWhereNoneCanBe(t *testing.T) {
	root := t.TempDir()
	place(t, root+"/.mcp-workspace", "a file\n")
	if _, _, err := openOutputs(t, root).Open(); err == nil || !strings.Contains(err.Error(), ".mcp-workspace: not a directory") {
		t.Error(err)
	}
	place(t, root+"/tmp", "a file\n")
	if _, _, err := NewOutputs(openFS(t, root), root+"/tmp/a/b", nil).Open(); !errors.Is(err, syscall.ENOTDIR) {
		t.Error(err)
	}
}

// A command that puts a FIFO where directories should be must not keep anyone
// waiting: opening one takes until there is a writer.
func TestFIFOsWhereDirectoriesShouldBe(t *testing.T) {
	root := t.TempDir()
	must(t, os.Mkdir(root+"/.mcp-workspace", 0o755), syscall.Mkfifo(root+"/.mcp-workspace/output", 0o644), syscall.Mkfifo(root+"/fifo", 0o644))
	withDir := openFS(t, root)
	without := openFS(t, root)
	must(t, without.dir.Close())
	without.dir = nil
	for name, open := range map[string]func() error{
		"of outputs":                  func() error { _, _, err := openOutputs(t, root).Open(); return err },
		"of a file":                   func() error { return withDir.Replace(withDir.path+"/fifo/f", 0o644, text("new")) },
		"of a file, on an old kernel": func() error { return without.Replace(without.path+"/fifo/f", 0o644, text("new")) },
	} {
		opened := make(chan error, 1)
		go func() { opened <- open() }()
		select {
		case err := <-opened:
			if !errors.Is(err, syscall.ENOTDIR) {
				t.Errorf("the directory %s: %v, want ENOTDIR", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("the directory %s is still being opened", name)
		}
	}
}
