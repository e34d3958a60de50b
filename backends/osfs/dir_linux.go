package osfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"sync"

	"golang.org/x/sys/unix"
)

// How the kernel lays out a directory entry (struct linux_dirent64): an inode
// number, a position, the length of all, a type, the name and a NUL at least.
const (
	direntLength = 16
	direntType   = 18
	direntName   = 19
)

var direntBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// list returns the directory's entries. Their names share one string: a
// directory may have a hundred thousand.
func (d *dir) list() ([]entry, error) {
	buf := direntBuffers.Get().(*[64 << 10]byte)
	defer direntBuffers.Put(buf)
	var found []entry
	var names []byte
	var ends []int // of each name in names
	for {
		n, err := retried(func() (int, error) { return unix.Getdents(d.fd, buf[:]) })
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		for rest := buf[:n]; len(rest) > 0; {
			if len(rest) < direntName {
				return nil, unix.EIO
			}
			length := int(binary.NativeEndian.Uint16(rest[direntLength:]))
			if length < direntName || length > len(rest) {
				return nil, unix.EIO
			}
			name := rest[direntName:length]
			inode, kind := binary.NativeEndian.Uint64(rest), rest[direntType]
			rest = rest[length:]
			if end := bytes.IndexByte(name, 0); end >= 0 {
				name = name[:end]
			}
			if inode == 0 || len(name) == 0 || string(name) == "." || string(name) == ".." {
				continue
			}
			mode := typeOf(uint32(kind) << 12) // a DT_ value is the S_IF one without its zeros
			if kind == unix.DT_UNKNOWN {
				var there bool
				if mode, there = d.look(string(name)); !there {
					continue
				}
			}
			names = append(names, name...)
			ends = append(ends, len(names))
			found = append(found, entry{dir: d, mode: mode})
		}
	}
	all, begin := string(names), 0
	for i, end := range ends {
		found[i].name = all[begin:end]
		begin = end
	}
	return found, nil
}

// look tells what an entry is whose type the file system does not keep with its
// name. One that cannot be looked at is irregular.
func (d *dir) look(name string) (mode fs.FileMode, there bool) {
	var st unix.Stat_t
	_, err := retried(func() (int, error) { return 0, unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	switch {
	case err == nil:
		return typeOf(st.Mode), true
	case errors.Is(err, fs.ErrNotExist):
		return 0, false
	}
	return fs.ModeIrregular, true
}
