package permissions

import (
	"path"
	"slices"
	"strconv"
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
	if w.commands++; w.commands > maxCommands {
		w.over = true
		return output{}
	}
	if args[0].value.has(wild) {
		var out output
		for _, program := range w.programs(args[0].value) {
			out = w.run(append([]field{{value: program}}, args[1:]...), in)
		}
		return out
	}
	name, known := args[0].value.known()
	if !known {
		return w.runUnknown(args)
	}
	base := path.Base(name)
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
	var out output
	switch {
	case wraps:
		out = wrapper.run(w, base, args, in)
	default:
		out = w.builtin(base, args, in)
	}
	w.fileWords(base, args)
	if transforms[base] {
		out.made = true
	}
	return out
}

// runUnknown checks a command whose program is not known.
func (w *walker) runUnknown(args []field) output {
	f := w.forms(args, w.state)
	w.judge(f, false)
	w.askFor(f.target.String(), "which program this runs is not known before it runs")
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
	if w.sh == nil || w.denyOnly > 0 {
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
			b.WriteString(p.text)
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

func (w *walker) callFunction(body *syntax.Stmt, args []field, in stdin) output {
	st := w.state
	saved, set := st.args, st.argsSet
	st.args, st.argsSet = args, true
	for _, a := range args {
		if a.value.has(hole) {
			st.argsSet = false // it may be any number of words
		}
	}
	out := w.function(body, w, in)
	st.args, st.argsSet = saved, set
	return out
}

// shellOnly are builtins that change nothing outside of the shell. Rules apply
// to them; the default does not, so that "cd x && make" is about make.
var shellOnly = map[string]bool{
	":": true, "true": true, "false": true, "cd": true, "pushd": true, "popd": true, "exit": true, "return": true,
	"break": true, "continue": true, "shift": true, "set": true, "unset": true, "wait": true, "export": true,
	"local": true, "declare": true, "typeset": true, "readonly": true, "test": true, "[": true,
	// What bash has as a part of its syntax and other shells take for a program.
	"[[": true, "function": true, "let": true,
}

// transforms are programs whose output is made from other text, so that it may
// spell what the text before did not.
var transforms = map[string]bool{
	"base64": true, "base32": true, "basenc": true, "xxd": true, "od": true, "hexdump": true, "openssl": true,
	"rev": true, "tr": true, "sed": true, "awk": true, "gawk": true, "mawk": true, "printf": true, "cut": true,
	"python": true, "python3": true, "perl": true, "ruby": true, "node": true, "php": true, "lua": true,
	"gzip": true, "gunzip": true, "zcat": true, "bzip2": true, "xz": true, "jq": true, "uudecode": true,
	"paste": true, "dd": true, "gpg": true, "curl": true, "wget": true, "nc": true, "strings": true, "tac": true,
	"iconv": true, "bc": true, "dc": true, "m4": true, "envsubst": true,
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

func argText(args []field) (string, bool) {
	if len(args) == 0 {
		return "", false
	}
	return args[0].value.known()
}

// resolve asks the workspace where a path leads.
func (c *checker) resolve(p string) resolution {
	if r, ok := c.resolved[p]; ok {
		return r
	}
	r := resolution{path: p}
	if c.sh != nil && c.denyOnly == 0 {
		if c.resolves++; c.resolves > maxResolves {
			c.over = true
			return r
		}
		if to, exists := c.sh.Resolve(p); to != "" {
			r = resolution{path: to, exists: exists}
		}
	}
	c.resolved[p] = r
	return r
}

// echo is what echo prints, where shells agree.
func echo(args []field) output {
	newline := "\n"
	var vs []value
	options := true
	for _, a := range args {
		s, ok := a.value.known()
		if options && ok && len(s) > 1 && s[0] == '-' && strings.Trim(s[1:], "neE") == "" {
			if strings.Contains(s, "n") {
				newline = ""
			}
			continue
		}
		options = false
		vs = append(vs, a.value)
		if strings.Contains(s, `\`) {
			return output{made: true} // some shells decode escapes
		}
	}
	out := join(words(vs), text(newline))
	return output{known: true, text: out, made: out.made()}
}

// printf is what printf prints when its format is simple.
func (w *walker) printf(args []field) output {
	if len(args) > 1 {
		if s, ok := args[0].value.known(); ok && s == "-v" {
			if name, ok := args[1].value.known(); ok {
				out := w.printf(args[2:])
				v := value{{kind: hole, made: true}}
				if out.known {
					v = out.text
				}
				w.state.set(name, v)
			}
			return output{known: true}
		}
	}
	if s, ok := argText(args); ok && s == "--" {
		args = args[1:]
	}
	format, ok := argText(args)
	if !ok {
		return output{made: true}
	}
	args = args[1:]
	var out value
	for range 64 { // the format is used again while arguments are left
		used := false
		for i := 0; i < len(format); i++ {
			switch {
			case format[i] == '\\':
				if i+1 < len(format) && format[i+1] == '0' {
					return output{made: true} // printf reads \0nnn as shells do not
				}
				length := escapeLength(format[i:])
				out.add(piece{kind: lit, text: decodeANSI(format[i : i+length])})
				i += length - 1
			case format[i] == '%' && i+1 < len(format) && format[i+1] == '%':
				out.add(piece{kind: lit, text: "%"})
				i++
			case format[i] == '%' && i+1 < len(format) && format[i+1] == 's':
				i++
				if len(args) > 0 {
					out = join(out, quotedHoles(args[0].value))
					args = args[1:]
					used = true
				}
			case format[i] == '%':
				return output{made: true}
			default:
				out.add(piece{kind: lit, text: format[i : i+1]})
			}
		}
		if len(args) == 0 || !used {
			return output{known: true, text: out, made: out.made()}
		}
	}
	return output{made: true}
}

// escapeLength is how many bytes the backslash escape at the start of s takes.
func escapeLength(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	digits, most := 16, 2
	n := 2
	switch s[1] {
	case 'x':
	case '0', '1', '2', '3', '4', '5', '6', '7':
		digits, most, n = 8, 3, 1
	default:
		return 2
	}
	for most > 0 && n < len(s) && digitOf(s[n]) < digits {
		n++
		most--
	}
	return n
}

// quoteAll writes words so that a shell reads them as they are; what is not
// known becomes a variable that nothing sets.
func quoteAll(args []field) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.value.quote())
	}
	return b.String()
}

const unknownVariable = "__unknown"

func (v value) quote() string {
	if len(v) == 0 {
		return "''"
	}
	var b strings.Builder
	for _, p := range v {
		switch p.kind {
		case lit:
			b.WriteString("'" + strings.ReplaceAll(p.text, "'", `'\''`) + "'")
		case wild:
			b.WriteString(p.text)
		case home:
			b.WriteString("$HOME")
		case digits:
			b.WriteString(strconv.Itoa(0))
		case word, entry:
			b.WriteString(`"$` + unknownVariable + `"`)
		default:
			b.WriteString("$" + unknownVariable)
		}
	}
	return b.String()
}

// shellText checks a value that a shell will parse. Holes in it may hold any
// commands.
func (w *walker) shellText(v value, in stdin) output {
	if s, ok := v.withHome("$HOME").known(); ok {
		return w.script(s, w.state, in, w.depth+1)
	}
	var b strings.Builder
	unknown := false
	for _, p := range v {
		switch p.kind {
		case lit, wild:
			b.WriteString(p.text)
		case home:
			b.WriteString("$HOME")
		case digits:
			b.WriteByte('0')
		default:
			unknown = true
			b.WriteString("${" + unknownVariable + "}")
		}
	}
	if unknown {
		w.askFor(v.String(), "a part of this script is not known before it runs")
	}
	return w.script(b.String(), w.state, in, w.depth+1)
}
