//go:build unix

package address

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// groupOf names the group that a socket belongs to: its number where it has no
// name, "docker" where it cannot be looked at.
func groupOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "docker"
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "docker"
	}
	id := strconv.FormatUint(uint64(stat.Gid), 10)
	if group, err := user.LookupGroupId(id); err == nil {
		return group.Name
	}
	return id
}
