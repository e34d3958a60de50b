package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// expansion is what a parameter has: one value, or the elements of a list.
type expansion struct {
	name  string // of the variable, "" for special parameters
	index string // key of one element, "" for none
	elems []string
	list  bool // $@, $*, a[@], a[*]
	star  bool
	set   bool
	v     *variable
}

func (e expansion) text() string {
	if len(e.elems) == 0 {
		return ""
	}
	if len(e.elems) == 1 {
		return e.elems[0]
	}
	return strings.Join(e.elems, " ")
}

// param expands a parameter into k.
func (s *shell) param(k *sink, p *syntax.ParamExp, quoted bool) {
	if p.Param == nil || p.Width || p.IsSet || p.Flags != nil || len(p.Modifiers) > 0 {
		s.fault("%s: bad substitution", sourceOf(p))
	}
	e := s.lookupParam(p)
	switch {
	case p.Excl && p.Names != 0:
		var names []string
		for _, name := range s.names() {
			if strings.HasPrefix(name, p.Param.Value) {
				names = append(names, name)
			}
		}
		k.list(names, p.Names == syntax.NamesPrefix, quoted)
		return
	case p.Excl:
		if e = s.indirect(p, e); e.list && p.Exp == nil && p.Slice == nil && p.Repl == nil {
			s.put(k, e, quoted)
			return
		}
	}
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AlternateUnset, syntax.AlternateUnsetOrNull,
			syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			s.conditional(k, p, e, quoted)
			return
		}
	}
	if !e.set && s.options.nounset && !e.list {
		s.unbound("%s: unbound variable", paramName(p))
	}
	switch {
	case p.Length:
		n := len(e.elems)
		if !e.list {
			n = utf8.RuneCountInString(e.text())
		}
		e = expansion{elems: []string{strconv.Itoa(n)}, set: true}
	case p.Slice != nil:
		e = s.slice(p, e)
	case p.Repl != nil:
		e.elems = s.replaced(p.Repl, e.elems)
	case p.Exp != nil:
		e.elems = s.operated(p, e)
	}
	s.put(k, e, quoted)
}

func paramName(p *syntax.ParamExp) string {
	if p.Index != nil {
		return p.Param.Value + "[" + sourceOfArithm(p.Index) + "]"
	}
	return p.Param.Value
}

func (s *shell) put(k *sink, e expansion, quoted bool) {
	switch {
	case e.list:
		k.list(e.elems, e.star, quoted)
	case quoted:
		k.add(e.text(), true)
	default:
		k.expanded(e.text())
	}
}

// lookupParam finds the parameter that p names.
func (s *shell) lookupParam(p *syntax.ParamExp) expansion {
	name := p.Param.Value
	switch name {
	case "@", "*":
		return expansion{elems: s.params, list: true, star: name == "*", set: len(s.params) > 0}
	}
	if value, ok, special := s.special(name); special {
		e := expansion{set: ok}
		if ok {
			e.elems = []string{value}
		}
		return e
	}
	if to := s.deref(name); to != name {
		base, index, found := cutIndex(to)
		if found {
			return s.element(base, index)
		}
		name = to
	}
	v := s.variable(name)
	switch lit := literalIndex(p.Index); {
	case p.Index == nil:
		value, ok := v.str()
		e := expansion{name: name, set: ok, v: v}
		if ok {
			e.elems = []string{value}
		}
		return e
	case lit == "@" || lit == "*":
		values := v.values()
		return expansion{name: name, elems: values, list: true, star: lit == "*", set: len(values) > 0, v: v}
	case v != nil && v.kind == associative:
		return s.element(name, s.key(p.Index))
	default:
		return s.elementAt(name, v, s.arithm(p.Index))
	}
}

// literalIndex is the text of an index without expansions.
func literalIndex(x syntax.ArithmExpr) string {
	if w, ok := x.(*syntax.Word); ok {
		return w.Lit()
	}
	return ""
}

// key expands the index of an associative array. What the parser took for
// arithmetic, as in h[my-key] and h[$i,$j], is put together as it was written.
func (s *shell) key(x syntax.ArithmExpr) string {
	k := s.newSink(false)
	s.parts(k, keyParts(nil, x), false, false)
	return join(k.cur)
}

