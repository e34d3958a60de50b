package permissions

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declClause is export, declare, local, readonly, typeset with assignments.
func (w *walker) declClause(n *syntax.DeclClause) {
	args := []field{{value: text(n.Variant.Value)}}
	for _, a := range n.Args {
		switch {
		case a.Name == nil:
			args = append(args, w.expand(a.Value)...)
		case a.Naked:
			args = append(args, field{value: text(a.Name.Value)})
		default:
			v := w.assignedValue(a)
			args = append(args, field{value: join(text(a.Name.Value+"="), v)})
			w.assign(a.Name.Value, v)
		}
	}
	w.judge(w.forms(args, w.state), true)
	for _, a := range args[1:] {
		if a.value.open() && !strings.Contains(a.value.String(), "=") {
			w.state.tampered = true // the name of what is set is not known
		}
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
	if commandVariables[name] && len(v) > 0 {
		w.shellText(v, stdin{})
	}
}

// commandVariables hold command lines that common programs run.
var commandVariables = map[string]bool{
	"GIT_SSH_COMMAND": true, "GIT_SSH": true, "GIT_EDITOR": true, "GIT_SEQUENCE_EDITOR": true, "GIT_PAGER": true,
	"GIT_EXTERNAL_DIFF": true, "GIT_ASKPASS": true, "GIT_PROXY_COMMAND": true, "EDITOR": true, "VISUAL": true,
	"PAGER": true, "MANPAGER": true, "SSH_ASKPASS": true, "SUDO_ASKPASS": true, "BROWSER": true,
	"PROMPT_COMMAND": true, "RSYNC_RSH": true, "LESSOPEN": true, "LESSCLOSE": true, "FZF_DEFAULT_COMMAND": true,
}
