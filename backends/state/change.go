package state

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// A node is what a script's file system starts from.
var _ vfs.Node = (*node)(nil)

// Content implements [vfs.Node].
func (n *node) Content() []byte { return n.content }

// Link implements [vfs.Node].
func (n *node) Link() string { return n.link }

// Children implements [vfs.Node].
func (n *node) Children() iter.Seq[vfs.Node] {
	return func(yield func(vfs.Node) bool) {
		for kid := range n.kids.all() {
			if !yield(kid) {
				return
			}
		}
	}
}

// without returns the entries without the one of that name, which is there.
func (e entries) without(name string) entries {
	at := e.chunkOf(name)
	old := e.chunks[at]
	i, _ := search(old, name)
	out := entries{slices.Clone(e.chunks), e.count - 1}
	if len(old) == 1 {
		out.chunks = slices.Delete(out.chunks, at, at+1)
		return out
	}
	out.chunks[at] = slices.Concat(old[:i], old[i+1:])
	return out
}

// without returns the tree without what is at the clean absolute name: a file,
// a symlink or an empty directory. The directory that it was in stays, also
// when it holds nothing now.
func (t *tree) without(name string) *tree {
	old, err := t.lookup(name)
	if err != nil || name == "/" {
		return t
	}
	out := *t
	out.bytes -= int64(len(old.content))
	out.count--
	out.root = take(t.root, name[1:], path.Dir(name) == t.workingDir)
	return &out
}

// take returns a copy of dir without what is at the relative path rest.
func take(dir *node, rest string, working bool) *node {
	part, more, deeper := strings.Cut(rest, "/")
	out := *dir
	if deeper {
		out.kids = dir.kids.with(take(dir.kids.find(part), more, working))
		return &out
	}
	out.kids = dir.kids.without(part)
	if out.kids.count == 0 && !working && out.name != "/" {
		out.kept = true
	}
	return &out
}

// merging applies what a script has changed to a tree that others may have
// changed, too.
type merging struct {
	x *transaction
	// conflicts are the paths that both changed: each with the path at which
	// the script's own version is kept, or "".
	conflicts []conflict
	aside     func(path string, e *vfs.Entry, try int) string
}

type conflict struct{ path, kept string }

// merge applies changes to t. Where somebody else has changed the same path
// meanwhile, and otherwise, what they wrote stays, and what the script wrote is
// put beside it, under a name that aside makes. What both appended is kept in
// one file.
func merge(t *tree, changes []vfs.Change, limit int64, aside func(path string, e *vfs.Entry, try int) string) (*tree, []conflict, error) {
	m := &merging{x: begin(t, limit), aside: aside}
	for _, c := range changes {
		if err := m.apply(c); err != nil {
			return nil, nil, err
		}
	}
	if m.x.tree.bytes > limit && m.x.tree.bytes > t.bytes {
		return nil, nil, tooLargeError("", limit)
	}
	return m.x.commit(), m.conflicts, nil
}

func (m *merging) apply(c vfs.Change) error {
	cur, err := m.x.tree.lookup(c.Path)
	if err != nil {
		cur = nil // and perhaps a file where a directory was: see put
	}
	was, _ := c.Was.(*node)
	switch {
	case c.Now == nil:
		return m.remove(c.Path, cur, was)
	case c.Now.Mode.IsDir():
		if cur != nil && cur.IsDir() {
			return nil
		}
		return m.mkdir(c.Path)
	case same(cur, was):
		return m.put(c.Path, c.Now)
	case c.Now.Appended && appended(cur, was):
		return m.put(c.Path, both(cur, was, c.Now))
	case cur != nil && isEntry(cur, c.Now), cur != nil && !cur.IsDir() && !c.Now.Mode.IsDir() && sameContent(cur, c.Now):
		// Both did the same; of two times or modes the script's is the later.
		return m.put(c.Path, c.Now)
	}
	return m.conflict(c.Path, c.Now)
}

// appended tells whether cur is the file was, or nothing, and more.
func appended(cur, was *node) bool {
	return cur != nil && cur.mode.IsRegular() && (was == nil || bytes.HasPrefix(cur.content, was.content))
}

