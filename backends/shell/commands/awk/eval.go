package awk

import (
	"math"
	"strings"
)

// eval computes an expression.
func (in *interp) eval(x expr) value {
	switch x := x.(type) {
	case *numberLit:
		return x.v
	case *stringLit:
		return x.v
	case *variable:
		return in.variable(x)
	case *fieldRef:
		return in.field(in.fieldIndex(x))
	case *indexExpr:
		arr := in.arrayOf(x.base)
		e := in.element(arr, in.key(x.keys))
		if e.arr != nil {
			in.fatal("attempt to use an array in a scalar context")
		}
		return *e
	case *assignExpr:
		return in.assign(x)
	case *binaryExpr:
		a := in.eval(x.left).num()
		return num(in.arithmetic(x.op, a, in.eval(x.right).num(), x.line))
	case *concatExpr:
		return in.concat(x)
	case *compareExpr:
		return boolean(in.compare(x))
	case *matchExpr:
		s := in.eval(x.left).str(in.convfmt)
		return boolean(in.matches(x.re, s) != x.negate)
	case *regexpLit:
		return boolean(in.matches(x, in.record0()))
	case *logicExpr:
		if in.truth(x.left) == x.or {
			return boolean(x.or)
		}
		return boolean(in.truth(x.right))
	case *condExpr:
		if in.truth(x.cond) {
			return in.eval(x.yes)
		}
		return in.eval(x.no)
	case *unaryExpr:
		switch x.op {
		case '!':
			return boolean(!in.truth(x.x))
		case '-':
			return num(-in.eval(x.x).num())
		}
		return num(in.eval(x.x).num())
	case *stepExpr:
		old := in.eval(x.x).num()
		in.set(x.x, num(old+x.delta))
		if x.before {
			return num(old + x.delta)
		}
		return num(old)
	case *inExpr:
		key := in.key(x.keys)
		return boolean(in.arrayOf(x.arr).has(key))
	case *group:
		if len(x.list) != 1 {
			in.fatal("a list in parentheses is for print and in only")
		}
		return in.eval(x.list[0])
	case *callExpr:
		return in.call(x)
	case *builtinExpr:
		return in.builtin(x)
	case *getlineExpr:
		return num(in.getline(x))
	}
	in.fatal("an expression of type %T is not known", x)
	return value{}
}

func (in *interp) truth(x expr) bool { return in.eval(x).truth() }

func (in *interp) variable(x *variable) value {
	if x.local {
		c := &in.frame[x.index]
		if c.arr != nil {
			in.fatal("attempt to use array `%s' in a scalar context", x.name)
		}
		return c.v
	}
	switch x.index {
	case vNF:
		in.splitRecord()
		return num(float64(len(in.fields)))
	case vNR:
		return num(in.nr)
	case vFNR:
		return num(in.fnr)
	}
	c := &in.globals[x.index]
	if c.arr != nil {
		in.fatal("attempt to use array `%s' in a scalar context", x.name)
	}
	return c.v
}

func (in *interp) fieldIndex(x *fieldRef) int {
	n := in.eval(x.index).num()
	if n < 0 || n != n {
		in.fatal("attempt to access field %s", formatNumber(n, in.convfmt))
	}
	if n > 1<<31 {
		in.fatal("attempt to access field %s: there cannot be that many", formatNumber(n, in.convfmt))
	}
	return int(n)
}

// set assigns to a variable, element or field.
func (in *interp) set(left expr, v value) {
	switch left := left.(type) {
	case *variable:
		c := in.cell(left)
		if c.arr != nil {
			in.fatal("attempt to use array `%s' in a scalar context", left.name)
		}
		if !left.local && left.index < specialCount {
			in.setSpecial(left.index, v)
			return
		}
		in.store(&c.v, v)
	case *indexExpr:
		arr := in.arrayOf(left.base)
		in.store(in.element(arr, in.key(left.keys)), v)
	case *fieldRef:
		in.setField(in.fieldIndex(left), v)
	case *group:
		if len(left.list) == 1 && isLvalue(left.list[0]) {
			in.set(left.list[0], v)
		}
	default:
		in.fatal("cannot assign to this expression")
	}
}

