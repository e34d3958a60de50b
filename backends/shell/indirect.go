package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// indirect expands ${!name}: what the value of name names, or the keys of an
// array.
func (s *shell) indirect(p *syntax.ParamExp, e expansion) expansion {
	lit := literalIndex(p.Index)
	if lit == "@" || lit == "*" {
		return expansion{elems: e.v.keys(), list: true, star: lit == "*", set: e.set}
	}
	if v := s.lookup(p.Param.Value); v != nil && v.kind == reference {
		return expansion{elems: []string{v.value}, set: v.set}
	}
	name := e.text()
	if !e.set || name == "" {
		s.fault("%s: invalid indirect expansion", p.Param.Value)
	}
	if base, index, ok := cutIndex(name); ok && syntax.ValidName(base) {
		return s.element(base, index)
	}
	if name == "@" || name == "*" {
		return expansion{elems: s.params, list: true, star: name == "*", set: len(s.params) > 0}
	}
	if value, ok, special := s.special(name); special {
		return expansion{elems: []string{value}, set: ok}
	}
	if !syntax.ValidName(name) {
		s.fault("%s: invalid variable name", name)
	}
	v := s.variable(name)
	value, ok := v.str()
	out := expansion{name: name, set: ok, v: v}
	if ok {
		out.elems = []string{value}
	}
	return out
}

// cutIndex takes name[index] apart.
func cutIndex(text string) (name, index string, ok bool) {
	i := strings.IndexByte(text, '[')
	if i <= 0 || !strings.HasSuffix(text, "]") {
		return text, "", false
	}
	return text[:i], text[i+1 : len(text)-1], true
}

// subscript expands the index of a name that a command was given, as of unset
// 'h[$k]'. The index may be data: a command in it is not run.
func (s *shell) subscript(name, index string) string {
	v := s.lookup(name)
	if v == nil || v.kind != associative {
		return index
	}
	if !strings.Contains(index, "$") || strings.Contains(index, "$(") || strings.Contains(index, "`") {
		return strings.Trim(index, `"'`)
	}
	w, err := syntax.NewParser().Document(s.measured(index))
	if err != nil || w == nil {
		return index
	}
	return strings.Trim(s.document(w, false, false), `"'`)
}

// conditional expands ${x:-w}, ${x:+w}, ${x:=w} and ${x:?w}.
func (s *shell) conditional(k *sink, p *syntax.ParamExp, e expansion, quoted bool) {
	op := p.Exp.Op
	null := false
	switch op {
	case syntax.DefaultUnsetOrNull, syntax.AlternateUnsetOrNull, syntax.ErrorUnsetOrNull, syntax.AssignUnsetOrNull:
		null = true
	}
	there := e.set && (!null || len(e.elems) > 1 || strings.Join(e.elems, "") != "")
	switch op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		switch {
		case there:
			s.operand(k, p.Exp.Word, quoted)
		case quoted && e.list && !e.star && len(e.elems) == 0:
			k.list(nil, false, true)
		case quoted:
			k.add("", true)
		}
		return
	}
	if there {
		s.put(k, e, quoted)
		return
	}
	switch op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		s.operand(k, p.Exp.Word, quoted)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		text := s.single(p.Exp.Word)
		if text == "" {
			text = "parameter null or not set"
			if !null {
				text = "parameter not set"
			}
		}
		s.unbound("%s: %s", paramName(p), text)
	default:
		text := s.assigned(p.Exp.Word, quoted)
		switch {
		case e.name == "":
			s.fault("$%s: cannot assign in this way", p.Param.Value)
		case e.list && e.v != nil && e.v.kind == associative:
			s.putKey(e.name, literalIndex(p.Index), text, false)
		case e.list:
			s.fault("%s: bad array subscript", paramName(p))
		case e.index != "":
			if !s.assignElement(e.name, e.index, text, false) {
				panic(failed{code: 1, fatal: true})
			}
		case !s.assign(e.name, text):
			panic(failed{code: 1, fatal: true})
		}
		if quoted {
			k.add(text, true)
		} else {
			k.expanded(text)
		}
	}
}

// operand expands the word of ${x:-word} in its place.
func (s *shell) operand(k *sink, w *syntax.Word, quoted bool) {
	if quoted {
		k.add("", true) // also of "$@", which would be no word alone
		none := k.none
		k.none = false
		defer func() { k.none, k.sure = none, k.sure || k.none }()
	}
	if w == nil {
		return
	}
	for i, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && i == 0 && !quoted && strings.HasPrefix(lit.Value, "~") {
			head, rest := s.tilde(lit.Value, len(w.Parts) == 1)
			if head != "" {
				k.add(head, true)
			}
			s.part(k, &syntax.Lit{Value: rest}, false, true)
			continue
		}
		if q, ok := part.(*syntax.SglQuoted); ok && quoted && !q.Dollar {
			k.add("'"+q.Value+"'", true) // within double quotes they mean themselves
			continue
		}
		s.part(k, part, quoted, true)
	}
}

// assigned is the word of ${x:=word} as one string.
func (s *shell) assigned(w *syntax.Word, quoted bool) string {
	if !quoted {
		return s.single(w)
	}
	k := s.newSink(false)
	s.operand(k, w, true)
	return join(k.cur)
}
