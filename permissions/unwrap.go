package permissions

import (
	"slices"
	"strings"
)

// wrapper is a program that runs a command given in its arguments.
type wrapper struct {
	// transparent: it only runs the command, so that rules apply to the outer
	// command but the default does not.
	transparent bool
	run         func(w *walker, name string, args []field, in stdin) output
}

// options tells which options of a program take a value.
type options struct {
	short    string   // letters
	long     []string // names without "--"
	operands int      // words before the command
	assigns  bool     // K=V words before the command
	writes   optionNames
}

// wrappers by base name. It is filled in init because the functions lead back
// to it.
var wrappers map[string]wrapper

func init() {
	plain := func(transparent bool, o options) wrapper {
		o.writes.stops = o.short
		return wrapper{transparent, func(w *walker, _ string, args []field, in stdin) output {
			rest := o.skip(w, args[1:])
			o.writes.each(args[1:len(args)-len(rest)], w.writeWord)
			return w.run(rest, in)
		}}
	}
	shell := wrapper{true, (*walker).shell}
	code := wrapper{false, (*walker).interpreter}
	wrappers = map[string]wrapper{
		"sh": shell, "bash": shell, "dash": shell, "ash": shell, "zsh": shell, "ksh": shell, "mksh": shell, "rbash": shell, "fish": shell,
		"eval":       {true, (*walker).eval},
		"source":     {true, (*walker).source},
		".":          {true, (*walker).source},
		"env":        {true, (*walker).env},
		"xargs":      {true, (*walker).xargs},
		"parallel":   {false, (*walker).xargs},
		"find":       {false, (*walker).find},
		"fd":         {false, (*walker).fd},
		"fdfind":     {false, (*walker).fd},
		"command":    {true, (*walker).commandBuiltin},
		"busybox":    {true, (*walker).multicall},
		"toybox":     {true, (*walker).multicall},
		"su":         {false, (*walker).optionScript},
		"runuser":    {false, (*walker).optionScript},
		"script":     {true, (*walker).optionScript},
		"flock":      {true, (*walker).flock},
		"ssh":        {false, (*walker).ssh},
		"watch":      {true, (*walker).joined},
		"git":        {false, (*walker).git},
		"entr":       plain(true, options{}),
		"nohup":      plain(true, options{}),
		"setsid":     plain(true, options{}),
		"nice":       plain(true, options{short: "n", long: []string{"adjustment"}}),
		"ionice":     plain(true, options{short: "cnpPu", long: []string{"class", "classdata"}}),
		"chrt":       plain(true, options{short: "TPD", operands: 1}),
		"taskset":    plain(true, options{operands: 1}),
		"timeout":    plain(true, options{short: "sk", long: []string{"signal", "kill-after"}, operands: 1}),
		"time":       plain(true, options{short: "fo", long: []string{"format", "output"}, writes: outputOption}),
		"stdbuf":     plain(true, options{short: "ioe", long: []string{"input", "output", "error"}}),
		"builtin":    plain(true, options{}),
		"exec":       {true, (*walker).execBuiltin},
		"unbuffer":   plain(true, options{}),
		"caffeinate": plain(true, options{short: "tw"}),
		"sudo": plain(false, options{short: "ughpCDRTrtU", assigns: true,
			long: []string{"user", "group", "host", "prompt", "close-from", "chdir", "chroot", "command-timeout", "role", "type", "other-user"}}),
		"doas":        plain(false, options{short: "uC"}),
		"pkexec":      plain(false, options{long: []string{"user"}}),
		"chroot":      plain(false, options{long: []string{"userspec", "groups"}, operands: 1}),
		"strace":      plain(false, options{short: "abeEIoOpPsSuUX", long: []string{"output", "trace"}, writes: outputOption}),
		"ltrace":      plain(false, options{short: "aAeFlnopsuwxX", long: []string{"output"}, writes: outputOption}),
		"unshare":     plain(false, options{short: "SGRw", long: []string{"wd", "root", "setuid", "setgid", "map-user", "map-group", "propagation"}}),
		"nsenter":     plain(false, options{short: "tSG", long: []string{"target", "setuid", "setgid"}}),
		"setpriv":     plain(false, options{long: []string{"reuid", "regid", "groups", "inh-caps", "ambient-caps", "bounding-set", "securebits", "pdeathsig"}}),
		"systemd-run": plain(false, options{short: "pEMHu", long: []string{"property", "setenv", "unit", "uid", "gid", "slice", "machine"}}),
		"fakeroot":    plain(true, options{short: "ilsb", long: []string{"lib", "faked"}}),
		"valgrind":    plain(true, options{writes: optionNames{words: []string{"--log-file", "--xml-file"}}}),
		"xvfb-run":    plain(true, options{short: "enfps", long: []string{"server-args", "server-num"}}),
		"tini":        plain(true, options{short: "pe"}), "dumb-init": plain(true, options{short: "r"}),
		"setarch": {true, (*walker).setarch}, "linux32": plain(true, options{}), "linux64": plain(true, options{}),
		"choom":            plain(true, options{short: "np", long: []string{"adjust", "pid"}}),
		"dbus-run-session": plain(true, options{long: []string{"config-file", "dbus-daemon"}}),
		"perf":             {false, (*walker).perf},
		"tmux":             {false, (*walker).tmux},
		"sg":               {false, (*walker).optionScript},
		"prlimit":          plain(true, options{short: "p", long: []string{"pid"}}),
		"numactl":          plain(true, options{short: "ipmNC"}),
		"npx":              plain(false, options{short: "pc", long: []string{"package", "call"}}), // -c: commandOptions
		"uv":               {false, (*walker).runner}, "poetry": {false, (*walker).runner}, "pipenv": {false, (*walker).runner},
		"python": code, "python3": code, "python2": code, "pypy3": code, "perl": code, "ruby": code, "node": code, "nodejs": code, "deno": code, "bun": code,
		"php": code, "lua": code, "awk": code, "gawk": code, "mawk": code, "nawk": code, "sed": code, "Rscript": code,
	}
}

