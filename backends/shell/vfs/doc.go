// Package vfs is the file system that a script works on: in memory, over a tree
// that never changes. What is read comes from that tree, what is written stays
// here until [FS.Exchange] hands it over, which also takes over what others have
// done to the tree meanwhile.
//
// Nothing in this package reaches the machine. Names are absolute paths with
// the meaning that POSIX gives them (".." of a directory reached by a symlink is
// the parent of its target), and failures are [fs.PathError] with a
// [syscall.Errno], as the os package has them, so that a command can print what
// people know.
package vfs

import (
	"io/fs"
	"iter"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// Node is a file, a symlink or a directory of the tree that an [FS] starts
// from. It never changes, and two are the same when they compare equal.
type Node interface {
	fs.FileInfo
	// Content of a regular file. It is shared: nobody writes into it.
	Content() []byte
	// Link is the text of a symlink.
	Link() string
	// Children of a directory by name.
	Children() iter.Seq[Node]
}

// Limits bound what a script can make. Zero means no limit.
type Limits struct {
	TotalBytes int64 // content of all files, those that are deleted and still open included
	FileBytes  int64 // content of one file
	Entries    int   // files, symlinks and directories
	OpenFiles  int   // at one time
}

// Options say what an [FS] is made of.
type Options struct {
	// Base is the root directory to start from; nil is an empty one.
	Base Node
	// Used and Entries are how much content and how many entries there are
	// below Base.
	Used    int64
	Entries int
	Limits  Limits
	// Memory is charged for what the file system holds that is not in the tree.
	// Where there is none left, writing fails with ENOMEM. Nil is no limit.
	Memory *fair.Account
	// Access, when set, is asked with "read" or "write" before a file is
	// opened or something is made, changed or removed: first with the path as
	// it was given (absolute and clean), then with the path that it leads to,
	// where that is another one. What it returns is the failure. It may take
	// its time, and nothing is locked meanwhile.
	Access func(op, path string) error
	// Now tells the time; nil is time.Now.
	Now func() time.Time
}

// What Access is asked for.
const (
	Read  = "read"
	Write = "write"
)

// Names are limited as on Linux, in bytes.
const (
	maxName  = 255
	maxPath  = 4096
	maxLinks = 40 // symlinks followed on the way to one file
)

// maxLinked is how many bytes the texts of all symlinks have together that one
// file system makes: they are no content, and so in no other limit.
const maxLinked = 32 << 20

// Sys is what [fs.FileInfo.Sys] of an entry returns, as *Sys.
type Sys struct {
	Inode uint64
	Links int
}
