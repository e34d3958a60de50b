package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// fixed is a tree that never changes.
type fixed struct {
	name    string
	mode    fs.FileMode
	content string
	kids    []*fixed
}

func (n *fixed) Name() string       { return n.name }
func (n *fixed) Size() int64        { return int64(len(n.content)) }
func (n *fixed) Mode() fs.FileMode  { return n.mode }
func (n *fixed) ModTime() time.Time { return time.Unix(1000, 0).UTC() }
func (n *fixed) IsDir() bool        { return n.mode.IsDir() }
func (n *fixed) Sys() any           { return nil }
func (n *fixed) Content() []byte    { return []byte(n.content) }
func (n *fixed) Link() string       { return n.content }
func (n *fixed) Children() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for _, k := range n.kids {
			if !yield(k) {
				return
			}
		}
	}
}

// treeOf makes a tree of "path=content" lines; a path that ends in "/" is a
// directory.
func treeOf(lines ...string) *fixed {
	root := &fixed{name: "/", mode: fs.ModeDir | 0o755}
	for _, line := range lines {
		name, content, _ := strings.Cut(line, "=")
		at := root
		parts := strings.Split(strings.Trim(name, "/"), "/")
		for i, part := range parts {
			k := slices.IndexFunc(at.kids, func(n *fixed) bool { return n.name == part })
			if k < 0 {
				n := &fixed{name: part, mode: fs.ModeDir | 0o755}
				if i == len(parts)-1 && !strings.HasSuffix(name, "/") {
					n.mode, n.content = 0o644, content
					if to, ok := strings.CutPrefix(content, "->"); ok {
						n.mode, n.content = fs.ModeSymlink|0o777, to
					}
				}
				at.kids = append(at.kids, n)
				k = len(at.kids) - 1
			}
			at = at.kids[k]
		}
	}
	return root
}

