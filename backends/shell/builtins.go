package shell

import (
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
)

const bashVersion = "5.2.15(1)-release"

// builtin is a command of the shell itself. It sets s.status.
type builtin func(s *shell, name string, args []string) flow

// builtinOf returns the builtin of that name, or nil.
func builtinOf(name string) builtin { return builtins()[name] }

// builtins is the table; a function, because what it holds refers to it.
var builtinTable map[string]builtin

func builtins() map[string]builtin { return builtinTable }

func init() {
	status := func(do func(*shell, []string) int) builtin {
		return func(s *shell, _ string, args []string) flow {
			s.status = do(s, args)
			return goOn
		}
	}
	command := func(s *shell, name string, args []string) flow {
		p := s.proc(name, args)
		s.status = p.Main(s.ctx, commands.Lookup(name))
		s.check()
		if s.status == 141 {
			panic(killed{s.pid, "SIGPIPE", 13})
		}
		return goOn
	}
	nothing := status(func(*shell, []string) int { return 0 })
	builtinTable = map[string]builtin{
		":": nothing, "true": nothing,
		"false": status(func(*shell, []string) int { return 1 }),
		"echo":  command, "test": command, "[": command,
		"printf": (*shell).printfBuiltin,
		"alias":  status((*shell).alias), "unalias": status((*shell).unalias),
		"break": (*shell).breakBuiltin, "continue": (*shell).breakBuiltin,
		"builtin": (*shell).builtinBuiltin, "command": (*shell).commandBuiltin,
		"cd": status((*shell).cd), "pwd": status((*shell).pwd),
		"pushd": status((*shell).pushd), "popd": status((*shell).popd), "dirs": status((*shell).dirs),
		"eval": (*shell).evalBuiltin, ".": (*shell).sourceBuiltin, "source": (*shell).sourceBuiltin,
		"exec": func(s *shell, _ string, args []string) flow { return s.execArgs(args) },
		"exit": (*shell).exitBuiltin, "logout": (*shell).exitBuiltin, "return": (*shell).returnBuiltin,
		"getopts": status((*shell).getopts),
		"hash":    status((*shell).hash),
		"help":    status((*shell).help),
		"jobs":    status((*shell).listJobs),
		"kill":    status((*shell).kill), "wait": status((*shell).wait),
		"disown": nothing, "bg": nothing, "suspend": nothing, "enable": nothing, "bind": nothing, "complete": nothing, "compgen": status((*shell).compgen), "history": nothing,
		"fg":    status((*shell).fg),
		"let":   (*shell).let,
		"read":  status((*shell).read),
		"set":   status((*shell).set),
		"shift": status((*shell).shift), "shopt": status((*shell).shopt),
		"mapfile": status((*shell).mapfile), "readarray": status((*shell).mapfile),
		"times": status(func(s *shell, _ []string) int { return s.print("times", "0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n") }),
		"trap":  status((*shell).trap),
		"type":  status((*shell).typeBuiltin),
		"umask": status((*shell).umask), "ulimit": status((*shell).ulimit),
		"unset":  status((*shell).unsetBuiltin),
		"caller": status((*shell).caller),
	}
	for _, name := range []string{"declare", "typeset", "local", "export", "readonly"} {
		builtinTable[name] = func(s *shell, name string, args []string) flow {
			c := &syntax.DeclClause{Variant: &syntax.Lit{Value: name}}
			for _, arg := range args {
				c.Args = append(c.Args, &syntax.Assign{Value: &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: arg}}}})
			}
			s.status = s.declClause(c)
			return goOn
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// breakBuiltin is break and continue.
func (s *shell) breakBuiltin(name string, args []string) flow {
	s.status = 0
	if s.loops == 0 {
		s.errorf("%s: only meaningful in a `for', `while', or `until' loop", name)
		return goOn
	}
	n := 1
	if len(args) > 0 {
		var err error
		if n, err = strconv.Atoi(args[0]); err != nil {
			s.errorf("%s: %s: numeric argument required", name, args[0])
			s.status = 128
			return leave
		}
		if n < 1 {
			s.errorf("%s: %s: loop count out of range", name, args[0])
			s.status = 1
			n = s.loops
		}
	}
	s.levels = min(n, s.loops)
	if name == "break" {
		return leaveLoop
	}
	return nextRound
}

