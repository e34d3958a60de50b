package state

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
)

// Limits of what can be named, in bytes. They are those of Linux, so that a
// document can always be unpacked into a directory.
const (
	maxPath = 4096
	maxName = 255
	// maxEntries is how many files, symlinks and directories a document holds at
	// most. Each takes some 300 bytes of memory at times, and in a document may
	// take no more than two: without this limit a small one could fill all
	// memory.
	maxEntries = 1 << 20
)

// transaction is a tree that can be written: changes gather in it until commit
// returns what came of them.
type transaction struct {
	limit int64 // bytes of content in the whole tree

	mu   sync.Mutex
	tree *tree
	made []string // directories that MkdirAll was asked for and made
}

var _ fsops.FS = (*transaction)(nil)

func begin(t *tree, limit int64) *transaction {
	return &transaction{tree: t, limit: limit}
}

func (x *transaction) now() *tree {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.tree
}

// Root implements [fsops.FS].
func (x *transaction) Root() string { return "/" }

// Lstat implements [fsops.FS].
func (x *transaction) Lstat(name string) (fs.FileInfo, error) { return x.now().Lstat(name) }

// Readlink implements [fsops.FS].
func (x *transaction) Readlink(name string) (string, error) { return x.now().Readlink(name) }

// ReadDir implements [fsops.FS].
func (x *transaction) ReadDir(name string) ([]fs.DirEntry, error) { return x.now().ReadDir(name) }

// Open implements [fsops.FS].
func (x *transaction) Open(name string) (fsops.File, error) { return x.now().Open(name) }

// Replace implements [fsops.FS].
func (x *transaction) Replace(name string, mode fs.FileMode, content func(io.Writer) error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	fresh := &node{name: path.Base(name), mode: mode.Perm(), mtime: timestamp(time.Now())}
	room := x.limit - x.tree.bytes
	old, err := x.tree.lookup(name)
	switch {
	case errors.Is(err, syscall.ENOENT):
		if _, err := x.tree.lookup(path.Dir(name)); err != nil {
			return pathError("replace", name, err)
		}
		if err := checkPath(name); err != nil {
			return err
		}
		if x.tree.count >= maxEntries {
			return tooManyError(name)
		}
	case err != nil:
		return pathError("replace", name, err)
	case old.IsDir():
		return pathError("replace", name, syscall.EISDIR)
	case old.isLink():
		return pathError("replace", name, syscall.ELOOP)
	default:
		fresh.mode = old.mode
		room += old.Size()
		// The version of a large file is made from its time: two writes never
		// get the same.
		if !fresh.mtime.After(old.mtime) {
			fresh.mtime = old.mtime.Add(time.Microsecond)
		}
	}
	w := contentWriter{room: room, limit: x.limit, path: name}
	if err := content(&w); err != nil {
		return err
	}
	if w.err != nil {
		return w.err
	}
	fresh.content = w.bytes()
	x.tree = x.tree.with(name, fresh)
	return nil
}

// MkdirAll implements [fsops.FS].
func (x *transaction) MkdirAll(name string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	n, err := x.tree.lookup(name)
	switch {
	case err == nil && n.IsDir():
		return nil
	case err == nil:
		return pathError("mkdir", name, syscall.ENOTDIR)
	case !errors.Is(err, syscall.ENOENT):
		return pathError("mkdir", name, err)
	}
	if err := checkPath(name); err != nil {
		return err
	}
	// The missing directories are made from the last to the first, inside each
	// other, and put into the tree at once: one by one, each would copy all
	// those above it.
	missing := x.missing(name)
	more := strings.Count(name[len(missing):], "/")
	if x.tree.count+1+more > maxEntries {
		return tooManyError(name)
	}
	fresh := func(at string) *node {
		return &node{name: path.Base(at), mode: dirMode, mtime: x.tree.created}
	}
	n = fresh(name)
	for at := name; at != missing; {
		at = at[:strings.LastIndexByte(at, '/')]
		outer := fresh(at)
		outer.kids = outer.kids.with(n)
		n = outer
	}
	x.tree = x.tree.with(missing, n)
	x.tree.count += more // with has counted the first
	x.made = append(x.made, name)
	return nil
}

// missing returns the shortest start of name that is not there; name itself is
// not.
func (x *transaction) missing(name string) string {
	at, rest := x.tree.root, name[1:]
	for at != nil {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		at = at.kids.find(part)
	}
	return strings.TrimSuffix(name[:len(name)-len(rest)], "/")
}

// commit returns the tree as it is now. Directories that were made and hold
// nothing are marked to stay; all others are there because of what they hold.
func (x *transaction) commit() *tree {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, name := range x.made {
		if n, err := x.tree.lookup(name); err == nil && n.kids.count == 0 && name != x.tree.workingDir {
			kept := *n
			kept.kept = true
			x.tree = x.tree.with(name, &kept)
		}
	}
	return x.tree
}

// contentWriter gathers the content of one file, as far as there is room.
type contentWriter struct {
	buf   []byte
	room  int64
	limit int64
	path  string
	err   error
}

func (w *contentWriter) Write(p []byte) (int, error) {
	if w.err == nil && int64(len(p)) > w.room-int64(len(w.buf)) {
		w.err = tooLargeError(w.path, w.limit)
	}
	if w.err != nil {
		return 0, w.err
	}
	w.buf = append(w.buf, p...)
	return len(p), nil
}

// bytes returns what was written, without the spare room of a buffer that
// grew: the content is held for as long as the file.
func (w *contentWriter) bytes() []byte {
	if cap(w.buf)-len(w.buf) <= len(w.buf)/8 {
		return w.buf
	}
	return append(make([]byte, 0, len(w.buf)), w.buf...)
}

func tooLargeError(name string, limit int64) error {
	return backends.Errorf(backends.CodeTooLarge, "write", name,
		"the workspace would hold more than %s, the most that one can; write less, or use another workspace", size(limit))
}

func tooManyError(name string) error {
	return backends.Errorf(backends.CodeTooLarge, "write", name,
		"the workspace would hold more than %d files and directories, the most that one can; use another workspace", maxEntries)
}

// timestamp is t as a document can hold it: UTC, in microseconds.
func timestamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// checkPath tells whether something can be made at the clean absolute name.
func checkPath(name string) error {
	if err := checkName(name); err != nil {
		return &backends.Error{Code: backends.CodeInvalidArgument, Op: "write", Message: err.Error()}
	}
	return nil
}

// checkName says what is wrong with a clean absolute name, whatever is there.
func checkName(name string) error {
	switch {
	case !utf8.ValidString(name):
		return fmt.Errorf("the path %q is not UTF-8, and a state workspace can only hold names that are", name)
	case strings.IndexByte(name, 0) >= 0:
		return errors.New("a path cannot contain a NUL character")
	case tooLong(name):
		return fmt.Errorf("the path is too long: a name can have %d bytes, and a whole path %d", maxName, maxPath)
	default:
		return nil
	}
}

func tooLong(name string) bool {
	if len(name) <= maxName {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxName {
			return true
		}
	}
	return len(name) > maxPath
}
