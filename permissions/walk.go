package permissions

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// walker goes through one script in the order in which a shell would run it.
type walker struct {
	*checker
	state *state
	depth int
	posix bool
	funcs *functions
}

// functions are the functions of one script.
type functions struct {
	bodies []*syntax.Stmt
	called map[*syntax.Stmt]bool
	active map[*syntax.Stmt]bool // being run
}

// in is w with another state.
func (w *walker) in(st *state) *walker {
	out := *w
	out.state = st
	return &out
}

// program runs a whole script.
func (w *walker) program(stmts []*syntax.Stmt, in stdin) output {
	w.funcs = &functions{called: map[*syntax.Stmt]bool{}, active: map[*syntax.Stmt]bool{}}
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
	return out
}

func (w *walker) function(body *syntax.Stmt, inner *walker, in stdin) output {
	if w.funcs.active[body] || len(w.funcs.active) > maxNesting {
		return output{}
	}
	w.funcs.called[body], w.funcs.active[body] = true, true
	out := inner.stmt(body, in)
	delete(w.funcs.active, body)
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
	if w.commands > maxCommands {
		w.over = true
		return output{}
	}
	w.commands++
	if s.Background || s.Coprocess || s.Disown {
		w = w.in(w.state.clone())
	}
	toFile := false
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

// redirect checks a redirection and returns the standard input after it, and
// whether standard output goes elsewhere.
func (w *walker) redirect(r *syntax.Redirect, in stdin) (stdin, bool) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		w.substitutions(r.Word)
		body := w.hereDocument(r)
		if r.N != nil && r.N.Value != "0" {
			return in, false
		}
		return stdin{piped: true, known: true, text: body, made: body.made()}, false
	case syntax.WordHdoc:
		body := join(w.single(r.Word), text("\n"))
		return stdin{piped: true, known: true, text: body, made: body.made()}, false
	}
	fields := w.expand(r.Word)
	if len(fields) == 0 {
		return in, false
	}
	toStdout := r.N == nil || r.N.Value == "1"
	for _, f := range fields {
		if f.subst != nil {
			continue
		}
		target, known := f.value.known()
		switch r.Op {
		case syntax.RdrIn:
			w.useFile(Read, f.value)
		case syntax.RdrInOut:
			w.useFile(Read, f.value)
			w.useFile(Write, f.value)
		case syntax.DplIn:
		case syntax.DplOut:
			if !known || !isDescriptor(target) {
				w.useFile(Write, f.value)
			} else if target != "1" && toStdout {
				return in, true
			} else {
				return in, false
			}
		default:
			w.useFile(Write, f.value)
		}
	}
	switch r.Op {
	case syntax.RdrIn, syntax.DplIn, syntax.RdrInOut:
		if fields[0].subst != nil {
			return w.processSubstitution(fields[0].subst), false
		}
		return stdin{piped: true}, false
	case syntax.RdrAll, syntax.AppAll:
		return in, true
	}
	return in, toStdout
}

func isDescriptor(s string) bool {
	return s == "-" || strings.Trim(strings.TrimSuffix(s, "-"), "0123456789") == ""
}

// hereDocument is the text that a here-document gives to its command.
func (w *walker) hereDocument(r *syntax.Redirect) value {
	if r.Hdoc == nil {
		return nil
	}
	quoted := r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), `\`)
	var body value
	if quoted {
		for _, p := range r.Hdoc.Parts {
			if l, ok := p.(*syntax.Lit); ok {
				body.add(piece{kind: lit, text: l.Value})
			}
		}
	} else {
		e := &expander{w: w}
		e.doubleQuoted(r.Hdoc.Parts)
		body = e.cur
	}
	if r.Op == syntax.DashHdoc {
		for i := range body {
			if body[i].kind == lit {
				body[i].text = strings.ReplaceAll("\n"+body[i].text, "\n\t", "\n")[1:]
			}
		}
	}
	return body
}

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
	first := n.X
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
		w.state.vars[l.Name.Value] = values
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
	if !multiplies(n.Name.Value, n.Body) {
		return
	}
	for i := range w.exec.rules {
		if rule := &w.exec.rules[i]; rule.forkBomb {
			w.note(w.exec.byRule(n.Name.Value+"() { "+n.Name.Value+" | "+n.Name.Value+" & }", rule.rule))
			return
		}
	}
}

// isForkBombPattern tells whether a rule is the well-known function, however
// it is spaced. It matches every function that starts itself twice in
// parallel.
func isForkBombPattern(s string) bool {
	return strings.Join(strings.Fields(s), "") == ":(){:|:&};:"
}

// multiplies tells whether body starts name at least twice at the same time.
func multiplies(name string, body *syntax.Stmt) bool {
	calls, parallel := 0, false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == name {
				calls++
			}
		case *syntax.Stmt:
			parallel = parallel || n.Background
		case *syntax.BinaryCmd:
			parallel = parallel || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		}
		return true
	})
	return calls >= 2 && parallel
}

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
