package permissions

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellOnly are builtins that change nothing outside of the shell. Rules apply
// to them; the default does not, so that "cd x && make" is about make.
var shellOnly = map[string]bool{
	":": true, "true": true, "false": true, "cd": true, "pushd": true, "popd": true, "exit": true, "return": true,
	"break": true, "continue": true, "shift": true, "set": true, "unset": true, "wait": true, "export": true,
	"local": true, "declare": true, "typeset": true, "readonly": true, "test": true, "[": true,
	// What bash has as a part of its syntax and other shells take for a program.
	"[[": true, "function": true, "let": true,
}

// builtin does what matters of a builtin or of a program that prints what can
// be known.
func (w *walker) builtin(name string, args []field, in stdin) output {
	st := w.state
	switch name {
	case "cd", "pushd":
		w.changeDir(args[1:])
		return output{known: name == "cd"}
	case "popd":
		st.cwd = alternatives(st.cwd, st.been)
	case "pwd":
		return output{known: true, text: st.lookup("PWD")}
	case ":", "true", "exit", "return", "set", "shift", "unset":
		if name == "shift" && st.argsSet && len(st.args) > 0 {
			st.args = st.args[1:]
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
		if s, ok := in.text.known(); ok && in.known && name == "read" {
			first, _, _ := strings.Cut(s, "\n")
			v = text(strings.TrimSpace(first))
		}
		n := 0
		for _, a := range args[1:] {
			if s, ok := a.value.known(); ok && syntax.ValidName(s) {
				if n++; n > 1 {
					v = value{{kind: hole, made: in.made}}
				}
				st.set(s, v)
			}
		}
		if n > 1 {
			for _, a := range args[1:] {
				if s, ok := a.value.known(); ok && syntax.ValidName(s) {
					st.set(s, value{{kind: hole, made: in.made}})
				}
			}
		}
	case "export", "declare", "local", "readonly", "typeset":
		for _, a := range args[1:] {
			s, ok := a.value.known()
			if k, v, assigns := strings.Cut(s, "="); ok && assigns && syntax.ValidName(k) {
				w.assign(k, text(v))
			} else if !ok {
				st.tampered = true
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
		if len(args) > 2 {
			w.shellText(args[1].value, stdin{})
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
	}
	return output{}
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
	for len(args) > 0 {
		s, ok := args[0].value.known()
		if !ok || s == "-" || !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "+") {
			break
		}
		args = args[1:]
	}
	before := st.cwd
	switch s, ok := argText(args); {
	case len(args) == 0:
		st.cwd = []value{{{kind: home}}}
	case ok && s == "-":
		st.cwd = st.been
		if len(st.been) == 0 {
			st.cwd = []value{{{kind: hole}}}
		}
	case args[0].value.has(wild):
		st.cwd = []value{{{kind: hole}}}
	default:
		var next []value
		for _, p := range st.paths(args[0].value) {
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
	st.been = alternatives(st.been, before)
}
