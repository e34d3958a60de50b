package permissions

import "strings"

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
func (w *walker) optionCommands(name string, args []field, _ stdin) output {
	if name == "scp" || name == "sftp" || name == "rsync" {
		w.sshOptions(args)
	}
	if isTar(name) {
		args = tarOptions(args)
	}
	commandOptions[name].each(args, func(v value) {
		if name == "vim" || name == "vi" { // a command of the editor's, of which "!" is the shell's
			if !v.hasPrefix("!") && !v.hasPrefix(":!") {
				return
			}
			v = v.trimPrefix(strings.IndexByte(v[0].text, '!') + 1)
		}
		w.shellText(v, stdin{})
	})
	return output{}
}

var commandOptions = byName(map[string]optionNames{
	"tar bsdtar gtar": {
		letters: "FI", stops: "bCfgHKLNTVX",
		words: []string{"--checkpoint-action=exec=", "--to-command", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command"},
	},
	"rsync":     {letters: "e", words: []string{"--rsh", "--rsync-path"}, stops: "BfMT"},
	"scp sftp":  {letters: "S", stops: "bBcDFiJloPRsX"},
	"man":       {letters: "HP", words: []string{"--pager", "--html"}, stops: "CeLmMprRsS"},
	"zip":       {words: []string{"-TT", "--unzip-command"}},
	"vi vim":    {words: []string{"-c", "--cmd"}},
	"nix-shell": {words: []string{"--run", "--command"}},
})
