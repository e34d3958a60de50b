package commands

import "github.com/itchyny/gojq"

// jqRewriter puts the checks of jq_guard.go into a query, and notes the order
// of the keys that it writes.
type jqRewriter struct{ order *jqOrder }

func jqCall(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

func jqPipe(q *gojq.Query, to string) *gojq.Query {
	return &gojq.Query{Left: q, Op: gojq.OpPipe, Right: jqCall(to)}
}

// plain tells a query that is a short constant.
func jqPlain(q *gojq.Query) bool {
	if q == nil || q.Term == nil || len(q.Term.SuffixList) > 0 {
		return false
	}
	switch t := q.Term; t.Type {
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber:
		return true
	case gojq.TermTypeString:
		return t.Str != nil && len(t.Str.Queries) == 0
	}
	return false
}

// checked is q with a check of its values after it.
func jqChecked(q *gojq.Query) *gojq.Query { return jqThrough(q, "__c") }

// jqThrough is q with its values passed through a function.
func jqThrough(q *gojq.Query, name string) *gojq.Query {
	if jqPlain(q) {
		return q
	}
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: jqPipe(q, name)}}
}

func (r *jqRewriter) query(q *gojq.Query) {
	if q == nil {
		return
	}
	for _, d := range q.FuncDefs {
		r.query(d.Body)
	}
	r.query(q.Left)
	r.query(q.Right)
	for _, p := range q.Patterns {
		r.pattern(p)
	}
	r.term(q.Term)
	switch q.Op {
	case gojq.OpSub, gojq.OpEq, gojq.OpNe, gojq.OpGt, gojq.OpLt, gojq.OpGe, gojq.OpLe:
		q.Left, q.Right = jqChecked(q.Left), jqChecked(q.Right)
	case gojq.OpAdd:
		// A text that doubles again and again is found before it is too large.
		sum := &gojq.Query{Left: q.Left, Op: gojq.OpAdd, Right: q.Right}
		*q = gojq.Query{FuncDefs: q.FuncDefs, Left: sum, Op: gojq.OpPipe, Right: jqCall("__sum")}
	case gojq.OpUpdateAdd:
		// a += b is b as $x | a |= (. + $x).
		sum := &gojq.Query{Left: &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}, Op: gojq.OpAdd, Right: jqCall("$__added")}
		*q = gojq.Query{FuncDefs: q.FuncDefs, Left: q.Right, Patterns: []*gojq.Pattern{{Name: "$__added"}}, Op: gojq.OpPipe,
			Right: &gojq.Query{Left: q.Left, Op: gojq.OpModify, Right: jqPipe(sum, "__sum")}}
	case gojq.OpMul:
		q.Term = &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: "__mul", Args: []*gojq.Query{q.Left, q.Right}}}
		q.Left, q.Right, q.Op = nil, nil, 0
	}
}

func (r *jqRewriter) queries(list ...*gojq.Query) {
	for _, q := range list {
		r.query(q)
	}
}

func (r *jqRewriter) pattern(p *gojq.Pattern) {
	for _, sub := range p.Array {
		r.pattern(sub)
	}
	for _, o := range p.Object {
		r.text(o.KeyString, "__text")
		r.query(o.KeyQuery)
		if o.Val != nil {
			r.pattern(o.Val)
		}
	}
}

// text checks what is put into a string, or makes text of it where there is no
// format that does.
func (r *jqRewriter) text(s *gojq.String, check string) {
	if s == nil {
		return
	}
	for i, q := range s.Queries {
		r.query(q)
		if q.Term == nil || q.Term.Type != gojq.TermTypeString {
			s.Queries[i] = jqThrough(q, check)
		}
	}
}

// jqFormatCheck is what values pass on their way to a format: those that take
// lists, or write JSON, get them as they are.
func jqFormatCheck(format string) string {
	switch format {
	case "@csv", "@tsv", "@sh", "@json":
		return "__c"
	}
	return "__text"
}

