package osfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// oPath opens a directory only to find the way through it, which takes no
// permission to read it.
const oPath = unix.O_PATH

// openBeneath opens rel, which must be clean, below dir, and fails with ELOOP
// where a symlink is on the way: with O_PATH and O_NOFOLLOW only before the
// last part. In errors it is called name.
func openBeneath(dir *os.File, rel, name string, flag int) (*os.File, error) {
	// Beyond what the kernel takes at once, it goes in stages.
	if len(rel) >= unix.PathMax {
		if cut := strings.LastIndexByte(rel[:unix.PathMax], '/'); cut > 0 {
			stage, err := openBeneath(dir, rel[:cut], name, oPath|unix.O_DIRECTORY)
			if err != nil {
				return nil, err
			}
			defer stage.Close()
			return openBeneath(stage, rel[cut+1:], name, flag)
		}
	}
	if flag&oPath == 0 {
		flag |= unix.O_LARGEFILE
	}
	how := unix.OpenHow{
		Flags:   uint64(flag | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	conn, err := dir.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	ctlErr := conn.Control(func(at uintptr) {
		for {
			if fd, err = unix.Openat2(int(at), rel, &how); !errors.Is(err, unix.EINTR) {
				return
			}
		}
	})
	if ctlErr != nil { // dir was closed meanwhile
		err = fs.ErrClosed
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}
