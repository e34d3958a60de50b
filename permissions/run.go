package permissions

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxCombinations is for how many combinations of its variables' values one
// simple command is looked at.
const maxCombinations = 128

// call runs a simple command once for every combination of what the variables
// in it may hold.
func (w *walker) call(n *syntax.CallExpr, in stdin) output {
	var names []string
	combinations := 1
	syntax.Walk(n, func(node syntax.Node) bool {
		if p, ok := node.(*syntax.ParamExp); ok && p.Param != nil {
			name := p.Param.Value
			if vs := w.state.vars[name]; len(vs) > 1 && !slices.Contains(names, name) {
				names = append(names, name)
				combinations *= len(vs)
				if combinations > maxCombinations {
					combinations = maxCombinations + 1
				}
			}
		}
		return true
	})
	if len(names) == 0 {
		return w.callOnce(n, in)
	}
	if combinations > maxCombinations {
		st := w.state.clone()
		for _, name := range names {
			st.vars[name] = []value{{{kind: hole, made: true}}}
		}
		w.in(st).callOnce(n, in)
		w.state.merge(st)
		return output{made: true}
	}
	start := w.state.clone()
	for i := range combinations {
		st := start.clone()
		for _, name := range names {
			vs := start.vars[name]
			st.vars[name] = []value{vs[i%len(vs)]}
			i /= len(vs)
		}
		w.in(st).callOnce(n, in)
		w.state.merge(st)
	}
	return output{}
}

func (w *walker) callOnce(n *syntax.CallExpr, in stdin) output {
	// Words are expanded before assignments take place.
	args := w.expandAll(n.Args)
	if len(n.Args) == 0 {
		for _, a := range n.Assigns {
			if a.Name != nil {
				w.assign(a.Name.Value, w.assignedValue(a))
			}
		}
		return output{known: true}
	}
	tampered := w.state.tampered
	old := map[string][]value{}
	for _, a := range n.Assigns {
		if a.Name != nil {
			name := a.Name.Value
			if _, seen := old[name]; !seen {
				old[name] = w.state.vars[name]
			}
			w.assign(name, w.assignedValue(a))
		}
	}
	out := w.run(args, in)
	for name, vs := range old {
		if vs == nil {
			vs = []value{{{kind: hole}}}
		}
		w.state.vars[name] = alternatives(vs, w.state.vars[name]) // some builtins keep it
	}
	if len(old) > 0 {
		w.state.tampered = tampered
	}
	return out
}

// run checks one command, given as its words.
func (w *walker) run(args []field, in stdin) output {
	for len(args) > 0 && len(args[0].value) == 0 && !args[0].quoted {
		args = args[1:]
	}
	if len(args) == 0 {
		return output{known: true}
	}
	w.commands++
	size := 0
	for _, a := range args {
		size += 64 + 4*a.value.size()
	}
	if !w.spend(size) {
		return output{}
	}
	if args[0].value.has(wild) {
		if name, _, element := strings.Cut(args[0].value.literally().String(), "["); w.posix && element && syntax.ValidName(name) && strings.Contains(args[0].value.String(), "]=") {
			return output{} // an element of an array, to bash alone
		}
		var out output
		for _, program := range w.programs(args[0].value) {
			out = w.run(append([]field{{value: program}}, args[1:]...), in)
		}
		return out
	}
	name, known := args[0].value.withHome("/~").known()
	if !known {
		return w.runUnknown(args)
	}
	base := programName(path.Base(name))
	f := w.forms(args, w.state)
	wrapper, wraps := wrappers[base]
	body, isFunction := w.state.funcs[name]
	w.judge(f, shellOnly[base] || isFunction || wraps && wrapper.transparent)

	if text, ok := w.state.aliases[name]; ok && !args[0].quoted {
		delete(w.state.aliases, name) // an alias is not expanded within itself
		w.script(text+" "+quoteAll(args[1:]), w.state, in, w.depth+1)
		w.state.aliases[name] = text
	}
	if isFunction {
		return w.callFunction(body, args[1:], in)
	}
	w.optionCommands(base, args)
	w.console(base, args, in)
	var out output
	switch {
	case wraps:
		before := w.commands
		out = wrapper.run(w, base, args, in)
		if wrapper.transparent && !shellOnly[base] && w.commands == before {
			w.judge(f, false) // it runs what cannot be looked into: a file, its input
		}
	default:
		out = w.builtin(base, args, in)
	}
	w.fileWords(base, args)
	if transforms[base] || !out.known && w.names(base, args[1:]) {
		out.made = true
	}
	return out
}

