package permissions

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellOnly are builtins that change nothing outside of the shell. Rules apply
// to them; the default does not, so that "cd x && make" is about make.
var shellOnly = map[string]bool{
	":": true, "true": true, "false": true, "cd": true, "pushd": true, "popd": true, "exit": true, "return": true,
	"break": true, "continue": true, "shift": true, "set": true, "unset": true, "wait": true, "export": true,
	"local": true, "declare": true, "shopt": true, "typeset": true, "readonly": true, "test": true, "[": true,
	// What bash has as a part of its syntax and other shells take for a program.
	"[[": true, "function": true, "let": true,
}

// namesVariables are builtins that take words for variables or numbers.
var namesVariables = byName(map[string]bool{"[ [[ test let unset read declare typeset local export readonly printf mapfile readarray set getopts wait": true})

// notPOSIX are builtins of bash that other shells take for programs.
var notPOSIX = map[string]bool{"pushd": true, "popd": true, "declare": true, "typeset": true, "mapfile": true, "readarray": true, "shopt": true}

// builtin does what matters of a builtin or of a program that prints what can
// be known.
func (w *walker) builtin(name string, args []field, in stdin) output {
	st := w.state
	if w.posix && notPOSIX[name] {
		return output{}
	}
	if namesVariables[name] {
		for _, a := range args[1:] {
			w.subscripts(a.value)
		}
	}
	switch name {
	case "cd", "pushd":
		w.changeDir(args[1:])
		return output{known: name == "cd"}
	case "popd":
		st.cwd = alternatives(st.cwd, st.been)
	case "pwd":
		return output{known: true, text: st.lookup("PWD")}
	case ":", "true", "exit", "return", "set", "shift", "unset":
		if name == "shift" && st.argsSet {
			n := 1
			if s, _ := argText(args[1:]); len(args) > 1 {
				var err error
				if n, err = strconv.Atoi(s); err != nil {
					st.argsSet, n = false, 0
				}
			}
			if n >= 0 && n <= len(st.args) {
				st.args = st.args[n:]
			}
		}
		if name == "set" {
			w.setArgs(args[1:])
		}
		if name == "unset" {
			for _, a := range args[1:] {
				if s, ok := a.value.known(); ok {
					delete(st.vars, s)
				}
			}
		}
		return output{known: true}
	case "read", "mapfile", "readarray", "getopts":
		v := value{{kind: hole, made: in.made}}
		if s, ok := in.text.known(); ok && in.known && name == "read" && !strings.Contains(s, `\`) {
			first, _, _ := strings.Cut(s, "\n")
			v = text(strings.TrimSpace(first))
		}
		n := 0
		for _, a := range args[1:] {
			if s, ok := a.value.known(); ok && variableName(s) {
				if n++; n > 1 {
					v = value{{kind: hole, made: in.made}}
				}
				st.set(s, v)
			}
		}
		if n > 1 {
			for _, a := range args[1:] {
				if s, ok := a.value.known(); ok && variableName(s) {
					st.set(s, value{{kind: hole, made: in.made}})
				}
			}
		}
	case "export", "declare", "local", "readonly", "typeset":
		attributes := ""
		if name == "readonly" {
			attributes = "r"
		}
		for _, a := range args[1:] {
			w.declareWord(a.value, &attributes)
			if name == "export" {
				attributes = ""
			}
		}
	case "alias":
		for _, a := range args[1:] {
			s, ok := a.value.known()
			if k, v, assigns := strings.Cut(s, "="); ok && assigns {
				st.aliases[k] = v
				w.script(v, st.clone(), stdin{}, w.depth+1)
			} else if !ok {
				w.shellText(value{{kind: hole, made: true}}, stdin{})
			}
		}
	case "trap":
		w.trap(args[1:])
	case "jobs":
		if s, ok := argText(args[1:]); ok && s == "-x" {
			return w.run(args[2:], stdin{})
		}
	case "compgen", "complete":
		for _, a := range args[1:] {
			w.expandLater(a.value)
		}
	case "shopt":
		for _, a := range args[1:] {
			switch s, _ := a.value.known(); s {
			case "dotglob", "nocaseglob":
				st.globs = true
			}
		}
	case "hash", "enable":
		st.tampered = st.tampered || len(args) > 1
	case "echo":
		return echo(args[1:])
	case "printf":
		return w.printf(args[1:])
	case "cat", "tee":
		if len(args) == 1 {
			return output{known: in.known, text: in.text, made: in.made}
		}
	case "dirname", "basename":
		return output{made: len(args) > 1 && slices.ContainsFunc(args[1:], func(f field) bool { return f.value.made() })}
	case "ln":
		w.links(args)
	}
	return output{}
}

// trap checks a script that runs later: with the variables of now, and at the
// end of the script with those of then. What it assigns it may have assigned
// at any time.
func (w *walker) trap(args []field) {
	if len(args) > 0 && args[0].value.String() == "--" {
		args = args[1:]
	}
	if len(args) < 2 {
		return
	}
	st := w.state.clone()
	w.in(st).shellText(args[0].value, stdin{})
	if len(w.funcs.traps) < maxNesting {
		w.funcs.traps = append(w.funcs.traps, args[0].value)
	}
	for _, a := range args[1:] {
		if s, _ := a.value.known(); s == "EXIT" || s == "0" {
			continue
		}
		w.state.tampered = w.state.tampered || st.tampered
		w.state.unsure = w.state.unsure || strings.Contains(args[0].value.String(), "=")
	}
}

// variableName tells whether s is a variable or an element of an array.
func variableName(s string) bool {
	name, _, _ := strings.Cut(s, "[")
	return syntax.ValidName(name)
}

func (w *walker) setArgs(args []field) {
	for i, a := range args {
		s, ok := a.value.known()
		if !ok {
			w.state.argsSet = false
			return
		}
		if s == "--" {
			args = args[i+1:]
			break
		}
		if !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "+") {
			args = args[i:]
			break
		}
		if i == len(args)-1 {
			return // options alone
		}
	}
	if len(args) == 0 {
		return
	}
	w.state.args, w.state.argsSet = args, true
	for _, a := range args {
		if a.value.has(hole) {
			w.state.argsSet = false
		}
	}
}

func (w *walker) changeDir(args []field) {
	st := w.state
	fails := false // an option that it does not have
	for len(args) > 0 {
		s, ok := args[0].value.known()
		if !ok || s == "-" || !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "+") {
			break
		}
		fails = fails || strings.Trim(s, "-LPe@+0123456789n") != ""
		args = args[1:]
	}
	before := st.cwd
	switch s, ok := argText(args); {
	case len(args) == 0:
		st.cwd = st.paths(st.lookup("HOME"))
	case ok && s == "-":
		st.cwd = st.been
		if vs := st.vars["OLDPWD"]; vs != nil {
			st.cwd = alternatives(st.cwd, vs)
		}
		if len(st.cwd) == 0 {
			st.cwd = []value{{{kind: hole}}}
		}
	default:
		var to []value
		for _, v := range w.entries(args[0]) {
			to = alternatives(to, w.paths(v))
			for _, dir := range st.vars["CDPATH"] {
				to = alternatives(to, st.paths(join(dir.before(":"), text("/"), v)))
			}
		}
		var next []value
		for _, p := range to {
			next = alternatives(next, []value{p})
			if s, ok := p.known(); ok && w.sh != nil {
				r := w.resolve(s)
				if r.exists {
					next = alternatives(next, []value{text(r.path)})
				} else {
					next = alternatives(next, before) // it fails, and the script may go on
				}
			}
		}
		st.cwd = next
	}
	if fails {
		st.cwd = alternatives(st.cwd, before)
	}
	st.been = alternatives(st.been, before)
}

// links remembers the symlinks that ln makes, for what follows in the script.
func (w *walker) links(args []field) {
	var operands []value
	symbolic := false
	for _, a := range args[1:] {
		if s, _ := a.value.known(); strings.HasPrefix(s, "-") {
			symbolic = symbolic || strings.Contains(s, "s")
		} else {
			operands = append(operands, a.value)
		}
	}
	if !symbolic || len(operands) == 0 || len(operands) > 2 || w.state.cwd == nil {
		return
	}
	target, known := operands[0].known()
	if !known || target == "" {
		return
	}
	names := []value{text(path.Base(target))}
	if len(operands) == 2 {
		names = []value{operands[1], join(operands[1], text("/"+path.Base(target)))}
	}
	for _, name := range names {
		for _, p := range w.state.paths(name) {
			if s, ok := p.known(); ok && s != "/" {
				to := target
				if !path.IsAbs(to) {
					to = path.Join(path.Dir(s), to)
				}
				if to = path.Clean(to); to != s {
					w.linked[s] = to
				}
			}
		}
	}
	clear(w.resolved)
}
