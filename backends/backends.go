// Package backends is the contract between the tools and the places where
// they work: a JSON document, a directory, a container.
//
// A [Backend] creates, finds and destroys environments of one kind; a
// [Workspace] is one such environment, with its operations as whole questions
// (read these lines, edit this text, search this tree), so that a remote
// workspace answers each in one round trip and only the answer travels.
//
// backends/backendtest holds every promise made here as a test that each
// implementation passes. This package knows no implementation, no tool and no
// protocol.
package backends

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// Ref names an environment that exists. Its text form is "provider:id", for
// instance "docker:mcpws-3f9a0c77d1e2". A ref is a name: no secret and no
// permission.
type Ref struct {
	Provider string
	ID       string
}

// String returns "provider:id", or "" for the zero Ref.
func (r Ref) String() string {
	if r == (Ref{}) {
		return ""
	}
	return r.Provider + ":" + r.ID
}

// ParseRef reads the text form of a ref. The id may itself contain colons.
func ParseRef(s string) (Ref, error) {
	provider, id, ok := strings.Cut(s, ":")
	if !ok || provider == "" || id == "" {
		return Ref{}, &Error{Code: CodeInvalidArgument, Op: "ref", Message: fmt.Sprintf(
			"%q is not a workspace ref; one looks like provider:id, for instance state:demo", s)}
	}
	return Ref{Provider: provider, ID: id}, nil
}

// Spec says what a new environment should be, beyond what its backend was
// configured with.
type Spec struct {
	// Name makes Create get-or-create: every Create with the same name answers
	// with the same environment, also when two processes ask at once. Empty
	// makes a new environment with an id of the backend's choice. See
	// [ValidName].
	Name string
	// Owner is recorded with the environment; empty when there is one user.
	Owner string
	// Temporary tells that the environment is to be removed when its connection
	// ends. Then nothing that a Create which failed or was given up has made is
	// left for the next one, though it has a name.
	Temporary bool
	// Made, when set, is called when Create has made an environment, not found
	// one, and is about to answer with it.
	Made func()
	// Progress, when set, is told what a slow creation is doing. It may be
	// called from another goroutine, and not after Create has returned.
	Progress func(message string)
}

// Info describes an environment for listings.
type Info struct {
	Ref        Ref
	Name       string
	Owner      string
	Status     string // "running", "stopped", "ready": the backend's own word
	Image      string // containers only
	WorkingDir string
	Created    time.Time // zero when the backend does not know
}

// Backend makes and finds environments of one kind. All methods are safe for
// concurrent use.
type Backend interface {
	// Provider is the first part of this backend's refs.
	Provider() string

	// Create makes an environment, or finds the one of spec.Name. When it
	// fails, either nothing was made or the next Create of the same name
	// finds what was.
	Create(ctx context.Context, spec Spec) (Workspace, error)

	// Attach opens an environment that exists and never makes one. An
	// environment that is gone is [CodeUnavailable] with the cause [ErrGone]; a
	// ref of another provider is [CodeInvalidArgument]; an environment that
	// this program did not make is [CodePermission].
	Attach(ctx context.Context, ref Ref) (Workspace, error)

	// Describe tells what List tells of one environment. It opens nothing and
	// starts nothing, whatever the environment's state, and costs one question
	// to whatever keeps environments. It fails as Attach does.
	Describe(ctx context.Context, ref Ref) (Info, error)

	// Destroy removes an environment and its files for good. One that is gone
	// already is no error. A backend whose environments are not its own to
	// remove (a directory of the user's) answers [CodeUnsupported].
	Destroy(ctx context.Context, ref Ref) error

	// List describes the environments this program made, by id.
	List(ctx context.Context) ([]Info, error)

	// Close frees what the Backend itself holds. Environments stay.
	Close() error
}