func (r *jqRewriter) term(t *gojq.Term) {
	if t == nil {
		return
	}
	switch t.Type {
	case gojq.TermTypeRecurse:
		t.Type, t.Func = gojq.TermTypeFunc, &gojq.Func{Name: "recurse"}
	case gojq.TermTypeIndex:
		r.index(t.Index)
	case gojq.TermTypeFunc:
		r.queries(t.Func.Args...)
	case gojq.TermTypeObject:
		r.object(t.Object)
	case gojq.TermTypeArray:
		r.query(t.Array.Query)
	case gojq.TermTypeUnary:
		r.term(t.Unary.Term)
	case gojq.TermTypeFormat:
		r.text(t.Str, jqFormatCheck(t.Format))
		switch {
		case t.Str != nil:
		case t.Format == "@json":
			t.Type, t.Func = gojq.TermTypeFunc, &gojq.Func{Name: "__tojson"}
		default:
			t.Type, t.Query = gojq.TermTypeQuery, &gojq.Query{Left: jqCall(jqFormatCheck(t.Format)), Op: gojq.OpPipe,
				Right: &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFormat, Format: t.Format}}}
		}
	case gojq.TermTypeString:
		r.text(t.Str, "__text")
	case gojq.TermTypeIf:
		r.queries(t.If.Cond, t.If.Then, t.If.Else)
		for _, e := range t.If.Elif {
			r.queries(e.Cond, e.Then)
		}
	case gojq.TermTypeTry:
		r.queries(t.Try.Body, t.Try.Catch)
	case gojq.TermTypeReduce:
		r.queries(t.Reduce.Query, t.Reduce.Start, t.Reduce.Update)
		for _, p := range t.Reduce.Patterns {
			r.pattern(p)
		}
	case gojq.TermTypeForeach:
		r.queries(t.Foreach.Query, t.Foreach.Start, t.Foreach.Update, t.Foreach.Extract)
		for _, p := range t.Foreach.Patterns {
			r.pattern(p)
		}
	case gojq.TermTypeLabel:
		r.query(t.Label.Body)
	case gojq.TermTypeQuery:
		r.query(t.Query)
	}
	r.suffixes(t)
}

// suffixes replaces [] by a function that keeps the order of keys.
func (r *jqRewriter) suffixes(t *gojq.Term) {
	for i, s := range t.SuffixList {
		r.index(s.Index)
		if !s.Iter {
			continue
		}
		rest := t.SuffixList[i+1:]
		before := *t
		before.SuffixList = t.SuffixList[:i:i]
		*t = gojq.Term{Type: gojq.TermTypeQuery, Query: jqPipe(&gojq.Query{Term: &before}, "__iter"), SuffixList: rest}
		r.suffixes(t)
		return
	}
}

func (r *jqRewriter) index(x *gojq.Index) {
	if x == nil {
		return
	}
	if x.Name != "" {
		r.order.note(x.Name)
	}
	if x.Str != nil && len(x.Str.Queries) == 0 {
		r.order.note(x.Str.Str)
	}
	r.text(x.Str, "__text")
	r.queries(x.Start, x.End)
	if x.Start != nil && !x.IsSlice {
		x.Start = jqPipe(x.Start, "__index")
	}
}

func (r *jqRewriter) object(o *gojq.Object) {
	var keys []string
	for _, kv := range o.KeyVals {
		key := kv.Key
		if kv.KeyString != nil && len(kv.KeyString.Queries) == 0 {
			key = kv.KeyString.Str
		}
		if key != "" && key[0] == '$' {
			key = key[1:]
		}
		if key != "" {
			keys = append(keys, key)
		}
		r.text(kv.KeyString, "__text")
		r.query(kv.Val)
		if kv.KeyQuery != nil {
			r.query(kv.KeyQuery)
			kv.KeyQuery = jqPipe(kv.KeyQuery, "__note")
		}
	}
	if len(keys) == len(o.KeyVals) {
		r.order.written(keys)
	}
	for _, k := range keys {
		r.order.note(k)
	}
}
