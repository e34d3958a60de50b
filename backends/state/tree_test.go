package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func put1(content string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}
}

func emptyTree(t testing.TB) *tree {
	t.Helper()
	empty, err := (&Document{WorkingDir: "/workspace", Created: time.Unix(1, 0)}).tree()
	if err != nil {
		t.Fatal(err)
	}
	return empty
}

func TestEntriesHoldWhatWasPutIn(t *testing.T) {
	var e entries
	model := map[string]*node{}
	var old []entries
	for i := range 5000 {
		n := &node{name: fmt.Sprintf("%d", rand.IntN(3000))}
		model[n.name] = n
		if e = e.with(n); i%1000 == 0 {
			old = append(old, e)
		}
	}
	if e.count != len(model) {
		t.Errorf("%d entries, want %d", e.count, len(model))
	}
	var names []string
	for n := range e.all() {
		names = append(names, n.name)
	}
	if !slices.IsSorted(names) || len(names) != len(model) {
		t.Errorf("%d names, sorted: %v", len(names), slices.IsSorted(names))
	}
	for name, n := range model {
		if e.find(name) != n {
			t.Errorf("%q is not what was put there", name)
		}
	}
	for _, name := range []string{"", "!", "~", "10x"} {
		if e.find(name) != nil {
			t.Errorf("%q was found", name)
		}
	}
	for i, o := range old {
		if n := len(slices.Collect(o.all())); n != o.count {
			t.Errorf("earlier entries %d have %d names, and had %d", i, n, o.count)
		}
	}
}

func TestTransactionLeavesTheTreeAsItWas(t *testing.T) {
	before := emptyTree(t)
	x := begin(before, 100)
	if err := x.Replace("/workspace/f", 0o640, put1("one")); err != nil {
		t.Fatal(err)
	}
	middle := x.commit()
	y := begin(middle, 100)
	if err := y.Replace("/workspace/f", 0o600, put1("other")); err != nil {
		t.Fatal(err)
	}
	after := y.commit()
	if _, err := before.Lstat("/workspace/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the first tree has the file: %v", err)
	}
	for want, tr := range map[string]*tree{"one": middle, "other": after} {
		f, err := tr.Open("/workspace/f")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		info, err := f.Stat()
		if err != nil || info.Mode() != 0o640 || tr.bytes != int64(len(want)) {
			t.Errorf("mode %v, %d bytes in all, %v", info.Mode(), tr.bytes, err)
		}
	}
}

func TestVersionsOfAFileHaveDifferentTimes(t *testing.T) {
	x := begin(emptyTree(t), 100)
	seen := map[time.Time]bool{}
	for range 1000 {
		if err := x.Replace("/workspace/f", 0o644, put1("x")); err != nil {
			t.Fatal(err)
		}
		info, err := x.Lstat("/workspace/f")
		if err != nil {
			t.Fatal(err)
		}
		if seen[info.ModTime()] || !info.ModTime().Equal(timestamp(info.ModTime())) {
			t.Fatalf("time %v was seen before, or cannot be kept", info.ModTime())
		}
		seen[info.ModTime()] = true
	}
}

