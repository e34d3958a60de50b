package shell

import (
	"io"
	"math/bits"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-workspace/mcp-workspace/internal/bash"
)

// maxArithDepth is how many operators of an expression can be under way: a sum
// is as deep as it is long.
const maxArithDepth = 50_000

// arithm evaluates an arithmetic expression. What goes wrong has been said when
// it unwinds.
func (s *shell) arithm(x syntax.ArithmExpr) int64 {
	if !s.expands(x) {
		return s.evaluate(x)
	}
	// As in bash, what is expanded is text of the expression: with x=1+2, $x*3
	// is 7. Where it is all numbers, that makes no difference.
	numbers := true
	x = s.substituted(x, &numbers)
	if numbers {
		return s.evaluate(x)
	}
	return s.arithText(sourceOfArithm(x))
}

// expands tells whether there is something to expand in x. Indexes have a turn
// of their own.
func (s *shell) expands(x syntax.ArithmExpr) bool {
	if s.arithDepth++; s.arithDepth > maxArithDepth {
		s.arithFault("the expression has too many operators")
	}
	defer func() { s.arithDepth-- }()
	switch x := x.(type) {
	case *syntax.Word:
		_, _, element := arrayWord(x)
		return x.Lit() == "" && !element
	case *syntax.ParenArithm:
		return s.expands(x.X)
	case *syntax.UnaryArithm:
		return s.expands(x.X)
	case *syntax.BinaryArithm:
		return s.expands(x.X) || s.expands(x.Y)
	}
	return false
}

// substituted is x with its expansions made. numbers becomes false when one of
// them is no number.
func (s *shell) substituted(x syntax.ArithmExpr, numbers *bool) syntax.ArithmExpr {
	switch x := x.(type) {
	case *syntax.Word:
		if _, _, element := arrayWord(x); element || x.Lit() != "" {
			return x
		}
		text := s.single(x)
		if _, ok := number(text); !ok {
			*numbers = false
		}
		s.charge(len(text))
		return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: x.Pos(), ValueEnd: x.End(), Value: text}}}
	case *syntax.ParenArithm:
		return &syntax.ParenArithm{Lparen: x.Lparen, Rparen: x.Rparen, X: s.substituted(x.X, numbers)}
	case *syntax.UnaryArithm:
		return &syntax.UnaryArithm{OpPos: x.OpPos, Op: x.Op, Post: x.Post, X: s.substituted(x.X, numbers)}
	case *syntax.BinaryArithm:
		left := s.substituted(x.X, numbers)
		return &syntax.BinaryArithm{OpPos: x.OpPos, Op: x.Op, X: left, Y: s.substituted(x.Y, numbers)}
	}
	return x
}

// evaluate evaluates an expression in which nothing is to be expanded.
func (s *shell) evaluate(x syntax.ArithmExpr) (n int64) {
	if s.arithDepth++; s.arithDepth > maxArithDepth {
		s.arithFault("the expression has too many operators")
	}
	switch x := x.(type) {
	case *syntax.Word:
		n = s.arithWord(x)
	case *syntax.ParenArithm:
		n = s.evaluate(x.X)
	case *syntax.UnaryArithm:
		n = s.unary(x)
	case *syntax.BinaryArithm:
		n = s.binary(x)
	default:
		s.arithFault("this shell has no arithmetic of that kind")
	}
	s.arithDepth-- // where it is unwound, the next statement starts anew
	return n
}

func (s *shell) arithFault(format string, args ...any) {
	s.errorf(format, args...)
	panic(failed{code: 1, fatal: true, arith: true})
}

// arithWord evaluates an operand: a number, a variable, or text that expands to
// an expression.
func (s *shell) arithWord(w *syntax.Word) int64 {
	if lit := w.Lit(); lit != "" {
		return s.operandValue(lit)
	}
	if name, index, ok := arrayWord(w); ok {
		v := s.variable(s.deref(name))
		var e expansion
		if v != nil && v.kind == associative {
			e = s.element(name, s.key(index))
		} else {
			e = s.elementAt(name, v, s.arithm(index))
		}
		if !e.set {
			if s.options.nounset {
				s.unbound("%s[%s]: unbound variable", name, e.index)
			}
			return 0
		}
		return s.arithText(e.text())
	}
	return s.arithText(s.single(w))
}