func (s *shell) builtinBuiltin(_ string, args []string) flow {
	if len(args) == 0 {
		s.status = 0
		return goOn
	}
	b := builtinOf(args[0])
	if b == nil {
		s.errorf("builtin: %s: not a shell builtin", args[0])
		s.status = 1
		return goOn
	}
	return b(s, args[0], args[1:])
}

func (s *shell) evalBuiltin(_ string, args []string) flow {
	s.enter()
	defer func() { s.depth-- }()
	s.status = 0
	s.nesting++
	defer func() { s.nesting-- }()
	return s.runText(strings.Join(args, " "), s.name+": eval")
}

func (s *shell) sourceBuiltin(name string, args []string) flow {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		s.errorf("%s: filename argument required", name)
		s.status = 2
		return goOn
	}
	file := args[0]
	if !strings.Contains(file, "/") {
		for dir := range strings.SplitSeq(s.get("PATH"), ":") {
			at := commands.Join(dir, file)
			if info, err := s.m.files.Stat(s.path(at)); dir != "" && err == nil && info.Mode().IsRegular() {
				file = at
				break
			}
		}
	}
	text, err := s.sourceText(file)
	if err != nil {
		s.check()
		s.errorf("%s: %s", args[0], commands.Reason(err))
		s.status = 1
		return goOn
	}
	s.enter()
	params := s.params
	if len(args) > 1 {
		s.params = args[1:]
	}
	s.sourced++
	s.nesting++
	s.frames = append(s.frames, frame{"source", file, s.line})
	defer func() {
		s.frames = s.frames[:len(s.frames)-1]
		s.depth--
		s.sourced--
		s.nesting--
		if len(args) > 1 {
			s.params = params
		}
	}()
	s.status = 0
	if f := s.runText(text, args[0]); f != leaveFunc {
		return f
	}
	return goOn
}

// sourceText reads what is to be sourced: a file, or a stream.
func (s *shell) sourceText(name string) (string, error) {
	if _, isFD := fdName(name); isFD || path.Clean(name) == "/dev/stdin" {
		d, err := s.openFile(name, 0)
		if err != nil {
			return "", err
		}
		defer d.release()
		old := s.fds[0]
		s.fds[0] = d
		defer func() { s.fds[0] = old }()
		b, err := s.readAllInput()
		return string(b), err
	}
	return s.readFile(s.path(name), s.m.limits.Script)
}

// execBuiltin is exec: its redirections stay.
func (s *shell) execBuiltin(c *syntax.CallExpr, redirs []*syntax.Redirect, args []string) flow {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	restore, _ := s.temporarily(c.Assigns)
	defer restore()
	s.traceWords(append([]string{"exec"}, args...))
	if !s.redirectPermanently(redirs) {
		s.status = 1
		return leave
	}
	return s.execArgs(args)
}

func (s *shell) execArgs(args []string) flow {
	if len(args) == 0 {
		s.status = 0
		return goOn
	}
	if args[0] == "-a" && len(args) > 2 {
		args = args[2:]
	}
	for name := range s.traps {
		s.removeTrap(name)
	}
	s.status = s.external(args)
	return leave
}

func (s *shell) exitBuiltin(name string, args []string) flow {
	code, ok := s.exitCode(name, args)
	if !ok && code == 1 {
		s.status = 1
		return goOn
	}
	s.status = code
	return leave
}

func (s *shell) returnBuiltin(name string, args []string) flow {
	if len(s.calls) == 0 && s.sourced == 0 {
		s.errorf("return: can only `return' from a function or sourced script")
		s.status = 2
		return goOn
	}
	s.status, _ = s.exitCode(name, args)
	return leaveFunc
}

func (s *shell) exitCode(name string, args []string) (int, bool) {
	switch {
	case len(args) == 0:
		return s.status, true
	case len(args) > 1:
		s.errorf("%s: too many arguments", name)
		return 1, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(args[0]), 10, 64)
	if err != nil {
		s.errorf("%s: %s: numeric argument required", name, args[0])
		return 2, false
	}
	return int(n & 0xff), true
}
