package permissions

import "mvdan.cc/sh/v3/syntax"

// walker goes through one script in the order in which a shell would run it.
type walker struct {
	*checker
	state *state
	depth int
	posix bool
	funcs *functions
}

// in is w with another state.
func (w *walker) in(st *state) *walker {
	out := *w
	out.state = st
	return &out
}

// program runs a whole script.
func (w *walker) program(stmts []*syntax.Stmt, in stdin) output {
	w.funcs = &functions{called: map[*syntax.Stmt]bool{}, active: map[*syntax.Stmt]bool{}, again: map[*syntax.Stmt]bool{}}
	out := w.stmts(stmts, in)
	for i := 0; i < len(w.funcs.bodies); i++ {
		// What is not called by name may be called in a way that is not seen.
		if body := w.funcs.bodies[i]; !w.funcs.called[body] {
			st := w.state.clone()
			st.args, st.argsSet = nil, false
			st.forget(body)
			w.function(body, w.in(st), stdin{})
		}
	}
	for i := 0; i < len(w.funcs.traps); i++ {
		w.in(w.state.clone()).shellText(w.funcs.traps[i], stdin{})
	}
	return out
}

// stmts runs statements one after the other.
func (w *walker) stmts(stmts []*syntax.Stmt, in stdin) output {
	all := output{known: true}
	for _, s := range stmts {
		out := w.stmt(s, in)
		all.known = all.known && out.known
		all.made = all.made || out.made
		if all.known {
			all.text = join(all.text, out.text)
		}
	}
	return all
}

func (w *walker) stmt(s *syntax.Stmt, in stdin) output {
	if w.exhausted() {
		w.over = true
		return output{}
	}
	w.commands++
	if s.Background || s.Coprocess || s.Disown {
		w = w.in(w.state.clone())
	}
	toFile := false
	if !in.piped {
		in = w.state.stdin
	}
	for _, r := range s.Redirs {
		var out bool
		in, out = w.redirect(r, in)
		toFile = toFile || out
	}
	out := w.command(s.Cmd, in)
	if toFile {
		return output{known: out.known} // nothing is left for whoever reads
	}
	return out
}

// stdin is what is known of a command's standard input.
type stdin struct {
	piped bool             // it comes from another command or a file
	known bool             // text is all of it
	text  value            // when known
	made  bool             // it was computed from other text
	other map[string]stdin // what is known of further descriptors, by number
}

// output is what is known of what a statement prints.
type output = stdin

func (w *walker) command(cmd syntax.Command, in stdin) output {
	switch n := cmd.(type) {
	case nil:
		return output{known: in.known && in.piped, text: in.text}
	case *syntax.CallExpr:
		return w.call(n, in)
	case *syntax.BinaryCmd:
		return w.binary(n, in)
	case *syntax.Subshell:
		return w.in(w.state.clone()).stmts(n.Stmts, in)
	case *syntax.Block:
		return w.stmts(n.Stmts, in)
	case *syntax.IfClause:
		for clause := n; clause != nil; clause = clause.Else {
			w.stmts(clause.Cond, in)
			branch := w.state.clone()
			w.in(branch).stmts(clause.Then, in)
			// The rest runs from where this branch was not taken; what it
			// did is one way things may be afterwards.
			w.state.merge(branch)
		}
	case *syntax.WhileClause:
		w.state.forget(n)
		w.stmts(n.Cond, in)
		w.stmts(n.Do, in)
	case *syntax.ForClause:
		w.loop(n, in)
	case *syntax.CaseClause:
		w.single(n.Word)
		start := w.state.clone()
		for _, item := range n.Items {
			for _, p := range item.Patterns {
				w.substitutions(p)
			}
			branch := start.clone()
			w.in(branch).stmts(item.Stmts, in)
			w.state.merge(branch)
		}
	case *syntax.FuncDecl:
		w.declare(n)
	case *syntax.TimeClause:
		if n.Stmt != nil {
			return w.stmt(n.Stmt, in)
		}
	case *syntax.CoprocClause:
		return w.in(w.state.clone()).stmt(n.Stmt, in)
	case *syntax.DeclClause:
		w.declClause(n)
	case *syntax.TestDecl:
		return w.stmt(n.Body, in)
	default: // (( )), [[ ]], let: what they hold are substitutions
		w.substitutions(cmd)
	}
	return output{}
}

