package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
)

// maxCommandText is how many bytes of a command $BASH_COMMAND has.
const maxCommandText = 1 << 10

// commandText is the command that runs, or in a trap that which ran before it.
func (s *shell) commandText() string {
	if s.running == nil {
		return ""
	}
	st := &syntax.Stmt{Cmd: s.running.Cmd, Redirs: s.running.Redirs}
	if st.End().Offset()-st.Pos().Offset() > maxSource {
		return "…"
	}
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SpaceRedirects(true)).Print(&b, st); err != nil {
		return ""
	}
	text := b.String()
	if len(text) > maxCommandText {
		text = strings.ToValidUTF8(text[:maxCommandText], "")
	}
	return text
}

// trace says what is run, for set -x. The caller has asked whether that is on.
func (s *shell) trace(text string) {
	line := []byte(s.tracePrefix() + text + "\n")
	to := 2
	if v, ok := s.variable("BASH_XTRACEFD").str(); ok {
		if n, err := strconv.Atoi(v); err == nil && s.fds[n] != nil {
			to = n
		}
	}
	// Where it cannot be written to there is nobody to tell.
	_, _ = commands.WriteContext(s.ctx, s.writer(to), line)
}

// tracePrefix is what $PS4 expands to, its first character once for each level
// of substitutions.
func (s *shell) tracePrefix() string {
	ps4, _ := s.variable("PS4").str()
	if strings.ContainsAny(ps4, "$`\\") {
		ps4 = s.expandedPrompt(ps4)
	}
	_, n := utf8.DecodeRuneInString(ps4)
	return strings.Repeat(ps4[:n], min(s.nesting, 100)) + ps4
}

// expandedPrompt expands a prompt as a here-document. It changes nothing else:
// no status, and what it runs is not traced. What cannot be expanded stays.
func (s *shell) expandedPrompt(prompt string) (text string) {
	options, status, substatus, depth := s.options, s.status, s.substatus, s.depth
	defer func() {
		s.options, s.status, s.substatus, s.depth = options, status, substatus, depth
		if r := recover(); r != nil {
			if _, ok := r.(failed); !ok {
				panic(r)
			}
			text = prompt
		}
	}()
	s.options.xtrace, s.options.nounset = false, false
	s.enter()
	if checkNesting(prompt, s.m.limits.Script) != nil {
		return prompt
	}
	w, err := syntax.NewParser().Document(s.measured(prompt))
	if err != nil || w == nil {
		return prompt
	}
	return s.document(w, false, false)
}

// traceWords traces a command by its words.
func (s *shell) traceWords(args []string) {
	if !s.options.xtrace {
		return
	}
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quoteTrace(a)
	}
	s.trace(strings.Join(quoted, " "))
}

// tracedAssign traces an assignment, and returns one that does not expand its
// value again.
func (s *shell) tracedAssign(a *syntax.Assign) *syntax.Assign {
	if !s.options.xtrace {
		return a
	}
	name := a.Name.Value
	if a.Index != nil {
		name += "[" + sourceOfArithm(a.Index) + "]"
	}
	if a.Append {
		name += "+"
	}
	if a.Array != nil {
		s.trace(name + "=" + sourceOfElements(a.Array))
		return a
	}
	text := s.value(a.Value)
	if text == "" {
		s.trace(name + "=")
	} else {
		s.trace(name + "=" + quoteTrace(text))
	}
	return withValue(a, text)
}

// withValue is a, its value expanded to text.
func withValue(a *syntax.Assign, text string) *syntax.Assign {
	out := *a
	out.Value = &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: text}}}
	return &out
}

// sourceOfElements is (…) of an array, on one line.
func sourceOfElements(a *syntax.ArrayExpr) string {
	elems := make([]string, 0, len(a.Elems))
	for _, e := range a.Elems {
		text := ""
		if e.Index != nil {
			text = "[" + sourceOfArithm(e.Index) + "]="
		}
		if e.Value != nil {
			text += sourceOf(e.Value)
		}
		elems = append(elems, text)
	}
	return "(" + strings.Join(elems, " ") + ")"
}

