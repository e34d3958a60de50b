package commands

import (
	order "cmp"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// kilobytes is what a file takes on a disk with blocks of 4 KiB.
func kilobytes(info fs.FileInfo) int64 {
	if info.Mode()&(fs.ModeSymlink|fs.ModeDevice) != 0 {
		return 0
	}
	return (info.Size() + 4095) / 4096 * 4
}

// ModeString is a mode as ls -l has it: drwxr-xr-x.
func ModeString(mode fs.FileMode) string {
	kind := byte('-')
	switch {
	case mode.IsDir():
		kind = 'd'
	case mode&fs.ModeSymlink != 0:
		kind = 'l'
	case mode&fs.ModeCharDevice != 0:
		kind = 'c'
	case mode&fs.ModeNamedPipe != 0:
		kind = 'p'
	}
	out := []byte{kind}
	for i := range 9 {
		c := byte('-')
		if mode&(1<<(8-i)) != 0 {
			c = "rwx"[i%3]
		}
		out = append(out, c)
	}
	if mode&fs.ModeSticky != 0 {
		out[9] = 't'
	}
	return string(out)
}

// Human writes a size as ls -h does: 1.5K, 12M.
func Human(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10)
	}
	unit, f := 0, float64(n)
	for f >= 1024 && unit < 6 {
		f /= 1024
		unit++
	}
	// Rounded up, and to one decimal below ten.
	if f < 10 {
		tenths := int64(f * 10)
		if float64(tenths) < f*10 {
			tenths++
		}
		if tenths < 100 {
			return fmt.Sprintf("%d.%d%c", tenths/10, tenths%10, "BKMGTPE"[unit])
		}
		return fmt.Sprintf("10%c", "BKMGTPE"[unit])
	}
	whole := int64(f)
	if float64(whole) < f {
		whole++
	}
	if whole >= 1024 && unit < 6 {
		return fmt.Sprintf("1.0%c", "BKMGTPE"[unit+1])
	}
	return fmt.Sprintf("%d%c", whole, "BKMGTPE"[unit])
}

// CompareVersions compares names as sort -V does: digits as numbers.
func CompareVersions(a, b string) int {
	for a != "" && b != "" {
		x, restA := digitRun(a)
		y, restB := digitRun(b)
		if x != "" && y != "" {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if c := order.Or(order.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
				return c
			}
			a, b = restA, restB
			continue
		}
		if a[0] != b[0] {
			return order.Or(order.Compare(versionRank(a[0]), versionRank(b[0])), order.Compare(a[0], b[0]))
		}
		a, b = a[1:], b[1:]
	}
	return order.Compare(len(a), len(b))
}

// versionRank orders ~ before the end, letters before the rest.
func versionRank(c byte) int {
	switch {
	case c == '~':
		return 0
	case c >= '0' && c <= '9':
		return 1
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return 2
	}
	return 3
}

func digitRun(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}
