package state

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// treeWith makes a tree of files, "path=content"; a path that ends in "/" is a
// directory, a content that starts with "->" makes a symlink.
func treeWith(t *testing.T, lines ...string) *tree {
	t.Helper()
	d := &Document{WorkingDir: "/w", Files: map[string]File{}, Created: time.Unix(1, 0).UTC()}
	for _, line := range lines {
		name, content, _ := strings.Cut(line, "=")
		switch to, isLink := strings.CutPrefix(content, "->"); {
		case strings.HasSuffix(name, "/"):
			d.Directories = append(d.Directories, strings.TrimSuffix(name, "/"))
		case isLink:
			d.Files[name] = File{Link: to}
		default:
			d.Files[name] = File{Content: []byte(content), Mode: 0o644, ModTime: time.Unix(1000, 0).UTC()}
		}
	}
	tr, err := d.tree()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// show lists what a document of t holds, as treeWith takes it.
func show(t *testing.T, tr *tree) []string {
	t.Helper()
	// By the JSON form: what it does not hold is lost.
	d, err := ParseDocument(tr.marshal())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		f := d.Files[name]
		if f.Link != "" {
			out = append(out, name+"=->"+f.Link)
			continue
		}
		mode := ""
		if f.Mode != 0o644 {
			mode = fmt.Sprintf(" (%o)", f.Mode)
		}
		out = append(out, fmt.Sprintf("%s=%s%s", name, f.Content, mode))
	}
	for _, name := range d.Directories {
		out = append(out, name+"/")
	}
	slices.Sort(out)
	return out
}

