package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// memory is what a process holds in RAM, in bytes.
type memory struct {
	resident int64 // now
	peak     int64 // the most so far
}

// memoryOf reads the memory of a running process from /proc, which only Linux
// has.
func memoryOf(pid int) (memory, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, err
	}
	var m memory
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		var field *int64
		switch name {
		case "VmRSS":
			field = &m.resident
		case "VmHWM":
			field = &m.peak
		default:
			continue
		}
		kB, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return memory{}, fmt.Errorf("%s of process %d: %w", name, pid, err)
		}
		*field = kB << 10
	}
	return m, nil
}

// memory of the server; "no /proc" where there is none.
func (c *conn) memory() (resident, peak string) {
	m, err := memoryOf(c.cmd.Process.Pid)
	if err != nil {
		return "no /proc", "no /proc"
	}
	return mb(m.resident), mb(m.peak)
}
