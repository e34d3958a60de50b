package shell

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
)

// printfBuiltin is printf, with -v.
func (s *shell) printfBuiltin(name string, args []string) flow {
	if len(args) < 2 || args[0] != "-v" {
		if strings.HasPrefix(strings.Join(args[:min(1, len(args))], ""), "-v") && len(args[0]) > 2 {
			return s.printfBuiltin(name, append([]string{"-v", args[0][2:]}, args[1:]...))
		}
		p := s.proc(name, args)
		s.status = p.Main(s.ctx, commands.Lookup(name))
		s.check()
		if s.status == 141 {
			panic(killed{s.pid, "SIGPIPE", 13})
		}
		return goOn
	}
	variable, rest := args[1], args[2:]
	base, index, isElem := cutIndex(variable)
	if !syntax.ValidName(base) {
		s.errorf("printf: `%s': not a valid identifier", variable)
		s.status = 2
		return goOn
	}
	out := newGathered(s)
	defer out.free()
	p := s.proc(name, rest)
	p.Stdout = out
	s.status = p.Main(s.ctx, commands.Lookup(name))
	s.check()
	text := strings.ReplaceAll(string(out.buf), "\x00", "")
	var ok bool
	if isElem {
		ok = s.assignElement(base, index, text, false)
	} else {
		ok = s.assign(base, text)
	}
	if !ok {
		s.status = 1
	}
	return goOn
}

func (s *shell) hash(args []string) int {
	code := 0
	for _, name := range args {
		if strings.HasPrefix(name, "-") {
			continue
		}
		if kind, _ := s.kindOf(name); kind == "" {
			s.errorf("hash: %s: not found", name)
			code = 1
		}
	}
	return code
}

func (s *shell) help([]string) int {
	var names []string
	for name := range builtins() {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("This shell runs scripts for bash over the files of this workspace, without a machine.\nBuiltins: " + strings.Join(names, " ") + "\nCommands:\n")
	for _, c := range commands.All() {
		b.WriteString("  " + pad(c.Name, 12) + c.Summary + "\n")
	}
	return s.print("help", b.String())
}

func (s *shell) fg(args []string) int {
	spec := "%%"
	if len(args) > 0 {
		spec = args[0]
		if !strings.HasPrefix(spec, "%") {
			spec = "%" + spec
		}
	}
	j := findJob(s.jobs, spec)
	if j == nil {
		s.errorf("fg: %s: no such job", strings.TrimPrefix(spec, "%%"))
		return 1
	}
	s.print("fg", j.text+"\n")
	return s.await(j)
}

func (s *shell) let(_ string, args []string) flow {
	if len(args) == 0 {
		s.errorf("let: expression expected")
		s.status = 1
		return goOn
	}
	return s.evaluating(func() int {
		var n int64
		for _, arg := range args {
			n = s.arithText(arg)
		}
		return boolStatus(n != 0)
	})
}

// umask prints what it is; files get their modes from chmod.
func (s *shell) umask(args []string) int {
	switch {
	case len(args) == 0:
		return s.print("umask", "0022\n")
	case args[0] == "-S":
		return s.print("umask", "u=rwx,g=rx,o=rx\n")
	case args[0] == "0022" || args[0] == "022" || args[0] == "22":
		return 0
	}
	s.errorf("umask: cannot be changed in this workspace; use chmod")
	return 1
}

// ulimit prints that nothing is limited but what this shell limits itself.
func (s *shell) ulimit(args []string) int {
	if len(args) > 0 && !strings.HasPrefix(args[len(args)-1], "-") && args[len(args)-1] != "unlimited" {
		s.errorf("ulimit: limits cannot be changed in this workspace")
		return 1
	}
	return s.print("ulimit", "unlimited\n")
}

// getopts parses options one at a time.
func (s *shell) getopts(args []string) int {
	if len(args) < 2 {
		s.say("getopts: usage: getopts optstring name [arg ...]\n")
		return 2
	}
	spec, name, params := args[0], args[1], args[2:]
	if len(args) == 2 {
		params = s.params
	}
	if !syntax.ValidName(name) {
		s.errorf("getopts: `%s': not a valid identifier", name)
		return 1
	}
	silent := strings.HasPrefix(spec, ":")
	index, err := strconv.Atoi(s.get("OPTIND"))
	if err != nil || index < 1 {
		index = 1
	}
	if index != s.optIndex {
		s.optOffset = 0
	}
	finish := func(opt string, next, offset int) {
		s.assign("OPTIND", strconv.Itoa(next))
		s.optIndex, s.optOffset = next, offset
		s.assign(name, opt)
	}
	done := func(next int) int {
		s.unset("OPTARG")
		finish("?", next, 0)
		return 1
	}
	if index > len(params) {
		return done(index)
	}
	arg := params[index-1]
	if s.optOffset == 0 {
		if len(arg) < 2 || arg[0] != '-' {
			return done(index)
		}
		if arg == "--" {
			return done(index + 1)
		}
		s.optOffset = 1
	}
	s.optOffset = min(s.optOffset, len(arg)-1)
	_, n := utf8.DecodeRuneInString(arg[s.optOffset:])
	letter := arg[s.optOffset : s.optOffset+n]
	next, offset := index, s.optOffset+n
	if offset >= len(arg) {
		next, offset = index+1, 0
	}
	at := strings.Index(spec, letter)
	switch {
	case at < 0 || letter == ":":
		if silent {
			s.assign("OPTARG", letter)
		} else {
			s.unset("OPTARG")
			s.say(s.name + ": illegal option -- " + letter + "\n")
		}
		finish("?", next, offset)
	case !strings.HasPrefix(spec[at+len(letter):], ":"):
		s.unset("OPTARG")
		finish(letter, next, offset)
	case offset > 0:
		s.assign("OPTARG", arg[offset:])
		finish(letter, index+1, 0)
	case next <= len(params):
		s.assign("OPTARG", params[next-1])
		finish(letter, next+1, 0)
	case silent:
		s.assign("OPTARG", letter)
		finish(":", next, 0)
	default:
		s.unset("OPTARG")
		s.say(s.name + ": option requires an argument -- " + letter + "\n")
		finish("?", next, 0)
	}
	return 0
}

// caller tells where the function that runs was called.
func (s *shell) caller(args []string) int {
	level := 0
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 0 {
			s.errorf("caller: %s: invalid number", args[0])
			return 2
		}
		level = n
	}
	names, sources, lines := s.callStack()
	if level >= len(s.frames) {
		return 1
	}
	source := "NULL"
	if level+1 < len(sources) {
		source = sources[level+1]
	}
	if len(args) == 0 {
		return s.print("caller", lines[level]+" "+source+"\n")
	}
	if level+1 >= len(names) {
		return 1
	}
	return s.print("caller", lines[level]+" "+names[level+1]+" "+source+"\n")
}

