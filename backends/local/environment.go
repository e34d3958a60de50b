//go:build linux || darwin

package local

import (
	"path/filepath"
	"slices"
	"strings"
)

// kept are the variables of this process that commands get: what programs need
// to find their files and to speak the user's language. Everything else stays
// here, because this process may have been started with tokens.
var kept = []string{"HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TMPDIR", "TZ"}

// programDirs are searched after the host's PATH. Desktop programs start this
// one with almost none.
var programDirs = []string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin", "/opt/homebrew/bin"}

// environment is what every command gets: a minimum of host, K=V, what makes
// programs print for a reader that is no terminal, and added.
func environment(host, added []string) []string {
	env := []string{
		"TERM=dumb",
		"NO_COLOR=1",
		"PAGER=cat",
		"PYTHONUNBUFFERED=1", // else a timeout loses what a script has printed
	}
	path, speaks := "", false
	for _, kv := range host {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PATH":
			path = value
		case slices.Contains(kept, name), strings.HasPrefix(name, "LC_"):
			env = append(env, kv)
			speaks = speaks || name == "LANG" || name == "LC_ALL"
		}
	}
	if !speaks {
		env = append(env, "LANG=C.UTF-8")
	}
	env = append(env, "PATH="+searchPath(path))
	return append(env, added...) // of two values of one name the last counts
}

// searchPath is path with the usual directories added. Relative ones are left
// out: they would be searched in the workspace, for programs that anyone may
// have put there.
func searchPath(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	for _, dir := range programDirs {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}