// keyParts appends the parts of an index, read as a word.
func keyParts(to []syntax.WordPart, x syntax.ArithmExpr) []syntax.WordPart {
	text := func(text string) { to = append(to, &syntax.Lit{Value: text}) }
	// blanks are those between the end of one thing and the start of the next.
	blanks := func(from, next uint) {
		if next > from {
			text(strings.Repeat(" ", int(next-from)))
		}
	}
	switch x := x.(type) {
	case *syntax.Word:
		name, index, element := arrayWord(x)
		if !element {
			return append(to, x.Parts...)
		}
		text(name + "[")
		to = keyParts(to, index)
		text("]")
	case *syntax.ParenArithm:
		text("(")
		blanks(x.Lparen.Offset()+1, x.X.Pos().Offset())
		to = keyParts(to, x.X)
		blanks(x.X.End().Offset(), x.Rparen.Offset())
		text(")")
	case *syntax.UnaryArithm:
		op := x.Op.String()
		if x.Post {
			to = keyParts(to, x.X)
			blanks(x.X.End().Offset(), x.OpPos.Offset())
			text(op)
			break
		}
		text(op)
		blanks(x.OpPos.Offset()+uint(len(op)), x.X.Pos().Offset())
		to = keyParts(to, x.X)
	case *syntax.BinaryArithm:
		op := x.Op.String()
		to = keyParts(to, x.X)
		blanks(x.X.End().Offset(), x.OpPos.Offset())
		text(op)
		blanks(x.OpPos.Offset()+uint(len(op)), x.Y.Pos().Offset())
		to = keyParts(to, x.Y)
	}
	return to
}

// sourceOfArithm is an arithmetic expression as it was written.
func sourceOfArithm(x syntax.ArithmExpr) string {
	var b strings.Builder
	for _, part := range keyParts(nil, x) {
		if lit, ok := part.(*syntax.Lit); ok {
			b.WriteString(lit.Value)
		} else {
			b.WriteString(sourceOf(&syntax.Word{Parts: []syntax.WordPart{part}}))
		}
	}
	return b.String()
}

// element is name[index], the index as text.
func (s *shell) element(name, index string) expansion {
	v := s.variable(name)
	switch {
	case index == "@" || index == "*":
		values := v.values()
		return expansion{name: name, elems: values, list: true, star: index == "*", set: len(values) > 0, v: v}
	case v != nil && v.kind == associative:
		value, ok := v.table[index]
		e := expansion{name: name, index: index, set: ok, v: v}
		if ok {
			e.elems = []string{value}
		}
		return e
	}
	return s.elementAt(name, v, s.arithText(index))
}

func (s *shell) elementAt(name string, v *variable, i int64) expansion {
	e := expansion{name: name, index: strconv.FormatInt(i, 10), v: v}
	if v == nil || !v.set {
		return e
	}
	if v.kind == scalar {
		if i == 0 || i == -1 {
			e.elems, e.set = []string{v.value}, true
		}
		return e
	}
	if i < 0 {
		if i += int64(v.list.last()) + 1; i < 0 {
			s.errorf("%s: bad array subscript", name)
			return e
		}
	}
	if i > 1<<40 {
		return e
	}
	if value, ok := v.list.get(int(i)); ok {
		e.elems, e.set = []string{value}, true
	}
	return e
}

// special are the parameters that are no variables.
func (s *shell) special(name string) (value string, set, special bool) {
	switch name {
	case "#":
		return strconv.Itoa(len(s.params)), true, true
	case "?":
		return strconv.Itoa(s.status), true, true
	case "$":
		return strconv.Itoa(s.root), true, true
	case "!":
		return strconv.Itoa(s.lastJob), s.lastJob != 0, true
	case "-":
		return s.options.letters(), true, true
	case "_":
		return s.lastArg, true, true
	case "0":
		return s.name, true, true
	}
	if name[0] >= '1' && name[0] <= '9' {
		n, err := strconv.Atoi(name)
		if err != nil || n > len(s.params) {
			return "", false, true
		}
		return s.params[n-1], true, true
	}
	return "", false, false
}
