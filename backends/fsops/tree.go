package fsops

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Tree answers the file operations of a [backends.Workspace] over an FS.
// Embed it to have them.
type Tree struct {
	fs    FS
	dir   string
	locks keyLocks
}

// New returns a Tree over fsys whose relative paths start at dir, which must
// be absolute, clean and without symlinks.
func New(fsys FS, dir string) *Tree {
	return &Tree{fs: fsys, dir: dir}
}

// WorkingDir is where relative paths start.
func (t *Tree) WorkingDir() string { return t.dir }

// maxLinks is how many symlinks one path may go through, as Linux has it.
const maxLinks = 40

// inside tells whether clean name is root or below it.
func inside(root, name string) bool {
	return root == "/" || name == root || strings.HasPrefix(name, root) && name[len(root)] == '/'
}

// resolve cleans p and follows its symlinks, keeping the part of it that does
// not exist as it is written.
func (t *Tree) resolve(op, p string) (backends.Resolution, error) {
	res, _, err := t.lookup(op, p)
	return res, err
}

// lookup is resolve, with what Lstat said of the resolved name when it exists.
func (t *Tree) lookup(op, p string) (backends.Resolution, fs.FileInfo, error) {
	name, err := backends.CleanPath(t.dir, p)
	if err != nil {
		return backends.Resolution{}, nil, err
	}
	resolved, info, err := t.follow(op, name)
	return backends.Resolution{Path: name, Resolved: resolved, Exists: info != nil}, info, err
}

// follow resolves the symlinks of name, component by component as the kernel
// does: what ".." in a symlink's target means depends on where the way has led
// by then. The FileInfo is nil when there is nothing there.
func (t *Tree) follow(op, name string) (string, fs.FileInfo, error) {
	root := t.fs.Root()
	outside := func(at string) error {
		msg := "outside the workspace: only paths below " + root + " can be reached"
		if at != name {
			msg = "a symlink on this path leads to " + at + ", outside the workspace; only paths below " + root + " can be reached"
		}
		return &backends.Error{Code: backends.CodePermission, Op: op, Path: name, Message: msg}
	}
	if !inside(root, name) {
		return "", nil, outside(name)
	}
	// at is a directory without symlinks in its path: below root, root itself
	// or, where a symlink's target is on its way there, one above it.
	at, rest := root, strings.TrimPrefix(name[len(root):], "/")
	leads := name // the last target
	links := 0
	for rest != "" {
		part, more, goesOn := strings.Cut(rest, "/")
		next := at
		switch part {
		case "", ".":
		case "..":
			next = path.Dir(at)
		default:
			next = join(at, part)
		}
		if !inside(root, next) && !inside(next, root) {
			return "", nil, outside(leads)
		}
		if next == at || inside(next, root) {
			at, rest = next, more
			continue
		}
		info, err := t.fs.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if slices.Contains(strings.Split(more, "/"), "..") {
				return "", nil, notFound(op, name) // what is above a missing directory is nowhere
			}
			return path.Clean(join(at, rest)), nil, nil
		case err != nil:
			return "", nil, fail(op, name, err)
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return "", nil, &backends.Error{Code: backends.CodeInvalidArgument, Op: op, Path: name, Message: "too many symlinks on this path; it probably leads back to itself"}
			}
			target, err := t.fs.Readlink(next)
			if err != nil {
				return "", nil, fail(op, name, err)
			}
			leads = path.Clean(join(at, target))
			if path.IsAbs(target) {
				at, leads = "/", path.Clean(target)
			}
			if rest = target; goesOn {
				rest += "/" + more
			}
		case !goesOn:
			return next, info, nil
		case !info.IsDir():
			return "", nil, &backends.Error{Code: backends.CodeNotDirectory, Op: op, Path: name, Message: next + " is not a directory", Err: syscall.ENOTDIR}
		default:
			at, rest = next, more
		}
	}
	if !inside(root, at) {
		return "", nil, outside(leads)
	}
	info, err := t.fs.Lstat(at)
	if err != nil {
		return at, nil, fail(op, name, err)
	}
	return at, info, nil
}

func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}

// Resolve implements [backends.Workspace].
func (t *Tree) Resolve(ctx context.Context, p string) (backends.Resolution, error) {
	if err := ended(ctx, "resolve"); err != nil {
		return backends.Resolution{}, err
	}
	return t.resolve("resolve", p)
}

// Stat implements [backends.Workspace].
func (t *Tree) Stat(ctx context.Context, p string) (backends.FileInfo, error) {
	if err := ended(ctx, "stat"); err != nil {
		return backends.FileInfo{}, err
	}
	res, info, err := t.lookup("stat", p)
	if err != nil {
		return backends.FileInfo{}, err
	}
	if info == nil {
		return backends.FileInfo{}, notFound("stat", res.Path)
	}
	return fileInfo(res, info), nil
}