// tracedDecl traces declare and its like, and returns one that does not expand
// its words again.
func (s *shell) tracedDecl(c *syntax.DeclClause) *syntax.DeclClause {
	if !s.options.xtrace {
		return c
	}
	out := &syntax.DeclClause{Variant: c.Variant}
	words := []string{c.Variant.Value}
	for _, a := range c.Args {
		switch {
		case a.Name == nil:
			for _, field := range s.words([]*syntax.Word{a.Value}) {
				words = append(words, field)
				out.Args = append(out.Args, withValue(a, field))
			}
			continue
		case a.Array != nil:
			s.trace(a.Name.Value + "=" + sourceOfElements(a.Array))
			words = append(words, a.Name.Value)
		case a.Naked:
			words = append(words, a.Name.Value)
		default:
			text := s.value(a.Value)
			add := ""
			if a.Append {
				add = "+"
			}
			words = append(words, a.Name.Value+add+"="+text)
			a = withValue(a, text)
		}
		out.Args = append(out.Args, a)
	}
	s.traceWords(words)
	return out
}

// tracedArithm evaluates and traces the expression between two offsets.
func (s *shell) tracedArithm(x syntax.ArithmExpr, from, to uint) int64 {
	if !s.options.xtrace {
		return s.arithm(x)
	}
	numbers := true
	if s.expands(x) {
		x = s.substituted(x, &numbers)
	}
	blanks := func(from, to uint) string { return strings.Repeat(" ", int(max(to, from)-from)) }
	text := sourceOfArithm(x)
	s.trace("(( " + blanks(from, x.Pos().Offset()) + text + blanks(x.End().Offset(), to) + " ))")
	if numbers {
		return s.evaluate(x)
	}
	return s.arithText(text)
}

// tracedLet traces let, and returns expressions that are not expanded again.
func (s *shell) tracedLet(list []syntax.ArithmExpr) []syntax.ArithmExpr {
	if !s.options.xtrace {
		return list
	}
	words := []string{"let"}
	out := make([]syntax.ArithmExpr, len(list))
	for i, x := range list {
		out[i] = x
		if s.expands(x) {
			numbers := true
			x = s.substituted(x, &numbers)
			out[i] = &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: sourceOfArithm(x)}}}
		}
		words = append(words, sourceOfArithm(x))
	}
	s.traceWords(words)
	return out
}

// loopHead is the head of for and select, as it was written.
func loopHead(c *syntax.ForClause, loop *syntax.WordIter) string {
	words := []string{"for", loop.Name.Value, "in"}
	if c.Select {
		words[0] = "select"
	}
	if !loop.InPos.IsValid() {
		words = append(words, `"$@"`)
	}
	for _, w := range loop.Items {
		words = append(words, sourceOf(w))
	}
	return strings.Join(words, " ")
}

// traceTest traces one test of [[ ]].
func (s *shell) traceTest(not string, words ...string) {
	if !s.options.xtrace {
		return
	}
	for i, w := range words {
		if w == "" {
			words[i] = "''"
		}
	}
	s.trace("[[ " + not + strings.Join(words, " ") + " ]]")
}

// tracedPattern is a pattern as bash traces it: a backslash before all that is
// quoted.
func tracedPattern(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if !p.quoted {
			b.WriteString(p.text)
			continue
		}
		for _, r := range p.text {
			b.WriteByte('\\')
			b.WriteRune(r)
		}
	}
	return b.String()
}

// quoteTrace quotes a word as set -x does, which is less than would be needed to
// read it again.
func quoteTrace(arg string) string {
	switch {
	case arg == "":
		return "''"
	case strings.ContainsAny(arg, " \t\n'\"\\|&;()<>!{}*[]?^$`"), arg[0] == '~', arg[0] == '#', strings.Contains(arg, "=~"), strings.Contains(arg, ":~"):
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	case strings.ContainsFunc(arg, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }):
		return dollarQuote(arg)
	}
	return arg
}
