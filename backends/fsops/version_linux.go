package fsops

import (
	"fmt"
	"io/fs"
	"syscall"
)

// changeOf names the inode and when it last changed, which a program that sets
// the modification time back does not control.
func changeOf(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d.%09d", st.Ino, st.Ctim.Sec, st.Ctim.Nsec)
	}
	return ""
}
