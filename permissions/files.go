package permissions

import (
	"path"
	"slices"
	"strings"
)

// useFile decides about a file that a redirection or an option opens: rules
// and default of op apply.
func (w *walker) useFile(op Operation, v value) {
	for _, p := range w.state.paths(v) {
		s, known := p.known()
		resolved := s
		if known {
			if harmlessDevice(s) {
				continue
			}
			resolved = w.resolve(s).path
			w.note(w.rules.Path(op, s, resolved))
		} else {
			rule, capped := w.holdPath(op, p)
			w.noteHeld(op, p, rule, capped)
			if rule == nil {
				w.note(w.rules.compiled[op].byDefault(p.String()))
			}
		}
		if op == Write {
			w.redirectRules(p, resolved)
		}
	}
}

// redirectRules holds "> path" against the rules of execute that are about
// redirections. A disk goes by every disk's name.
func (w *walker) redirectRules(p value, resolved string) {
	names := []value{join(text("> "), p.withHome("/~"))}
	if s, ok := p.known(); ok {
		names = append(names, text("> "+resolved))
		if disk(s) || disk(resolved) {
			names = append(names, text("> /dev/sda"))
		}
	} else if p.hasPrefix("/dev/sd") || p.hasPrefix("/dev/nvme") || p.hasPrefix("/dev/vd") {
		names = append(names, text("> /dev/sda"))
	}
	for i := range w.exec.rules {
		rule := &w.exec.rules[i]
		if rule.redirect && anyMust(rule.pattern, names) {
			w.note(w.exec.byRule(names[0].String(), rule.rule))
			return
		}
	}
}

// holdPath holds a path with holes against the rules of op: the rule that
// matches however the holes are filled, and a stricter one before it that the
// known parts suggest.
func (w *walker) holdPath(op Operation, p value) (rule, capped *Rule) {
	split, last := lastComponent(p)
	from := last
	if len(p) > 0 && p[0].kind == home {
		from = 0 // all of what follows the home directory tells something
	}
	list := w.rules.compiled[op]
	for i := range list.rules {
		r := &list.rules[i]
		if mustPath(r.pattern, p) {
			return r.rule, capped
		}
		if r.rule.Action != Allow && capped == nil {
			if _, suggested := r.may(split, from, last); suggested {
				capped = r.rule
			}
		}
	}
	return nil, capped
}

func (w *walker) noteHeld(op Operation, p value, rule, capped *Rule) {
	list := w.rules.compiled[op]
	if rule != nil {
		w.note(list.byRule(p.String(), rule))
	}
	if capped != nil && (rule == nil || capped.Action.stricterThan(rule.Action)) {
		w.note(Decision{Action: Ask, Operation: op, Target: p.String(), Rule: capped,
			Why: "parts of the path are not known before the command runs, and " + describe(capped) + " may apply"})
	}
}

// mustPath is pattern.must, where the last hole that may hold "/" is taken
// apart at its last one: "**/*.key" then matches a name below any directory.
func mustPath(p pattern, v value) bool {
	if p.must(v) {
		return true
	}
	for i := len(v) - 1; i >= 0; i-- {
		if v[i].kind != hole && v[i].kind != word && v[i].kind != home {
			continue
		}
		name := join(v[:i], value{{kind: entry}}, v[i+1:])
		below := join(v[:i], value{{kind: hole}, {kind: lit, text: "/"}, {kind: entry}}, v[i+1:])
		return p.must(name) && p.must(below)
	}
	return false
}

// lastComponent splits v so that its last path component starts a piece, and
// returns the number of that piece.
func lastComponent(v value) (value, int) {
	for i := len(v) - 1; i >= 0; i-- {
		if v[i].kind != lit {
			continue
		}
		if at := strings.LastIndexByte(v[i].text, '/'); at >= 0 {
			out := append(value(nil), v[:i]...)
			out = append(out, piece{kind: lit, text: v[i].text[:at+1]})
			from := len(out)
			if rest := v[i].text[at+1:]; rest != "" {
				out = append(out, piece{kind: lit, text: rest})
			}
			return append(out, v[i+1:]...), from
		}
	}
	return v, 0
}

