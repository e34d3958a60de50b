package permissions

import (
	"mvdan.cc/sh/v3/syntax"
)

// param appends what a parameter expansion stands for.
func (e *expander) param(p *syntax.ParamExp, whole, quoted bool) {
	w := e.w
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	simple := !p.Excl && !p.Length && !p.Width && !p.IsSet && p.NestedParam == nil && p.Index == nil &&
		p.Slice == nil && p.Repl == nil && p.Names == 0 && len(p.Modifiers) == 0 && p.Flags == nil
	if simple && p.Exp == nil && (name == "@" || name == "*") && w.state.argsSet {
		for i, a := range w.state.args {
			if i > 0 {
				if quoted && name == "@" || !quoted {
					e.end()
				} else {
					e.cur.add(piece{kind: lit, text: " "})
				}
			}
			e.open = e.open || quoted
			if quoted {
				e.cur = join(e.cur, quotedHoles(a.value))
			} else {
				e.unquoted(a.value, whole)
			}
		}
		return
	}
	var v value
	switch {
	case p.Length:
		w.substitutions(p)
		v = value{{kind: digits}}
	case !simple:
		w.substitutions(p)
		v = value{{kind: hole, made: true}}
	case p.Exp == nil:
		v = w.state.lookup(name)
	default:
		v = w.expansion(name, p.Exp)
	}
	if quoted {
		e.cur = join(e.cur, quotedHoles(v))
		return
	}
	e.unquoted(v, whole)
}

// expansion is ${name:-word} and its kin.
func (w *walker) expansion(name string, exp *syntax.Expansion) value {
	arg := w.single(exp.Word)
	known, set := w.state.vars[name]
	switch exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if set && len(known) == 1 {
			if s, ok := known[0].known(); ok && s != "" {
				return known[0]
			}
		}
		if (exp.Op == syntax.AssignUnset || exp.Op == syntax.AssignUnsetOrNull) && !set {
			w.state.set(name, arg, value{{kind: hole}})
		}
		if !set {
			return arg // where the environment has it, it is not the script's doing
		}
		return value{{kind: hole, made: true}}
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return arg
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return w.state.lookup(name)
	case syntax.OtherParamOps:
		if exp.Word.Lit() != "P" {
			break
		}
		// ${x@P} runs the substitutions in x.
		held := w.state.vars[name]
		if name == "@" || name == "*" {
			held = values(w.state.args)
		}
		for _, v := range held {
			if v.open() {
				w.askUnknown(v.String(), "a part of this text, which is expanded, is not known before it runs")
			}
			w.expandLater(v)
		}
	}
	return value{{kind: hole, made: true}}
}
