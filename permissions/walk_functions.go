package permissions

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// functions are the functions of one script.
type functions struct {
	bodies []*syntax.Stmt
	called map[*syntax.Stmt]bool
	active map[*syntax.Stmt]bool // being run
	again  map[*syntax.Stmt]bool // being run within itself
	traps  []value
}

func (w *walker) function(body *syntax.Stmt, inner *walker, in stdin) output {
	if len(w.funcs.active) > maxNesting || w.funcs.again[body] {
		return output{}
	}
	if w.funcs.active[body] {
		// It calls itself, with anything.
		w.funcs.again[body] = true
		st := inner.state.clone()
		st.args, st.argsSet = nil, false
		st.forget(body)
		out := inner.in(st).stmt(body, in)
		delete(w.funcs.again, body)
		return output{made: out.made}
	}
	w.funcs.called[body], w.funcs.active[body] = true, true
	out := inner.stmt(body, in)
	delete(w.funcs.active, body)
	return out
}

// declare remembers a function, and recognises one that multiplies itself.
func (w *walker) declare(n *syntax.FuncDecl) {
	if n.Name == nil || n.Body == nil {
		// The parser takes "()" for a function without a name.
		if n.Body != nil {
			w.in(w.state.clone()).stmt(n.Body, stdin{})
		}
		return
	}
	w.state.funcs[n.Name.Value] = n.Body
	w.funcs.bodies = append(w.funcs.bodies, n.Body)
	if !w.multiplies(n.Name.Value) {
		return
	}
	for i := range w.exec.rules {
		if rule := &w.exec.rules[i]; rule.forkBomb {
			w.note(w.exec.byRule(n.Name.Value+"() { "+n.Name.Value+" | "+n.Name.Value+" & }", rule.rule))
			return
		}
	}
}

// multiplies tells whether the function that has just been declared, or
// another that leads to it, starts itself at least twice at the same time.
func (w *walker) multiplies(declared string) bool {
	if len(w.state.funcs) > maxAlternatives {
		return false
	}
	calls := map[string]map[string]int{}
	parallel := map[string]bool{}
	for name, body := range w.state.funcs {
		calls[name] = map[string]int{}
		syntax.Walk(body, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				if len(n.Args) > 0 {
					calls[name][n.Args[0].Lit()]++
				}
			case *syntax.Stmt:
				parallel[name] = parallel[name] || n.Background
			case *syntax.BinaryCmd:
				parallel[name] = parallel[name] || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
			}
			return true
		})
	}
	reached := func(from string) map[string]bool {
		seen, next := map[string]bool{from: true}, []string{from}
		for len(next) > 0 {
			at := next[0]
			next = next[1:]
			for callee := range calls[at] {
				if !seen[callee] {
					seen[callee] = true
					next = append(next, callee)
				}
			}
		}
		return seen
	}
	for name := range reached(declared) {
		if !parallel[name] {
			continue
		}
		back := 0
		for callee, n := range calls[name] {
			if reached(callee)[name] {
				back += n
			}
		}
		if back >= 2 {
			return true
		}
	}
	return false
}

// isForkBombPattern tells whether a rule is the well-known function, however
// it is spaced. It matches every function that starts itself twice in
// parallel.
func isForkBombPattern(s string) bool {
	return strings.Join(strings.Fields(s), "") == ":(){:|:&};:"
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
