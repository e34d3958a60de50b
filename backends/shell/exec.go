package shell

import (
	"context"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// flow is where a statement leads.
type flow uint8

const (
	goOn      flow = iota
	leaveLoop      // break: s.levels loops
	nextRound      // continue: of the s.levels-th loop
	leaveFunc      // return
	leave          // exit
)

// stmts runs statements until one of them leads elsewhere.
func (s *shell) stmts(list []*syntax.Stmt) flow {
	for _, st := range list {
		if f := s.stmt(st); f != goOn {
			return f
		}
	}
	return goOn
}

// stmt runs one statement and sets s.status.
func (s *shell) stmt(st *syntax.Stmt) flow {
	s.step()
	if s.pinned != len(s.calls)+1 {
		s.line = int(st.Pos().Line())
	}
	s.arithDepth = 0
	switch st.Cmd.(type) {
	case *syntax.CallExpr, *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause, *syntax.DeclClause, *syntax.Subshell:
		if !s.trapping {
			s.running = st
		}
	}
	if s.options.noexec {
		return goOn
	}
	if st.Background || st.Coprocess || st.Disown {
		s.background(st)
		return goOn
	}
	mark := s.spent
	defer s.settle(mark)
	if st.Negated {
		s.unchecked++
		f := s.redirected(st)
		s.unchecked--
		if f == goOn {
			s.status = boolStatus(s.status != 0)
		}
		return f
	}
	f := s.redirected(st)
	switch st.Cmd.(type) {
	case *syntax.CallExpr, *syntax.Subshell, *syntax.TestClause, *syntax.ArithmCmd, *syntax.DeclClause:
		s.pipeStatus = nil
	}
	if f != goOn || s.status == 0 || s.unchecked > 0 || !countsAsFailure(st.Cmd) {
		return f
	}
	return s.failure()
}

// failure is what follows from a command that failed where that counts.
func (s *shell) failure() flow {
	if action := s.traps["ERR"]; action != "" && (len(s.calls) == 0 || s.options.errtrace) {
		pinned := s.pinned
		s.pinned = len(s.calls) + 1 // $LINENO is that of the command
		f := s.runTrap(action)
		s.pinned = pinned
		if f == leave {
			return f
		}
	}
	if s.options.errexit {
		return leave
	}
	return goOn
}

// countsAsFailure tells commands that can fail themselves from those whose
// parts already were asked.
func countsAsFailure(c syntax.Command) bool {
	switch c := c.(type) {
	case *syntax.BinaryCmd:
		return c.Op == syntax.Pipe || c.Op == syntax.PipeAll
	case *syntax.Block, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.TimeClause:
		return false
	}
	return true
}

func boolStatus(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

// redirected runs a statement's command with its redirections.
func (s *shell) redirected(st *syntax.Stmt) (f flow) {
	if call, ok := st.Cmd.(*syntax.CallExpr); ok {
		return s.simple(call, st.Redirs)
	}
	if len(st.Redirs) == 0 {
		return s.command(st.Cmd)
	}
	undo, ok := s.redirect(st.Redirs)
	defer undo()
	if !ok {
		s.status = 1
		return s.failedRedirection(st.Cmd)
	}
	if st.Cmd == nil {
		s.status = 0
		return goOn
	}
	return s.command(st.Cmd)
}

// failedRedirection is where a redirection that failed leads, for a command
// that is otherwise not asked.
func (s *shell) failedRedirection(c syntax.Command) flow {
	if s.unchecked > 0 || countsAsFailure(c) {
		return goOn
	}
	return s.failure()
}

// command runs any command but a simple one.
func (s *shell) command(c syntax.Command) flow {
	switch c := c.(type) {
	case nil:
		return goOn
	case *syntax.Block:
		return s.stmts(c.Stmts)
	case *syntax.Subshell:
		s.enter()
		defer func() { s.depth-- }()
		s.status = s.inSubshell(s.ctx, func(sub *shell) flow { return sub.stmts(c.Stmts) })
		return goOn
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
			return s.andOr(c)
		}
		return s.pipeline(c)
	case *syntax.IfClause:
		return s.ifClause(c)
	case *syntax.WhileClause:
		return s.while(c)
	case *syntax.ForClause:
		return s.forClause(c)
	case *syntax.CaseClause:
		return s.caseClause(c)
	case *syntax.FuncDecl:
		s.declareFunction(c)
	case *syntax.ArithmCmd:
		return s.evaluating(func() int { return boolStatus(s.tracedArithm(c.X, c.Left.Offset()+2, c.Right.Offset()) != 0) })
	case *syntax.LetClause:
		return s.evaluating(func() int {
			var n int64
			for _, x := range s.tracedLet(c.Exprs) {
				n = s.arithm(x)
			}
			return boolStatus(n != 0)
		})
	case *syntax.TestClause:
		return s.evaluating(func() int { return s.testClause(c.X) })
	case *syntax.DeclClause:
		return s.faulty(func() flow { s.status = s.declClause(s.tracedDecl(c)); return goOn })
	case *syntax.TimeClause:
		return s.timeClause(c)
	default:
		s.errorf("this shell has no %s", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", c), "*syntax.")))
		s.status = 2
	}
	return goOn
}

// evaluating runs do for (( )), let and [[ ]]: arithmetic that goes wrong is a
// status of 1 there and ends nothing.
func (s *shell) evaluating(do func() int) flow {
	return s.faulty(func() (f flow) {
		defer func() {
			if r := recover(); r != nil {
				wrong, ok := r.(failed)
				if !ok || !wrong.arith {
					panic(r)
				}
				s.status, f = wrong.code, goOn
			}
		}()
		s.status = do()
		return goOn
	})
}

// faulty runs do; an expansion that goes wrong in it ends the shell where that
// is fatal.
func (s *shell) faulty(do func() flow) (f flow) {
	defer func() {
		if r := recover(); r != nil {
			wrong, ok := r.(failed)
			if !ok {
				panic(r)
			}
			s.status = wrong.code
			f = goOn
			if wrong.fatal {
				f = leave
			}
		}
	}()
	return do()
}

// andOr runs a && b || c. Chains are long on the left side.
func (s *shell) andOr(c *syntax.BinaryCmd) flow {
	var rest []*syntax.BinaryCmd
	first := c.X
	for rest = append(rest, c); ; {
		left, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || left.Op != syntax.AndStmt && left.Op != syntax.OrStmt || first.Negated || len(first.Redirs) > 0 || first.Background {
			break
		}
		rest = append(rest, left)
		first = left.X
	}
	s.unchecked++
	f := s.stmt(first)
	s.unchecked--
	for i := len(rest) - 1; i >= 0 && f == goOn; i-- {
		if (s.status == 0) != (rest[i].Op == syntax.AndStmt) {
			continue
		}
		if i > 0 {
			s.unchecked++
		}
		f = s.stmt(rest[i].Y)
		if i > 0 {
			s.unchecked--
		}
	}
	return f
}

// inSubshell runs do in a subshell on this goroutine, and returns its status.
func (s *shell) inSubshell(ctx context.Context, do func(sub *shell) flow) int {
	sub := s.subshell(ctx)
	return sub.run(do)
}

// run runs do to the end of the shell: traps, jobs, descriptors.
func (s *shell) run(do func(*shell) flow) (code int) {
	defer s.end()
	return s.protect(func() int { return s.toEnd(do) })
}

// toEnd runs do and then the exit trap.
func (s *shell) toEnd(do func(*shell) flow) int {
	{
		s.contain(do)
		if action := s.traps["EXIT"]; action != "" {
			delete(s.traps, "EXIT")
			status := s.status
			s.contain(func(s *shell) flow {
				if f := s.runTrap(action); f == leave {
					status = s.status
				}
				return leave
			})
			s.status = status
		}
		return s.status
	}
}

// contain runs do; a signal to this shell or a fault ends it with that status,
// and leaves the exit trap to run.
func (s *shell) contain(do func(*shell) flow) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failed:
			s.status = r.code
		default:
			panic(r)
		}
	}()
	do(s)
}