// denyPath notes a rule of op that denies path v; its default and what it asks
// for do not count. With below also a rule that denies everything below v.
func (w *walker) denyPath(op Operation, v value, below bool) {
	if v.has(wild) {
		if paths, ok := w.glob(v); ok {
			for _, p := range paths {
				w.denyPath(op, text(p), below)
			}
			return
		}
	}
	list := w.rules.compiled[op]
	for _, p := range w.state.paths(v) {
		s, known := p.known()
		if !known {
			rule, capped := w.holdPath(op, p)
			if rule != nil && rule.Action != Deny {
				rule = nil
			}
			if capped != nil && capped.Action != Deny {
				capped = nil
			}
			w.noteHeld(op, p, rule, capped)
			if below && rule == nil {
				w.denyBelow(list, p)
			}
			continue
		}
		if harmlessDevice(s) {
			continue
		}
		r := w.resolve(s)
		if d := w.rules.Path(op, s, r.path); d.Action == Deny && d.Rule != nil {
			w.note(d)
			continue
		}
		if !below {
			continue
		}
		w.denyBelow(list, p)
		w.denyBelow(list, text(r.path))
	}
}

// denyBelow notes a rule that denies everything in directory dir.
func (w *walker) denyBelow(list *ruleList, dir value) {
	inside := join(dir, text("/"), value{{kind: hole}})
	if dir.String() == "/" {
		inside = join(dir, value{{kind: hole}})
	}
	for i := range list.rules {
		if rule := &list.rules[i]; rule.must(inside) {
			if rule.rule.Action == Deny {
				w.note(list.byRule(dir.String(), rule.rule))
			}
			return
		}
	}
}

// fileProgram is how a well-known program uses the files it is given.
type fileProgram struct {
	writes  writeMode
	pattern bool   // its first operand is no file unless it exists: grep, sed, awk
	names   bool   // it looks at names and attributes, not at content
	value   string // letters of options whose value is no file
}

type writeMode uint8

const (
	writesNone    writeMode = iota
	writesAll               // every operand
	writesLast              // the last operand, or the value of -t
	writesInPlace           // every operand, with -i
	writesFirst             // the first operand
)

var filePrograms = map[string]fileProgram{
	"cat": {}, "tac": {}, "head": {value: "nc"}, "tail": {value: "nc"}, "less": {}, "more": {}, "bat": {}, "nl": {}, "od": {}, "xxd": {},
	"hexdump": {}, "strings": {value: "n"}, "wc": {}, "sort": {value: "kt"}, "uniq": {}, "cut": {value: "dfcb"}, "paste": {value: "d"}, "diff": {}, "cmp": {},
	"comm": {}, "join": {}, "md5sum": {}, "sha1sum": {}, "sha256sum": {}, "sha512sum": {}, "base64": {value: "w"}, "base32": {}, "gzip": {}, "gunzip": {}, "zcat": {},
	"bzip2": {}, "xz": {}, "zip": {}, "unzip": {}, "tar": {}, "file": {}, "vi": {}, "vim": {}, "nano": {}, "emacs": {}, "ed": {}, "view": {}, "source": {}, ".": {},
	"scp": {writes: writesLast}, "rsync": {writes: writesLast}, "curl": {value: "HXAuewm"}, "wget": {}, "openssl": {}, "jq": {pattern: true}, "yq": {pattern: true},
	"grep": {pattern: true, value: "mABC"}, "egrep": {pattern: true, value: "mABC"}, "fgrep": {pattern: true, value: "mABC"}, "rg": {pattern: true, value: "mABCtTgr"}, "ag": {pattern: true, value: "mABC"}, "ack": {pattern: true},
	"sed": {pattern: true, writes: writesInPlace}, "awk": {pattern: true, value: "Fv"}, "gawk": {pattern: true, value: "Fv"}, "mawk": {pattern: true, value: "Fv"}, "nawk": {pattern: true, value: "Fv"},
	"perl": {writes: writesInPlace},
	"cp":   {writes: writesLast}, "mv": {writes: writesAll}, "ln": {writes: writesLast}, "install": {writes: writesLast, value: "mog"}, "link": {writes: writesLast},
	"rm": {writes: writesAll}, "rmdir": {writes: writesAll, names: true}, "unlink": {writes: writesAll}, "touch": {writes: writesAll, names: true, value: "dt"}, "mkdir": {writes: writesAll, names: true, value: "m"},
	"tee": {writes: writesAll}, "truncate": {writes: writesAll, value: "s"}, "shred": {writes: writesAll, value: "ns"}, "chmod": {writes: writesAll, pattern: true, names: true},
	"chown": {writes: writesAll, pattern: true, names: true}, "chgrp": {writes: writesAll, pattern: true, names: true}, "setfacl": {writes: writesAll, names: true, value: "mx"}, "chattr": {writes: writesAll, pattern: true, names: true},
	"mkfifo": {writes: writesAll, names: true}, "mknod": {writes: writesFirst, names: true}, "patch": {writes: writesAll}, "split": {}, "sponge": {writes: writesAll}, "sudoedit": {writes: writesAll},
	"wipefs": {writes: writesAll}, "blkdiscard": {writes: writesAll}, "fdisk": {writes: writesAll}, "sfdisk": {writes: writesAll}, "parted": {writes: writesAll}, "badblocks": {writes: writesAll}, "dd": {},
	"ls": {names: true, value: "I"}, "test": {names: true}, "[": {names: true}, "[[": {names: true}, "stat": {names: true, value: "cf"}, "du": {names: true, value: "d"}, "tree": {names: true, value: "IPL"}, "cd": {names: true}, "pushd": {names: true},
	"basename": {names: true}, "dirname": {names: true}, "realpath": {names: true}, "readlink": {names: true}, "which": {names: true}, "type": {names: true}, "command": {names: true},
	"find": {names: true}, "fd": {names: true}, "pwd": {names: true}, "df": {names: true},
}

