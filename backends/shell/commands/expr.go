package commands

import (
	"errors"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

// Limits of expr: how deep parentheses nest and how many bits a number has.
const (
	exprDepth = 1000
	exprBits  = 1 << 20
)

// exprError is what ends expr with code 2, or 3 where it is not the
// expression's fault.
type exprError struct {
	text string
	code int
}

func (e *exprError) Error() string { return e.text }

// exprReader evaluates an expression while it reads it. evaluate is false in
// the part of | and & that does not count.
type exprReader struct {
	p     *Proc
	args  []string
	i     int
	depth int
}

// expr evaluates an expression.
func expr(p *Proc) int {
	args := p.Args
	if len(args) == 1 && args[0] == "--help" {
		p.help(NewOptions(2))
		return 0
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return p.Usage(2, "missing operand")
	}
	e := &exprReader{p: p, args: args}
	v, err := e.or(true)
	if err == nil && e.i < len(args) {
		err = &exprError{"syntax error: unexpected argument " + Quote(args[e.i]), 2}
	}
	if err != nil {
		var known *exprError
		if errors.As(err, &known) {
			return p.Errorf(known.code, "%s", known.text)
		}
		return p.Errorf(3, "%s", Reason(err))
	}
	p.Out.WriteString(v + "\n")
	if exprNull(v) {
		return 1
	}
	return 0
}

// exprNull tells whether a value is empty or zero.
func exprNull(v string) bool {
	digits := strings.TrimPrefix(v, "-")
	return v == "" || digits != "" && strings.Trim(digits, "0") == ""
}

// number reads an integer of any size.
func exprNumber(v string) (*big.Int, bool) {
	digits := strings.TrimPrefix(v, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" || len(digits) > exprBits/4 {
		return nil, false
	}
	return new(big.Int).SetString(v, 10)
}

// take takes the next argument where it is one of words.
func (e *exprReader) take(words ...string) string {
	if e.i < len(e.args) {
		for _, w := range words {
			if e.args[e.i] == w {
				e.i++
				return w
			}
		}
	}
	return ""
}

func (e *exprReader) or(evaluate bool) (string, error) {
	l, err := e.and(evaluate)
	for err == nil && e.take("|") != "" {
		var r string
		if r, err = e.and(evaluate && exprNull(l)); exprNull(l) {
			if l = r; exprNull(l) {
				l = "0"
			}
		}
	}
	return l, err
}

func (e *exprReader) and(evaluate bool) (string, error) {
	l, err := e.compare(evaluate)
	for err == nil && e.take("&") != "" {
		var r string
		if r, err = e.compare(evaluate && !exprNull(l)); exprNull(l) || exprNull(r) {
			l = "0"
		}
	}
	return l, err
}

func (e *exprReader) compare(evaluate bool) (string, error) {
	l, err := e.sum(evaluate)
	for err == nil {
		op := e.take("<", "<=", "=", "==", "!=", ">=", ">")
		if op == "" {
			break
		}
		var r string
		if r, err = e.sum(evaluate); err != nil {
			break
		}
		order := strings.Compare(l, r)
		if x, ok := exprNumber(l); ok {
			if y, ok := exprNumber(r); ok {
				order = x.Cmp(y)
			}
		}
		l = "0"
		if op == "<" && order < 0 || op == "<=" && order <= 0 || (op == "=" || op == "==") && order == 0 || op == "!=" && order != 0 || op == ">=" && order >= 0 || op == ">" && order > 0 {
			l = "1"
		}
	}
	return l, err
}

// arithmetic reads a chain of operators that need numbers.
func (e *exprReader) arithmetic(evaluate bool, next func(bool) (string, error), ops ...string) (string, error) {
	l, err := next(evaluate)
	for err == nil {
		op := e.take(ops...)
		if op == "" {
			break
		}
		var r string
		if r, err = next(evaluate); err != nil || !evaluate {
			continue
		}
		x, okX := exprNumber(l)
		y, okY := exprNumber(r)
		if !okX || !okY {
			return "", &exprError{"non-integer argument", 2}
		}
		if (op == "/" || op == "%") && y.Sign() == 0 {
			return "", &exprError{"division by zero", 2}
		}
		if x.BitLen()+y.BitLen() > exprBits {
			return "", ErrMemory
		}
		switch op {
		case "+":
			x.Add(x, y)
		case "-":
			x.Sub(x, y)
		case "*":
			x.Mul(x, y)
		case "/":
			x.Quo(x, y)
		case "%":
			x.Rem(x, y)
		}
		l = x.String()
	}
	return l, err
}

func (e *exprReader) sum(evaluate bool) (string, error) {
	return e.arithmetic(evaluate, e.product, "+", "-")
}

func (e *exprReader) product(evaluate bool) (string, error) {
	return e.arithmetic(evaluate, e.match, "*", "/", "%")
}

func (e *exprReader) match(evaluate bool) (string, error) {
	l, err := e.word(evaluate)
	for err == nil && e.take(":") != "" {
		var r string
		if r, err = e.word(evaluate); err == nil && evaluate {
			l, err = e.regexp(l, r)
		}
	}
	return l, err
}

// regexp matches from the start: it returns the first group, or how many
// characters matched.
func (e *exprReader) regexp(text, pattern string) (string, error) {
	re, err := posixre.Compile(e.p, pattern, 0)
	if err != nil {
		return "", &exprError{err.Error(), 2}
	}
	loc, err := re.Find(text, 0)
	if err != nil {
		return "", err
	}
	if loc != nil && loc[0] != 0 {
		// The leftmost match is further on, but there may be none at the start.
		loc = nil
		anchored, err := posixre.Compile(e.p, `\`+"`"+pattern, 0)
		if err == nil {
			if loc, err = anchored.Find(text, 0); err != nil {
				return "", err
			}
			if loc != nil && loc[0] != 0 {
				loc = nil
			}
		}
	}
	switch {
	case loc == nil && re.Groups() > 0:
		return "", nil
	case loc == nil:
		return "0", nil
	case re.Groups() > 0:
		if loc[2] < 0 {
			return "", nil
		}
		return text[loc[2]:loc[3]], nil
	}
	return big.NewInt(int64(utf8.RuneCountInString(text[:loc[1]]))).String(), nil
}

// word reads a value: a word, something in parentheses or a function.
func (e *exprReader) word(evaluate bool) (string, error) {
	if e.p.Stopped() {
		return "", e.p.Context().Err()
	}
	if e.i >= len(e.args) {
		return "", &exprError{"syntax error: missing argument after " + Quote(e.args[len(e.args)-1]), 2}
	}
	if e.depth++; e.depth > exprDepth {
		return "", &exprError{"the expression is nested too deeply", 2}
	}
	defer func() { e.depth-- }()
	arg := e.args[e.i]
	e.i++
	operands := func(n int) ([]string, error) {
		var out []string
		for range n {
			v, err := e.word(evaluate)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
	switch arg {
	case "(":
		v, err := e.or(evaluate)
		switch {
		case err != nil:
			return "", err
		case e.i >= len(e.args):
			return "", &exprError{"syntax error: expecting ')' after " + Quote(e.args[len(e.args)-1]), 2}
		case e.take(")") == "":
			return "", &exprError{"syntax error: expecting ')' instead of " + Quote(e.args[e.i]), 2}
		}
		return v, nil
	case ")":
		return "", &exprError{"syntax error: unexpected ')'", 2}
	case "+":
		if e.i >= len(e.args) {
			return "", &exprError{"syntax error: missing argument after '+'", 2}
		}
		e.i++
		return e.args[e.i-1], nil
	case "length":
		v, err := operands(1)
		if err != nil {
			return "", err
		}
		return big.NewInt(int64(utf8.RuneCountInString(v[0]))).String(), nil
	case "match":
		v, err := operands(2)
		if err != nil || !evaluate {
			return "", err
		}
		return e.regexp(v[0], v[1])
	case "index":
		v, err := operands(2)
		if err != nil {
			return "", err
		}
		at := 0
		for i, r := range []rune(v[0]) {
			if strings.ContainsRune(v[1], r) {
				at = i + 1
				break
			}
		}
		return big.NewInt(int64(at)).String(), nil
	case "substr":
		v, err := operands(3)
		if err != nil {
			return "", err
		}
		return exprSubstring(v[0], v[1], v[2]), nil
	}
	return arg, nil
}

func exprSubstring(text, position, length string) string {
	runes := []rune(text)
	pos, ok1 := exprNumber(position)
	n, ok2 := exprNumber(length)
	if !ok1 || !ok2 || pos.Sign() <= 0 || n.Sign() <= 0 || !pos.IsInt64() || pos.Int64() > int64(len(runes)) {
		return ""
	}
	from := int(pos.Int64()) - 1
	to := len(runes)
	if n.IsInt64() && n.Int64() < int64(to-from) {
		to = from + int(n.Int64())
	}
	return string(runes[from:to])
}
