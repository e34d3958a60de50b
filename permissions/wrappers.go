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
}

// wrappers by base name. It is filled in init because the functions lead back
// to it.
var wrappers map[string]wrapper

func init() {
	plain := func(transparent bool, o options) wrapper {
		return wrapper{transparent, func(w *walker, _ string, args []field, in stdin) output {
			return w.run(o.skip(w, args[1:]), in)
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
		"tar":        {false, (*walker).optionCommands},
		"rsync":      {false, (*walker).optionCommands},
		"scp":        {false, (*walker).optionCommands},
		"sftp":       {false, (*walker).optionCommands},
		"man":        {false, (*walker).optionCommands},
		"zip":        {false, (*walker).optionCommands},
		"vim":        {false, (*walker).optionCommands},
		"vi":         {false, (*walker).optionCommands},
		"nix-shell":  {false, (*walker).optionCommands},
		"entr":       plain(true, options{}),
		"nohup":      plain(true, options{}),
		"setsid":     plain(true, options{}),
		"nice":       plain(true, options{short: "n", long: []string{"adjustment"}}),
		"ionice":     plain(true, options{short: "cnpPu", long: []string{"class", "classdata"}}),
		"chrt":       plain(true, options{short: "TPD", operands: 1}),
		"taskset":    plain(true, options{operands: 1}),
		"timeout":    plain(true, options{short: "sk", long: []string{"signal", "kill-after"}, operands: 1}),
		"time":       plain(true, options{short: "fo", long: []string{"format", "output"}}),
		"stdbuf":     plain(true, options{short: "ioe", long: []string{"input", "output", "error"}}),
		"builtin":    plain(true, options{}),
		"exec":       plain(true, options{short: "a"}),
		"unbuffer":   plain(true, options{}),
		"caffeinate": plain(true, options{short: "tw"}),
		"sudo": plain(false, options{short: "ughpCDRTrtU", assigns: true,
			long: []string{"user", "group", "host", "prompt", "close-from", "chdir", "chroot", "command-timeout", "role", "type", "other-user"}}),
		"doas":        plain(false, options{short: "uC"}),
		"pkexec":      plain(false, options{long: []string{"user"}}),
		"chroot":      plain(false, options{long: []string{"userspec", "groups"}, operands: 1}),
		"strace":      plain(false, options{short: "abeEIoOpPsSuUX", long: []string{"output", "trace"}}),
		"ltrace":      plain(false, options{short: "aAeFlnopsuwxX", long: []string{"output"}}),
		"unshare":     plain(false, options{short: "SGRw", long: []string{"wd", "root", "setuid", "setgid", "map-user", "map-group", "propagation"}}),
		"nsenter":     plain(false, options{short: "tSG", long: []string{"target", "setuid", "setgid"}}),
		"setpriv":     plain(false, options{long: []string{"reuid", "regid", "groups", "inh-caps", "ambient-caps", "bounding-set", "securebits", "pdeathsig"}}),
		"systemd-run": plain(false, options{short: "pEMHu", long: []string{"property", "setenv", "unit", "uid", "gid", "slice", "machine"}}),
		"fakeroot":    plain(true, options{short: "ilsb", long: []string{"lib", "faked"}}),
		"valgrind":    plain(true, options{}),
		"xvfb-run":    plain(true, options{short: "enfps", long: []string{"server-args", "server-num"}}),
		"tini":        plain(true, options{short: "pe"}), "dumb-init": plain(true, options{short: "r"}),
		"setarch": plain(true, options{operands: 1}), "linux64": plain(true, options{}),
		"prlimit": plain(true, options{short: "p", long: []string{"pid"}}),
		"numactl": plain(true, options{short: "ipmNC"}),
		"npx":     plain(false, options{short: "pc", long: []string{"package", "call"}}),
		"uv":      {false, (*walker).runner}, "poetry": {false, (*walker).runner}, "pipenv": {false, (*walker).runner},
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
				operands--
				args = args[1:]
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
			if slices.Contains(o.long, s[2:]) && len(args) > 0 {
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
			operands--
			args = args[1:]
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

func values(args []field) []value {
	out := make([]value, len(args))
	for i, a := range args {
		out[i] = a.value
	}
	return out
}

// shell is sh and its relatives: -c, a script on standard input, or a file.
func (w *walker) shell(name string, args []field, in stdin) output {
	rest := args[1:]
	command, fromStdin := false, false
	for len(rest) > 0 {
		s, ok := rest[0].value.known()
		if !ok {
			if rest[0].value.hasPrefix("-") || rest[0].value.has(hole) && !command {
				w.askFor(words(values(args)).String(), "the options of "+name+" are not known before it runs")
			}
			break
		}
		if s == "--" || s == "-" {
			rest = rest[1:]
			break
		}
		if len(s) < 2 || s[0] != '-' && s[0] != '+' || command && strings.ContainsAny(s, " \t\n;") {
			break
		}
		rest = rest[1:]
		switch {
		case s == "--rcfile" || s == "--init-file":
			if len(rest) > 0 {
				rest = rest[1:]
			}
		case s == "--command": // fish
			command = true
		case strings.HasPrefix(s, "--"):
		default:
			command = command || s[0] == '-' && strings.Contains(s, "c")
			fromStdin = fromStdin || s[0] == '-' && strings.Contains(s, "s")
			if strings.HasSuffix(s, "o") || strings.HasSuffix(s, "O") {
				if len(rest) > 0 {
					rest = rest[1:]
				}
			}
		}
	}
	inner := w.in(w.state.clone())
	inner.state.aliases = map[string]string{}
	switch {
	case command:
		if len(rest) == 0 {
			return output{}
		}
		inner.state.args, inner.state.argsSet = nil, true
		if len(rest) > 2 {
			inner.state.args = rest[2:]
		}
		if len(rest) > 1 {
			inner.state.vars["0"] = []value{rest[1].value}
		}
		inner.depth++
		return inner.shellText(rest[0].value, in)
	case len(rest) == 0 || fromStdin || isStdin(rest[0]):
		if len(rest) > 0 {
			inner.state.args, inner.state.argsSet = rest, true
		}
		return inner.stdinScript(name, in)
	case rest[0].subst != nil:
		return inner.stdinScript(name, inner.in(inner.state.clone()).quietly(rest[0]))
	}
	return output{}
}

// quietly is what a process substitution prints; it has been checked before.
func (w *walker) quietly(f field) output {
	w.denyOnly++
	defer func() { w.denyOnly-- }()
	return w.processSubstitution(f.subst)
}

func isStdin(f field) bool {
	s, _ := f.value.known()
	return s == "/dev/stdin" || s == "/dev/fd/0" || s == "/proc/self/fd/0"
}

// stdinScript checks what a shell reads from its standard input.
func (w *walker) stdinScript(name string, in stdin) output {
	if !in.piped {
		return output{}
	}
	if !in.known {
		w.askFor(name, "the script that "+name+" reads from its input is not known before it runs")
		return output{}
	}
	return w.shellText(in.text, stdin{})
}

func (w *walker) eval(_ string, args []field, in stdin) output {
	return w.shellText(words(values(args[1:])), in)
}

func (w *walker) source(name string, args []field, in stdin) output {
	if len(args) < 2 {
		return output{}
	}
	switch {
	case args[1].subst != nil:
		return w.stdinScript(name, w.quietly(args[1]))
	case isStdin(args[1]):
		in.piped = true
		return w.stdinScript(name, in)
	}
	return output{}
}

func (w *walker) env(_ string, args []field, in stdin) output {
	inner := w.in(w.state.clone())
	rest := args[1:]
	for len(rest) > 0 {
		if name, v, ok := assignment(rest[0].value); ok {
			inner.assign(name, v)
			rest = rest[1:]
			continue
		}
		s, ok := rest[0].value.known()
		if !ok || len(s) < 2 || s[0] != '-' {
			if s == "-" {
				rest = rest[1:]
				continue
			}
			break
		}
		rest = rest[1:]
		next := func() (v value) {
			if len(rest) > 0 {
				v, rest = rest[0].value, rest[1:]
			}
			return v
		}
		switch {
		case s == "-S", s == "--split-string":
			return inner.shellText(join(next(), text(" "+quoteAll(rest))), in)
		case strings.HasPrefix(s, "--split-string="):
			return inner.shellText(text(s[len("--split-string="):]+" "+quoteAll(rest)), in)
		case s == "-C", s == "--chdir":
			inner.state.cwd = inner.state.paths(next())
		case strings.HasPrefix(s, "--chdir="):
			inner.state.cwd = inner.state.paths(text(s[len("--chdir="):]))
		case s == "-u", s == "--unset", s == "-P":
			next()
		case !strings.HasPrefix(s, "--") && strings.Contains(s, "S"):
			_, script, _ := strings.Cut(s, "S")
			if script == "" {
				return inner.shellText(join(next(), text(" "+quoteAll(rest))), in)
			}
			return inner.shellText(text(script+" "+quoteAll(rest)), in)
		}
	}
	return inner.run(rest, in)
}

// xargs runs its command with words read from standard input appended.
func (w *walker) xargs(name string, args []field, in stdin) output {
	o := options{short: "IndPLsEaR", long: []string{"max-args", "max-procs", "max-lines", "max-chars", "delimiter", "arg-file", "replace", "eof"}}
	if name == "parallel" {
		o = options{short: "jaNnLIdS", long: []string{"jobs", "arg-file", "colsep", "delay", "timeout", "joblog", "results", "sshlogin", "tmpdir", "workdir"}}
	}
	replace, whole := "", false
	for i, a := range args[1:] {
		s, ok := a.value.known()
		if !ok || !strings.HasPrefix(s, "-") {
			break
		}
		switch {
		case s == "-I" && i+2 < len(args):
			replace, _ = args[i+2].value.known()
		case strings.HasPrefix(s, "-I"):
			replace = s[2:]
		case s == "-i", s == "--replace":
			replace = "{}"
		case (s == "-a" || s == "--arg-file") && i+2 < len(args):
			w.useFile(Read, args[i+2].value)
			in = stdin{piped: true}
		case strings.HasPrefix(s, "--arg-file="):
			w.useFile(Read, text(s[len("--arg-file="):]))
			in = stdin{piped: true}
		case s == "-0", s == "--null", strings.HasPrefix(s, "-d"), strings.HasPrefix(s, "--delimiter"):
			whole = true
		}
	}
	rest := o.skip(w, args[1:])
	given := []field{{value: value{{kind: hole, made: in.made}}}}
	if s, ok := in.text.known(); ok && in.known {
		given = nil
		if whole || replace != "" {
			given = append(given, field{value: text(strings.TrimSpace(s)), quoted: true})
		}
		for f := range strings.FieldsSeq(s) {
			if whole {
				break // not at blanks
			}
			given = append(given, field{value: text(strings.Trim(f, `"'`)), quoted: true})
		}
		if len(given) > maxFields {
			w.over = true
			given = given[:maxFields]
		}
	} else if in.known {
		given[0].value[0].made = given[0].value[0].made || in.text.made()
	}
	if name == "parallel" {
		if replace == "" {
			replace = "{}"
		}
		for i, a := range rest {
			if s, ok := a.value.known(); ok && (s == ":::" || s == "::::" || s == ":::+") {
				given = rest[i+1:]
				if s == "::::" {
					given = []field{{value: value{{kind: hole}}}}
				}
				rest = rest[:i]
				break
			}
		}
		if len(rest) == 0 {
			for _, g := range given {
				w.shellText(g.value, stdin{})
			}
			return output{}
		}
	}
	run := func(command []field) output {
		if name == "parallel" {
			return w.shellText(words(values(command)), stdin{})
		}
		return w.run(command, stdin{})
	}
	if len(rest) == 0 {
		return output{} // xargs alone prints
	}
	if replace != "" && slices.ContainsFunc(rest, func(f field) bool { return strings.Contains(f.value.String(), replace) }) {
		for _, g := range given {
			run(replaceIn(rest, replace, g.value))
		}
		if len(given) == 0 {
			run(rest)
		}
		return output{made: true}
	}
	return run(append(slices.Clone(rest), given...))
}

// replaceIn puts v wherever words contain placeholder.
func replaceIn(args []field, placeholder string, v value) []field {
	out := slices.Clone(args)
	for i, a := range out {
		var replaced value
		for _, p := range a.value {
			if p.kind != lit {
				replaced.add(p)
				continue
			}
			for n, part := range strings.Split(p.text, placeholder) {
				if n > 0 {
					replaced = join(replaced, v)
				}
				replaced.add(piece{kind: lit, text: part})
			}
		}
		out[i].value = replaced
	}
	return out
}

// findNames are the tests of find whose value is a pattern for names.
var findNames = map[string]bool{"-name": true, "-iname": true, "-path": true, "-ipath": true, "-wholename": true, "-regex": true, "-iregex": true, "-lname": true}

// find runs commands with -exec and its kin, with paths below its roots.
func (w *walker) find(_ string, args []field, in stdin) output {
	var roots []value
	i := 1
	for ; i < len(args); i++ {
		s, ok := args[i].value.known()
		if s == "-H" || s == "-L" || s == "-P" {
			continue
		}
		if ok && (strings.HasPrefix(s, "-") || s == "(" || s == "!") {
			break
		}
		roots = append(roots, args[i].value)
	}
	if roots == nil {
		roots = []value{text(".")}
	}
	filtered := false
	name := value(nil)
	for j := i; j < len(args); j++ {
		s, _ := args[j].value.known()
		if findNames[s] || s == "-type" || s == "-mtime" || s == "-newer" || s == "-size" || s == "-mmin" || s == "-empty" || s == "-mindepth" || s == "-user" || s == "-perm" {
			filtered = filtered || s != "-type"
			if s == "-name" && j+1 < len(args) && name == nil {
				name = wildcards(args[j+1].value)
			} else if findNames[s] && name != nil {
				name = value{{kind: entry}}
			}
		}
	}
	if name == nil {
		name = value{{kind: entry}}
	}
	found := func(root value) []value {
		out := []value{join(root, text("/"), name), join(root, text("/"), value{{kind: hole}}, text("/"), name)}
		if !filtered {
			out = append(out, root)
		}
		return out
	}
	for j := i; j < len(args); j++ {
		s, _ := args[j].value.known()
		switch s {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := j + 1
			for end < len(args) {
				if t, _ := args[end].value.known(); t == ";" || t == "+" && end > j+1 {
					break
				}
				end++
			}
			for _, root := range roots {
				for _, v := range found(root) {
					w.run(replaceIn(args[j+1:end], "{}", v), stdin{})
				}
			}
			j = end
		case "-delete":
			for _, root := range roots {
				for _, v := range found(root) {
					w.run([]field{{value: text("rm")}, {value: text("-rf")}, {value: v}}, stdin{})
				}
			}
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if j+1 < len(args) {
				w.useFile(Write, args[j+1].value)
			}
		case "-files0-from":
			if j+1 < len(args) {
				w.useFile(Read, args[j+1].value)
			}
		}
	}
	return output{}
}

// wildcards is a text that a program takes for a pattern.
func wildcards(v value) value {
	var out value
	for _, p := range v {
		if p.kind != lit {
			out.add(p)
			continue
		}
		for _, r := range p.text {
			switch r {
			case '*':
				out.add(piece{kind: entry})
			case '?', '[', ']':
				out.add(piece{kind: entry})
			default:
				out.add(piece{kind: lit, text: string(r)})
			}
		}
	}
	return out
}

// fd runs commands with -x and -X.
func (w *walker) fd(_ string, args []field, in stdin) output {
	for i, a := range args {
		switch s, _ := a.value.known(); s {
		case "-x", "-X", "--exec", "--exec-batch":
			found := value{{kind: hole}}
			rest := args[i+1:]
			if !slices.ContainsFunc(rest, func(f field) bool { return strings.Contains(f.value.String(), "{") }) {
				rest = append(slices.Clone(rest), field{value: found})
			}
			return w.run(replaceIn(rest, "{}", found), stdin{})
		}
	}
	return output{}
}

func (w *walker) commandBuiltin(_ string, args []field, in stdin) output {
	for _, a := range args[1:] {
		s, _ := a.value.known()
		if s == "-v" || s == "-V" {
			return output{} // tells where the program is
		}
		if s != "-p" {
			break
		}
	}
	return w.run(options{}.skip(w, args[1:]), in)
}

// multicall is busybox APPLET …
func (w *walker) multicall(_ string, args []field, in stdin) output {
	return w.run(args[1:], in)
}

// optionScript is a program with a script for a shell after -c.
func (w *walker) optionScript(name string, args []field, in stdin) output {
	for i, a := range args[1:] {
		s, ok := a.value.known()
		if v, found := strings.CutPrefix(s, "--command="); found {
			return w.shellText(text(v), in)
		}
		short := ok && len(s) > 1 && s[0] == '-' && s[1] != '-' && strings.Contains(s, "c")
		if (short && strings.HasSuffix(s, "c") || s == "--command" || s == "--session-command") && i+2 < len(args) {
			return w.shellText(args[i+2].value, in)
		}
		if short && strings.HasPrefix(s, "-c") {
			return w.shellText(text(s[2:]), in)
		}
		if !ok && a.value.hasPrefix("-c") {
			return w.shellText(a.value.trimPrefix(2), in)
		}
		if s == "--" && name == "runuser" {
			return w.run(args[i+2:], in)
		}
	}
	if name == "su" || name == "runuser" {
		return w.stdinScript(name, in)
	}
	return output{}
}

func (w *walker) flock(name string, args []field, in stdin) output {
	for _, a := range args[1:] {
		if s, _ := a.value.known(); s == "-c" || s == "--command" {
			return w.optionScript(name, args, in)
		}
	}
	return w.run(options{short: "wE", long: []string{"timeout", "wait", "conflict-exit-code"}, operands: 1}.skip(w, args[1:]), in)
}

// ssh runs a script elsewhere. It is checked as if it ran here, and what it
// does there is not known.
func (w *walker) ssh(_ string, args []field, in stdin) output {
	w.sshOptions(args)
	rest := options{short: "bcDeEFiIJlLmOopQRSwWB", operands: 1}.skip(w, args[1:])
	if len(rest) == 0 {
		return w.stdinScript("ssh", in)
	}
	return w.shellText(words(values(rest)), in)
}

// sshOptions checks the commands that options of ssh run.
func (w *walker) sshOptions(args []field) {
	for i, a := range args[1:] {
		s := a.value
		if t, ok := s.known(); ok && t == "-o" && i+2 < len(args) {
			s = args[i+2].value
		} else if s.hasPrefix("-o") {
			s = s.trimPrefix(2)
		} else {
			continue
		}
		for _, key := range []string{"ProxyCommand", "LocalCommand", "KnownHostsCommand"} {
			if n := len(key) + 1; len(s) > 0 && s[0].kind == lit && len(s[0].text) >= n && strings.EqualFold(s[0].text[:n-1], key) {
				w.shellText(s.trimPrefix(n), stdin{})
			}
		}
	}
}

// joined is a program that gives its words, joined, to a shell.
func (w *walker) joined(_ string, args []field, in stdin) output {
	rest := options{short: "nq", long: []string{"interval", "equexit"}}.skip(w, args[1:])
	if len(rest) == 0 {
		return output{}
	}
	return w.shellText(words(values(rest)), in)
}

// runner is a tool with "run COMMAND".
func (w *walker) runner(_ string, args []field, in stdin) output {
	for i, a := range args[1:] {
		if s, _ := a.value.known(); s == "run" {
			o := options{short: "p", long: []string{"with", "python", "extra", "group", "package", "directory", "project", "env-file", "index-url", "with-requirements"}}
			return w.run(o.skip(w, args[i+2:]), in)
		}
	}
	return output{}
}

// optionCommands checks options whose value is a command line.
func (w *walker) optionCommands(name string, args []field, in stdin) output {
	if name == "scp" || name == "sftp" || name == "rsync" {
		w.sshOptions(args)
	}
	flags := commandOptions[name]
	for i, a := range args {
		for _, flag := range flags {
			s := a.value
			switch t, ok := s.known(); {
			case ok && t == flag && i+1 < len(args):
				s = args[i+1].value
			case strings.HasSuffix(flag, "=") && s.hasPrefix(flag), len(flag) == 2 && s.hasPrefix(flag) && len(t) > 2:
				s = s.trimPrefix(len(flag))
			case s.hasPrefix(flag + "="):
				s = s.trimPrefix(len(flag) + 1)
			default:
				continue
			}
			if name == "vim" || name == "vi" {
				if !s.hasPrefix("!") && !s.hasPrefix(":!") {
					continue
				}
				t, _ := s.known()
				s = text(strings.TrimLeft(t, ":!"))
			}
			w.shellText(s, stdin{})
		}
	}
	return output{}
}

var commandOptions = map[string][]string{
	"tar":       {"--checkpoint-action=exec=", "--to-command", "-I", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command", "-F"},
	"rsync":     {"-e", "--rsh", "--rsync-path"},
	"scp":       {"-S"},
	"sftp":      {"-S"},
	"man":       {"-P", "--pager", "-H", "--html"},
	"zip":       {"-TT", "--unzip-command"},
	"vim":       {"-c", "--cmd"},
	"vi":        {"-c"},
	"nix-shell": {"--run", "--command"},
}
