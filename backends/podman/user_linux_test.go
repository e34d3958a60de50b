package podman_test

import (
	"os"
	"os/exec"
	"syscall"
)

func uidOf(info os.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }
func gidOf(info os.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Gid }

// runAs has cmd run as another user.
func runAs(cmd *exec.Cmd, uid, gid uint32) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
}