func TestMerge(t *testing.T) {
	write := func(f *vfs.FS, name, content string) error {
		w, err := f.Create(name)
		if err != nil {
			return err
		}
		if _, err := w.Write([]byte(content)); err != nil {
			return err
		}
		return w.Close()
	}
	appendTo := func(f *vfs.FS, name, content string) error {
		w, err := f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return err
		}
		if _, err := w.Write([]byte(content)); err != nil {
			return err
		}
		return w.Close()
	}
	base := []string{"/w/a=1", "/w/d/x=2", "/w/d/y=3", "/w/l=->a"}
	tail := base[1:]
	for _, c := range []struct {
		name      string
		mine      func(f *vfs.FS) error
		theirs    []string
		want      []string
		conflicts []string
	}{
		{"nothing is changed", func(*vfs.FS) error { return nil }, base, base, nil},
		{"both change other files", func(f *vfs.FS) error { return write(f, "/w/a", "mine") },
			[]string{"/w/a=1", "/w/d/x=theirs", "/w/d/y=3", "/w/l=->a", "/w/new=n"},
			[]string{"/w/a=mine", "/w/d/x=theirs", "/w/d/y=3", "/w/l=->a", "/w/new=n"}, nil},
		{"both change a file", func(f *vfs.FS) error { return write(f, "/w/a", "mine") },
			[]string{"/w/a=theirs", "/w/d/x=2", "/w/d/y=3", "/w/l=->a"},
			[]string{"/w/a.mine=mine", "/w/a=theirs", "/w/d/x=2", "/w/d/y=3", "/w/l=->a"}, []string{"/w/a /w/a.mine"}},
		{"both write the same", func(f *vfs.FS) error { return write(f, "/w/a", "same") },
			[]string{"/w/a=same", "/w/d/x=2", "/w/d/y=3", "/w/l=->a"},
			[]string{"/w/a=same", "/w/d/x=2", "/w/d/y=3", "/w/l=->a"}, nil},
		{"both make a file", func(f *vfs.FS) error { return write(f, "/w/n", "mine") },
			append([]string{"/w/n=theirs"}, base...),
			append([]string{"/w/n.mine=mine", "/w/n=theirs"}, base...), []string{"/w/n /w/n.mine"}},
		{"what is kept aside is there from before", func(f *vfs.FS) error { return write(f, "/w/a", "mine") },
			append([]string{"/w/a=theirs", "/w/a.mine=mine"}, tail...),
			append([]string{"/w/a=theirs", "/w/a.mine=mine"}, tail...), []string{"/w/a /w/a.mine"}},
		{"another version is kept aside from before", func(f *vfs.FS) error { return write(f, "/w/a", "mine") },
			append([]string{"/w/a=theirs", "/w/a.mine=other"}, tail...),
			append([]string{"/w/a=theirs", "/w/a.mine=other", "/w/a.mine+=mine"}, tail...), []string{"/w/a /w/a.mine+"}},
		{"both append", func(f *vfs.FS) error { return appendTo(f, "/w/a", " mine") },
			append([]string{"/w/a=1 theirs"}, tail...), append([]string{"/w/a=1 theirs mine"}, tail...), nil},
		{"both append the same", func(f *vfs.FS) error { return appendTo(f, "/w/a", "+") },
			append([]string{"/w/a=1+"}, tail...), append([]string{"/w/a=1++"}, tail...), nil},
		{"both make a file by appending", func(f *vfs.FS) error { return appendTo(f, "/w/n", "mine") },
			append([]string{"/w/n=theirs "}, base...), append([]string{"/w/n=theirs mine"}, base...), nil},
		{"one appends and changes the mode", func(f *vfs.FS) error { return errors.Join(appendTo(f, "/w/a", " mine"), f.Chmod("/w/a", 0o600)) },
			append([]string{"/w/a=1 theirs"}, tail...), append([]string{"/w/a=1 theirs mine (600)"}, tail...), nil},
		{"one appends to what the other writes anew", func(f *vfs.FS) error { return appendTo(f, "/w/a", " mine") },
			append([]string{"/w/a=theirs"}, tail...), append([]string{"/w/a=theirs", "/w/a.mine=1 mine"}, tail...), []string{"/w/a /w/a.mine"}},
		{"one appends to what the other removes", func(f *vfs.FS) error { return appendTo(f, "/w/a", " mine") },
			tail, append([]string{"/w/a.mine=1 mine"}, tail...), []string{"/w/a /w/a.mine"}},
		{"one writes anew what the other appends to", func(f *vfs.FS) error { return write(f, "/w/a", "1 mine") },
			append([]string{"/w/a=1 theirs"}, tail...), append([]string{"/w/a=1 theirs", "/w/a.mine=1 mine"}, tail...), []string{"/w/a /w/a.mine"}},
		{"one appends after it wrote anew", func(f *vfs.FS) error { return errors.Join(write(f, "/w/a", "1"), appendTo(f, "/w/a", " mine")) },
			append([]string{"/w/a=1 theirs"}, tail...), append([]string{"/w/a=1 theirs", "/w/a.mine=1 mine"}, tail...), []string{"/w/a /w/a.mine"}},
		{"one appends to a file that is then put in the place", func(f *vfs.FS) error { return errors.Join(appendTo(f, "/w/n", "1 mine"), f.Rename("/w/n", "/w/a")) },
			append([]string{"/w/a=1 theirs"}, tail...), append([]string{"/w/a=1 theirs", "/w/a.mine=1 mine"}, tail...), []string{"/w/a /w/a.mine"}},
		{"both make a lock", func(f *vfs.FS) error { return errors.Join(appendTo(f, "/w/t", "mine"), f.Link("/w/t", "/w/lock")) },
			append([]string{"/w/lock=theirs"}, base...), append([]string{"/w/lock=theirs", "/w/lock.mine=mine", "/w/t=mine"}, base...), []string{"/w/lock /w/lock.mine"}},
		{"one removes what the other changes", func(f *vfs.FS) error { return f.Remove("/w/a") },
			[]string{"/w/a=theirs", "/w/d/x=2", "/w/d/y=3", "/w/l=->a"},
			[]string{"/w/a=theirs", "/w/d/x=2", "/w/d/y=3", "/w/l=->a"}, []string{"/w/a "}},
		{"one changes what the other removes", func(f *vfs.FS) error { return write(f, "/w/a", "mine") },
			[]string{"/w/d/x=2", "/w/d/y=3", "/w/l=->a"},
			[]string{"/w/a.mine=mine", "/w/d/x=2", "/w/d/y=3", "/w/l=->a"}, []string{"/w/a /w/a.mine"}},
		{"both remove a file", func(f *vfs.FS) error { return f.Remove("/w/a") },
			[]string{"/w/d/x=2", "/w/d/y=3", "/w/l=->a"},
			[]string{"/w/d/x=2", "/w/d/y=3", "/w/l=->a"}, nil},
		{"a directory is removed in which the other makes a file", func(f *vfs.FS) error {
			for _, name := range []string{"/w/d/x", "/w/d/y", "/w/d"} {
				if err := f.Remove(name); err != nil {
					return err
				}
			}
			return nil
		}, append([]string{"/w/d/new=theirs"}, base...), []string{"/w/a=1", "/w/d/new=theirs", "/w/l=->a"}, nil},
		{"a file is made in a directory that the other removes", func(f *vfs.FS) error { return write(f, "/w/d/new", "mine") },
			[]string{"/w/a=1", "/w/l=->a"}, []string{"/w/a=1", "/w/d/new=mine", "/w/l=->a"}, nil},
		{"a file is made in a directory that the other makes a file", func(f *vfs.FS) error { return write(f, "/w/d/new", "mine") },
			[]string{"/w/a=1", "/w/d=file", "/w/l=->a"}, []string{"/w/a=1", "/w/d=file", "/w/l=->a", "/w/new.mine=mine"}, []string{"/w/new /w/new.mine"}},
		{"a directory is renamed", func(f *vfs.FS) error { return f.Rename("/w/d", "/w/e") }, base,
			[]string{"/w/a=1", "/w/e/x=2", "/w/e/y=3", "/w/l=->a"}, nil},
		{"a directory becomes empty and stays", func(f *vfs.FS) error {
			if err := f.Remove("/w/d/x"); err != nil {
				return err
			}
			return f.Remove("/w/d/y")
		}, base, []string{"/w/a=1", "/w/d/", "/w/l=->a"}, nil},
		{"an empty directory is made", func(f *vfs.FS) error { return f.Mkdir("/w/n", 0o755) }, base, append([]string{"/w/n/"}, base...), nil},
		{"a file becomes a link and a link a file", func(f *vfs.FS) error {
			for _, name := range []string{"/w/a", "/w/l"} {
				if err := f.Remove(name); err != nil {
					return err
				}
			}
			if err := f.Symlink("d", "/w/a"); err != nil {
				return err
			}
			return write(f, "/w/l", "now a file")
		}, base, []string{"/w/a=->d", "/w/d/x=2", "/w/d/y=3", "/w/l=now a file"}, nil},
		{"a file becomes a directory", func(f *vfs.FS) error {
			if err := f.Remove("/w/a"); err != nil {
				return err
			}
			if err := f.Mkdir("/w/a", 0o755); err != nil {
				return err
			}
			return write(f, "/w/a/in", "i")
		}, base, []string{"/w/a/in=i", "/w/d/x=2", "/w/d/y=3", "/w/l=->a"}, nil},
		{"a mode is changed", func(f *vfs.FS) error { return f.Chmod("/w/a", 0o755) }, base,
			[]string{"/w/a=1 (755)", "/w/d/x=2", "/w/d/y=3", "/w/l=->a"}, nil},
		{"files in /tmp are kept, the empty /tmp and /dev are not", func(f *vfs.FS) error { return write(f, "/tmp/t", "t") }, base,
			append([]string{"/tmp/t=t"}, base...), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := treeWith(t, base...)
			f := vfs.New(vfs.Options{Base: from.root, Used: from.bytes, Entries: from.count})
			if err := c.mine(f); err != nil {
				t.Fatal(err)
			}
			// As another process would have left it: no node is the same.
			theirs := treeWith(t, c.theirs...)
			var merged *tree
			var conflicts []conflict
			err := f.Exchange(func(changes []vfs.Change) (vfs.Node, int64, int, error) {
				var err error
				merged, conflicts, err = merge(theirs, changes, 1<<20, func(name string, _ *vfs.Entry, try int) string {
					return name + ".mine" + strings.Repeat("+", try)
				})
				if err != nil {
					return nil, 0, 0, err
				}
				return merged.root, merged.bytes, merged.count, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Sorted(slices.Values(c.want))
			if got := show(t, merged); !slices.Equal(got, want) {
				t.Errorf("it holds %q\nwant     %q", got, want)
			}
			var told []string
			for _, c := range conflicts {
				told = append(told, c.path+" "+c.kept)
			}
			if !slices.Equal(told, c.conflicts) {
				t.Errorf("conflicts %q, want %q", told, c.conflicts)
			}
			// The count and the size are those of a tree made anew.
			again, err := parseTree(merged.marshal())
			if err != nil {
				t.Fatal(err)
			}
			if again.bytes != merged.bytes || again.count != merged.count {
				t.Errorf("%d bytes in %d entries are counted, there are %d in %d", merged.bytes, merged.count, again.bytes, again.count)
			}
			// The script sees what came of it.
			var seen []string
			walkFS(t, f, "/w", &seen)
			var there []string
			for _, line := range show(t, merged) {
				name, _, _ := strings.Cut(line, "=")
				if strings.HasPrefix(name, "/w/") {
					there = append(there, strings.TrimSuffix(name, "/"))
				}
			}
			slices.Sort(there)
			if !slices.Equal(seen, there) {
				t.Errorf("the script sees %q, there is %q", seen, there)
			}
		})
	}
}

// walkFS lists files, links and empty directories.
func walkFS(t *testing.T, f *vfs.FS, dir string, out *[]string) {
	t.Helper()
	entries, err := f.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) == 0 && dir != "/w" {
		*out = append(*out, dir)
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		if e.Type() == fs.ModeDir {
			walkFS(t, f, name, out)
			continue
		}
		*out = append(*out, name)
	}
	slices.Sort(*out)
}

func TestMergeKeepsToTheLimit(t *testing.T) {
	from := treeWith(t, "/w/a=1")
	f := vfs.New(vfs.Options{Base: from.root})
	w, err := f.Create("/w/big")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	err = f.Exchange(func(changes []vfs.Change) (vfs.Node, int64, int, error) {
		_, _, err := merge(from, changes, 500, aside)
		return nil, 0, 0, err
	})
	if err == nil || !strings.Contains(err.Error(), "500 bytes") {
		t.Errorf("%v, want the limit", err)
	}
}
