package commands

import (
	"regexp"
	"strings"
)

// versionSuffix is the part of a file name that sort -V compares last:
// extensions.
var versionSuffix = regexp.MustCompile(`(\.[A-Za-z~][A-Za-z0-9~]*)*$`)

// compareVersions compares names with version numbers in them, as sort -V and
// ls -v do: "a2" before "a10", and names that start with a dot first.
func compareVersions(a, b string) int {
	if a == b {
		return 0
	}
	for _, special := range []string{"", ".", ".."} {
		if a == special {
			return -1
		}
		if b == special {
			return 1
		}
	}
	da, db := a[0] == '.', b[0] == '.'
	if da != db {
		if da {
			return -1
		}
		return 1
	}
	if da {
		a, b = a[1:], b[1:]
	}
	sa, sb := withoutSuffix(a), withoutSuffix(b)
	if sa == sb {
		sa, sb = a, b
	}
	if c := compareParts(sa, sb); c != 0 {
		return c
	}
	if c := compareParts(a, b); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func withoutSuffix(s string) string {
	if len(s) > 4096 {
		return s
	}
	return s[:versionSuffix.FindStringIndex(s)[0]]
}

// versionOrder puts ~ before the end, the end before letters, letters before
// the rest.
func versionOrder(s string, i int) int {
	if i >= len(s) {
		return 0
	}
	c := s[i]
	switch {
	case isDigit(c):
		return 0
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return int(c)
	case c == '~':
		return -1
	}
	return int(c) + 256
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func compareParts(a, b string) int {
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		for i < len(a) && !isDigit(a[i]) || j < len(b) && !isDigit(b[j]) {
			x, y := versionOrder(a, i), versionOrder(b, j)
			if x != y {
				return x - y
			}
			i++
			j++
		}
		for i < len(a) && a[i] == '0' {
			i++
		}
		for j < len(b) && b[j] == '0' {
			j++
		}
		first := 0
		for i < len(a) && j < len(b) && isDigit(a[i]) && isDigit(b[j]) {
			if first == 0 {
				first = int(a[i]) - int(b[j])
			}
			i++
			j++
		}
		if i < len(a) && isDigit(a[i]) {
			return 1
		}
		if j < len(b) && isDigit(b[j]) {
			return -1
		}
		if first != 0 {
			return first
		}
	}
	return 0
}
