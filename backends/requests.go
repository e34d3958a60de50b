package backends

import (
	"io"
	"io/fs"
	"time"
)

// Resolution is a path in its three forms.
type Resolution struct {
	// Path is cleaned and absolute, symlinks not followed.
	Path string
	// Resolved is Path with all symlinks followed. It equals Path when there
	// are none.
	Resolved string
	// Exists tells whether there is anything at Resolved.
	Exists bool
}

// Kind is what an entry is.
type Kind uint8

// The kinds of entries.
const (
	KindFile Kind = iota
	KindDirectory
	KindSymlink // only where links are not followed, or lead nowhere
	KindOther   // FIFO, socket, device
)

// FileInfo describes a file or directory.
type FileInfo struct {
	Resolution
	Kind    Kind
	Size    int64       // bytes; of a directory 0
	Mode    fs.FileMode // permission bits
	ModTime time.Time
}

// ListRequest asks for a directory's entries.
type ListRequest struct {
	Path   string
	Limit  int // entries at most; 0 is no limit
	Filter Filter
}

// ListResult is a directory's entries.
type ListResult struct {
	Resolution
	Entries []Entry
	Total   int // entries there are, those past Limit included, filtered ones not
}

// Entry is one name in a directory.
type Entry struct {
	Name string
	// Kind of what the name leads to, a symlink followed; KindSymlink when it
	// leads nowhere or out of the workspace.
	Kind Kind
	Size int64
	// Link is the text of a symlink, empty for anything else.
	Link string
}

// ReadRequest asks for a slice of a text file.
type ReadRequest struct {
	Path   string
	Offset int // lines to skip; 0 starts at the first
	Limit  int // lines to answer with; 0 means DefaultReadLines
	// MaxLine cuts longer lines, counted in characters; 0 is no limit.
	MaxLine int
	// MaxBytes ends the slice before the line that would exceed it; 0 means
	// DefaultReadBytes. The first line is always answered, cut if it must be.
	MaxBytes int
	// Hashes asks for Line.Hash.
	Hashes bool
}

// Defaults of a ReadRequest.
const (
	DefaultReadLines = 2000
	DefaultReadBytes = 900_000 // fits, rendered, in the 1 MB that desktop clients accept
)

// ReadResult is a slice of a text file.
type ReadResult struct {
	Resolution
	// Lines without their endings. Bytes are the file's own, also where they
	// are not UTF-8. A leading byte order mark is left out.
	Lines []Line
	// TotalLines in the file. A last line without a newline counts; an empty
	// file has none.
	TotalLines int
	Size       int64  // bytes of the file
	Version    string // see EditRequest.IfVersion
	// Binary is never set: a binary file is an [*Error] of CodeBinary.
}

// Line is one line of a ReadResult.
type Line struct {
	Text string
	// Cut is how many characters MaxLine left off the end.
	Cut int
	// Hash of the whole line; see [LineHash].
	Hash string
}

// WriteRequest asks for a file to be replaced or made.
type WriteRequest struct {
	Path    string
	Content io.Reader
	// Mode of a file that was not there, exactly, whatever the umask; 0 means
	// 0o644. The mode of a file that was there is kept.
	Mode fs.FileMode
	// Resolved, when set, is where the caller expects the write to land, from
	// Resolve. Where symlinks have changed since, the write is refused as
	// stale.
	Resolved string
}

// WriteResult tells what was written.
type WriteResult struct {
	Resolution
	Bytes   int64
	Lines   int // a last line without a newline counts
	Created bool
	Version string
}

// EditRequest asks for exact text to be replaced.
//
// Old must occur exactly once unless ReplaceAll; occurrences do not overlap
// and are counted from the start. A line feed in Old matches the file's line
// ending, whichever it is at that place, and line feeds in New are written in
// the ending that prevails there. All other bytes stay as they were, byte
// order mark and final newline included.
type EditRequest struct {
	Path       string
	Old        string
	New        string
	ReplaceAll bool
	// IfVersion, when set, is the Version the caller last saw; a file whose
	// content differs from it is refused as stale.
	IfVersion string
	// Resolved: see WriteRequest.
	Resolved string
	// MaxBytes refuses, as too_large, an edit that lets the file grow past it;
	// 0 leaves it at MaxEditFile.
	MaxBytes int64
}

