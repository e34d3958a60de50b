package main

import (
	"slices"
	"testing"
)

func TestWhereControlGroupsLimitMemory(t *testing.T) {
	for _, c := range []struct {
		name, groups string
		want         []string
	}{
		{"version 2", "0::/user.slice/a.service\n", []string{
			"/sys/fs/cgroup/user.slice/a.service/memory.max", "/sys/fs/cgroup/user.slice/memory.max", "/sys/fs/cgroup/memory.max"}},
		{"a container", "0::/\n", []string{"/sys/fs/cgroup/memory.max"}},
		{"version 1", "5:cpu,cpuacct:/x\n4:memory:/docker/1\n3:name=systemd:/y\n", []string{
			"/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}},
		{"a name with a colon", "0::/a:b\n", []string{"/sys/fs/cgroup/a:b/memory.max", "/sys/fs/cgroup/memory.max"}},
		{"none", "", nil},
		{"something else", "memory\n4:memory\n", nil},
	} {
		if got := memoryFiles(c.groups); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