func fileInfo(res backends.Resolution, info fs.FileInfo) backends.FileInfo {
	out := backends.FileInfo{Resolution: res, Kind: kindOf(info.Mode()), Mode: info.Mode().Perm(), ModTime: info.ModTime()}
	if out.Kind != backends.KindDirectory {
		out.Size = info.Size()
	}
	return out
}

func kindOf(m fs.FileMode) backends.Kind {
	switch {
	case m.IsRegular():
		return backends.KindFile
	case m.IsDir():
		return backends.KindDirectory
	case m&fs.ModeSymlink != 0:
		return backends.KindSymlink
	default:
		return backends.KindOther
	}
}

// openRegular opens p, or says why it cannot be read as a file.
func (t *Tree) openRegular(op, p string) (backends.Resolution, File, fs.FileInfo, error) {
	res, info, err := t.lookup(op, p)
	if err != nil {
		return res, nil, nil, err
	}
	if err := wantRegular(op, res, info); err != nil {
		return res, nil, nil, err
	}
	f, info, err := t.openResolved(op, res)
	return res, f, info, err
}

// openResolved opens what was at res.Resolved, wherever res.Path leads by now.
func (t *Tree) openResolved(op string, res backends.Resolution) (File, fs.FileInfo, error) {
	f, err := t.fs.Open(res.Resolved)
	if err != nil {
		return nil, nil, fail(op, res.Path, err)
	}
	// What was opened may be another file than the one looked up.
	info, err := f.Stat()
	if err == nil {
		err = wantRegular(op, res, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, fail(op, res.Path, err)
	}
	return f, info, nil
}

// wantFile fails unless there is a regular file at res.Resolved.
func (t *Tree) wantFile(op string, res backends.Resolution) error {
	info, err := t.fs.Lstat(res.Resolved)
	if err == nil {
		err = wantRegular(op, res, info)
	}
	if err != nil {
		return fail(op, res.Path, err)
	}
	return nil
}

func wantRegular(op string, res backends.Resolution, info fs.FileInfo) error {
	switch {
	case info == nil:
		return notFound(op, res.Path)
	case info.IsDir():
		return &backends.Error{Code: backends.CodeIsDirectory, Op: op, Path: res.Path, Message: "is a directory; list it with ls", Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return &backends.Error{Code: backends.CodeInvalidArgument, Op: op, Path: res.Path, Message: "is a " + specialName(info.Mode()) + ", not a regular file"}
	default:
		return nil
	}
}

func specialName(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "FIFO"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	case m&fs.ModeSymlink != 0:
		return "symlink"
	default:
		return "special file"
	}
}

// Open implements [backends.Workspace].
func (t *Tree) Open(ctx context.Context, p string) (io.ReadCloser, backends.FileInfo, error) {
	if err := ended(ctx, "open"); err != nil {
		return nil, backends.FileInfo{}, err
	}
	res, f, info, err := t.openRegular("open", p)
	if err != nil {
		return nil, backends.FileInfo{}, err
	}
	return f, fileInfo(res, info), nil
}

func notFound(op, p string) error {
	return &backends.Error{Code: backends.CodeNotFound, Op: op, Path: p, Message: "no such file or directory", Err: fs.ErrNotExist}
}

// fail gives err the code that its cause has. A [*backends.Error] is passed on.
func fail(op, p string, err error) error {
	var typed *backends.Error
	if errors.As(err, &typed) {
		return err
	}
	code := backends.CodeInternal
	msg := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notFound(op, p)
	case errors.Is(err, syscall.ENOTDIR):
		code, msg = backends.CodeNotDirectory, "a part of this path is not a directory"
	case errors.Is(err, syscall.EISDIR):
		code, msg = backends.CodeIsDirectory, "is a directory"
	case errors.Is(err, syscall.EROFS):
		code, msg = backends.CodeReadOnly, "the file system is read-only"
	case errors.Is(err, fs.ErrPermission):
		code, msg = backends.CodePermission, "permission denied by the file system"
	case errors.Is(err, syscall.ENAMETOOLONG):
		code, msg = backends.CodeInvalidArgument, "a name on this path is too long for the file system"
	case errors.Is(err, syscall.ELOOP):
		code, msg = backends.CodeInvalidArgument, "a symlink appeared on this path while it was being opened, or too many are on it"
	case errors.Is(err, syscall.EINVAL), errors.Is(err, fs.ErrInvalid):
		code, msg = backends.CodeInvalidArgument, "the file system does not accept this path"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		code, msg = backends.CodeTooLarge, "no space is left in the workspace"
	case errors.Is(err, syscall.ENXIO), errors.Is(err, syscall.ENODEV):
		code, msg = backends.CodeInvalidArgument, "is a socket, or a device that is not there; it cannot be opened as a file"
	case errors.Is(err, syscall.EIO):
		msg = "input/output error: the disk under this path fails, or it is a special file that cannot be read as a whole; look at it with a command"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		code = backends.CodeCancelled
	}
	return &backends.Error{Code: code, Op: op, Path: p, Message: msg, Err: err}
}
