package commands

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// Files is the file system that commands work on; see package vfs for what
// names mean and how things fail. Names are absolute: a command uses the
// methods of [Proc], which take names as they were written.
type Files interface {
	Lstat(name string) (fs.FileInfo, error)
	Stat(name string) (fs.FileInfo, error)
	Open(name string) (vfs.File, error)
	Create(name string) (vfs.File, error)
	OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error)
	Mkdir(name string, perm fs.FileMode) error
	Remove(name string) error
	Rename(old, name string) error
	Symlink(target, name string) error
	Link(old, name string) error
	Readlink(name string) (string, error)
	Resolve(name string) (string, error)
	Chmod(name string, mode fs.FileMode) error
	Chtimes(name string, mtime time.Time) error
	ReadDir(name string) ([]fs.DirEntry, error)
	// Used is how much there is: bytes of content, entries, open files.
	Used() (bytes int64, entries, open int)
}

var _ Files = (*vfs.FS)(nil)

// Path makes name absolute. It is not cleaned: "..", "." and a final "/" keep
// their meaning. An empty name stays empty, and is not found.
func (p *Proc) Path(name string) string {
	if name == "" || path.IsAbs(name) {
		return name
	}
	if p.Dir == "/" {
		return "/" + name
	}
	return p.Dir + "/" + name
}

// Open opens a file or a standard stream (/dev/stdin) to read. A directory can
// be opened; reading it fails with EISDIR. Reading ends when the command is to
// end. The caller closes it.
func (p *Proc) Open(name string) (io.ReadCloser, error) {
	if n, ok := descriptorName(name); ok && p.Descriptor != nil {
		if r, _ := p.descriptor(n); r != nil {
			return io.NopCloser(&input{p: p, from: r}), nil
		}
	}
	f, err := p.Files.Open(p.Path(name))
	if err != nil {
		if vfs.IsDevice(err) == "stdin" {
			return io.NopCloser(p.Stdin), nil
		}
		return nil, err
	}
	return &reader{f, p}, nil
}

// reader is a file that ends with the command.
type reader struct {
	vfs.File
	p *Proc
}

func (r *reader) Read(b []byte) (int, error) {
	if r.p.Stopped() {
		return 0, context.Cause(r.p.ctx)
	}
	return r.File.Read(b)
}

// OpenFile opens a file with the flags of package os. Standard streams cannot
// be opened so; see Create.
func (p *Proc) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	return p.Files.OpenFile(p.Path(name), flag, perm)
}

// Create opens a file or a standard stream (/dev/stdout) to write, new or
// emptied. The caller closes it and looks at the error.
func (p *Proc) Create(name string) (io.WriteCloser, error) {
	return p.Write(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
}

// Append is Create for writing at the end.
func (p *Proc) Append(name string) (io.WriteCloser, error) {
	return p.Write(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
}

// Write opens a file or a standard stream with the flags of package os.
func (p *Proc) Write(name string, flag int) (io.WriteCloser, error) {
	if n, ok := descriptorName(name); ok && p.Descriptor != nil {
		if _, w := p.descriptor(n); w != nil {
			return nopWriter{&stdout{p: p, to: w}}, nil
		}
	}
	f, err := p.Files.OpenFile(p.Path(name), flag, 0o666)
	switch vfs.IsDevice(err) {
	case "":
		if err != nil {
			return nil, err
		}
		return &writer{f, p}, nil
	case "stderr":
		return nopWriter{p.Stderr}, nil
	default:
		return nopWriter{p.Stdout}, nil
	}
}

type writer struct {
	vfs.File
	p *Proc
}

func (w *writer) Write(b []byte) (int, error) {
	if w.p.Stopped() {
		return 0, context.Cause(w.p.ctx)
	}
	return w.File.Write(b)
}

type nopWriter struct{ io.Writer }

func (nopWriter) Close() error { return nil }

// descriptorName reads /dev/fd/N.
func descriptorName(name string) (int, bool) {
	text, ok := strings.CutPrefix(name, "/dev/fd/")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// descriptor is what /dev/fd/N leads to.
func (p *Proc) descriptor(n int) (io.Reader, io.Writer) {
	switch n {
	case 0:
		return p.Stdin, nil
	case 1:
		return nil, p.Stdout
	case 2:
		return nil, p.Stderr
	}
	return p.Descriptor(n)
}

// pipeInfo describes a stream.
type pipeInfo struct{ name string }

func (i pipeInfo) Name() string     { return i.name }
func (pipeInfo) Size() int64        { return 0 }
func (pipeInfo) Mode() fs.FileMode  { return fs.ModeNamedPipe | 0o600 }
func (pipeInfo) ModTime() time.Time { return time.Now() }
func (pipeInfo) IsDir() bool        { return false }
func (pipeInfo) Sys() any           { return &vfs.Sys{Links: 1} }

// Stat describes what name leads to.
func (p *Proc) Stat(name string) (fs.FileInfo, error) {
	if n, ok := descriptorName(name); ok && p.Descriptor != nil {
		if r, w := p.descriptor(n); r != nil || w != nil {
			return pipeInfo{strconv.Itoa(n)}, nil
		}
	}
	return p.Files.Stat(p.Path(name))
}

// Lstat describes name itself, also where it is a symlink.
func (p *Proc) Lstat(name string) (fs.FileInfo, error) { return p.Files.Lstat(p.Path(name)) }

// ReadDir returns the entries of a directory in byte order.
func (p *Proc) ReadDir(name string) ([]fs.DirEntry, error) { return p.Files.ReadDir(p.Path(name)) }

// Join is the name of an entry in a directory that was written as dir.
func Join(dir, name string) string {
	switch {
	case dir == "":
		return name
	case dir[len(dir)-1] == '/':
		return dir + name
	}
	return dir + "/" + name
}

// ReplaceFile writes content to the file name in one step: readers see the old
// content or the new, and a failure leaves the old. The mode of a file that was
// there is kept, and a symlink is followed.
func (p *Proc) ReplaceFile(name string, content func(w io.Writer) error) (err error) {
	target, err := p.Files.Resolve(p.Path(name))
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o666)
	info, err := p.Files.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return &fs.PathError{Op: "open", Path: name, Err: errIsDir}
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, temp, err := p.temporary(path.Dir(target) + "/.")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Files.Remove(temp))
		}
	}()
	err = content(&writer{f, p})
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && info != nil {
		err = p.Files.Chmod(temp, mode)
	}
	if err == nil {
		err = p.Files.Rename(temp, target)
	}
	return err
}
