package osfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// list returns the directory's entries.
func (d *dir) list() ([]entry, error) {
	fd, err := unix.FcntlInt(uintptr(d.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), d.name)
	defer f.Close()
	all, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	found := make([]entry, len(all))
	for i, e := range all {
		found[i] = entry{dir: d, name: e.Name(), mode: e.Type()}
	}
	return found, nil
}
