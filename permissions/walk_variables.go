package permissions

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declClause is export, declare, local, readonly, typeset with assignments.
func (w *walker) declClause(n *syntax.DeclClause) {
	args := []field{{value: text(n.Variant.Value)}}
	attributes := ""
	switch {
	case n.Variant.Value == "readonly":
		attributes = "r"
	case n.Variant.Value == "local" && len(w.funcs.active) == 0:
		attributes = "i" // it fails outside of a function
	}
	for _, a := range n.Args {
		if n.Variant.Value == "export" {
			attributes = "" // its options are about other things
		}
		switch {
		case a.Name == nil:
			for _, f := range w.expand(a.Value) {
				args = append(args, f)
				w.declareWord(f.value, &attributes)
			}
		case a.Naked:
			args = append(args, field{value: text(a.Name.Value)})
			w.declareWord(text(a.Name.Value), &attributes)
		default:
			v := w.assignedValue(a)
			args = append(args, field{value: join(text(a.Name.Value+"="), v)})
			w.declareVariable(a.Name.Value, attributes, func() { w.assign(a.Name.Value, v) })
		}
	}
	w.judge(w.forms(args, w.state), true)
}

// declareWord is one word of export, declare, local, readonly or typeset:
// options, a name, or an assignment.
func (w *walker) declareWord(v value, attributes *string) {
	s, known := v.known()
	name, assigned, assigns := assignment(v)
	switch {
	case assigns:
		w.declareVariable(name, *attributes, func() { w.assign(name, assigned) })
	case v.hasPrefix("-"), v.hasPrefix("+"):
		*attributes += s
	case known:
		w.declareVariable(s, *attributes, func() {})
	default:
		// The name of what is set is not known.
		w.state.tampered, w.state.unsure = true, true
	}
}

// declareVariable gives a variable its attributes and, by set, its value.
func (w *walker) declareVariable(name, attributes string, set func()) {
	if strings.Contains(attributes, "n") {
		w.state.tampered, w.state.unsure = true, true // another name for any variable
	}
	if strings.ContainsAny(attributes, "luci") {
		w.state.odd[name] = true // it changes what it is given
	}
	set()
	if strings.Contains(attributes, "r") {
		w.state.odd[name] = true // it keeps what it has
	}
}

// assignedValue is the right side of an assignment.
func (w *walker) assignedValue(a *syntax.Assign) value {
	if a.Index != nil {
		w.substitutions(a.Index)
	}
	if a.Array != nil {
		w.substitutions(a.Array)
		return value{{kind: hole, made: true}}
	}
	v := w.single(a.Value)
	if a.Index != nil {
		return value{{kind: hole, made: true}}
	}
	if a.Append {
		return join(w.state.lookup(a.Name.Value), v)
	}
	return v
}

// assign sets a variable and checks what programs will run because of it.
func (w *walker) assign(name string, v value) {
	w.state.set(name, v)
	w.subscripts(v)
	switch name {
	case "PS0", "PS1", "PS2", "PS4":
		w.expandLater(v) // before each prompt, and each command that is traced
	}
	if (name == "BASH_ENV" || name == "ENV") && len(v) > 0 {
		w.denyPath(Read, v, false)
	}
	if commandVariables[name] && len(v) > 0 {
		w.shellText(v, stdin{})
	}
}

// subscripts checks the substitutions in the subscript of an array in v. Bash
// runs them where v, or a variable that holds it, is taken for a number or a
// name.
func (w *walker) subscripts(v value) {
	s := v.String()
	if _, rest, found := strings.Cut(s, "["); found && (strings.Contains(rest, "$(") || strings.Contains(rest, "`")) {
		w.expandLater(v)
	}
}

// expandLater checks a text in which a shell will expand what starts with "$".
func (w *walker) expandLater(v value) {
	if s := v.String(); strings.Contains(s, "$(") || strings.Contains(s, "`") {
		w.script(`: "`+strings.ReplaceAll(s, `"`, `\"`)+`"`, w.state.clone(), stdin{}, w.depth+1)
	}
}

// commandVariables hold command lines that common programs run.
var commandVariables = map[string]bool{
	"GIT_SSH_COMMAND": true, "GIT_SSH": true, "GIT_EDITOR": true, "GIT_SEQUENCE_EDITOR": true, "GIT_PAGER": true,
	"GIT_EXTERNAL_DIFF": true, "GIT_ASKPASS": true, "GIT_PROXY_COMMAND": true, "EDITOR": true, "VISUAL": true,
	"PAGER": true, "MANPAGER": true, "SSH_ASKPASS": true, "SUDO_ASKPASS": true, "BROWSER": true,
	"PROMPT_COMMAND": true, "RSYNC_RSH": true, "LESSOPEN": true, "LESSCLOSE": true, "FZF_DEFAULT_COMMAND": true,
}
