package commands

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Command is a program.
type Command struct {
	Name string
	// Usage is what follows the name: "[OPTION]... [FILE]...".
	Usage string
	// Summary says what it does, without a full stop: "Concatenate files to standard output".
	Summary string
	Run     func(p *Proc) (code int)
}

var table func() map[string]*Command

// The table is made when it is first asked for, and not declared as what it is:
// commands look commands up.
func init() {
	table = sync.OnceValue(func() map[string]*Command {
		return tableOf(shellCommands(), fileCommands(), textCommands(), dataCommands())
	})
}

// tableOf makes a table of families of commands, each from its own file.
func tableOf(families ...[]Command) map[string]*Command {
	out := map[string]*Command{}
	for _, family := range families {
		for _, c := range family {
			if out[c.Name] != nil {
				panic("two commands are called " + c.Name)
			}
			out[c.Name] = &c
		}
	}
	return out
}

// Lookup returns the command of that name, or nil.
func Lookup(name string) *Command { return table()[name] }

// All returns all commands by name.
func All() []*Command {
	var out []*Command
	for _, c := range table() {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// unavailable are programs that people look for and that need a machine.
var unavailable = map[string]string{
	"python": "run Python", "python3": "run Python", "pip": "install packages", "pip3": "install packages", "uv": "run Python", "pytest": "run Python",
	"node": "run JavaScript", "npm": "install packages", "npx": "run JavaScript", "yarn": "install packages", "pnpm": "install packages", "deno": "run JavaScript", "bun": "run JavaScript",
	"git": "use git", "gh": "use git", "curl": "reach the network", "wget": "reach the network", "ssh": "reach the network", "scp": "reach the network",
	"rsync": "reach the network", "ping": "reach the network", "nc": "reach the network", "telnet": "reach the network", "dig": "reach the network",
	"go": "compile", "gcc": "compile", "g++": "compile", "cc": "compile", "clang": "compile", "make": "run make", "cmake": "compile", "rustc": "compile", "cargo": "compile",
	"javac": "compile", "java": "run Java", "mvn": "compile", "gradle": "compile", "ruby": "run Ruby", "gem": "install packages", "perl": "run Perl", "php": "run PHP", "lua": "run Lua",
	"apt": "install packages", "apt-get": "install packages", "apk": "install packages", "yum": "install packages", "dnf": "install packages", "brew": "install packages",
	"docker": "run containers", "podman": "run containers", "kubectl": "reach the network", "systemctl": "run services", "service": "run services",
	"sudo": "change user", "su": "change user", "ps": "show processes", "top": "show processes", "htop": "show processes", "pkill": "signal processes", "pgrep": "show processes", "killall": "signal processes",
	"vi": "edit on a screen", "vim": "edit on a screen", "nano": "edit on a screen", "emacs": "edit on a screen", "man": "show manuals",
	"sqlite3": "run SQLite", "psql": "reach the network", "mysql": "reach the network",
}

// NotFound is what is said of a program that does not exist, after its name,
// and its exit code.
func NotFound(name string) (text string, code int) {
	if what, ok := unavailable[name]; ok {
		return fmt.Sprintf("command not found: this workspace holds files only and cannot %s; a container can: start the server with --backend docker", what), exitNotFound
	}
	var names []string
	for _, c := range All() {
		names = append(names, c.Name)
	}
	return "command not found. This workspace has the builtins of bash and: " + strings.Join(names, " "), exitNotFound
}