// arrayWord takes a[i] apart, which the parser keeps as a short parameter
// expansion.
func arrayWord(w *syntax.Word) (name string, index syntax.ArithmExpr, ok bool) {
	if len(w.Parts) != 1 {
		return "", nil, false
	}
	p, isParam := w.Parts[0].(*syntax.ParamExp)
	if !isParam || !p.Short || p.Index == nil || p.Param == nil || p.Excl || p.Length {
		return "", nil, false
	}
	return p.Param.Value, p.Index, true
}

// operandValue is arithText for a literal operand.
func (s *shell) operandValue(lit string) int64 {
	if n, ok := number(lit); ok {
		return n
	}
	if syntax.ValidName(lit) {
		value, ok := s.variable(lit).str()
		if !ok && s.options.nounset {
			s.unbound("%s: unbound variable", lit)
		}
		return s.arithText(value)
	}
	return s.arithText(lit)
}

// arithText evaluates text as an expression.
func (s *shell) arithText(text string) int64 {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0
	}
	if n, ok := number(text); ok {
		return n
	}
	s.enter()
	defer func() { s.depth-- }()
	if syntax.ValidName(text) {
		value, ok := s.variable(text).str()
		if !ok && s.options.nounset {
			s.unbound("%s: unbound variable", text)
		}
		return s.arithText(value)
	}
	if text[0] >= '0' && text[0] <= '9' && strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' && r < 'A' || r > 'z' }) < 0 {
		s.arithFault("%s: value too great for base (error token is \"%s\")", text, text)
	}
	if len(text) > 64<<10 || checkNesting(text, 64<<10) != nil {
		s.arithFault("the expression is too long")
	}
	s.step()
	x, rest, err := bash.Arithmetic(text, func(text string) io.Reader { return s.measured(text) })
	if err != nil || x == nil {
		s.arithFault("%s: syntax error in expression", text)
	}
	if rest != "" {
		s.arithFault("%s: syntax error in expression (error token is \"%s\")", text, rest)
	}
	if s.expands(x) {
		// What a variable holds is no script: it is not expanded once more.
		s.arithFault("%s: syntax error: operand expected (error token is \"%s\")", text, text)
	}
	if w, ok := x.(*syntax.Word); ok && w.Lit() == text {
		s.arithFault("%s: syntax error: operand expected (error token is \"%s\")", text, text)
	}
	return s.evaluate(x)
}

// arithPlace is what an arithmetic assignment changes.
func (s *shell) arithPlace(x syntax.ArithmExpr) (name, index string) {
	w, ok := x.(*syntax.Word)
	if !ok {
		s.arithFault("attempted assignment to non-variable")
	}
	name = w.Lit()
	if base, i, isArray := arrayWord(w); isArray {
		if v := s.variable(s.deref(base)); v != nil && v.kind == associative {
			return base, s.key(i)
		}
		return base, strconv.FormatInt(s.arithm(i), 10)
	}
	if name == "" {
		name = s.single(w)
	}
	if base, i, isElem := cutIndex(name); isElem {
		return base, i
	}
	if !syntax.ValidName(name) {
		s.arithFault("%s: attempted assignment to non-variable", name)
	}
	return name, ""
}

// arithLoad is the number at such a place.
func (s *shell) arithLoad(name, index string) int64 {
	if index != "" {
		return s.arithText(s.element(name, index).text())
	}
	return s.arithText(s.get(name))
}

func (s *shell) arithStore(name, index string, n int64) {
	text := strconv.FormatInt(n, 10)
	var ok bool
	if index != "" {
		ok = s.assignElement(name, index, text, false)
	} else {
		ok = s.assign(name, text)
	}
	if !ok {
		panic(failed{code: 1, fatal: true, arith: true})
	}
}