// EditLinesRequest asks for lines to be replaced that are named by their
// 1-based number and the hash of their content, as Read shows them.
//
// Lines StartLine to EndLine become NewContent; an EndLine of 0 means
// StartLine alone. Empty NewContent deletes the lines. With InsertAfter
// nothing is replaced: NewContent goes after StartLine, and StartLine 0
// (without a hash) is the start of the file. A hash that does not match is
// stale.
type EditLinesRequest struct {
	Path        string
	StartLine   int
	StartHash   string
	EndLine     int
	EndHash     string
	NewContent  string
	InsertAfter bool
	IfVersion   string
	Resolved    string
	MaxBytes    int64 // see EditRequest
}

// EditResult tells what an edit did.
type EditResult struct {
	Resolution
	Replaced int    // occurrences, or lines taken out
	Diff     string // unified, three lines of context, at most MaxDiff bytes
	Version  string
}

// MaxEditFile is the largest file that Edit and EditLines take, in bytes;
// beyond it they answer too_large. MaxDiff bounds EditResult.Diff.
const (
	MaxEditFile = 64 << 20
	MaxDiff     = 64 << 10
)

// GlobRequest asks for files by name. See the doublestar package for the
// syntax; a pattern that ends in "/" finds directories, any other files (and
// symlinks to files; no FIFOs, sockets or devices). Names that start with a dot
// are matched like any other. .git is never entered, no symlink is followed.
type GlobRequest struct {
	Pattern        string // relative to Path, or absolute
	Path           string // directory to search; empty means the working directory
	Limit          int    // paths at most; 0 is no limit
	IncludeIgnored bool   // also what .gitignore files leave out
	Filter         Filter
}

// GlobResult is what Glob found.
type GlobResult struct {
	Resolution
	Paths []string // absolute, below Path, in byte order; of a directory with a final "/"
	Total int      // found, those past Limit included
	// Skipped is how many directories could not be read and were left out.
	Skipped int
}

// GrepMode is what a grep answers with.
type GrepMode uint8

// The modes of a grep.
const (
	GrepFiles   GrepMode = iota // paths of files with a match
	GrepContent                 // matching lines
	GrepCount                   // matching lines a file, counted
)

// GrepRequest asks for a regular expression (RE2 syntax) in the content of
// files. Binary files and .git are never searched, no symlink but Path itself
// is followed.
//
// Memory is bounded by searching a line over 1 MiB, and with Multiline a file
// over 4 MiB, in pieces that overlap by 256 KiB: a match longer than that can
// be missed there.
type GrepRequest struct {
	Pattern string
	Path    string // file or directory; empty means the working directory
	// Glob keeps files whose path matches: a pattern without "/" is held
	// against the file's name, one with "/" against its path below Path.
	Glob            string
	Mode            GrepMode
	Limit           int  // files or lines answered at most (context lines come on top); 0 is no limit
	IncludeHidden   bool // also names that start with a dot; Path itself may
	IncludeIgnored  bool // also what .gitignore files leave out
	CaseInsensitive bool
	Multiline       bool // the pattern may span lines, each of which is then a matching line; "." does not match a newline unless (?s)
	Context         int  // lines before and after each match, in GrepContent; at most 1000
	MaxLine         int  // cuts longer lines, in characters; 0 means 2000
	Filter          Filter
}

// GrepResult is what Grep found, by path in byte order, then by line.
type GrepResult struct {
	Resolution
	Files   []GrepFile
	Total   int // files (GrepFiles, GrepCount) or matching lines (GrepContent) found, those past Limit included
	Matched int // files with a match
	// Withheld is how many files were not searched because Filter hides their
	// content but not their name, a file that Path names included.
	Withheld int
	// Skipped is how many files and directories could not be read and were left
	// out.
	Skipped int
}

