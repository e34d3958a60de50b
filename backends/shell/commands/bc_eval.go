package commands

import (
	"fmt"
	"math/big"
	"strings"
)

// bcDepth is how deep functions call each other, and bcIndex the highest index
// of an array.
const (
	bcDepth = 5000
	bcIndex = 1 << 24
)

func (m *bcMachine) eval(n *bcNode) (bcDecimal, error) {
	if err := m.step(); err != nil {
		return bcZero, err
	}
	switch n.op {
	case "number":
		return bcParse(n.text, m.in)
	case "value":
		return m.eval(n.kids[0])
	case "variable", "element", "special":
		return m.get(n)
	case "assign":
		v, err := m.eval(n.kids[1])
		if err == nil && n.text != "" {
			var old bcDecimal
			if old, err = m.get(n.kids[0]); err == nil {
				v, err = m.binary(n.text, old, v)
			}
		}
		if err != nil {
			return bcZero, err
		}
		return v, m.set(n.kids[0], v)
	case "before", "after":
		old, err := m.get(n.kids[0])
		if err != nil {
			return bcZero, err
		}
		v, err := m.binary(n.text, old, bcOne)
		if err == nil {
			err = m.set(n.kids[0], v)
		}
		if n.op == "after" {
			return old, err
		}
		return v, err
	case "negate":
		v, err := m.eval(n.kids[0])
		return v.neg(), err
	case "!":
		v, err := m.eval(n.kids[0])
		return bcBool(v.zero()), err
	case "call":
		return m.call(n)
	case "builtin":
		return m.builtin(n)
	case "read":
		return m.read()
	}
	a, err := m.eval(n.kids[0])
	if err != nil {
		return bcZero, err
	}
	b, err := m.eval(n.kids[1])
	if err != nil {
		return bcZero, err
	}
	return m.binary(n.op, a, b)
}

func (m *bcMachine) binary(op string, a, b bcDecimal) (bcDecimal, error) {
	switch op {
	case "+":
		return a.add(b), nil
	case "-":
		return a.sub(b), nil
	case "*":
		return a.mul(b, m.scale)
	case "/":
		return a.div(b, m.scale)
	case "%":
		return a.mod(b, m.scale)
	case "^":
		return a.pow(b, m.scale)
	case "&&":
		return bcBool(!a.zero() && !b.zero()), nil
	case "||":
		return bcBool(!a.zero() || !b.zero()), nil
	}
	order := a.cmp(b)
	return bcBool(op == "==" && order == 0 || op == "!=" && order != 0 || op == "<" && order < 0 || op == "<=" && order <= 0 || op == ">" && order > 0 || op == ">=" && order >= 0), nil
}

func (m *bcMachine) get(n *bcNode) (bcDecimal, error) {
	switch n.op {
	case "special":
		switch n.text {
		case "scale":
			return bcInt(int64(m.scale)), nil
		case "ibase":
			return bcInt(int64(m.in)), nil
		case "obase":
			return bcInt(int64(m.out)), nil
		}
		return m.last, nil
	case "element":
		i, err := m.index(n)
		if err != nil {
			return bcZero, err
		}
		if v, ok := m.arrays[n.text][i]; ok {
			return v, nil
		}
		return bcZero, nil
	}
	if v, ok := m.vars[n.text]; ok {
		return v, nil
	}
	return bcZero, nil
}

func (m *bcMachine) index(n *bcNode) (int, error) {
	v, err := m.eval(n.kids[0])
	if err != nil {
		return 0, err
	}
	i := v.at(0).value
	if !i.IsInt64() || i.Int64() < 0 || i.Int64() >= bcIndex {
		return 0, fmt.Errorf("Array %s subscript out of bounds.", n.text) //nolint:staticcheck,revive // in the words of bc
	}
	return int(i.Int64()), nil
}

// size is how much memory a number takes; the zero value takes none.
func (a bcDecimal) size() int {
	if a.value == nil {
		return 0
	}
	return 128 + a.value.BitLen()/8
}

// keep charges what a value that is kept takes, less what it replaces.
func (m *bcMachine) keep(v, old bcDecimal) error {
	n := v.size() - old.size()
	if n < 0 {
		m.p.Release(-n)
		return nil
	}
	return m.p.Hold(n)
}

func (m *bcMachine) set(n *bcNode, v bcDecimal) error {
	switch n.op {
	case "special":
		return m.setSpecial(n.text, v)
	case "element":
		i, err := m.index(n)
		if err != nil {
			return err
		}
		a := m.arrays[n.text]
		if a == nil {
			a = map[int]bcDecimal{}
			m.arrays[n.text] = a
		}
		if err := m.keep(v, a[i]); err != nil {
			return err
		}
		a[i] = v
		return nil
	}
	if err := m.keep(v, m.vars[n.text]); err != nil {
		return err
	}
	m.vars[n.text] = v
	return nil
}

func (m *bcMachine) setSpecial(name string, v bcDecimal) error {
	limit := func(low, high int64) int {
		i := v.at(0).value
		switch {
		case i.Cmp(big.NewInt(low)) < 0:
			fmt.Fprintf(m.p.Stderr, "Runtime warning (func=%s, adr=0): %s too small, set to %d\n", m.function(), name, low)
			return int(low)
		case i.Cmp(big.NewInt(high)) > 0:
			fmt.Fprintf(m.p.Stderr, "Runtime warning (func=%s, adr=0): %s too large, set to %d\n", m.function(), name, high)
			return int(high)
		}
		return int(i.Int64())
	}
	switch name {
	case "scale":
		m.scale = limit(0, bcScale)
	case "ibase":
		m.in = limit(2, 16)
	case "obase":
		m.out = limit(2, 1<<31-1)
	default:
		m.last = v
	}
	return nil
}

// read reads a number from the lines that follow.
func (m *bcMachine) read() (bcDecimal, error) {
	b := m.parser
	if b.kind == '\n' || b.kind == 0 {
		line, _, _ := strings.Cut(b.text[b.pos:], "\n")
		b.pos = min(len(b.text), b.pos+len(line)+1)
		b.line++
		text := strings.TrimSpace(line)
		negative := strings.HasPrefix(text, "-")
		text = strings.TrimPrefix(text, "-")
		if text != "" && strings.Trim(text, "0123456789ABCDEF.") == "" && strings.Count(text, ".") < 2 && text != "." {
			v, err := bcParse(text, m.in)
			if negative {
				v = v.neg()
			}
			return v, err
		}
	}
	return bcZero, nil
}

func (m *bcMachine) builtin(n *bcNode) (bcDecimal, error) {
	v, err := m.eval(n.kids[0])
	if err != nil {
		return bcZero, err
	}
	switch n.text {
	case "length":
		return bcInt(int64(v.length())), nil
	case "scale":
		return bcInt(int64(v.scale)), nil
	}
	return v.sqrt(m.scale)
}
