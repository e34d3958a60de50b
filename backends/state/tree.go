package state

import (
	"bytes"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
)

// dirMode is the mode of every directory: a document does not record modes of
// directories.
const dirMode = fs.ModeDir | 0o755

// tree is everything that a document holds, at one moment. It never changes: a
// write makes a new tree that shares with the old one what both have. Readers
// therefore need no lock, and a search sees one state from start to end.
type tree struct {
	root       *node
	bytes      int64 // content of all files
	count      int   // files, symlinks and directories
	workingDir string
	owner      string
	created    time.Time
}

// header returns what a listing tells of t.
func (t *tree) header() header {
	return header{workingDir: t.workingDir, owner: t.owner, created: t.created}
}

// node is a file, a symlink or a directory, and describes itself as
// [fs.FileInfo] and [fs.DirEntry]. It never changes once it is in a tree.
type node struct {
	name    string
	mode    fs.FileMode
	mtime   time.Time
	content []byte  // of a file
	link    string  // of a symlink
	kids    entries // of a directory
	// kept marks a directory that the document names, and that is therefore
	// there when it holds nothing.
	kept bool
}

func (n *node) Name() string               { return n.name }
func (n *node) Mode() fs.FileMode          { return n.mode }
func (n *node) ModTime() time.Time         { return n.mtime }
func (n *node) IsDir() bool                { return n.mode.IsDir() }
func (n *node) Type() fs.FileMode          { return n.mode.Type() }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }
func (n *node) Sys() any                   { return nil }
func (n *node) isLink() bool               { return n.mode&fs.ModeSymlink != 0 }

func (n *node) Size() int64 {
	if n.isLink() {
		return int64(len(n.link))
	}
	return int64(len(n.content))
}

// entries are the children of a directory, ordered by name. They are kept in
// chunks so that a new version of a directory of any size costs one chunk and
// the list of chunks.
type entries struct {
	chunks [][]*node
	count  int
}

// chunkSize is the most children that one chunk holds.
const chunkSize = 256

// chunkOf tells which chunk holds name, or would.
func (e entries) chunkOf(name string) int {
	return max(0, sort.Search(len(e.chunks), func(i int) bool { return e.chunks[i][0].name > name })-1)
}

func search(chunk []*node, name string) (int, bool) {
	return slices.BinarySearchFunc(chunk, name, func(n *node, name string) int { return strings.Compare(n.name, name) })
}

// find returns the child of that name, or nil.
func (e entries) find(name string) *node {
	if e.count == 0 {
		return nil
	}
	chunk := e.chunks[e.chunkOf(name)]
	if i, ok := search(chunk, name); ok {
		return chunk[i]
	}
	return nil
}

// with returns the entries with n among them, in place of one of its name.
func (e entries) with(n *node) entries {
	if e.count == 0 {
		return entries{[][]*node{{n}}, 1}
	}
	at := e.chunkOf(n.name)
	old := e.chunks[at]
	i, found := search(old, n.name)
	out := entries{slices.Clone(e.chunks), e.count}
	if found {
		out.chunks[at] = slices.Clone(old)
		out.chunks[at][i] = n
		return out
	}
	out.count++
	grown := make([]*node, 0, len(old)+1)
	grown = append(append(append(grown, old[:i]...), n), old[i:]...)
	if len(grown) <= chunkSize {
		out.chunks[at] = grown
		return out
	}
	half := len(grown) / 2
	out.chunks[at] = grown[:half:half]
	out.chunks = slices.Insert(out.chunks, at+1, grown[half:])
	return out
}