func (s *shell) unary(x *syntax.UnaryArithm) int64 {
	if x.Op == syntax.Inc || x.Op == syntax.Dec {
		name, index := s.arithPlace(x.X)
		old := s.arithLoad(name, index)
		fresh := old + 1
		if x.Op == syntax.Dec {
			fresh = old - 1
		}
		s.arithStore(name, index, fresh)
		if x.Post {
			return old
		}
		return fresh
	}
	n := s.evaluate(x.X)
	switch x.Op {
	case syntax.Not:
		return truth(n == 0)
	case syntax.BitNegation:
		return ^n
	case syntax.Minus:
		return -n
	}
	return n
}

func truth(ok bool) int64 {
	if ok {
		return 1
	}
	return 0
}

// assignOps are the operators of x op= y.
var assignOps = map[syntax.BinAritOperator]syntax.BinAritOperator{
	syntax.AddAssgn: syntax.Add, syntax.SubAssgn: syntax.Sub, syntax.MulAssgn: syntax.Mul, syntax.QuoAssgn: syntax.Quo, syntax.RemAssgn: syntax.Rem,
	syntax.AndAssgn: syntax.And, syntax.OrAssgn: syntax.Or, syntax.XorAssgn: syntax.Xor, syntax.ShlAssgn: syntax.Shl, syntax.ShrAssgn: syntax.Shr,
}

func (s *shell) binary(x *syntax.BinaryArithm) int64 {
	switch x.Op {
	case syntax.AndArit:
		return truth(s.evaluate(x.X) != 0 && s.evaluate(x.Y) != 0)
	case syntax.OrArit:
		return truth(s.evaluate(x.X) != 0 || s.evaluate(x.Y) != 0)
	case syntax.TernQuest:
		branches, ok := x.Y.(*syntax.BinaryArithm)
		if !ok || branches.Op != syntax.TernColon {
			s.arithFault("`:' expected for conditional expression")
		}
		if s.evaluate(x.X) != 0 {
			return s.evaluate(branches.X)
		}
		return s.evaluate(branches.Y)
	case syntax.Comma:
		s.evaluate(x.X)
		return s.evaluate(x.Y)
	case syntax.Assgn:
		name, index := s.arithPlace(x.X)
		n := s.evaluate(x.Y)
		s.arithStore(name, index, n)
		return n
	}
	if op, ok := assignOps[x.Op]; ok {
		name, index := s.arithPlace(x.X)
		old := s.arithLoad(name, index)
		n := s.calculate(op, old, s.evaluate(x.Y))
		s.arithStore(name, index, n)
		return n
	}
	// Long sums are deep on the left.
	left := s.evaluate(x.X)
	return s.calculate(x.Op, left, s.evaluate(x.Y))
}

func (s *shell) calculate(op syntax.BinAritOperator, a, b int64) int64 {
	switch op {
	case syntax.Add:
		return a + b
	case syntax.Sub:
		return a - b
	case syntax.Mul:
		return a * b
	case syntax.Quo, syntax.Rem:
		switch {
		case b == 0:
			s.arithFault("division by 0 (error token is \"0\")")
		case b == -1 && op == syntax.Quo:
			return -a
		case b == -1:
			return 0
		case op == syntax.Quo:
			return a / b
		}
		return a % b
	case syntax.Pow:
		if b < 0 {
			s.arithFault("exponent less than 0 (error token is \"%d\")", b)
		}
		out := int64(1)
		for n := uint64(b); n > 0; n >>= 1 {
			if n&1 != 0 {
				out *= a
			}
			a *= a
		}
		return out
	case syntax.Eql:
		return truth(a == b)
	case syntax.Neq:
		return truth(a != b)
	case syntax.Lss:
		return truth(a < b)
	case syntax.Leq:
		return truth(a <= b)
	case syntax.Gtr:
		return truth(a > b)
	case syntax.Geq:
		return truth(a >= b)
	case syntax.And:
		return a & b
	case syntax.Or:
		return a | b
	case syntax.Xor:
		return a ^ b
	case syntax.Shl:
		return a << (uint64(b) % bits.UintSize)
	case syntax.Shr:
		return a >> (uint64(b) % bits.UintSize)
	}
	s.arithFault("this shell has no operator %s", op)
	return 0
}