// Stopper is a Backend whose environments take up something while they run,
// and can be stopped without losing files. All methods are safe for concurrent
// use.
type Stopper interface {
	// Stop ends what runs in an environment, connections included. Its files
	// stay, and the next Attach starts it again. One that does not run, or is
	// gone, is no error; what this program did not make is [CodePermission].
	Stop(ctx context.Context, ref Ref) error

	// InUse tells whether a connection to an environment is open, of this
	// process or of any other. One that does not run, or is gone, is not in
	// use. The answer is about a moment that has passed when it arrives.
	InUse(ctx context.Context, ref Ref) (bool, error)
}

// Workspace is one environment. All methods are safe for concurrent use, and
// all of them:
//
//   - take paths as the user wrote them: relative to WorkingDir or absolute,
//     cleaned lexically (a/../b is b) before symlinks are followed; NUL in a
//     path is [CodeInvalidArgument];
//   - answer with the path cleaned and absolute (Path) and with symlinks
//     resolved (Resolved), so that a caller can hold both against its rules;
//   - fail with an [*Error]: [CodeNotFound] for what is missing,
//     [CodeIsDirectory] and [CodeNotDirectory] for the wrong kind,
//     [CodePermission] for what the environment refuses (a path outside a
//     confined directory included), [CodeUnavailable] when the environment is
//     gone, [CodeCancelled] when ctx ended first. An infrastructure failure is
//     never dressed up as an exit code or an empty answer;
//   - refuse FIFOs, sockets and devices with [CodeInvalidArgument] instead of
//     waiting on them, and so symlinks that lead in a circle.
type Workspace interface {
	// Ref names this environment; it never changes.
	Ref() Ref

	// WorkingDir is where relative paths and commands start: absolute, clean,
	// without symlinks.
	WorkingDir() string

	// Resolve follows symlinks in path. What does not exist yet is kept as
	// written, so the answer names where a write would land.
	Resolve(ctx context.Context, path string) (Resolution, error)

	// Stat describes what path leads to, symlinks followed.
	Stat(ctx context.Context, path string) (FileInfo, error)

	// List describes a directory's entries: directories first, then the rest,
	// each by name in byte order.
	List(ctx context.Context, req ListRequest) (ListResult, error)

	// Read answers with a slice of a text file's lines. Memory is bounded by
	// the slice, not by the file.
	Read(ctx context.Context, req ReadRequest) (ReadResult, error)

	// Open streams a regular file's bytes. The caller closes it.
	Open(ctx context.Context, path string) (io.ReadCloser, FileInfo, error)

	// Write replaces a file's content atomically: a reader sees the old bytes
	// or the new. Parents are created, a symlink is followed to its target,
	// mode and owner of a file that was there are kept.
	Write(ctx context.Context, req WriteRequest) (WriteResult, error)

	// Edit replaces exact text in a file, under the preconditions it carries.
	Edit(ctx context.Context, req EditRequest) (EditResult, error)

	// EditLines replaces lines in a file that are named by number and hash.
	EditLines(ctx context.Context, req EditLinesRequest) (EditResult, error)

	// Glob finds files by doublestar pattern, sorted by path.
	Glob(ctx context.Context, req GlobRequest) (GlobResult, error)

	// Grep searches the content of files.
	Grep(ctx context.Context, req GrepRequest) (GrepResult, error)

	// Run executes a command; see [Command] and [Exit]. A workspace that
	// cannot run commands answers [CodeUnsupported].
	Run(ctx context.Context, cmd Command) (Exit, error)

	// Close ends this connection to the environment, which stays.
	Close() error
}

// ValidName tells whether s can name an environment with [Spec.Name]: 1 to 63
// of a-z, A-Z, 0-9, '.', '_' and '-', starting with a letter or digit. The
// rule is what Docker container names and Kubernetes labels have in common.
func ValidName(s string) error {
	ok := len(s) >= 1 && len(s) <= 63
	for i := 0; ok && i < len(s); i++ {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		ok = alnum || i > 0 && (c == '.' || c == '_' || c == '-')
	}
	if !ok {
		return &Error{Code: CodeInvalidArgument, Op: "name", Message: fmt.Sprintf(
			"%q cannot name a workspace; use 1 to 63 letters, digits, '.', '_' or '-', starting with a letter or digit", s)}
	}
	return nil
}