// both is what two have appended to a file: the script's after the other's.
func both(cur, was *node, e *vfs.Entry) *vfs.Entry {
	out := *e
	from := 0
	if was != nil {
		from = len(was.content)
	}
	if was == nil || e.Mode == was.mode {
		out.Mode = cur.mode
	}
	if cur.mtime.After(e.ModTime) {
		out.ModTime = cur.mtime
	}
	out.Content = slices.Concat(cur.content, e.Content[from:])
	return &out
}

// remove removes what the script removed, unless somebody else has changed it.
func (m *merging) remove(name string, cur, was *node) error {
	switch {
	case cur == nil:
	case cur.IsDir() && was != nil && was.IsDir():
		if cur.kids.count == 0 && name != m.x.tree.workingDir {
			m.x.tree = m.x.tree.without(name)
		}
	case same(cur, was):
		m.x.tree = m.x.tree.without(name)
	default:
		m.conflicts = append(m.conflicts, conflict{path: name})
	}
	return nil
}

// mkdir makes a directory, or tells of a conflict where something else is in
// its place.
func (m *merging) mkdir(name string) error {
	err := m.x.MkdirAll(name)
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		m.conflicts = append(m.conflicts, conflict{path: name})
		return nil
	}
	return err
}

// put puts an entry at name, in place of what is there.
func (m *merging) put(name string, e *vfs.Entry) error {
	if err := m.x.MkdirAll(path.Dir(name)); err != nil {
		if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
			// Its directory has become something else: there is no place beside it.
			return m.conflict(m.above(name)+"/"+path.Base(name), e)
		}
		return err
	}
	if err := checkPath(name); err != nil {
		return err
	}
	cur, err := m.x.tree.lookup(name)
	if err != nil && m.x.tree.count >= maxEntries {
		return tooManyError(name)
	}
	if cur != nil && cur.IsDir() {
		if cur.kids.count > 0 {
			return m.conflict(name, e)
		}
		m.x.tree = m.x.tree.without(name)
	}
	fresh := &node{name: path.Base(name), mode: e.Mode.Perm(), mtime: timestamp(e.ModTime), content: e.Content}
	if cur != nil && cur.mtime.Equal(fresh.mtime) && !sameContent(cur, e) {
		// The version of a large file is made from its time, and a script can
		// set that back.
		fresh.mtime = fresh.mtime.Add(time.Microsecond)
	}
	if e.Mode&fs.ModeSymlink != 0 {
		fresh = &node{name: fresh.name, mode: fs.ModeSymlink | 0o777, link: e.Link}
	}
	m.x.tree = m.x.tree.with(name, fresh)
	return nil
}

// above returns the nearest directory above name.
func (m *merging) above(name string) string {
	for name != "/" {
		name = path.Dir(name)
		if n, err := m.x.tree.lookup(name); err == nil && n.IsDir() {
			break
		}
	}
	return strings.TrimSuffix(name, "/")
}

// conflict keeps the script's version beside what somebody else has written.
func (m *merging) conflict(name string, e *vfs.Entry) error {
	for try := 0; ; try++ {
		kept := m.aside(name, e, try)
		n, err := m.x.tree.lookup(kept)
		if err == nil && !sameContent(n, e) {
			continue
		}
		if err != nil {
			err = m.put(kept, e)
		}
		m.conflicts = append(m.conflicts, conflict{name, kept})
		return err
	}
}

// aside names the file that keeps a version of the file name: the same for the
// same content, so that calls that wrote the same leave one file.
func aside(name string, e *vfs.Entry, try int) string {
	h := sha256.New()
	h.Write(e.Content)
	fmt.Fprintf(h, "%s %d", e.Link, try)
	return fmt.Sprintf("%s.conflict-%x", name, h.Sum(nil)[:3])
}

// same tells whether two nodes, of different versions perhaps, say the same.
func same(a, b *node) bool {
	switch {
	case a == b:
		return true
	case a == nil || b == nil || a.mode != b.mode || a.link != b.link:
		return false
	case a.IsDir():
		return true
	}
	return a.mtime.Equal(b.mtime) && bytes.Equal(a.content, b.content)
}

func isEntry(n *node, e *vfs.Entry) bool {
	return n.mode.Type() == e.Mode.Type() && n.mode.Perm() == e.Mode.Perm() && sameContent(n, e)
}

func sameContent(n *node, e *vfs.Entry) bool {
	return n.isLink() == (e.Mode&fs.ModeSymlink != 0) && n.link == e.Link && bytes.Equal(n.content, e.Content)
}
