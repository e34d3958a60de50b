package main

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machineMemory is how many bytes this process can have: the machine's, or less
// where its control groups or its address space are limited. 0 is not known.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	var space unix.Rlimit
	least := int64(math.MaxInt64)
	limit := func(n uint64) {
		if n > 0 && n < uint64(least) {
			least = int64(n)
		}
	}
	if unix.Sysinfo(&info) == nil {
		limit(uint64(info.Totalram) * uint64(info.Unit)) //nolint:unconvert // 32 bits on some machines
	}
	if unix.Getrlimit(unix.RLIMIT_AS, &space) == nil {
		limit(space.Cur)
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err == nil {
		for _, file := range memoryFiles(string(groups)) {
			if text, err := os.ReadFile(file); err == nil {
				if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil { // or "max"
					limit(n)
				}
			}
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}

// memoryFiles are where the limits of control groups stand, as /proc/self/cgroup
// lists these: of each group and of all above it. In a container those above may
// be missing, and the root is the container's own.
func memoryFiles(groups string) []string {
	var out []string
	for line := range strings.Lines(groups) {
		_, group, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, dir, ok := strings.Cut(group, ":")
		root, file := "/sys/fs/cgroup", "memory.max"
		if controllers != "" {
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		if !ok || controllers != "" && !strings.Contains(","+controllers+",", ",memory,") {
			continue
		}
		for dir = path.Clean("/" + dir); ; dir = path.Dir(dir) {
			out = append(out, path.Join(root, dir, file))
			if dir == "/" {
				break
			}
		}
	}
	return out
}
