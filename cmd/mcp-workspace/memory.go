package main

import (
	"math"
	"os"
	"runtime/debug"

	"github.com/docker/go-units"
)

// leastMemory is what commands need to be of use, in bytes.
const leastMemory = 16 << 20

// usualMemory is what commands and documents may hold on a machine that does not
// say how much there is.
const usualMemory = 2 << 30

// memoryLimit is how many bytes commands and documents of the backend state may
// hold together; 0 is no limit.
func (s *settings) memoryLimit() (int64, error) {
	if s.maxMemory == "" {
		if all := machineMemory(); all > 0 {
			return max(leastMemory, all/2), nil
		}
		return usualMemory, nil
	}
	n, err := units.RAMInBytes(s.maxMemory)
	if err != nil || n < 0 || n > 0 && n < leastMemory {
		return 0, s.wrong("max-memory", "is %q; it takes a size such as 4GB, at least 16MB, or 0, which is no limit", s.maxMemory)
	}
	return n, nil
}

// ownMemory is more than a server needs beside commands and documents.
const ownMemory = 1 << 30

// spareMemory makes the garbage collector work harder before the machine is
// full, or there is much more than the most that commands and documents hold:
// what they have let go of would otherwise stay until there is twice as much as
// is in use.
func spareMemory(most int64) {
	if _, given := os.LookupEnv("GOMEMLIMIT"); given {
		return
	}
	limit := int64(math.MaxInt64)
	if all := machineMemory(); all > 0 {
		limit = all / 4 * 3
	}
	if most > 0 {
		limit = min(limit, most+max(most/2, ownMemory))
	}
	debug.SetMemoryLimit(limit)
}