func write(t *testing.T, f *FS, name, content string) {
	t.Helper()
	w, err := f.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, f *FS, name string) string {
	t.Helper()
	r, err := f.Open(name)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// changes is what Exchange tells of, as text.
func changes(t *testing.T, f *FS, to *fixed) []string {
	t.Helper()
	var out []string
	err := f.Exchange(func(list []Change) (Node, int64, int, error) {
		for _, c := range list {
			switch {
			case c.Now == nil:
				out = append(out, "- "+c.Path)
			case c.Now.Mode.IsDir():
				out = append(out, "+ "+c.Path+"/")
			case c.Now.Link != "":
				out = append(out, "+ "+c.Path+" -> "+c.Now.Link)
			default:
				out = append(out, fmt.Sprintf("+ %s=%s", c.Path, c.Now.Content))
			}
		}
		if to == nil {
			return nil, 0, 0, io.ErrUnexpectedEOF
		}
		return to, 0, 0, nil
	})
	if err != nil && to != nil {
		t.Fatal(err)
	}
	return out
}

func TestChanges(t *testing.T) {
	base := []string{"/a=1", "/d/x=2", "/d/y=3", "/l=->a", "/e/"}
	for _, c := range []struct {
		name string
		do   func(f *FS) error
		want []string
	}{
		{"reading changes nothing", func(f *FS) error {
			_, err := f.ReadDir("/d")
			_, err2 := f.Open("/a")
			if err == nil {
				err = err2
			}
			return err
		}, nil},
		{"a file that is removed", func(f *FS) error { return f.Remove("/a") }, []string{"- /a"}},
		{"a file that is renamed", func(f *FS) error { return f.Rename("/a", "/d/z") }, []string{"- /a", "+ /d/z=1"}},
		{"a directory that is renamed", func(f *FS) error { return f.Rename("/d", "/n") }, []string{"- /d/x", "- /d/y", "- /d", "+ /n/", "+ /n/x=2", "+ /n/y=3"}},
		{"a file over another", func(f *FS) error { return f.Rename("/a", "/d/x") }, []string{"- /a", "+ /d/x=1"}},
		{"a link", func(f *FS) error { return f.Symlink("d/x", "/k") }, []string{"+ /k -> d/x"}},
		{"a link in place of a file", func(f *FS) error {
			if err := f.Remove("/a"); err != nil {
				return err
			}
			return f.Symlink("q", "/a")
		}, []string{"+ /a -> q"}},
		{"a directory in place of a file", func(f *FS) error {
			if err := f.Remove("/a"); err != nil {
				return err
			}
			return f.Mkdir("/a", 0o755)
		}, []string{"- /a", "+ /a/"}},
		{"a mode", func(f *FS) error { return f.Chmod("/a", 0o755) }, []string{"+ /a=1"}},
		{"a mode and back", func(f *FS) error {
			if err := f.Chmod("/a", 0o755); err != nil {
				return err
			}
			return f.Chmod("/a", 0o644)
		}, nil},
		{"two names for a file", func(f *FS) error { return f.Link("/a", "/b") }, []string{"+ /b=1"}},
		{"the empty /tmp and /dev are nobody's", func(f *FS) error { _, err := f.ReadDir("/tmp"); return err }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := New(Options{Base: treeOf(base...)})
			if err := c.do(f); err != nil {
				t.Fatal(err)
			}
			if got := changes(t, f, nil); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestChangesOfTmp(t *testing.T) {
	f := New(Options{Base: treeOf("/a=1")})
	write(t, f, "/tmp/x", "t")
	if got := changes(t, f, nil); !slices.Equal(got, []string{"+ /tmp/x=t"}) {
		t.Errorf("%q", got)
	}
}

func TestExchangeTakesOverWhatOthersDid(t *testing.T) {
	f := New(Options{Base: treeOf("/a=1", "/d/x=2", "/gone=g", "/d/sub/q=q")})
	write(t, f, "/mine", "m")
	if _, err := f.ReadDir("/d"); err != nil {
		t.Fatal(err)
	}
	h, err := f.OpenFile("/mine", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	g, err := f.Open("/gone")
	if err != nil {
		t.Fatal(err)
	}
	if got := changes(t, f, treeOf("/a=changed", "/d/x=2", "/d/new=n", "/mine=m", "/d/sub/q=other")); !slices.Equal(got, []string{"+ /mine=m"}) {
		t.Errorf("%q", got)
	}
	for name, want := range map[string]string{"/a": "changed", "/d/new": "n", "/d/sub/q": "other", "/mine": "m"} {
		if got := read(t, f, name); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	if _, err := f.Stat("/gone"); err == nil {
		t.Error("/gone is still there")
	}
	if b, err := io.ReadAll(g); err != nil || string(b) != "g" {
		t.Errorf("what was open holds %q, %v", b, err)
	}
	if _, err := io.WriteString(h, "ore"); err != nil {
		t.Fatal(err)
	}
	if got := changes(t, f, nil); !slices.Equal(got, []string{"+ /mine=more"}) {
		t.Errorf("%q", got)
	}
}

func TestContentThatWasHandedOverNeverChanges(t *testing.T) {
	f := New(Options{})
	h, err := f.Create("/f")
	if err != nil {
		t.Fatal(err)
	}
	var seen [][]byte
	for i := range 5 {
		if _, err := fmt.Fprintf(h, "line %d\n", i); err != nil {
			t.Fatal(err)
		}
		err := f.Exchange(func(list []Change) (Node, int64, int, error) {
			for _, c := range list {
				seen = append(seen, c.Now.Content)
			}
			return nil, 0, 0, io.ErrUnexpectedEOF
		})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	}
	if _, err := h.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(h, "XXXXX"); err != nil {
		t.Fatal(err)
	}
	if err := h.Truncate(3); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(h, "YYYYYYYY"); err != nil {
		t.Fatal(err)
	}
	want := ""
	for i, got := range seen {
		want += fmt.Sprintf("line %d\n", i)
		if string(got) != want {
			t.Errorf("state %d is now %q, was %q", i, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	f := New(Options{Base: treeOf("/d/e/f=1", "/l=->d/e", "/loop=->loop", "/dangling=->none", "/d/up=->../d")})
	for _, c := range []struct{ name, want string }{
		{"/d/e/f", "1"},
		{"/l/f", "1"},
		{"/l/../e/f", "1"}, // .. of the target
		{"//d///e/./f", "1"},
		{"/../../d/e/f", "1"},
		{"/d/up/up/e/f", "1"},
		{"/d/e/f/", "Not"},
		{"/loop", "ELOOP"},
		{"/dangling", "ENOENT"},
		{"/nothing/../d/e/f", "ENOENT"},
		{"", "ENOENT"},
	} {
		got := read(t, f, c.name)
		switch c.want {
		case "1":
			if got != "1" {
				t.Errorf("%q: %s", c.name, got)
			}
		default:
			if !strings.HasPrefix(got, "(") {
				t.Errorf("%q was found: %s", c.name, got)
			}
		}
	}
	if real, err := f.Resolve("/l/../e/x"); err != nil || real != "/d/e/x" {
		t.Errorf("Resolve: %q, %v", real, err)
	}
}

func TestLimits(t *testing.T) {
	f := New(Options{Limits: Limits{TotalBytes: 100, FileBytes: 60, Entries: 3, OpenFiles: 2}})
	w, err := f.Create("/a")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write(make([]byte, 80)); n != 60 || err == nil {
		t.Errorf("a file over its size: wrote %d, %v", n, err)
	}
	v, err := f.Create("/b")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := v.Write(make([]byte, 50)); n != 40 || err == nil {
		t.Errorf("over the total: wrote %d, %v", n, err)
	}
	if _, err := f.Open("/a"); err == nil {
		t.Error("a third file could be opened")
	}
	if err := f.Remove("/a"); err != nil {
		t.Fatal(err)
	}
	if used, _, _ := f.Used(); used != 100 {
		t.Errorf("a deleted file that is open is not counted: %d", used)
	}
	w.Close()
	if used, _, open := f.Used(); used != 40 || open != 1 {
		t.Errorf("%d bytes, %d open", used, open)
	}
	if err := v.Truncate(1 << 40); err == nil {
		t.Error("a file could be made huge")
	}
	v.Close()
	for i := range 5 {
		err = f.Mkdir(fmt.Sprintf("/d%d", i), 0o755)
	}
	if err == nil {
		t.Error("more entries could be made than there may be")
	}
}

func TestAccessIsAskedForEveryName(t *testing.T) {
	var asked []string
	deny := ""
	f := New(Options{Base: treeOf("/d/secret=s", "/l=->d/secret", "/f=1"), Access: func(op, name string) error {
		asked = append(asked, op+" "+name)
		if name == deny {
			return fs.ErrPermission
		}
		return nil
	}})
	if got := read(t, f, "/d/../l"); got != "s" {
		t.Error(got)
	}
	if want := []string{"read /l", "read /d/secret"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	deny = "/d/secret"
	for name, do := range map[string]func() error{
		"open":         func() error { _, err := f.Open("/l"); return err },
		"create":       func() error { _, err := f.Create("/l"); return err },
		"append":       func() error { _, err := f.OpenFile("/l", os.O_WRONLY|os.O_APPEND, 0); return err },
		"remove":       func() error { return f.Remove("/d/secret") },
		"rename from":  func() error { return f.Rename("/d/secret", "/x") },
		"rename to":    func() error { return f.Rename("/f", "/d/secret") },
		"link":         func() error { return f.Link("/d/secret", "/x") },
		"chmod":        func() error { return f.Chmod("/l", 0o600) },
		"chtimes":      func() error { return f.Chtimes("/l", time.Now()) },
		"symlink over": func() error { return f.Symlink("x", "/d/secret") },
	} {
		if err := do(); err == nil {
			t.Errorf("%s was not refused", name)
		}
	}
	if got := read(t, f, "/f"); got != "1" {
		t.Errorf("/f holds %q", got)
	}
}
