package commands

import (
	"fmt"
	"strings"
)

// callCost is what a call takes beside its values.
const callCost = 1024

// library calls a function of -l.
func (m *bcMachine) library(n *bcNode) (bcDecimal, error) {
	want := 1
	if n.text == "j" {
		want = 2
	}
	if len(n.kids) != want {
		return bcZero, errBCParameters
	}
	var args []bcDecimal
	for _, k := range n.kids {
		v, err := m.eval(k)
		if err != nil {
			return bcZero, err
		}
		args = append(args, v)
	}
	if m.scale > 1<<17 {
		return bcZero, fmt.Errorf("scale is too large for %s()", n.text)
	}
	l := &bcMath{stopped: m.p.Stopped, err: m.p.Context().Err, scale: m.scale}
	switch n.text {
	case "s":
		return l.sin(args[0], false)
	case "c":
		return l.sin(args[0], true)
	case "a":
		return l.atan(args[0])
	case "l":
		return l.ln(args[0])
	case "e":
		return l.exp(args[0])
	}
	order := args[0].at(0).value
	if !order.IsInt64() {
		return bcZero, errBCSize
	}
	return l.bessel(order.Int64(), args[1])
}

// call runs a function. Its parameters and autos hide what has their names.
func (m *bcMachine) call(n *bcNode) (bcDecimal, error) {
	f := m.functions[n.text]
	if f == nil {
		if m.math && len(n.text) == 1 && strings.IndexByte("scalej", n.text[0]) >= 0 {
			return m.library(n)
		}
		return bcZero, fmt.Errorf("Function %s not defined.", n.text) //nolint:staticcheck,revive // in the words of bc
	}
	if len(n.kids) != len(f.params) {
		return bcZero, errBCParameters
	}
	values := make([]bcDecimal, len(n.kids))
	arrays := make([]map[int]bcDecimal, len(n.kids))
	cost := callCost
	for i, k := range n.kids {
		isArray := strings.HasSuffix(f.params[i], "[]")
		if isArray != (k.op == "array") {
			return bcZero, fmt.Errorf("Parameter type mismatch parameter %s in %s.", f.params[i], n.text) //nolint:staticcheck,revive // in the words of bc
		}
		if isArray {
			arrays[i] = make(map[int]bcDecimal, len(m.arrays[k.text]))
			for at, v := range m.arrays[k.text] {
				arrays[i][at] = v
				cost += v.size()
			}
			continue
		}
		v, err := m.eval(k)
		if err != nil {
			return bcZero, err
		}
		values[i] = v
		cost += v.size()
	}
	if m.calls++; m.calls > bcDepth {
		m.calls--
		return bcZero, fmt.Errorf("functions call each other more than %d deep", bcDepth)
	}
	if err := m.p.Hold(cost); err != nil {
		return bcZero, err
	}
	outer := m.name
	restore := m.hide(append(append([]string(nil), f.params...), f.autos...))
	for i, name := range f.params {
		if plain, ok := strings.CutSuffix(name, "[]"); ok {
			m.arrays[plain] = arrays[i]
		} else {
			m.vars[name] = values[i]
		}
	}
	m.name = n.text
	err := m.exec(f.body)
	restore()
	m.p.Release(callCost)
	m.calls--
	result := bcZero
	if err == errBCReturn { //nolint:errorlint // it is never wrapped
		result, err = m.value, nil
	}
	if err == nil {
		m.name = outer
	}
	return result, err
}

// hide takes names out of the variables, until restore.
func (m *bcMachine) hide(names []string) (restore func()) {
	vars := make([]bcDecimal, len(names))
	arrays := make([]map[int]bcDecimal, len(names))
	for i, name := range names {
		if plain, ok := strings.CutSuffix(name, "[]"); ok {
			arrays[i] = m.arrays[plain]
			delete(m.arrays, plain)
		} else {
			vars[i] = m.vars[name]
			delete(m.vars, name)
		}
	}
	return func() {
		for i := len(names) - 1; i >= 0; i-- {
			if !strings.HasSuffix(names[i], "[]") {
				m.p.Release(m.vars[names[i]].size())
			}
			if plain, ok := strings.CutSuffix(names[i], "[]"); ok {
				for _, v := range m.arrays[plain] {
					m.p.Release(v.size())
				}
				m.arrays[plain] = arrays[i]
			} else if vars[i].value == nil {
				delete(m.vars, names[i])
			} else {
				m.vars[names[i]] = vars[i]
			}
		}
	}
}