func (in *interp) assign(x *assignExpr) value {
	if x.op == 0 {
		v := in.eval(x.val)
		in.set(x.left, v)
		return v
	}
	right := in.eval(x.val).num()
	v := num(in.arithmetic(x.op, in.eval(x.left).num(), right, x.line))
	in.set(x.left, v)
	return v
}

func (in *interp) arithmetic(op byte, a, b float64, line int) float64 {
	switch op {
	case '+':
		return a + b
	case '-':
		return a - b
	case '*':
		return a * b
	case '/':
		if b == 0 {
			in.line = line
			in.fatal("division by zero attempted")
		}
		return a / b
	case '%':
		if b == 0 {
			in.line = line
			in.fatal("division by zero attempted in `%%'")
		}
		return math.Mod(a, b)
	}
	return power(a, b)
}

func power(a, b float64) float64 {
	if b == math.Trunc(b) && math.Abs(b) <= 1024 {
		// By multiplication, as whole numbers come out exact.
		n, result, base := int(math.Abs(b)), 1.0, a
		for ; n > 0; n >>= 1 {
			if n&1 != 0 {
				result *= base
			}
			base *= base
		}
		if b < 0 {
			return 1 / result
		}
		return result
	}
	return math.Pow(a, b)
}

func (in *interp) concat(x *concatExpr) value {
	if len(x.parts) == 2 {
		a := in.eval(x.parts[0]).str(in.convfmt)
		b := in.eval(x.parts[1]).str(in.convfmt)
		in.passing(len(a) + len(b))
		return str(a + b)
	}
	parts := make([]string, len(x.parts))
	total := 0
	for i, part := range x.parts {
		parts[i] = in.eval(part).str(in.convfmt)
		total += len(parts[i])
	}
	in.passing(total)
	return str(strings.Join(parts, ""))
}

func (in *interp) compare(x *compareExpr) bool {
	a := in.eval(x.left)
	b := in.eval(x.right)
	c := compare(a, b, in.convfmt)
	if in.fold && c != 0 && (a.kind == text || b.kind == text) {
		c = strings.Compare(strings.ToLower(a.str(in.convfmt)), strings.ToLower(b.str(in.convfmt)))
	}
	if c == 2 {
		return x.op == "!="
	}
	switch x.op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case "==":
		return c == 0
	case "!=":
		return c != 0
	case ">":
		return c > 0
	}
	return c >= 0
}

const (
	maxCalls  = 20_000
	frameCost = 4096 // what a call takes of the stack, about, in bytes
)

// call calls a function of the program.
func (in *interp) call(x *callExpr) value {
	in.tick()
	f := x.fn
	frame := make([]cell, len(f.params))
	for i, arg := range x.args {
		v, isVar := arg.(*variable)
		if !isVar {
			if e, ok := arg.(*indexExpr); ok {
				if arr := in.subArray(e); arr != nil {
					frame[i].arr = arr
					continue
				}
			}
			in.store(&frame[i].v, in.eval(arg))
			continue
		}
		c := in.cell(v)
		switch {
		case c.arr != nil:
			frame[i].arr = c.arr
		case c.v.kind == unset && (v.local || v.index >= specialCount):
			if frame[i].ref = c; c.ref != nil {
				frame[i].ref = c.ref
				if c.ref.arr != nil {
					frame[i].arr = c.ref.arr
				}
			}
		default:
			in.store(&frame[i].v, in.variable(v))
		}
	}
	if in.depth++; in.depth > maxCalls {
		in.line = x.line
		in.fatal("functions call each other more than %d deep", maxCalls)
	}
	in.hold(frameCost)
	saved := in.frame
	in.frame = frame
	in.returned = value{}
	f2 := in.stmts(f.body.list)
	if f2 == flowExit || f2 == flowNext || f2 == flowNextFile {
		panic(unwinding{f2})
	}
	result := in.returned
	in.returned = value{}
	in.frame = saved
	for i := range frame {
		in.release(len(frame[i].v.s))
		if frame[i].own {
			in.clear(frame[i].arr)
		}
	}
	in.release(frameCost)
	in.depth--
	return result
}

// subArray is the array that an element is, or nil.
func (in *interp) subArray(x *indexExpr) *array {
	arr := in.arrayOf(x.base)
	i, ok := arr.index[in.key(x.keys)]
	if !ok {
		return nil
	}
	return arr.entries[i].val.arr
}

// unwinding leaves functions for a next or exit in them.
type unwinding struct{ flow flow }
