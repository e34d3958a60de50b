package awk

import (
	"cmp"
	"slices"
	"strings"
)

// guarded runs do outside all functions: a next or exit within them ends here.
func (in *interp) guarded(do func() flow) (f flow) {
	defer func() {
		if r := recover(); r != nil {
			u, ok := r.(unwinding)
			if !ok {
				panic(r)
			}
			in.release(frameCost * in.depth)
			in.depth, in.frame = 0, nil
			f = u.flow
		}
	}()
	return do()
}

func (in *interp) stmts(list []stmt) flow {
	for _, s := range list {
		if f := in.stmt(s); f != goOn {
			return f
		}
	}
	return goOn
}

func (in *interp) stmt(s stmt) flow {
	in.tick()
	switch s := s.(type) {
	case *exprStmt:
		in.eval(s.x)
	case *printStmt:
		in.print(s)
	case *block:
		return in.stmts(s.list)
	case *ifStmt:
		if in.truth(s.cond) {
			return in.stmts(s.yes.list)
		}
		if s.no != nil {
			return in.stmts(s.no.list)
		}
	case *whileStmt:
		for s.do || in.truth(s.cond) {
			in.tick()
			if f := in.stmts(s.body.list); f == flowBreak {
				break
			} else if f != goOn && f != flowContinue {
				return f
			}
			if s.do && !in.truth(s.cond) {
				break
			}
		}
	case *forStmt:
		return in.forStmt(s)
	case *forInStmt:
		return in.forIn(s)
	case *switchStmt:
		return in.switchStmt(s)
	case *flowStmt:
		return in.flow(s)
	case *deleteStmt:
		arr := in.arrayOf(s.arr)
		if s.keys == nil {
			in.clear(arr)
		} else {
			in.deleteElement(arr, in.key(s.keys))
		}
	}
	return goOn
}

func (in *interp) flow(s *flowStmt) flow {
	switch s.flow {
	case flowReturn:
		in.returned = value{}
		if s.x != nil {
			v := in.eval(s.x)
			in.returned = v
		}
	case flowExit:
		if s.x != nil {
			in.exitCode = int(int64(in.eval(s.x).num())) & 0xff
		}
	}
	return s.flow
}

func (in *interp) forStmt(s *forStmt) flow {
	if s.init != nil {
		in.stmt(s.init)
	}
	for s.cond == nil || in.truth(s.cond) {
		in.tick()
		if f := in.stmts(s.body.list); f == flowBreak {
			break
		} else if f != goOn && f != flowContinue {
			return f
		}
		if s.post != nil {
			in.stmt(s.post)
		}
	}
	return goOn
}

func (in *interp) forIn(s *forInStmt) flow {
	in.line = s.line
	arr := in.arrayOf(s.arr)
	cost := 16 * arr.len()
	in.hold(cost)
	defer in.release(cost)
	for _, key := range in.sortedKeys(arr) {
		in.tick()
		if !arr.has(key) {
			continue
		}
		in.set(s.v, fromInput(key, false).asKey())
		if f := in.stmts(s.body.list); f == flowBreak {
			break
		} else if f != goOn && f != flowContinue {
			return f
		}
	}
	return goOn
}

// asKey makes a text of a key, as subscripts are.
func (v value) asKey() value { return str(v.s) }

// sortedKeys are the keys in the order that PROCINFO["sorted_in"] asks for.
func (in *interp) sortedKeys(arr *array) []string {
	keys := arr.keys()
	info := in.globals[vPROCINFO].arr
	if info == nil || !info.has("sorted_in") {
		return keys
	}
	order := in.element(info, "sorted_in").str(in.convfmt)
	by, ok := sortOrders[strings.TrimSuffix(strings.TrimSuffix(order, "_asc"), "_desc")]
	if !ok {
		return keys
	}
	compareKeys := func(a, b string) int {
		if c := by(entry{key: a, val: *in.element(arr, a)}, entry{key: b, val: *in.element(arr, b)}); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	}
	slices.SortStableFunc(keys, func(a, b string) int {
		in.tick()
		if strings.HasSuffix(order, "_desc") {
			return compareKeys(b, a)
		}
		return compareKeys(a, b)
	})
	return keys
}

