package vfs

import (
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestNothingIsMovedOrLinkedPastARule tells what Access refuses of renames and
// links: what lies below a directory moves with it, and a second name is a way
// to read and to write the file.
func TestNothingIsMovedOrLinkedPastARule(t *testing.T) {
	below := func(op, dir string) func(string, string) bool {
		return func(o, name string) bool { return o == op && strings.HasPrefix(name, dir) }
	}
	rename := func(old, name string) func(*FS) error {
		return func(f *FS) error { return f.Rename(old, name) }
	}
	for _, c := range []struct {
		name string
		deny func(op, name string) bool
		do   func(*FS) error
		ok   bool
	}{
		{"a directory with a file that may not be read", below(Read, "/d/"), rename("/d", "/e"), false},
		{"a directory with a file that may not be written", below(Write, "/d/sub/"), rename("/d", "/e"), false},
		{"a directory to where its files may not be written", below(Write, "/no/"), rename("/d", "/no"), false},
		{"a file that may not be read", below(Read, "/d/x"), rename("/d/x", "/x"), false},
		{"a file by a link that may not be written", below(Write, "/l/"), rename("/l/x", "/x"), false},
		{"a directory of which nothing is refused", below(Write, "/other"), rename("/d", "/e"), true},
		{"another name for a file that may not be written", below(Write, "/d/x"), func(f *FS) error { return f.Link("/d/x", "/x") }, false},
		{"another name for a file that may not be read", below(Read, "/d/x"), func(f *FS) error { return f.Link("/d/x", "/x") }, false},
		{"another name for a file that may be both", below(Write, "/other"), func(f *FS) error { return f.Link("/d/x", "/x") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := New(Options{Base: treeOf("/d/x=1", "/d/sub/y=2", "/l=->d"), Access: func(op, name string) error {
				if c.deny(op, name) {
					return fs.ErrPermission
				}
				return nil
			}})
			if err := c.do(f); (err == nil) != c.ok {
				t.Errorf("%v", err)
			}
			if changed := f.Changed(); changed != c.ok {
				t.Errorf("changed: %t", changed)
			}
		})
	}
}

func TestARenameWhoseAccessWaitsSeesWhatHappensMeanwhile(t *testing.T) {
	var f *FS
	made := false
	f = New(Options{Base: treeOf("/d/x=1"), Access: func(op, name string) error {
		if name == "/d/x" && !made { // asked without a lock: somebody adds a file
			made = true
			w, err := f.OpenFile("/d/late", os.O_WRONLY|os.O_CREATE, 0o666)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(w, "s"); err != nil {
				return err
			}
			return w.Close()
		}
		if op == Read && name == "/d/late" {
			return fs.ErrPermission
		}
		return nil
	}})
	if err := f.Rename("/d", "/e"); err == nil {
		t.Error("a file that came while access was asked for was moved past its rule")
	}
}

// TestEachNameOfAFileCounts: a document holds the content of a file with two
// names twice, and what does not fit into it must fail here.
func TestEachNameOfAFileCounts(t *testing.T) {
	f := New(Options{Limits: Limits{TotalBytes: 100}})
	used := func(want int64) {
		t.Helper()
		if got, _, _ := f.Used(); got != want {
			t.Errorf("%d bytes are used, want %d", got, want)
		}
	}
	write(t, f, "/a", strings.Repeat("x", 30))
	for _, name := range []string{"/b", "/c"} {
		if err := f.Link("/a", name); err != nil {
			t.Fatal(err)
		}
	}
	used(90)
	if err := f.Link("/a", "/d"); err == nil {
		t.Error("a name was made for which there is no room")
	}
	h, err := f.OpenFile("/b", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := h.Write(make([]byte, 10)); n != 3 || err == nil {
		t.Errorf("wrote %d, %v; want the 3 bytes for which there is room three times", n, err)
	}
	used(99)
	if err := f.Rename("/c", "/e"); err != nil {
		t.Fatal(err)
	}
	used(99)
	if err := f.Remove("/e"); err != nil {
		t.Fatal(err)
	}
	used(66)
	if err := h.Truncate(10); err != nil {
		t.Fatal(err)
	}
	used(20)
	for _, name := range []string{"/a", "/b"} {
		if err := f.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	used(10) // it is open
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	used(0)
}