// compgen prints names that begin with a word: of functions, variables,
// builtins, commands, or those of a list.
func (s *shell) compgen(args []string) int {
	kinds := map[string]string{"-b": "builtin", "-c": "command", "-v": "variable", "-a": "alias"}
	var names []string
	sorted := func(list []string) { names = append(names, slices.Sorted(slices.Values(list))...) }
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		option := args[0]
		args = args[1:]
		kind, ok := kinds[option]
		if option == "-A" || option == "-W" {
			if len(args) == 0 {
				s.errorf("compgen: %s: option requires an argument", option)
				return 2
			}
			kind, ok, args = args[0], true, args[1:]
		}
		switch {
		case option == "-W":
			names = append(names, strings.Fields(kind)...)
		case kind == "function":
			sorted(slices.Collect(maps.Keys(s.funcs)))
		case kind == "variable":
			sorted(s.names())
		case kind == "alias":
			sorted(slices.Collect(maps.Keys(s.aliases)))
		case kind == "builtin":
			sorted(slices.Collect(maps.Keys(builtins())))
		case kind == "command":
			all := slices.Collect(maps.Keys(s.funcs))
			all = slices.AppendSeq(all, maps.Keys(builtins()))
			for _, c := range commands.All() {
				all = append(all, c.Name)
			}
			sorted(all)
		default:
			if ok {
				option += " " + kind
			}
			s.errorf("compgen: %s: is not known to this shell; there are -A function, variable, alias, builtin, command, and -W", option)
			return 2
		}
	}
	prefix := ""
	if len(args) > 0 {
		prefix = args[0]
	}
	var b strings.Builder
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			b.WriteString(name + "\n")
		}
	}
	if b.Len() == 0 {
		return 1
	}
	return s.print("compgen", b.String())
}
