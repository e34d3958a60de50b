package vfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
)

// File is an open file. Its methods are those of [os.File], and flock.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Seeker
	io.Closer
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	// Lock waits for the lock of the file and takes it: alone, or with others
	// that share it. It is held until Unlock or Close.
	Lock(ctx context.Context, shared bool) error
	Unlock()
}

// DeviceError is why [FS.OpenFile] cannot open /dev/stdin, /dev/stdout or
// /dev/stderr: only who called it knows what they are.
type DeviceError struct {
	Device string // "stdin", "stdout", "stderr"
}

func (e *DeviceError) Error() string { return "this is the standard stream " + e.Device }

// Open opens a file, or a directory for its Stat, to read.
func (f *FS) Open(name string) (File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

// Create opens a file to write, new or emptied.
func (f *FS) Create(name string) (File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// CreateOwn makes a file for the program itself, which is not there yet; nobody
// is asked for access.
func (f *FS) CreateOwn(name string) (File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, err := f.walk(name, false)
	if err == nil {
		var out *file
		if out, err = f.open(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644, true); err == nil {
			return out, nil
		}
	}
	return nil, wrap("open", name, err)
}

// OpenFile opens a file with the flags of the os package. perm is the mode of a
// file that is made, less the permissions that 022 takes away.
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	op := Read
	writes := flag&(os.O_WRONLY|os.O_RDWR) != 0
	if writes || flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		op = Write
	}
	var out *file
	err := f.try(op, "open", name, flag&os.O_EXCL == 0, func(at place) (err error) {
		out, err = f.open(at, flag, perm, writes)
		return err
	})
	if err == nil && op == Write && flag&os.O_RDWR != 0 && flag&os.O_TRUNC == 0 && f.access != nil {
		// It reads, too.
		err = f.try(Read, "open", name, true, func(place) error { return nil })
		if err != nil {
			_ = out.Close()
		}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (f *FS) open(at place, flag int, perm fs.FileMode, writes bool) (*file, error) {
	if f.limits.OpenFiles > 0 && f.opens >= f.limits.OpenFiles {
		return nil, syscall.EMFILE
	}
	n := at.node
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, syscall.ENOENT
	case n == nil:
		if at.slash {
			return nil, syscall.EISDIR
		}
		if err := f.checkNew(at); err != nil {
			return nil, err
		}
		n = f.newInode(perm.Perm() &^ 0o022)
		f.put(at.dir, at.name, n)
	case flag&os.O_CREATE != 0 && flag&os.O_EXCL != 0:
		return nil, syscall.EEXIST
	case at.slash && !n.isDir():
		return nil, syscall.ENOTDIR
	case n.isLink():
		return nil, syscall.ELOOP
	case n.isDir() && (writes || flag&os.O_CREATE != 0):
		return nil, syscall.EISDIR
	case slices.Contains(streams, n.device):
		return nil, &DeviceError{n.device}
	case flag&os.O_TRUNC != 0 && len(n.content) > 0:
		f.used -= int64(len(n.content)) * n.copies()
		n.content, n.shared = nil, 0
		f.disown(n)
		f.touch(n)
	case flag&os.O_TRUNC != 0 && n.device == "":
		f.touch(n)
	}
	n.rewritten = n.rewritten || flag&os.O_TRUNC != 0
	f.opens++
	n.opens++
	if writes {
		n.writes++
	}
	return &file{fs: f, node: n, name: at.path, flag: flag, writes: writes}, nil
}

// file is an open file.
type file struct {
	fs     *FS
	node   *inode
	name   string
	flag   int
	writes bool

	// Guarded by fs.mu, like the node.
	offset int64
	closed bool
}

var errClosed = fs.ErrClosed

func (h *file) begin(write bool) error {
	switch {
	case h.closed:
		return errClosed
	case write && !h.writes, !write && h.flag&os.O_WRONLY != 0:
		return syscall.EBADF
	case h.node.isDir():
		return syscall.EISDIR
	}
	return nil
}

// Read implements [io.Reader].
func (h *file) Read(p []byte) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.begin(false); err != nil {
		return 0, wrap("read", h.name, err)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if h.node.endless() {
		h.node.fill(p)
		return len(p), nil
	}
	if h.offset >= int64(len(h.node.content)) {
		return 0, io.EOF
	}
	n := copy(p, h.node.content[h.offset:])
	h.offset += int64(n)
	return n, nil
}

// ReadAt implements [io.ReaderAt].
func (h *file) ReadAt(p []byte, off int64) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.begin(false); err != nil {
		return 0, wrap("read", h.name, err)
	}
	if off < 0 {
		return 0, wrap("read", h.name, syscall.EINVAL)
	}
	if h.node.endless() {
		h.node.fill(p)
		return len(p), nil
	}
	if off >= int64(len(h.node.content)) {
		return 0, io.EOF
	}
	n := copy(p, h.node.content[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Write implements [io.Writer].
func (h *file) Write(p []byte) (int, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if err := h.begin(true); err != nil {
		return 0, wrap("write", h.name, err)
	}
	if h.node.device == deviceFull && len(p) > 0 {
		return 0, wrap("write", h.name, syscall.ENOSPC)
	}
	if h.node.device != "" || len(p) == 0 {
		return len(p), nil
	}
	if h.flag&os.O_APPEND != 0 {
		h.offset = int64(len(h.node.content))
	} else {
		h.node.rewritten = true
	}
	n, err := h.fs.write(h.node, h.offset, p)
	h.offset += int64(n)
	return n, wrap("write", h.name, err)
}

// write puts p at offset, as far as there is room.
func (f *FS) write(n *inode, offset int64, p []byte) (int, error) {
	end := offset + int64(len(p))
	room, err := f.room(n, end)
	if err != nil {
		if room <= offset {
			return 0, err
		}
		p = p[:room-offset]
		end = room
	}
	if err := f.reserve(n, end); err != nil {
		return 0, err
	}
	if offset == int64(len(n.content)) {
		// What is shared is below: only the spare room is written to.
		n.content = append(n.content, p...)
		f.used += int64(len(p)) * n.copies()
	} else {
		if err := f.unshare(n, offset); err != nil {
			return 0, err
		}
		f.resize(n, max(end, int64(len(n.content))))
		copy(n.content[offset:], p)
	}
	f.touch(n)
	return len(p), err
}

// room tells how large n may become, at most end.
func (f *FS) room(n *inode, end int64) (int64, error) {
	var err error
	if f.limits.FileBytes > 0 && end > f.limits.FileBytes {
		end, err = f.limits.FileBytes, syscall.EFBIG
	}
	if more := end - int64(len(n.content)); f.limits.TotalBytes > 0 && more > (f.limits.TotalBytes-f.used)/n.copies() {
		end, err = int64(len(n.content))+max(0, f.limits.TotalBytes-f.used)/n.copies(), syscall.ENOSPC
	}
	return end, err
}

// resize makes the content of n as long as size, which there is room for and
// memory reserved.
func (f *FS) resize(n *inode, size int64) {
	have := int64(len(n.content))
	f.used += (size - have) * n.copies()
	switch {
	case size < have:
		// The rest may be shared: what is appended later must not be put there.
		n.content = n.content[:size:size]
		n.shared = min(n.shared, int(size))
	case size > have:
		n.content = n.content[:size]
		clear(n.content[have:])
	}
}

// unshare makes sure that n can be written to from offset on.
func (f *FS) unshare(n *inode, offset int64) error {
	if offset >= int64(n.shared) {
		return nil
	}
	return f.rebuffer(n, int64(cap(n.content)))
}

// Truncate makes the file as long as size.
func (h *file) Truncate(size int64) error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	err := h.begin(true)
	switch {
	case err != nil:
	case size < 0:
		err = syscall.EINVAL
	case h.node.device != "":
	default:
		if _, err = h.fs.room(h.node, size); err == nil {
			err = h.fs.reserve(h.node, size)
		}
		if err == nil {
			h.fs.resize(h.node, size)
			h.node.rewritten = true
			h.fs.touch(h.node)
		}
	}
	return wrap("truncate", h.name, err)
}

// Seek implements [io.Seeker].
func (h *file) Seek(offset int64, whence int) (int64, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.closed {
		return 0, wrap("seek", h.name, errClosed)
	}
	switch whence {
	case io.SeekCurrent:
		offset += h.offset
	case io.SeekEnd:
		offset += int64(len(h.node.content))
	}
	if offset < 0 {
		return h.offset, wrap("seek", h.name, syscall.EINVAL)
	}
	h.offset = offset
	return offset, nil
}

// Stat describes the file as it is now.
func (h *file) Stat() (fs.FileInfo, error) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.closed {
		return nil, wrap("stat", h.name, errClosed)
	}
	return h.node.info(path.Base(h.name)), nil
}

// Close implements [io.Closer].
func (h *file) Close() error {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	if h.closed {
		return wrap("close", h.name, errClosed)
	}
	h.closed = true
	h.unlock()
	h.fs.opens--
	h.node.opens--
	if h.writes {
		h.node.writes--
	}
	h.fs.release(h.node)
	return nil
}

// IsDevice returns the standard stream that err is about, or "".
func IsDevice(err error) string {
	var d *DeviceError
	if errors.As(err, &d) {
		return d.Device
	}
	return ""
}