// GrepFile is one file with matches.
type GrepFile struct {
	Path  string
	Count int        // matching lines; in GrepFiles 1 or more
	Lines []GrepLine // GrepContent only
}

// GrepLine is a matching line, or one of its neighbours.
type GrepLine struct {
	Number  int // 1-based
	Text    string
	Cut     int  // characters left off the end
	Context bool // a neighbour, not a match
}

// Filter says which paths a listing or a search may show. It is plain data, so
// that it can travel to where the files are. A path is shown when every set
// shows it, under its own name and under the name it has once symlinks are
// resolved. The zero Filter shows everything.
type Filter struct {
	// Names decide whether a path is shown at all.
	Names []FilterSet
	// Content decides whether a grep may search a file; a file that Names
	// shows and Content does not is counted in GrepResult.Withheld.
	Content []FilterSet
}

// FilterSet is an ordered list of rules over cleaned absolute paths; the first
// whose pattern matches decides, otherwise Default.
type FilterSet struct {
	Rules   []FilterRule
	Default bool // true shows
}

// FilterRule is one pattern, in gobwas/glob syntax with "/" as separator, of at
// most 512 bytes.
type FilterRule struct {
	Pattern string
	Show    bool
}

// Stream tells a command's outputs apart.
type Stream uint8

// The streams of a command.
const (
	Stdout Stream = iota
	Stderr
)

// Command is a program to run.
type Command struct {
	// Argv is the program and its arguments, passed on literally. The program
	// is looked up in the workspace's PATH. Exclusive with Script; one of them
	// must be given.
	Argv []string
	// Script is run by the workspace's POSIX shell.
	Script string
	// Dir to start in; empty means the working directory.
	Dir string
	// Env is added to the workspace's environment, K=V.
	Env []string
	// Stdin is the command's standard input; nil is an input at its end.
	Stdin io.Reader
	// Timeout stops the command and everything of its session; 0 is no limit.
	Timeout time.Duration
	// Output is called with each piece of output as it comes, from one
	// goroutine at a time, never after Run has returned. The slice is only
	// valid during the call. Nil discards.
	Output func(stream Stream, data []byte)
	// Merge sends standard error to the same place as standard output, so that
	// the order in which the command wrote is kept exactly; all of it arrives
	// as Stdout.
	Merge bool
	// KeepAbove, when over 0, has output past this many bytes kept whole in a
	// file in the workspace, named in Exit.OutputFile.
	KeepAbove int64
	// MaxOutput stops the command with too_large once it has written more than
	// this many bytes; 0 is no limit.
	MaxOutput int64
	// Access is asked before the command opens, makes, changes or removes a
	// file, with "read" or "write" and its absolute clean path, and again with
	// its path once symlinks are resolved, where that is another one. What it
	// returns is why the command may not. It is called from several goroutines,
	// and a call of it that waits holds up that file only. Only a workspace that
	// sees every open can ask: state asks, all others ignore it. Listing
	// directories and asking whether a file exists are not asked for.
	Access func(op, path string) error
}

// Exit is how a command ended. Run returns it with a nil error whenever the
// command ran to its own end, whatever its exit code; a program that cannot be
// found is code 127, one that cannot be executed 126, with the reason on
// standard error, as a shell has it.
//
// With an error of CodeTimeout, CodeTooLarge or CodeCancelled the command and
// everything it started have been stopped, what it printed before has been
// delivered to Output, and OutputFile may be set. A process that made a
// session of its own (setsid) is taken to have detached on purpose and goes
// on.
//
// Run returns when the command itself has exited: a background child that
// holds its output open does not hold up the call and goes on running; what it
// prints later is discarded.
type Exit struct {
	Code int // 128+N when ended by signal N; 124 after a timeout
	// Signal that ended the command, by name ("SIGKILL"), or "".
	Signal string
	// OutputFile is the path of the whole output; see Command.KeepAbove.
	OutputFile string
	// NotKept says why there is no OutputFile that was asked for.
	NotKept string
}