func TestFileSystemAnswersAsPOSIX(t *testing.T) {
	d := &Document{WorkingDir: "/w", Files: map[string]File{"/w/f": {Content: []byte("x")}, "/w/l": {Link: "f"}}}
	start, err := d.tree()
	if err != nil {
		t.Fatal(err)
	}
	x := begin(start, 100)
	long := "/w/" + strings.Repeat("n", maxName+1)
	var errs []error
	stat := func(name string) error { _, err := x.Lstat(name); return err }
	dir := func(name string) error { _, err := x.ReadDir(name); return err }
	link := func(name string) error { _, err := x.Readlink(name); return err }
	file := func(name string) error { _, err := x.Open(name); return err }
	replace := func(name string) error { return x.Replace(name, 0o644, put1("y")) }
	for _, c := range []struct {
		name string
		got  error
		want error
	}{
		{"lstat of nothing", stat("/w/no"), fs.ErrNotExist},
		{"lstat in nothing", stat("/no/no"), fs.ErrNotExist},
		{"lstat in a file", stat("/w/f/x"), syscall.ENOTDIR},
		{"lstat in a link", stat("/w/l/x"), syscall.ELOOP},
		{"lstat of a long name", stat(long), syscall.ENAMETOOLONG},
		{"readdir of nothing", dir("/no"), fs.ErrNotExist},
		{"readdir of a file", dir("/w/f"), syscall.ENOTDIR},
		{"readdir of a link", dir("/w/l"), syscall.ELOOP},
		{"readlink of a file", link("/w/f"), syscall.EINVAL},
		{"readlink of nothing", link("/w/no"), fs.ErrNotExist},
		{"open of nothing", file("/w/no"), fs.ErrNotExist},
		{"open of a directory", file("/w"), syscall.EISDIR},
		{"open of a link", file("/w/l"), syscall.ELOOP},
		{"replace in nothing", replace("/no/f"), fs.ErrNotExist},
		{"replace in a file", replace("/w/f/x"), syscall.ENOTDIR},
		{"replace of a directory", replace("/w"), syscall.EISDIR},
		{"replace of the root", replace("/"), syscall.EISDIR},
		{"replace of a link", replace("/w/l"), syscall.ELOOP},
		{"mkdir over a file", x.MkdirAll("/w/f"), syscall.ENOTDIR},
		{"mkdir in a file", x.MkdirAll("/w/f/x"), syscall.ENOTDIR},
		{"mkdir in a link", x.MkdirAll("/w/l/x"), syscall.ELOOP},
		{"mkdir of what is there", x.MkdirAll("/w"), nil},
		{"mkdir of the root", x.MkdirAll("/"), nil},
		{"writing to a tree", start.MkdirAll("/x"), syscall.EROFS},
	} {
		if !errors.Is(c.got, c.want) {
			errs = append(errs, fmt.Errorf("%s: got %w, want %w", c.name, c.got, c.want))
		}
	}
	for name, err := range map[string]error{"name not UTF-8": replace("/w/\xff"), "long directory": x.MkdirAll("/w/" + strings.Repeat("d/", 2100) + "d")} {
		if err == nil || backends.CodeOf(err) != backends.CodeInvalidArgument && !errors.Is(err, syscall.ENAMETOOLONG) {
			errs = append(errs, fmt.Errorf("%s: got %w", name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if x.commit() != start {
		t.Error("something was changed by calls that failed")
	}
}

func TestFailedContentChangesNothing(t *testing.T) {
	start := emptyTree(t)
	x := begin(start, 10)
	broken := errors.New("broken")
	if err := x.Replace("/workspace/f", 0o644, func(w io.Writer) error {
		if _, err := w.Write([]byte("half")); err != nil {
			return err
		}
		return broken
	}); !errors.Is(err, broken) {
		t.Errorf("got %v, want the error of the content", err)
	}
	err := x.Replace("/workspace/f", 0o644, put1("eleven byte"))
	if backends.CodeOf(err) != backends.CodeTooLarge || !strings.Contains(err.Error(), "10 bytes") {
		t.Errorf("over the limit: got %v", err)
	}
	if x.commit() != start {
		t.Error("the tree has changed")
	}
	// What a file had makes room for what it gets.
	for range 3 {
		if err := x.Replace("/workspace/f", 0o644, put1("ten  bytes")); err != nil {
			t.Error(err)
		}
	}
}

func TestEmptyDirectoriesAreKeptAndOthersNotNamed(t *testing.T) {
	x := begin(emptyTree(t), 100)
	for _, dir := range []string{"/a/b/c", "/a/b", "/d/e", "/workspace"} {
		if err := x.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Replace("/d/e/f", 0o644, put1("")); err != nil {
		t.Fatal(err)
	}
	d := x.commit().document()
	if !slices.Equal(d.Directories, []string{"/a/b/c"}) {
		t.Errorf("directories %q", d.Directories)
	}
}

func TestManyFiles(t *testing.T) {
	files := 50_000
	if underRace {
		files = 2000
	}
	x := begin(emptyTree(t), 1<<20)
	for i := range files {
		if err := x.Replace(fmt.Sprintf("/workspace/f%d", i), 0o644, put1("x")); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := parseTree(x.commit().marshal())
	if err != nil {
		t.Fatal(err)
	}
	list, err := tr.ReadDir("/workspace")
	if err != nil || len(list) != files {
		t.Errorf("%d files, %v", len(list), err)
	}
}

// deepPaths are paths of the greatest length that have little in common.
func deepPaths(n int) []string {
	var out []string
	for i := range n {
		name := fmt.Sprintf("/%d", i)
		out = append(out, name+strings.Repeat("/d", (maxPath-len(name))/2))
	}
	return out
}

func TestDeepPathsAreLoadedInProportionToTheirLength(t *testing.T) {
	b := newBuilder(time.Time{})
	bytes := 0
	for _, name := range deepPaths(50) {
		if err := b.addFile(name, File{}); err != nil {
			t.Fatal(err)
		}
		bytes += len(name)
	}
	if b.looked == 0 || b.looked > bytes {
		t.Errorf("%d bytes of names were looked up for paths of %d bytes", b.looked, bytes)
	}
}

func TestDeepDirectoryIsMadeInProportionToItsDepth(t *testing.T) {
	name := deepPaths(1)[0]
	start := emptyTree(t)
	depth := strings.Count(name, "/")
	allocs := testing.AllocsPerRun(5, func() {
		if err := begin(start, 100).MkdirAll(name); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > float64(10*depth) {
		t.Errorf("%v allocations for %d directories", allocs, depth)
	}
}

// nodes counts what is in dir and below.
func nodes(dir *node) int {
	n := dir.kids.count
	for kid := range dir.kids.all() {
		n += nodes(kid)
	}
	return n
}

func TestDocumentIsWrittenInTheOrderOfPaths(t *testing.T) {
	names := []string{"a", "a-", "a-b", "a--", "a.", "a!", "a0", "aa", "b", "\x01", "ü"}
	x := begin(emptyTree(t), 1<<20)
	want := map[string]bool{}
	for range 3000 {
		dir := ""
		for range 1 + rand.IntN(4) {
			dir += "/" + names[rand.IntN(len(names))]
		}
		// Where a file is no directory can be, and the other way round.
		if rand.IntN(2) == 0 {
			_ = x.MkdirAll(dir)
		} else if x.Replace(dir, 0o644, put1("x")) == nil {
			want[dir] = true
		}
	}
	tr := x.commit()
	if got := nodes(tr.root); got != tr.count {
		t.Errorf("%d entries are counted as %d", got, tr.count)
	}
	var got []string
	files := 0
	tr.walk(func(at []byte, n *node) {
		got = append(got, string(at))
		if found, err := tr.lookup(string(at)); err != nil || found != n {
			t.Errorf("%q is not where the walk says: %v", at, err)
		}
		if want[string(at)] {
			files++
		}
	})
	if !slices.IsSorted(got) || files != len(want) {
		t.Errorf("%d of %d files, in the order %q", files, len(want), got)
	}
	again, err := parseTree(tr.marshal())
	if err != nil || again.count != tr.count || again.bytes != tr.bytes {
		t.Errorf("read back as %+v, %v; want %+v", again, err, tr)
	}
}

func TestEntriesAreLimited(t *testing.T) {
	full := *emptyTree(t)
	full.count = maxEntries - 1
	x := begin(&full, 100)
	wantCode(t, "two directories more", x.MkdirAll("/workspace/a/b"), backends.CodeTooLarge)
	for range 2 { // the last one that fits, and its replacement
		wantCode(t, "a file", x.Replace("/workspace/f", 0o644, put1("")), "")
	}
	wantCode(t, "one file more", x.Replace("/workspace/g", 0o644, put1("")), backends.CodeTooLarge)
	wantCode(t, "one directory more", x.MkdirAll("/workspace/d"), backends.CodeTooLarge)

	b := newBuilder(time.Time{})
	b.count = maxEntries - 1
	if err := b.addFile("/f", File{}); err != nil {
		t.Error(err)
	}
	wantCode(t, "one file more in a document", b.addFile("/g", File{}), backends.CodeTooLarge)
}
