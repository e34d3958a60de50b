package shell

import (
	"path"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
)

func (s *shell) cd(args []string) int {
	physical := s.options.physical
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		arg := args[0]
		if arg == "--" {
			args = args[1:]
			break
		}
		for _, c := range arg[1:] {
			switch c {
			case 'P':
				physical = true
			case 'L':
				physical = false
			case 'e', '@':
			default:
				s.errorf("cd: -%c: invalid option", c)
				s.say("cd: usage: cd [-L|[-P [-e]] [-@]] [dir]\n")
				return 2
			}
		}
		args = args[1:]
	}
	to, show := "", false
	switch {
	case len(args) > 1:
		s.errorf("cd: too many arguments")
		return 1
	case len(args) == 0:
		home, ok := s.variable("HOME").str()
		if !ok {
			s.errorf("cd: HOME not set")
			return 1
		}
		to = home
	case args[0] == "-":
		old, ok := s.variable("OLDPWD").str()
		if !ok {
			s.errorf("cd: OLDPWD not set")
			return 1
		}
		to, show = old, true
	default:
		to = args[0]
	}
	if to == "" {
		return 0
	}
	if cdpath := s.get("CDPATH"); cdpath != "" && to[0] != '/' && to != "." && to != ".." && !strings.HasPrefix(to, "./") && !strings.HasPrefix(to, "../") {
		for dir := range strings.SplitSeq(cdpath, ":") {
			at := commands.Join(dir, to)
			if info, err := s.m.files.Stat(s.path(at)); dir != "" && err == nil && info.IsDir() {
				to, show = at, true
				break
			}
		}
	}
	if code := s.changeDir("cd", to, physical); code != 0 {
		return code
	}
	if show {
		return s.print("cd", s.dir+"\n")
	}
	return 0
}

// changeDir makes to the directory of the shell. Without physical, ".." leaves
// a symlink that led there.
func (s *shell) changeDir(name, to string, physical bool) int {
	abs := s.path(to)
	if !physical {
		abs = path.Clean(abs)
	}
	info, err := s.m.files.Stat(abs)
	if err == nil && !info.IsDir() {
		s.errorf("%s: %s: Not a directory", name, to)
		return 1
	}
	if err == nil && physical {
		abs, err = s.m.files.Resolve(abs)
	}
	if err != nil {
		s.errorf("%s: %s: %s", name, to, commands.Reason(err))
		return 1
	}
	old := s.dir
	s.dir = abs
	s.assign("OLDPWD", old)
	s.assign("PWD", abs)
	return 0
}

func (s *shell) pwd(args []string) int {
	dir := s.dir
	for _, arg := range args {
		switch arg {
		case "-P":
			if real, err := s.m.files.Resolve(dir); err == nil {
				dir = real
			}
		case "-L", "--":
		default:
			if strings.HasPrefix(arg, "-") {
				s.errorf("pwd: %s: invalid option", arg[:2])
				return 2
			}
		}
	}
	return s.print("pwd", dir+"\n")
}

func (s *shell) dirs(args []string) int {
	sep, long := " ", false
	number := false
	for _, arg := range args {
		switch arg {
		case "-c":
			s.dirStack = nil
			return 0
		case "-p":
			sep = "\n"
		case "-v":
			sep, number = "\n", true
		case "-l":
			long = true
		}
	}
	var out []string
	home := s.get("HOME")
	for i, dir := range append([]string{s.dir}, s.dirStack...) {
		if !long && home != "" && (dir == home || strings.HasPrefix(dir, home+"/")) {
			dir = "~" + dir[len(home):]
		}
		if number {
			dir = " " + itoa(i) + "  " + dir
		}
		out = append(out, dir)
	}
	return s.print("dirs", strings.Join(out, sep)+"\n")
}

func (s *shell) pushd(args []string) int {
	if len(s.dirStack) > 1000 {
		s.errorf("pushd: the stack of directories is full")
		return 1
	}
	if len(args) == 0 {
		if len(s.dirStack) == 0 {
			s.errorf("pushd: no other directory")
			return 1
		}
		here, top := s.dir, s.dirStack[0]
		if code := s.changeDir("pushd", top, false); code != 0 {
			return code
		}
		s.dirStack[0] = here
		return s.dirs(nil)
	}
	here := s.dir
	if code := s.changeDir("pushd", args[len(args)-1], false); code != 0 {
		return code
	}
	s.dirStack = append([]string{here}, s.dirStack...)
	return s.dirs(nil)
}

func (s *shell) popd([]string) int {
	if len(s.dirStack) == 0 {
		s.errorf("popd: directory stack empty")
		return 1
	}
	if code := s.changeDir("popd", s.dirStack[0], false); code != 0 {
		return code
	}
	s.dirStack = s.dirStack[1:]
	return s.dirs(nil)
}
