package shell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// condition runs statements whose failure does not count.
func (s *shell) condition(list []*syntax.Stmt) (bool, flow) {
	s.unchecked++
	f := s.stmts(list)
	s.unchecked--
	return s.status == 0, f
}

func (s *shell) ifClause(c *syntax.IfClause) flow {
	for ; c != nil; c = c.Else {
		if len(c.Cond) == 0 { // else
			return s.stmts(c.Then)
		}
		ok, f := s.condition(c.Cond)
		if f != goOn {
			return f
		}
		if ok {
			return s.stmts(c.Then)
		}
	}
	s.status = 0
	return goOn
}

// round runs the body of a loop once and tells whether that was the last time.
func (s *shell) round(body []*syntax.Stmt) (over bool, f flow) {
	switch f := s.stmts(body); f {
	case leaveLoop:
		if s.levels--; s.levels > 0 {
			return true, leaveLoop
		}
		return true, goOn
	case nextRound:
		if s.levels--; s.levels > 0 {
			return true, nextRound
		}
		return false, goOn
	case goOn:
		return false, goOn
	default:
		return true, f
	}
}

func (s *shell) while(c *syntax.WhileClause) flow {
	s.loops++
	defer func() { s.loops-- }()
	status := 0
	for {
		s.step()
		ok, f := s.condition(c.Cond)
		switch f {
		case leaveLoop, nextRound:
			if s.levels--; s.levels > 0 {
				return f
			}
			if f == nextRound {
				continue
			}
			s.status = status
			return goOn
		case goOn:
		default:
			return f
		}
		if ok == c.Until {
			s.status = status
			return goOn
		}
		over, f := s.round(c.Do)
		if f != goOn {
			return f
		}
		status = s.status
		if over {
			return goOn
		}
	}
}

func (s *shell) forClause(c *syntax.ForClause) flow {
	switch loop := c.Loop.(type) {
	case *syntax.CStyleLoop:
		return s.cStyle(loop, c.Do)
	case *syntax.WordIter:
		return s.faulty(func() flow { return s.forWords(c, loop) })
	}
	s.errorf("this shell has no such loop")
	s.status = 2
	return goOn
}

func (s *shell) forWords(c *syntax.ForClause, loop *syntax.WordIter) flow {
	items := s.params
	if loop.InPos.IsValid() {
		items = s.words(loop.Items)
	}
	head := func() {
		if s.options.xtrace {
			s.trace(loopHead(c, loop))
		}
	}
	if c.Select {
		head()
		return s.selectLoop(loop.Name.Value, items, c.Do)
	}
	s.loops++
	defer func() { s.loops-- }()
	s.status = 0
	for _, item := range items {
		s.step()
		head()
		if !s.assign(loop.Name.Value, item) {
			s.status = 1
			return goOn
		}
		over, f := s.round(c.Do)
		if f != goOn || over {
			return f
		}
	}
	return goOn
}

func (s *shell) cStyle(loop *syntax.CStyleLoop, body []*syntax.Stmt) flow {
	s.loops++
	defer func() { s.loops-- }()
	// evaluate evaluates one of the three expressions; ok is false when it is
	// wrong, which ends the loop.
	evaluate := func(x syntax.ArithmExpr) (n int64, ok bool, f flow) {
		if x == nil {
			return 1, true, goOn
		}
		f = s.evaluating(func() int {
			n, ok = s.tracedArithm(x, x.Pos().Offset(), x.End().Offset()), true
			return 0
		})
		return n, ok, f
	}
	if _, ok, f := evaluate(loop.Init); !ok {
		return f
	}
	for s.status = 0; ; {
		s.step()
		status := s.status
		n, ok, f := evaluate(loop.Cond)
		if !ok {
			return f
		}
		s.status = status
		if n == 0 {
			return goOn
		}
		over, f := s.round(body)
		if f != goOn || over {
			return f
		}
		status = s.status
		if _, ok, f := evaluate(loop.Post); !ok {
			return f
		}
		s.status = status
	}
}

// selectLoop shows a menu and reads choices.
func (s *shell) selectLoop(name string, items []string, body []*syntax.Stmt) flow {
	s.loops++
	defer func() { s.loops-- }()
	menu := true
	for len(items) > 0 {
		s.step()
		if menu {
			for i, item := range items {
				s.say(fmt.Sprintf("%d) %s\n", i+1, item))
			}
		}
		prompt := "#? "
		if v, ok := s.variable("PS3").str(); ok {
			prompt = v
		}
		s.say(prompt)
		line, err := s.readUntil(s.ctx, 0, '\n', maxLine)
		s.check()
		if err != nil && len(line) == 0 {
			s.print("select", "\n")
			s.status = 1
			return goOn
		}
		answer := strings.TrimSpace(string(line))
		s.assign("REPLY", answer)
		if menu = answer == ""; menu {
			continue
		}
		choice := ""
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(items) {
			choice = items[n-1]
		}
		s.assign(name, choice)
		over, f := s.round(body)
		if f != goOn || over {
			return f
		}
	}
	return goOn
}

func (s *shell) caseClause(c *syntax.CaseClause) flow {
	return s.faulty(func() flow {
		if s.options.xtrace {
			s.trace("case " + sourceOf(c.Word) + " in")
		}
		word := s.single(c.Word)
		s.status = 0
		through := false
		for _, item := range c.Items {
			if !through && !slices.ContainsFunc(item.Patterns, func(w *syntax.Word) bool {
				return s.matches(s.pattern(w), word)
			}) {
				continue
			}
			if f := s.stmts(item.Stmts); f != goOn {
				return f
			}
			switch item.Op {
			case syntax.Fallthrough:
				through = true
			case syntax.Resume, syntax.ResumeKorn:
				through = false
			default:
				return goOn
			}
		}
		return goOn
	})
}

func (s *shell) declareFunction(c *syntax.FuncDecl) {
	s.status = 0
	name := c.Name
	if name == nil {
		s.errorf("a function needs a name")
		s.status = 2
		return
	}
	// A node keeps others alive that the parser has allocated with it. A byte of
	// a script takes 130 in the tree at most, see treeCost.
	cost := 12<<10 + int64(c.End().Offset()-c.Pos().Offset())*130
	if s.funcs == nil {
		s.funcs = map[string]*function{}
	}
	if old := s.funcs[name.Value]; old != nil && old.owner == s {
		s.hold(-old.cost)
	}
	s.hold(cost)
	source := s.source()
	if source == "" {
		source = "environment" // bash's name for it
	}
	s.funcs[name.Value] = &function{body: c.Body, source: source, owner: s, cost: cost}
}

// callFunction runs a function with arguments.
func (s *shell) callFunction(fn *function, name string, args []string) flow {
	s.enter()
	params, loops := s.params, s.loops
	s.params, s.loops = args, 0
	s.scope = &scope{vars: map[string]*variable{}, outer: s.scope}
	s.calls = append(s.calls, name)
	s.frames = append(s.frames, frame{name, fn.source, s.line})
	local := s.scope
	defer func() {
		for _, v := range local.vars {
			s.account(v, 0)
		}
		s.scope = local.outer
		s.params, s.loops = params, loops
		s.calls, s.frames = s.calls[:len(s.calls)-1], s.frames[:len(s.frames)-1]
		s.depth--
	}()
	f := s.stmt(fn.body)
	if action := s.traps["RETURN"]; action != "" {
		s.runTrap(action)
	}
	if f == leaveFunc {
		return goOn
	}
	return f
}