// all yields the children by name.
func (e entries) all() iter.Seq[*node] {
	return func(yield func(*node) bool) {
		for _, chunk := range e.chunks {
			for _, n := range chunk {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// lookup returns what is at the clean absolute name. A symlink on the way is
// not followed.
func (t *tree) lookup(name string) (*node, error) {
	at := t.root
	for rest := name[1:]; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		switch {
		case at.isLink():
			return nil, syscall.ELOOP
		case !at.IsDir():
			return nil, syscall.ENOTDIR
		}
		if at = at.kids.find(part); at == nil {
			if tooLong(name) {
				return nil, syscall.ENAMETOOLONG
			}
			return nil, syscall.ENOENT
		}
	}
	return at, nil
}

// with returns the tree with n at the clean absolute name, whose parents exist
// and are directories.
func (t *tree) with(name string, n *node) *tree {
	out := *t
	out.bytes += int64(len(n.content))
	if old, err := t.lookup(name); err == nil {
		out.bytes -= int64(len(old.content))
	} else {
		out.count++
	}
	out.root = put(t.root, name[1:], n)
	return &out
}

// put returns a copy of dir with n at the relative path rest.
func put(dir *node, rest string, n *node) *node {
	part, more, deeper := strings.Cut(rest, "/")
	if deeper {
		n = put(dir.kids.find(part), more, n)
	}
	out := *dir
	out.kids = dir.kids.with(n)
	return &out
}

// walk calls visit for all files, symlinks and kept directories, in byte order
// of their paths; path is valid during the call only. Other directories are
// there because of these, and are left out: their paths alone could be much
// longer than the document.
func (t *tree) walk(visit func(path []byte, n *node)) {
	var path []byte
	var walk func(dir *node)
	enter := func(n *node) {
		above := len(path)
		path = append(append(path, '/'), n.name...)
		walk(n)
		path = path[:above]
	}
	walk = func(dir *node) {
		// What is in directory "a" has paths that start with "a/", and comes
		// after siblings such as "a-b". Each directory waits for its turn; of
		// those that wait the last has the first turn, being among the siblings
		// that its predecessor waits for.
		var waiting []*node
		for n := range dir.kids.all() {
			for len(waiting) > 0 && insideBefore(waiting[len(waiting)-1].name, n.name) {
				enter(waiting[len(waiting)-1])
				waiting = waiting[:len(waiting)-1]
			}
			if !n.IsDir() || n.kept {
				above := len(path)
				path = append(append(path, '/'), n.name...)
				visit(path, n)
				path = path[:above]
			}
			if n.IsDir() {
				waiting = append(waiting, n)
			}
		}
		for _, n := range slices.Backward(waiting) {
			enter(n)
		}
	}
	walk(t.root)
}

// insideBefore tells whether dir + "/" sorts before name, which sorts after
// dir.
func insideBefore(dir, name string) bool {
	return !strings.HasPrefix(name, dir) || name[len(dir)] > '/'
}

// A tree is a file system that can be read.
var _ fsops.FS = (*tree)(nil)

func pathError(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Root implements [fsops.FS].
func (t *tree) Root() string { return "/" }

// Lstat implements [fsops.FS].
func (t *tree) Lstat(name string) (fs.FileInfo, error) {
	n, err := t.lookup(name)
	if err != nil {
		return nil, pathError("lstat", name, err)
	}
	return n, nil
}

// Readlink implements [fsops.FS].
func (t *tree) Readlink(name string) (string, error) {
	n, err := t.lookup(name)
	if err == nil && !n.isLink() {
		err = syscall.EINVAL
	}
	if err != nil {
		return "", pathError("readlink", name, err)
	}
	return n.link, nil
}

// ReadDir implements [fsops.FS].
func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := t.lookup(name)
	switch {
	case err != nil:
	case n.isLink():
		err = syscall.ELOOP
	case !n.IsDir():
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	out := make([]fs.DirEntry, 0, n.kids.count)
	for kid := range n.kids.all() {
		out = append(out, kid)
	}
	return out, nil
}

// Open implements [fsops.FS]. What was opened stays as it was, whatever
// becomes of the file.
func (t *tree) Open(name string) (fsops.File, error) {
	n, err := t.lookup(name)
	switch {
	case err != nil:
	case n.isLink():
		err = syscall.ELOOP
	case n.IsDir():
		err = syscall.EISDIR
	}
	if err != nil {
		return nil, pathError("open", name, err)
	}
	f := &openFile{node: n}
	f.Reset(n.content)
	return f, nil
}

// openFile reads the content of a node.
type openFile struct {
	bytes.Reader
	node *node
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *openFile) Close() error               { return nil }

// Replace implements [fsops.FS]: a tree does not change, a [transaction] does.
func (t *tree) Replace(name string, _ fs.FileMode, _ func(io.Writer) error) error {
	return pathError("replace", name, syscall.EROFS)
}

// MkdirAll implements [fsops.FS]: a tree does not change, a [transaction] does.
func (t *tree) MkdirAll(name string) error {
	return pathError("mkdir", name, syscall.EROFS)
}

// builder makes a tree out of paths in any order, in time proportional to
// their length.
type builder struct {
	root  *node
	dir   node // what every directory starts as
	bytes int64
	count int
	// at finds what is in a directory by its name alone: looked up by their
	// whole paths, the directories of one deep path would cost the square of
	// its length.
	at   map[place]*node
	kids map[*node][]*node
	// The directory that was added to last: paths mostly come sorted.
	last     string
	lastNode *node
	looked   int // bytes of names that were looked up
}

// place is a name in a directory.
type place struct {
	dir  *node
	name string
}

func newBuilder(created time.Time) *builder {
	b := &builder{dir: node{mode: dirMode, mtime: created}, at: map[place]*node{}, kids: map[*node][]*node{}}
	root := b.dir
	root.name = "/"
	b.root, b.last, b.lastNode = &root, "/", &root
	return b
}

// mkdir makes directory name and its parents, and returns it.
func (b *builder) mkdir(name string) (*node, error) {
	if name == b.last {
		return b.lastNode, nil
	}
	at := b.root
	for rest := name[1:]; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		n := b.find(at, part)
		switch {
		case n == nil:
			fresh := b.dir
			fresh.name = part
			n = &fresh
			if err := b.put(at, n); err != nil {
				return nil, err
			}
		case !n.IsDir():
			return nil, notDirError(strings.TrimSuffix(name[:len(name)-len(rest)], "/"))
		}
		at = n
	}
	b.last, b.lastNode = name, at
	return at, nil
}

func (b *builder) find(dir *node, name string) *node {
	b.looked += len(name)
	return b.at[place{dir, name}]
}

// put puts n, which is not there yet, into dir.
func (b *builder) put(dir, n *node) error {
	if b.count++; b.count > maxEntries {
		return tooManyError("")
	}
	b.at[place{dir, n.name}] = n
	b.kids[dir] = append(b.kids[dir], n)
	b.bytes += int64(len(n.content))
	return nil
}

// add puts n at name and makes its parents.
func (b *builder) add(name string, n *node) error {
	dir, err := b.mkdir(path.Dir(name))
	if err != nil {
		return err
	}
	if b.find(dir, n.name) != nil {
		return twiceError(name)
	}
	return b.put(dir, n)
}

// build returns the root.
func (b *builder) build() *node {
	for dir, kids := range b.kids {
		slices.SortFunc(kids, func(a, b *node) int { return strings.Compare(a.name, b.name) })
		dir.kids = entries{slices.Collect(slices.Chunk(kids, chunkSize)), len(kids)}
	}
	return b.root
}
