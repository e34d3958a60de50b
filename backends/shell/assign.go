package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assigning says what an assignment is part of.
type assigning struct {
	kind kind // asked for by declare -a, -A
	any  bool // no kind was asked for
}

// writable returns the variable that an assignment to name changes, or nil when
// it is readonly, which has been said.
func (s *shell) writable(name string) *variable {
	v := s.define(name)
	if v.readOnly {
		s.errorf("%s: readonly variable", name)
		return nil
	}
	return v
}

// assign gives name the value text, and tells whether it could.
func (s *shell) assign(name, text string) bool {
	if to := s.deref(name); to != name {
		if base, index, ok := cutIndex(to); ok {
			return s.assignElement(base, index, text, false)
		}
		name = to
	}
	v := s.writable(name)
	if v == nil {
		return false
	}
	switch v.kind {
	case indexed:
		v.own()
		v.list.put(0, s.converted(v, text))
	case associative:
		v.own()
		v.table["0"] = s.converted(v, text)
	default:
		v.value = s.converted(v, text)
	}
	s.stored(name, v)
	return true
}

// stored notes that v has got a value.
func (s *shell) stored(name string, v *variable) {
	v.set = true
	if v.kind == scalar {
		s.account(v, int64(64+len(name)+len(v.value)))
	} else {
		s.measure(v)
	}
	if s.options.allexport {
		v.exported = true
	}
	switch name {
	case "OPTIND":
		s.optIndex, s.optOffset = 0, 0
	case "RANDOM", "SECONDS":
		s.unset(name) // they stay what they are
	}
}

// converted applies declare -i, -l and -u.
func (s *shell) converted(v *variable, text string) string {
	switch {
	case v.integer:
		return strconv.FormatInt(s.arithText(text), 10)
	case v.lower:
		return strings.ToLower(text)
	case v.upper:
		return strings.ToUpper(text)
	}
	return text
}

// assignElement gives name[index] a value, the index as text.
func (s *shell) assignElement(name, index, text string, add bool) bool {
	name = s.deref(name)
	if v := s.lookup(name); v != nil && v.kind == associative {
		return s.putKey(name, index, text, add)
	}
	return s.putIndex(name, s.arithText(index), text, add)
}

func (s *shell) putKey(name, key, text string, add bool) bool {
	if key == "" {
		s.errorf("%s[]: bad array subscript", name)
		return false
	}
	v := s.writable(name)
	if v == nil {
		return false
	}
	v.own()
	old, there := v.table[key]
	if add {
		text = old + text
	}
	text = s.converted(v, text)
	v.table[key] = text
	cost := v.cost + int64(len(text)-len(old))
	if !there {
		cost += int64(len(key)) + 64
	}
	v.set = true
	s.account(v, cost)
	return true
}

func (s *shell) putIndex(name string, i int64, text string, add bool) bool {
	v := s.writable(name)
	if v == nil {
		return false
	}
	if v.kind != indexed {
		old, set := v.str()
		v.kind, v.value, v.list = indexed, "", &array{}
		if set {
			v.list.values = []string{old}
		}
	}
	if i < 0 {
		if i += int64(v.list.last()) + 1; i < 0 {
			s.errorf("%s[%d]: bad array subscript", name, i-int64(v.list.last())-1)
			return false
		}
	}
	if i > 1<<40 {
		s.errorf("%s[%d]: bad array subscript", name, i)
		return false
	}
	v.own()
	old, there := v.list.get(int(i))
	if add {
		text = old + text
	}
	text = s.converted(v, text)
	cost := v.cost + int64(len(text)-len(old))
	if !there {
		cost += 24
	}
	s.account(v, cost)
	v.list.put(int(i), text)
	v.set = true
	return true
}

// assignNode makes the assignment that a script has written, and tells whether
// it could.
func (s *shell) assignNode(a *syntax.Assign, how assigning) bool {
	name := s.deref(a.Name.Value)
	if base, index, ok := cutIndex(name); ok && a.Index == nil && a.Array == nil {
		return s.assignElement(base, index, s.value(a.Value), a.Append)
	}
	if a.Array != nil {
		return s.assignArray(name, a, how)
	}
	if a.Index != nil {
		if v := s.lookup(name); v != nil && v.kind == associative {
			key := s.key(a.Index)
			return s.putKey(name, key, s.value(a.Value), a.Append)
		}
		i := s.arithm(a.Index)
		return s.putIndex(name, i, s.value(a.Value), a.Append)
	}
	text := s.value(a.Value)
	if !a.Append {
		return s.assign(name, text)
	}
	v := s.variable(name)
	old, _ := v.str()
	if v != nil && v.integer {
		return s.assign(name, strconv.FormatInt(s.arithText(old)+s.arithText(text), 10))
	}
	s.charge(len(old) + len(text))
	return s.assign(name, old+text)
}

// assignArray makes name=(…).
func (s *shell) assignArray(name string, a *syntax.Assign, how assigning) bool {
	v := s.lookup(name)
	assoc := how.kind == associative && !how.any || v != nil && v.kind == associative
	if assoc {
		return s.assignTable(name, a)
	}
	// All is expanded before the old elements go: a=("${a[@]}" x).
	fresh := &array{}
	if a.Append && v != nil && v.set {
		if v.kind == indexed {
			fresh = v.list.clone()
		} else {
			fresh.values = []string{v.value}
		}
	}
	next := int64(fresh.last() + 1)
	put := func(text string) bool {
		if next < 0 || next > 1<<40 {
			s.errorf("%s[%d]: bad array subscript", name, next)
			return false
		}
		s.charge(len(text) + 24)
		if v != nil {
			text = s.converted(v, text)
		}
		fresh.put(int(next), text)
		next++
		return true
	}
	for _, e := range a.Array.Elems {
		if e.Index != nil {
			next = s.arithm(e.Index)
			if next < 0 {
				next += int64(fresh.last()) + 1
			}
			text := s.value(e.Value)
			if a.Append {
				// a+=([0]+=x) is not known to the parser.
				_ = text
			}
			if !put(text) {
				return false
			}
			continue
		}
		if e.Value == nil {
			continue
		}
		for _, text := range s.words([]*syntax.Word{e.Value}) {
			if !put(text) {
				return false
			}
		}
	}
	w := s.writable(name)
	if w == nil {
		return false
	}
	w.kind, w.value, w.list, w.table, w.shared = indexed, "", fresh, nil, false
	s.stored(name, w)
	return true
}

// assignTable makes name=(…) of an associative array: [key]=value, or key
// value key value.
func (s *shell) assignTable(name string, a *syntax.Assign) bool {
	fresh := map[string]string{}
	if v := s.lookup(name); a.Append && v != nil {
		for k, e := range v.table {
			fresh[k] = e
		}
	}
	var loose []string
	for _, e := range a.Array.Elems {
		if e.Index != nil {
			key := s.key(e.Index)
			text := s.value(e.Value)
			s.charge(len(key) + len(text) + 64)
			fresh[key] = text
			continue
		}
		if e.Value != nil {
			loose = append(loose, s.words([]*syntax.Word{e.Value})...)
		}
	}
	for i := 0; i < len(loose); i += 2 {
		text := ""
		if i+1 < len(loose) {
			text = loose[i+1]
		}
		fresh[loose[i]] = text
	}
	w := s.writable(name)
	if w == nil {
		return false
	}
	w.kind, w.value, w.list, w.table, w.shared = associative, "", nil, fresh, false
	s.stored(name, w)
	return true
}