// skip returns args from the wrapped command on. An option that is not known
// is taken for it, which asks.
func (o options) skip(w *walker, args []field) []field {
	operands := o.operands
	for len(args) > 0 {
		s, ok := args[0].value.known()
		if !ok {
			if operands > 0 && !args[0].value.has(hole) {
				args = args[1:]
				if operands--; operands == 0 {
					return args
				}
				continue
			}
			if name, value, assigns := assignment(args[0].value); o.assigns && assigns {
				w.assign(name, value)
				args = args[1:]
				continue
			}
			return args
		}
		switch {
		case s == "--":
			args = args[1:]
			for ; operands > 0 && len(args) > 0; operands-- {
				args = args[1:]
			}
			return args
		case strings.HasPrefix(s, "--"):
			args = args[1:]
			if len(args) > 0 && slices.ContainsFunc(o.long, func(l string) bool { return strings.HasPrefix(l, s[2:]) }) {
				args = args[1:]
			}
		case len(s) > 1 && s[0] == '-':
			args = args[1:]
			if i := strings.IndexAny(s[1:], o.short); o.short != "" && i == len(s)-2 && len(args) > 0 {
				args = args[1:]
			}
		default:
			if name, value, assigns := assignment(args[0].value); o.assigns && assigns {
				w.assign(name, value)
				args = args[1:]
				continue
			}
			if operands == 0 {
				return args
			}
			args = args[1:]
			if operands--; operands == 0 {
				return args // what follows belongs to the command
			}
		}
	}
	return nil
}

// assignment splits K=V.
func assignment(v value) (name string, rest value, ok bool) {
	if len(v) == 0 || v[0].kind != lit {
		return "", nil, false
	}
	name, _, ok = strings.Cut(v[0].text, "=")
	if !ok || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return "", nil, false
	}
	return name, v.trimPrefix(len(name) + 1), true
}