// noFiles are programs whose words are text: they open none of them.
var noFiles = map[string]bool{
	"true": true, "false": true, ":": true, "exit": true, "return": true, "kill": true, "sleep": true, "seq": true, "date": true, "alias": true, "unalias": true,
	"trap": true, "set": true, "unset": true, "export": true, "local": true, "declare": true, "readonly": true, "typeset": true, "read": true, "eval": true, "printf": true, "echo": true,
	"apt": true, "apt-get": true, "apk": true, "dnf": true, "yum": true, "brew": true, "pacman": true,
	"nohup": true, "timeout": true, "time": true, "nice": true, "exec": true, "builtin": true, "env": true, "xargs": true, "sudo": true, "doas": true, "setsid": true, "stdbuf": true,
	"busybox": true, "toybox": true, "ssh": true, "watch": true, "parallel": true, "su": true,
}

// ignoring are options whose value names what to leave out.
var ignoring = []string{"--exclude", "--exclude-dir", "--include", "--ignore", "--ignore-dir", "--glob", "--iglob", "--exclude-from", "--grep", "--author", "--format", "--pretty", "--message", "--regexp"}

// fileWords holds the words of a command that look like paths against what is
// denied for reading, and those it writes to against what is denied for
// writing.
func (w *walker) fileWords(name string, args []field) {
	if noFiles[name] {
		return
	}
	if p := args[0].value; looksLikePath(p) && !w.isShellPath(p) {
		w.denyPath(Read, p, false) // running a program reads it
	}
	prog, wellKnown := filePrograms[name]
	switch name {
	case "git":
		w.gitWords(args)
		return
	case "npm", "pnpm", "yarn", "pip", "pip3", "uv", "cargo", "go", "gem", "docker", "podman", "kubectl", "helm", "gh", "conda", "poetry", "bundle", "composer":
		for _, a := range args[1:] {
			if a.value.hasPrefix("/") || a.value.hasPrefix(".") || len(a.value) > 0 && a.value[0].kind == home {
				w.denyPath(Read, a.value.before(":"), true) // a mount names its source first
			} else {
				w.optionPaths(name, a)
			}
		}
		return
	}
	inPlace := prog.writes == writesInPlace && slices.ContainsFunc(args, func(f field) bool {
		s, _ := f.value.known()
		return strings.HasPrefix(s, "-i") || strings.HasPrefix(s, "--in-place") || name == "perl" && strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "--") && strings.Contains(s, "i")
	})
	var operands []field
	skippedPattern := !prog.pattern
	ended := false
	for i := 1; i < len(args); i++ {
		a := args[i]
		s, _ := a.value.known()
		if !ended && s == "--" {
			ended = true
			continue
		}
		if !ended && a.value.hasPrefix("-") && s != "-" {
			w.optionPaths(name, a)
			switch {
			case i+1 >= len(args):
			case (s == "-e" || s == "--regexp" || s == "--expression") && prog.pattern:
				skippedPattern = true
				i++
			case (s == "-f" || s == "--file") && prog.pattern && !strings.HasPrefix(name, "ch"):
				skippedPattern = true
				i++
				w.denyPath(Read, args[i].value, false)
			case (s == "-t" || s == "--target-directory") && prog.writes == writesLast:
				i++
				w.denyPath(Write, args[i].value, true)
			case slices.Contains(ignoring, s), len(s) == 2 && strings.Contains(prog.value, s[1:]),
				name == "find" && findNames[s]:
				i++
			case writesOption(name, s):
				i++
				w.denyPath(Write, args[i].value, true)
			}
			continue
		}
		if !skippedPattern {
			skippedPattern = true
			if !w.exists(a.value) || strings.HasPrefix(name, "ch") {
				continue
			}
		}
		operands = append(operands, a)
	}
	for i, a := range operands {
		if strings.HasPrefix(name, "curl") || name == "wget" {
			if !a.value.hasPrefix("file:") {
				w.optionPaths(name, a)
				continue
			}
		}
		if !wellKnown && !looksLikePath(a.value) && !w.exists(a.value) {
			w.optionPaths(name, a)
			continue
		}
		if wellKnown && a.value.made() && len(a.value) == 1 && !prog.names {
			w.askFor(words(values(args)).String(), "a file name that is computed from other text is not known before the command runs")
		}
		if hasBlank(a.value) && !wellKnown {
			continue
		}
		v, ok := filePath(a.value)
		if !ok {
			continue
		}
		last := i == len(operands)-1
		switch prog.writes {
		case writesAll:
			w.writeWord(v)
		case writesLast:
			if last {
				w.writeWord(v)
			}
		case writesFirst:
			if i == 0 {
				w.writeWord(v)
			}
		case writesInPlace:
			if inPlace {
				w.writeWord(v)
			}
		}
		if !prog.names {
			w.denyPath(Read, v, wellKnown)
		}
		w.optionPaths(name, a)
	}
	if name == "dd" {
		for _, a := range args[1:] {
			if a.value.hasPrefix("of=") {
				w.writeWord(a.value.trimPrefix(3))
			}
		}
	}
}

