package address

import (
	"os"
	"path/filepath"
	"strings"
)

// Program finds an executable file by its name: in the PATH of env, then in
// the directories where such programs are installed, because desktop clients
// start this program with almost no PATH. env has the form of os.Environ.
// It returns "" when there is none. Entries of PATH that are not absolute are
// passed over: nothing depends on the current directory.
func Program(name string, env []string, home string) string {
	if name == "" || strings.ContainsRune(name, filepath.Separator) {
		return ""
	}
	for _, dir := range programDirs(env, home) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// ProgramPath is a value for PATH with which a program finds what [Program]
// finds.
func ProgramPath(env []string, home string) string {
	return strings.Join(programDirs(env, home), string(filepath.ListSeparator))
}

// programDirs are the absolute directories to look in, PATH's first.
func programDirs(env []string, home string) []string {
	e := environment{env: env, home: home}
	var dirs []string
	for _, dir := range filepath.SplitList(e.get("PATH")) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return unique(append(dirs,
		"/usr/local/bin", "/usr/bin", "/bin",
		"/opt/homebrew/bin", "/opt/local/bin", "/home/linuxbrew/.linuxbrew/bin", "/snap/bin",
		"/Applications/Docker.app/Contents/Resources/bin",
		"/usr/lib/google-cloud-sdk/bin",
		e.inHome(".docker", "bin"),
		e.inHome(".rd", "bin"),
		e.inHome(".orbstack", "bin"),
		e.inHome(".local", "bin"),
		e.inHome("bin"),
		e.inHome("google-cloud-sdk", "bin"),
	)...)
}
