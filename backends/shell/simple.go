package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// simple runs a simple command: assignments, words, redirections.
func (s *shell) simple(c *syntax.CallExpr, redirs []*syntax.Redirect) flow {
	return s.faulty(func() flow {
		s.substatus = 0
		args := s.words(s.withAliases(c.Args))
		if len(args) == 0 {
			return s.assignments(c, redirs)
		}
		return s.invoke(c, redirs, args)
	})
}

// withAliases replaces the first word by the alias that it is.
func (s *shell) withAliases(words []*syntax.Word) []*syntax.Word {
	if !s.options.expandAliases || len(words) == 0 {
		return words
	}
	seen := map[string]bool{}
	for {
		name := words[0].Lit()
		text, ok := s.aliases[name]
		if !ok || name == "" || seen[name] {
			return words
		}
		seen[name] = true
		var fresh []*syntax.Word
		if checkNesting(text, s.m.limits.Script) != nil {
			return words
		}
		for w, err := range syntax.NewParser().WordsSeq(s.measured(text)) {
			if err != nil {
				return words
			}
			fresh = append(fresh, w)
		}
		if words = append(fresh, words[1:]...); len(words) == 0 {
			return words
		}
	}
}

// assignments runs a command that has no words.
func (s *shell) assignments(c *syntax.CallExpr, redirs []*syntax.Redirect) flow {
	undo, ok := s.redirect(redirs)
	defer undo()
	if !ok {
		s.status = 1
		return goOn
	}
	for _, a := range c.Assigns {
		if !s.assignNode(s.tracedAssign(a), assigning{}) {
			s.status = 1
			return leave // as bash: assigning to a readonly variable ends a script
		}
	}
	s.status = s.substatus
	return goOn
}

// invoke runs a command with words.
func (s *shell) invoke(c *syntax.CallExpr, redirs []*syntax.Redirect, args []string) (f flow) {
	name := args[0]
	if len(s.m.limitsOfArguments(args)) > 0 {
		s.errorf("%s: Argument list too long", name)
		s.status = 126
		return goOn
	}
	if name == "exec" && s.funcs["exec"] == nil {
		return s.execBuiltin(c, redirs, args[1:])
	}
	restore, ok := s.temporarily(c.Assigns)
	defer restore()
	if !ok && s.options.posix {
		s.status = 1
		return goOn
	}
	s.traceWords(args) // where standard error was before the redirections
	undo, ok := s.redirect(redirs)
	defer undo()
	if !ok {
		s.status = 1
		return goOn
	}
	f = s.dispatch(args, true)
	s.lastArg = args[len(args)-1]
	s.endSubstitutes()
	return f
}

// limitsOfArguments returns what is wrong with arguments that are too long, as
// a system has it for those of a process.
func (m *machine) limitsOfArguments(args []string) string {
	n := 0
	for _, a := range args {
		n += len(a) + 8
	}
	if n > 64<<20 {
		return "Argument list too long"
	}
	return ""
}

// dispatch runs what args name: a function (where they count), a builtin, a
// command.
func (s *shell) dispatch(args []string, functions bool) flow {
	name := args[0]
	if functions {
		if fn := s.funcs[name]; fn != nil {
			return s.callFunction(fn, name, args[1:])
		}
	}
	if b := builtinOf(name); b != nil {
		return b(s, name, args[1:])
	}
	s.status = s.external(args)
	return goOn
}

// temporarily makes assignments for one command.
func (s *shell) temporarily(assigns []*syntax.Assign) (restore func(), ok bool) {
	if len(assigns) == 0 {
		return func() {}, true
	}
	type saved struct {
		name string
		v    *variable
		sc   *scope
	}
	var before []saved
	restore = func() {
		for i := len(before) - 1; i >= 0; i-- {
			b := before[i]
			if now := b.sc.vars[b.name]; now != nil {
				s.account(now, 0)
			}
			if b.v == nil {
				delete(b.sc.vars, b.name)
			} else {
				b.sc.vars[b.name] = b.v
				s.hold(b.v.cost)
			}
		}
	}
	ok = true
	for _, a := range assigns {
		name := s.deref(a.Name.Value)
		sc := s.scope
		for sc.vars[name] == nil && sc.outer != nil {
			sc = sc.outer
		}
		old := sc.vars[name]
		if old != nil {
			if old.readOnly {
				s.errorf("%s: readonly variable", name)
				ok = false
				continue
			}
			before = append(before, saved{name, old, sc})
			fresh := *old
			fresh.shared = old.kind != scalar
			old.shared = fresh.shared
			s.hold(-old.cost) // held by fresh while it is there
			fresh.cost = old.cost
			s.hold(fresh.cost)
			sc.vars[name] = &fresh
		} else {
			before = append(before, saved{name, nil, sc})
		}
		if !s.assignNode(s.tracedAssign(a), assigning{}) {
			ok = false
			continue
		}
		if v := sc.vars[name]; v != nil {
			v.exported = true
		}
	}
	return restore, ok
}

// shellQuote writes text so that a shell reads it as one word.
func shellQuote(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r) || r > 0x7f && r != 0xfffd
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }) {
		return dollarQuote(text)
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// dollarQuote is $'text'.
func dollarQuote(text string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == 0x1b:
			b.WriteString(`\E`)
		case c < ' ' || c == 0x7f:
			b.WriteString(`\` + string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7}))
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
