package permissions

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// substitutions runs the command substitutions anywhere in node.
func (w *walker) substitutions(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.substitute(n)
			return false
		case *syntax.ProcSubst:
			w.processSubstitution(n)
			return false
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
				w.expansion(n.Param.Value, n.Exp)
			}
		}
		return true
	})
}

// substitute runs $(…) and returns what it stands for.
func (w *walker) substitute(n *syntax.CmdSubst) value {
	out := w.in(w.state.clone()).captured(n.Stmts)
	if !out.known {
		return value{{kind: hole, made: out.made}}
	}
	if s, ok := out.text.known(); ok {
		return text(strings.TrimRight(s, "\n"))
	}
	v := append(value(nil), out.text...)
	for n := len(v); n > 0 && v[n-1].kind == lit; n = len(v) {
		v[n-1].text = strings.TrimRight(v[n-1].text, "\n")
		if v[n-1].text != "" {
			break
		}
		v = v[:n-1]
	}
	return v
}

// captured runs statements whose output goes on as words.
func (w *walker) captured(stmts []*syntax.Stmt) output {
	if len(stmts) == 0 {
		return output{known: true}
	}
	return w.stmts(stmts, stdin{})
}

func (w *walker) processSubstitution(n *syntax.ProcSubst) output {
	out := w.in(w.state.clone()).stmts(n.Stmts, stdin{piped: true})
	out.piped = true
	return out
}