var sortOrders = map[string]func(a, b entry) int{
	"@ind_str":  func(a, b entry) int { return strings.Compare(a.key, b.key) },
	"@ind_num":  func(a, b entry) int { return cmp.Compare(fromInput(a.key, false).num(), fromInput(b.key, false).num()) },
	"@val_str":  func(a, b entry) int { return strings.Compare(a.val.str("%.6g"), b.val.str("%.6g")) },
	"@val_num":  func(a, b entry) int { return cmp.Compare(a.val.num(), b.val.num()) },
	"@val_type": compareTypes,
}

// compareTypes puts numbers before texts before arrays.
func compareTypes(a, b entry) int {
	rank := func(v value) int {
		if v.arr != nil {
			return 2
		}
		if _, ok := v.numeric(); ok {
			return 0
		}
		return 1
	}
	if x, y := rank(a.val), rank(b.val); x != y {
		return x - y
	}
	if rank(a.val) == 0 {
		return cmp.Compare(a.val.num(), b.val.num())
	}
	return strings.Compare(a.val.s, b.val.s)
}

func (in *interp) switchStmt(s *switchStmt) flow {
	v := in.eval(s.x)
	at := -1
	for i, c := range s.cases {
		if c.match == nil {
			continue
		}
		if re, ok := c.match.(*regexpLit); ok {
			if in.matches(re, v.str(in.convfmt)) {
				at = i
				break
			}
			continue
		}
		m := in.eval(c.match)
		if m.kind == text && v.kind != number && m.s == v.str(in.convfmt) || m.kind != text && compare(v, m, in.convfmt) == 0 {
			at = i
			break
		}
	}
	if at < 0 {
		at = slices.IndexFunc(s.cases, func(c switchCase) bool { return c.match == nil })
	}
	for ; at >= 0 && at < len(s.cases); at++ {
		if f := in.stmts(s.cases[at].body); f == flowBreak {
			break
		} else if f != goOn {
			return f
		}
	}
	return goOn
}

// print is print and printf.
func (in *interp) print(s *printStmt) {
	in.line = s.line
	out := in.cfg.Stdout
	var line string
	switch {
	case s.format:
		line = in.format(in.values(s.args))
	case len(s.args) == 0:
		line = in.record0()
	case len(s.args) == 1:
		line = in.printed(in.eval(s.args[0]))
	case s.redir == "":
		// Without making one text of it.
		parts := in.values(s.args)
		for i, v := range parts {
			if i > 0 {
				out.WriteString(in.ofs)
			}
			out.WriteString(in.printed(v))
		}
		out.WriteString(in.ors)
		return
	default:
		var b strings.Builder
		for i, v := range in.values(s.args) {
			if i > 0 {
				b.WriteString(in.ofs)
			}
			b.WriteString(in.printed(v))
			in.passing(b.Len())
		}
		line = b.String()
	}
	at := &sink{Writer: out}
	if s.redir != "" {
		at = in.sink(s.redir, in.eval(s.to).str(in.convfmt))
	}
	at.WriteString(line)
	if !s.format {
		at.WriteString(in.ors)
	}
	if at.immediate {
		if err := at.Flush(); err != nil {
			in.failed(err)
		}
	}
}

func (in *interp) values(list []expr) []value {
	out := make([]value, len(list))
	for i, x := range list {
		out[i] = in.eval(x)
	}
	return out
}

// printed is v as print writes it.
func (in *interp) printed(v value) string {
	if v.kind == number {
		return formatNumber(v.n, in.globals[vOFMT].v.s)
	}
	return v.str(in.convfmt)
}