// programName is base without the version that interpreters and compilers are
// installed under: python3.11, gcc-12.
func programName(base string) string {
	if _, known := wrappers[base]; known {
		return base
	}
	plain := strings.TrimRight(base, "0123456789.-")
	_, wraps := wrappers[plain]
	_, files := filePrograms[plain]
	_, writes := writtenByOption[plain]
	if _, known := filePrograms[base]; !known && (wraps || files || writes) {
		return plain
	}
	return base
}

// runUnknown checks a command whose program is not known.
func (w *walker) runUnknown(args []field) output {
	f := w.forms(args, w.state)
	w.judge(f, false)
	w.askUnknown(f.target.String(), "which program this runs is not known before it runs")
	w.fileWords("", args)
	return output{made: true}
}

// programs are what a pattern in the place of the program may stand for. Which
// it is depends on what there is when it runs, so any of them may be.
func (w *walker) programs(pattern value) []value {
	paths, ok := w.glob(pattern)
	if !ok || len(paths) == 0 || len(paths) > maxAlternatives {
		v := append(value(nil), pattern...)
		for i := range v {
			if v[i].kind == wild {
				v[i] = piece{kind: entry}
			}
		}
		return []value{v}
	}
	out := make([]value, len(paths))
	for i, p := range paths {
		out[i] = text(p)
	}
	return out
}

// glob asks the workspace which absolute paths a pattern stands for.
func (w *walker) glob(v value) ([]string, bool) {
	if w.sh == nil || w.denyOnly > 0 || w.state.globs {
		return nil, false
	}
	abs := w.state.paths(v)
	if len(abs) != 1 || abs[0].has(hole, word, digits, home, entry) {
		return nil, false
	}
	if w.resolves++; w.resolves > maxResolves {
		return nil, false
	}
	var b strings.Builder
	for _, p := range abs[0] {
		if p.kind == wild {
			if p.text[0] == '[' {
				b.WriteByte('?') // what is in a class is not the same everywhere
			} else {
				b.WriteString(p.text)
			}
			continue
		}
		for _, r := range p.text {
			if strings.ContainsRune(`*?[]\`, r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
	}
	paths, ok := w.sh.Expand(b.String())
	if len(paths) > 4*maxFields {
		return nil, false
	}
	return paths, ok
}

// names tells whether a word names what is denied for reading, so that the
// output may.
func (w *walker) names(base string, args []field) bool {
	if noFiles[base] || filePrograms[base].first == firstPattern {
		return false
	}
	for i, a := range args {
		if before, _ := argText(args[max(0, i-1):]); i > 0 && (before == "!" || before == "-not") ||
			i > 1 && findNames[before] && slices.Contains([]string{"!", "-not"}, args[i-2].value.String()) {
			continue
		}
		if len(a.value) == 0 || hasBlank(a.value) || a.value.hasPrefix("-") || !looksLikePath(a.value) {
			continue
		}
		for _, p := range w.paths(a.value) {
			if !w.spend(p.work() * len(w.rules.compiled[Read].rules)) {
				return false
			}
			if s, known := p.known(); known {
				if d := w.rules.Path(Read, s, w.resolve(s).path); d.Action == Deny && d.Rule != nil {
					return true
				}
			} else if rule, capped := w.holdPath(Read, p); rule != nil && rule.Action == Deny || capped != nil && capped.Action == Deny {
				return true
			}
		}
	}
	return false
}

// transforms are programs whose output is made from other text, so that it may
// spell what the text before did not.
var transforms = map[string]bool{
	"base64": true, "base32": true, "basenc": true, "xxd": true, "od": true, "hexdump": true, "openssl": true,
	"rev": true, "tr": true, "sed": true, "awk": true, "gawk": true, "mawk": true, "printf": true, "cut": true,
	"python": true, "python3": true, "perl": true, "ruby": true, "node": true, "php": true, "lua": true,
	"gzip": true, "gunzip": true, "zcat": true, "bzip2": true, "xz": true, "jq": true, "uudecode": true,
	"paste": true, "dd": true, "gpg": true, "curl": true, "wget": true, "nc": true, "strings": true, "tac": true,
	"iconv": true, "bc": true, "dc": true, "m4": true, "envsubst": true, "fmt": true, "unzip": true,
}
