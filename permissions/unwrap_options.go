package permissions

import (
	"slices"
	"strings"
)

func (w *walker) commandBuiltin(_ string, args []field, in stdin) output {
	for _, a := range args[1:] {
		s, _ := a.value.known()
		if s == "-v" || s == "-V" {
			w.commands++ // it tells where the program is, and that is all
			return output{}
		}
		if s != "-p" {
			break
		}
	}
	return w.run(options{}.skip(w, args[1:]), in)
}

// execBuiltin replaces the shell. Without a command it only redirects.
func (w *walker) execBuiltin(_ string, args []field, in stdin) output {
	rest := options{short: "a"}.skip(w, args[1:])
	if len(rest) == 0 {
		w.commands++
		w.state.stdin = in
		return output{}
	}
	return w.run(rest, in)
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

// flock is flock FILE COMMAND… or flock FILE -c SCRIPT.
func (w *walker) flock(_ string, args []field, in stdin) output {
	rest := options{short: "wE", long: []string{"timeout", "wait", "conflict-exit-code"}, operands: 1}.skip(w, args[1:])
	if v, n := (optionNames{letters: "c", words: []string{"--command"}}).at(rest, 0); n > 0 {
		return w.shellText(v, in)
	}
	return w.run(rest, in)
}

// setarch may be given an architecture before the command.
func (w *walker) setarch(_ string, args []field, in stdin) output {
	rest := options{}.skip(w, args[1:])
	if s, ok := argText(rest); ok && slices.ContainsFunc([]string{"x86", "i386", "i486", "i586", "i686", "linux", "uname", "arm", "aarch64", "ppc", "s390", "mips", "riscv", "sparc", "ia64", "alpha", "athlon"},
		func(arch string) bool { return strings.HasPrefix(s, arch) }) {
		rest = options{}.skip(w, rest[1:])
	}
	return w.run(rest, in)
}

// perf is perf SUBCOMMAND COMMAND…
func (w *walker) perf(_ string, args []field, in stdin) output {
	rest := options{operands: 1}.skip(w, args[1:])
	return w.run(options{short: "eorpCGIFcmt", long: []string{"event", "output", "repeat", "pid", "cpu", "cgroup", "freq", "count"}}.skip(w, rest), in)
}

// tmux gives the words after a subcommand that opens something to a shell.
func (w *walker) tmux(_ string, args []field, _ stdin) output {
	rest := options{short: "cfLST", operands: 1}.skip(w, args[1:])
	rest = options{short: "ceEfFnstxylp"}.skip(w, rest)
	if len(rest) == 0 {
		return output{}
	}
	return w.shellText(words(values(rest)), stdin{})
}

// ssh runs a script elsewhere. It is checked as if it ran here, and what it
// does there is not known.
func (w *walker) ssh(_ string, args []field, in stdin) output {
	o := options{short: "bcDeEFiIJlLmOopQRSwWB", operands: 1}
	rest := o.skip(w, args[1:])
	o.operands = 0
	if rest = o.skip(w, rest); len(rest) == 0 { // options may follow the host
		return w.stdinScript("ssh", in)
	}
	return w.shellText(words(values(rest)), in)
}

// settingPrograms take settings with -o KEY=VALUE, of which some are commands.
var settingPrograms = byName(map[string]bool{"ssh scp sftp rsync apt apt-get": true})

// settings checks those settings.
func (w *walker) settings(args []field) {
	optionNames{letters: "o", words: []string{"--option"}}.each(args, func(v value) {
		if len(v) == 0 || v[0].kind != lit {
			return
		}
		at := strings.IndexAny(v[0].text, "= ")
		if at < 0 {
			return
		}
		key := strings.ToLower(v[0].text[:at])
		if slices.Contains([]string{"proxycommand", "localcommand", "knownhostscommand"}, key) || strings.Contains(key, "-invoke") {
			w.shellText(v.trimPrefix(at+1), stdin{})
		}
	})
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
func (w *walker) optionCommands(name string, args []field) {
	if settingPrograms[name] {
		w.settings(args)
	}
	if isTar(name) {
		args = tarOptions(args)
	}
	commandOptions[name].each(args, func(v value) {
		switch {
		case isTar(name) && v.hasPrefix("exec="):
			v = v.trimPrefix(len("exec="))
		case name == "make" || name == "gmake": // recipes among other things
			w.crude(v.String())
			return
		}
		w.shellText(v, stdin{})
	})
}

var commandOptions = byName(map[string]optionNames{
	"tar bsdtar gtar": {
		letters: "FI", stops: "bCfgHKLNTVX",
		words: []string{"--checkpoint-action", "--to-command", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command"},
	},
	"rsync":             {letters: "e", words: []string{"--rsh", "--rsync-path"}, stops: "BfMT"},
	"scp sftp":          {letters: "S", stops: "bBcDFiJloPRsX"},
	"man":               {letters: "HP", words: []string{"--pager", "--html"}, stops: "CeLmMprRsS"},
	"zip":               {words: []string{"-TT", "--unzip-command"}},
	"nix-shell":         {words: []string{"--run", "--command"}},
	"npx npm pnpm":      {letters: "c", words: []string{"--call"}, stops: "pC"},
	"make gmake":        {letters: "E", words: []string{"--eval"}, stops: "CfIoWjl"},
	"sort":              {words: []string{"--compress-program"}},
	"split":             {words: []string{"--filter"}},
	"mapfile readarray": {letters: "C", stops: "dnOstuc"},
	"compgen complete":  {letters: "C", stops: "AFGPSWX"},
	"wget":              {words: []string{"--use-askpass"}},
})