// writeWord is a word that a command writes to.
func (w *walker) writeWord(v value) {
	w.denyPath(Write, v, true)
	for _, p := range w.state.paths(v) {
		if s, ok := p.known(); ok && !harmlessDevice(s) {
			w.redirectRules(p, w.resolve(s).path)
		}
	}
}

// writesOption tells whether an option's next word is a path that is written.
func writesOption(name, option string) bool {
	switch name {
	case "curl":
		return option == "-o" || option == "--output" || option == "--output-dir"
	case "wget":
		return option == "-O" || option == "-P" || option == "--output-document" || option == "--directory-prefix"
	case "tar":
		return option == "-C" || option == "--directory"
	case "unzip":
		return option == "-d"
	case "sort":
		return option == "-o" || option == "--output"
	case "gcc", "cc", "g++", "clang", "ld":
		return option == "-o"
	}
	return false
}

// isShellPath tells whether v is a program in one of the system's directories.
func (w *walker) isShellPath(v value) bool {
	s, ok := v.known()
	return ok && slices.Contains(programDirs, path.Dir(cleanText(s)))
}

// exists tells whether a word names something in the workspace.
func (w *walker) exists(v value) bool {
	if w.sh == nil {
		return false
	}
	if _, ok := v.known(); !ok || hasBlank(v) || v.hasPrefix("-") {
		return false
	}
	for _, p := range w.state.paths(v) {
		if s, ok := p.known(); ok && w.resolve(s).exists {
			return true
		}
	}
	return false
}

func hasBlank(v value) bool {
	return slices.ContainsFunc(v, func(p piece) bool { return p.kind == lit && strings.ContainsAny(p.text, " \t\n") })
}

// filePath is the local path that a word names: file: is taken off, and an
// address elsewhere is none.
func filePath(v value) (value, bool) {
	if v.hasPrefix("file://") {
		v = v.trimPrefix(len("file://"))
		return v, len(v) > 0
	}
	if len(v) == 0 {
		return nil, false
	}
	if v[0].kind == lit {
		head := v[0].text
		if scheme, _, ok := strings.Cut(head, "://"); ok && scheme != "" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+.-") == "" {
			return nil, false
		}
		if host, _, ok := strings.Cut(head, ":"); ok && strings.Contains(host, "@") && !strings.Contains(host, "/") {
			return nil, false
		}
	}
	return v, true
}

