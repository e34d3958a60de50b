package shell

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
)

// testClause runs [[ … ]] and returns its status.
func (s *shell) testClause(x syntax.TestExpr) int {
	ok, code := s.test(x, "")
	if code != 0 {
		return code
	}
	return boolStatus(ok)
}

// test evaluates an expression; code is not 0 when it is wrong. not is the "! "
// before it, for set -x.
func (s *shell) test(x syntax.TestExpr, not string) (ok bool, code int) {
	switch x := x.(type) {
	case *syntax.Word:
		text := s.single(x)
		s.traceTest(not, "-n", text)
		return text != "", 0
	case *syntax.ParenTest:
		return s.test(x.X, "")
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			ok, code := s.test(x.X, "! ")
			return !ok, code
		}
		w, isWord := x.X.(*syntax.Word)
		if !isWord {
			return false, 2
		}
		return s.testUnary(x.Op, w, not)
	case *syntax.BinaryTest:
		return s.testBinary(x, not)
	}
	return false, 2
}

func (s *shell) testUnary(op syntax.UnTestOperator, w *syntax.Word, not string) (bool, int) {
	arg := s.single(w)
	s.traceTest(not, op.String(), arg)
	switch op {
	case syntax.TsEmpStr:
		return arg == "", 0
	case syntax.TsNempStr:
		return arg != "", 0
	case syntax.TsOptSet:
		for _, o := range setOptions {
			if o.name == arg {
				return *o.field(&s.options), 0
			}
		}
		return false, 0
	case syntax.TsVarSet:
		return s.isSet(arg), 0
	case syntax.TsRefVar:
		v := s.lookup(arg)
		return v != nil && v.kind == reference, 0
	case syntax.TsFdTerm:
		return false, 0
	}
	return commands.TestFile(s.proc("[[", nil), op.String(), arg), 0
}

// isSet tells whether name, or name[index], has a value.
func (s *shell) isSet(name string) bool {
	if base, index, ok := cutIndex(name); ok && syntax.ValidName(base) {
		return s.element(base, s.subscript(s.deref(base), index)).set
	}
	if _, ok, special := s.special(name + " "); special {
		return ok
	}
	_, ok := s.variable(name).str()
	return ok
}

func (s *shell) testBinary(x *syntax.BinaryTest, not string) (bool, int) {
	switch x.Op {
	case syntax.AndTest:
		if ok, code := s.test(x.X, ""); !ok || code != 0 {
			return false, code
		}
		return s.test(x.Y, "")
	case syntax.OrTest:
		if ok, code := s.test(x.X, ""); ok || code != 0 {
			return ok, code
		}
		return s.test(x.Y, "")
	}
	lw, okX := x.X.(*syntax.Word)
	rw, okY := x.Y.(*syntax.Word)
	if !okX || !okY {
		return false, 2
	}
	left := s.single(lw)
	k := s.newSink(false)
	s.parts(k, rw.Parts, false, true)
	right := join(k.cur)
	switch x.Op {
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch, syntax.TsReMatch:
		s.traceTest(not, left, x.Op.String(), tracedPattern(k.cur))
	default:
		s.traceTest(not, left, x.Op.String(), right)
	}
	switch x.Op {
	case syntax.TsMatch, syntax.TsMatchShort:
		return s.matches(patternOf(k.cur), left), 0
	case syntax.TsNoMatch:
		return !s.matches(patternOf(k.cur), left), 0
	case syntax.TsReMatch:
		return s.testRegexp(left, k.cur)
	case syntax.TsBefore:
		return left < right, 0
	case syntax.TsAfter:
		return left > right, 0
	case syntax.TsEql:
		return s.arithText(left) == s.arithText(right), 0
	case syntax.TsNeq:
		return s.arithText(left) != s.arithText(right), 0
	case syntax.TsLeq:
		return s.arithText(left) <= s.arithText(right), 0
	case syntax.TsGeq:
		return s.arithText(left) >= s.arithText(right), 0
	case syntax.TsLss:
		return s.arithText(left) < s.arithText(right), 0
	case syntax.TsGtr:
		return s.arithText(left) > s.arithText(right), 0
	}
	return commands.TestFiles(s.proc("[[", nil), x.Op.String(), left, right), 0
}

// testRegexp matches an extended regular expression; what is quoted in it is
// literal.
func (s *shell) testRegexp(text string, pieces []piece) (bool, int) {
	var b strings.Builder
	for _, p := range pieces {
		if p.quoted {
			b.WriteString(regexp.QuoteMeta(p.text))
		} else {
			b.WriteString(p.text)
		}
	}
	expr := b.String()
	flags := "(?s)"
	if s.options.nocasematch {
		flags = "(?si)"
	}
	re, err := s.compile(flags+expr, true)
	if err != nil {
		return false, 2
	}
	var found []string
	if at := re.findAll(text); at != nil {
		found = make([]string, len(at)/2)
		s.charge(16 * len(found))
		for i := range found {
			if at[2*i] >= 0 {
				found[i] = text[at[2*i]:at[2*i+1]]
			}
		}
	}
	v := s.define("BASH_REMATCH")
	v.kind, v.value, v.table, v.shared = indexed, "", nil, false
	v.list = &array{values: found}
	s.stored("BASH_REMATCH", v)
	return found != nil, 0
}
