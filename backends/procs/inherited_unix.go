//go:build linux || darwin

package procs

import (
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// keepInherited has the descriptors that this process was started with, beyond
// the standard three, end with it: a program that starts servers may leak its
// own, and they are nothing for commands to have. All that this process opens
// itself is kept from commands anyway.
var keepInherited = sync.OnceValue(closeOnExec)

func closeOnExec() error {
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