// looksLikePath tells from a word alone whether it is meant as a path.
func looksLikePath(v value) bool {
	if len(v) == 0 || hasBlank(v) {
		return false
	}
	if v[0].kind == home || v.hasPrefix(".") && !v.hasPrefix("...") {
		return true
	}
	if v.hasPrefix("-") {
		return false
	}
	v, ok := filePath(v)
	if !ok {
		return false
	}
	for _, p := range v {
		if p.kind == lit && strings.Contains(p.text, "/") {
			return true
		}
	}
	last := v[len(v)-1]
	if last.kind != lit {
		return v.has(wild) // "se*" may be a file
	}
	dot := strings.LastIndexByte(last.text, '.')
	return dot >= 0 && dot < len(last.text)-1 && len(last.text)-dot <= 12 && strings.Trim(last.text[dot+1:], "0123456789") != "" &&
		strings.IndexFunc(last.text[dot+1:], func(r rune) bool { return r >= 0x80 || !isNameByte(byte(r)) && r != '-' && r != '~' }) < 0
}

// optionPaths looks for paths inside a word: --file=X, -fX, if=X, @X, a=@X,
// host:X, X,Y.
func (w *walker) optionPaths(name string, a field) {
	s := a.value
	if len(s) == 0 || s[0].kind != lit {
		return
	}
	head := s[0].text
	check := func(v value) {
		if v.hasPrefix("@") {
			v = v.trimPrefix(1)
		}
		if v, ok := filePath(v); ok && looksLikePath(v) {
			w.denyPath(Read, v, false)
		}
	}
	switch {
	case strings.HasPrefix(head, "@"):
		w.denyPath(Read, s.trimPrefix(1), false)
	case strings.HasPrefix(head, "--"):
		if key, _, ok := strings.Cut(head, "="); ok && !slices.Contains(ignoring, key) {
			check(s.trimPrefix(len(key) + 1))
		}
	case strings.HasPrefix(head, "-") && len(head) > 2:
		if v := s.trimPrefix(2); v.hasPrefix(".") || v.hasPrefix("/") || v.hasPrefix("@") || v.hasPrefix("~") {
			check(v)
		}
	default:
		if i := strings.IndexAny(head, "=@"); i > 0 && !strings.Contains(head[:i], "/") && head[i] == '=' {
			check(s.trimPrefix(i + 1))
		}
		if i := strings.IndexByte(head, ':'); i > 0 && !strings.Contains(head, "://") && !strings.Contains(head[:i], "/") && name != "docker" {
			check(s.trimPrefix(i + 1))
		}
	}
}

// gitWords finds paths among the words of a git command, which mostly are
// names of branches, commits and settings.
func (w *walker) gitWords(args []field) {
	_, rest := gitParts(args)
	if len(rest) == 0 {
		return
	}
	sub, _ := rest[0].value.known()
	takesPaths := slices.Contains([]string{"add", "rm", "mv", "restore", "apply", "am", "blame", "hash-object", "check-ignore", "update-index", "stage"}, sub)
	after := false
	skip := sub == "grep"
	for i := 1; i < len(rest); i++ {
		a := rest[i]
		s, _ := a.value.known()
		switch {
		case s == "--":
			after = true
			continue
		case s == "-m" || s == "--message" || s == "-S" || s == "-G" || s == "-b" || s == "-B" || s == "--author":
			i++
			continue
		case skip && !a.value.hasPrefix("-"):
			skip = false
			continue
		case !after && a.value.hasPrefix("-"):
			w.optionPaths("git", a)
			continue
		}
		if hasBlank(a.value) {
			continue
		}
		if after || takesPaths || a.value.hasPrefix("/") || a.value.hasPrefix(".") || w.exists(a.value) || a.value.has(wild) {
			w.denyPath(Read, a.value, false)
			continue
		}
		if len(a.value) > 0 && a.value[0].kind == lit {
			if rev, _, ok := strings.Cut(a.value[0].text, ":"); ok && rev != "" && !strings.Contains(rev, "@") && !strings.Contains(a.value[0].text, "://") && sub != "push" && sub != "fetch" && sub != "pull" && sub != "clone" {
				w.denyPath(Read, a.value.trimPrefix(len(rev)+1), false)
			}
		}
	}
}