func (w *walker) binary(n *syntax.BinaryCmd, in stdin) output {
	switch n.Op {
	case syntax.Pipe, syntax.PipeAll:
		out := w.in(w.state.clone()).stmt(n.X, in)
		out.piped = true
		next := w.in(w.state.clone()).stmt(n.Y, out)
		next.made = next.made || out.made
		return next
	default:
		return w.list(n, in)
	}
}

// list runs a && b || c …
func (w *walker) list(n *syntax.BinaryCmd, in stdin) output {
	// The parser nests to the left, as deeply as the list is long.
	var terms []*syntax.BinaryCmd
	var first *syntax.Stmt
	for at := n; ; {
		terms = append(terms, at)
		left, ok := at.X.Cmd.(*syntax.BinaryCmd)
		if !ok || left.Op != syntax.AndStmt && left.Op != syntax.OrStmt || at.X.Negated || len(at.X.Redirs) > 0 {
			first = at.X
			break
		}
		at = left
	}
	out := w.stmt(first, in)
	last := first
	// w.state is where the list has succeeded so far, failed where it stopped.
	var failed *state
	for i := len(terms) - 1; i >= 0; i-- {
		term := terms[i]
		stopped := w.state.clone()
		if failed != nil {
			stopped.merge(failed)
		}
		if term.Op == syntax.OrStmt {
			branch := stopped.clone()
			w.in(branch).stmt(term.Y, in)
			if !leaves(term.Y) {
				w.state.merge(branch)
				failed = stopped
			}
			out = output{made: true}
			last = term.Y
			continue
		}
		if !assignsOnly(last) {
			failed = stopped
		}
		next := w.stmt(term.Y, in)
		out = output{known: out.known && next.known, text: join(out.text, next.text), made: out.made || next.made}
		last = term.Y
	}
	if failed != nil {
		w.state.merge(failed)
	}
	return out
}

// assignsOnly tells whether s cannot fail because it only sets variables.
func assignsOnly(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) == 0
}

// leaves tells whether s ends the script or the loop, or changes nothing, so
// that what comes after need not reckon with it.
func leaves(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	switch call.Args[0].Lit() {
	case "exit", "return", "break", "continue":
		return true
	}
	return false
}

func (w *walker) loop(n *syntax.ForClause, in stdin) {
	before := w.state.clone()
	switch l := n.Loop.(type) {
	case *syntax.WordIter:
		fields := []field{{value: value{{kind: hole}}}}
		if l.InPos.IsValid() {
			fields = w.expandAll(l.Items)
		} else if w.state.argsSet {
			fields = w.state.args
		}
		var values []value
		for _, f := range fields {
			for _, v := range w.entries(f) {
				values = alternatives(values, []value{v})
			}
		}
		for _, s := range n.Do {
			w.state.forget(s)
		}
		if n.Select {
			values = []value{{{kind: hole}}}
		}
		for _, v := range values {
			w.subscripts(v)
		}
		w.state.set(l.Name.Value, values...)
	case *syntax.CStyleLoop:
		w.substitutions(l)
		w.state.forget(n)
	}
	w.stmts(n.Do, in)
	w.state.merge(before)
}

// entries are the names that a field which may be a pattern stands for.
func (w *walker) entries(f field) []value {
	if !f.value.has(wild) {
		return []value{f.value}
	}
	if paths, ok := w.glob(f.value); ok && len(paths) > 0 && len(paths) <= maxAlternatives {
		out := make([]value, len(paths))
		for i, p := range paths {
			out[i] = text(p)
		}
		return out
	}
	var out value
	for _, p := range f.value {
		if p.kind == wild {
			p = piece{kind: entry}
		}
		out.add(p)
	}
	return []value{out}
}
