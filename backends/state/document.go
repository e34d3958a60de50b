package state

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// documentVersion is the format that this program writes and the only one it
// reads.
const documentVersion = 1

// Document is a workspace as plain data. docs/state.md describes its JSON
// form.
type Document struct {
	// WorkingDir is absolute and clean. It exists, whether or not it holds
	// anything.
	WorkingDir string
	// Owner is whose workspace it is; empty when there is one user.
	Owner string
	// Created tells this workspace from a later one of the same name.
	Created time.Time
	// Directories that are there even when they hold nothing. Parents of
	// files and of other directories need no mention.
	Directories []string
	// Files and symlinks by absolute clean path.
	Files map[string]File
}

// File is a regular file, or a symlink when Link is set.
type File struct {
	// Content is shared with the workspace: replace it, never write into it.
	Content []byte
	// Link is the text of a symlink. A symlink has nothing else.
	Link string
	// Mode has the permission bits.
	Mode fs.FileMode
	// ModTime is kept to the microsecond; zero is unknown.
	ModTime time.Time
}

// ParseDocument reads the JSON form of a document. It refuses what it would
// not keep (fields it does not know, names that occur twice, text that is not
// UTF-8) and what cannot be a file tree; the error names the line.
func ParseDocument(data []byte) (*Document, error) {
	t, err := parseTree(data)
	if err != nil {
		return nil, err
	}
	return t.document(), nil
}

// Marshal returns the JSON form of d. Equal documents have equal bytes.
func (d *Document) Marshal() ([]byte, error) {
	t, err := d.tree()
	if err != nil {
		return nil, err
	}
	return t.marshal(), nil
}

// tree makes a tree of d, or tells why it is none.
func (d *Document) tree() (*tree, error) {
	b := newBuilder(d.Created)
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		if err := b.addFile(name, d.Files[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range d.Directories {
		if err := b.addDirectory(name); err != nil {
			return nil, err
		}
	}
	return b.finish(d.WorkingDir, d.Owner, d.Created)
}

// document is the inverse of [Document.tree].
func (t *tree) document() *Document {
	d := &Document{WorkingDir: t.workingDir, Owner: t.owner, Created: t.created, Files: map[string]File{}}
	t.walk(func(at []byte, n *node) {
		name := string(at)
		switch {
		case n.isLink():
			d.Files[name] = File{Link: n.link}
		case n.IsDir():
			d.Directories = append(d.Directories, name)
		default:
			d.Files[name] = File{Content: n.content, Mode: n.mode, ModTime: n.mtime}
		}
	})
	return d
}

// addFile adds what a document says of one path.
func (b *builder) addFile(name string, f File) error {
	if err := checkDocumentPath(name); err != nil {
		return err
	}
	if name == "/" {
		return errors.New(`"/" is a directory, not a file`)
	}
	n := &node{name: path.Base(name), mode: f.Mode, mtime: timestamp(f.ModTime), content: f.Content}
	switch {
	case f.Link != "":
		if len(f.Content) > 0 || f.Mode != 0 || !f.ModTime.IsZero() {
			return fmt.Errorf("%q is a link and cannot have content, mode or time as well", name)
		}
		if len(f.Link) > maxPath || strings.IndexByte(f.Link, 0) >= 0 || !utf8.ValidString(f.Link) {
			return fmt.Errorf("the link %q must lead to a path in UTF-8 without NUL, of at most %d bytes", name, maxPath)
		}
		n = &node{name: n.name, mode: fs.ModeSymlink | 0o777, link: f.Link}
	case f.Mode != f.Mode.Perm():
		return fmt.Errorf("the mode of %q must be permission bits, 0000 to 0777", name)
	case n.mtime.Year() < 0 || n.mtime.Year() > 9999:
		return fmt.Errorf("the time of %q must be in the years 0 to 9999", name)
	}
	return b.add(name, n)
}

// addDirectory adds a directory that stays when it is empty.
func (b *builder) addDirectory(name string) error {
	if err := checkDocumentPath(name); err != nil {
		return err
	}
	n, err := b.mkdir(name)
	switch {
	case err != nil:
		return err
	case n.kept || name == "/":
		return twiceError(name)
	}
	n.kept = true
	return nil
}

func (b *builder) finish(workingDir, owner string, created time.Time) (*tree, error) {
	if err := checkDocumentPath(workingDir); err != nil {
		return nil, fmt.Errorf("working_dir: %w", err)
	}
	if _, err := b.mkdir(workingDir); err != nil {
		return nil, fmt.Errorf("working_dir: %w", err)
	}
	if !utf8.ValidString(owner) {
		return nil, errors.New("the owner must be UTF-8")
	}
	if y := created.Year(); y < 0 || y > 9999 {
		return nil, errors.New("the time of creation must be in the years 0 to 9999")
	}
	return &tree{root: b.build(), bytes: b.bytes, count: b.count, workingDir: workingDir, owner: owner, created: created}, nil
}

// checkDocumentPath tells whether name is a path as documents have them.
func checkDocumentPath(name string) error {
	if !path.IsAbs(name) || path.Clean(name) != name {
		return fmt.Errorf("%q must be an absolute path without \".\", \"..\", \"//\" or a final \"/\"", name)
	}
	return checkName(name)
}

func notDirError(name string) error {
	return fmt.Errorf("%q is a file or a link, and something else is to be inside it", name)
}

func twiceError(name string) error {
	return fmt.Errorf("%q occurs twice", name)
}
