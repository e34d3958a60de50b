package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declaring is what declare and its like were asked for.
type declaring struct {
	command string
	kind    kind
	asked   bool // kind was
	on, off string
	global  bool
	print   bool
	funcs   bool
	names   bool // -F
}

// declClause runs declare, typeset, local, export, readonly and nameref.
func (s *shell) declClause(c *syntax.DeclClause) int {
	d := declaring{command: c.Variant.Value}
	switch d.command {
	case "export":
		d.on = "x"
	case "readonly":
		d.on = "r"
	case "nameref":
		d.kind, d.asked = reference, true
	case "local":
		if len(s.calls) == 0 {
			s.errorf("local: can only be used in a function")
			return 1
		}
	}
	code, any, options := 0, false, true
	for _, a := range c.Args {
		if a.Name != nil {
			any = true
			code = max(code, s.declareOne(&d, a))
			continue
		}
		for _, field := range s.words([]*syntax.Word{a.Value}) {
			switch {
			case options && field == "--":
				options = false
			case options && len(field) > 1 && (field[0] == '-' || field[0] == '+'):
				if !d.option(s, field) {
					return 2
				}
			default:
				any = true
				code = max(code, s.declareText(&d, field))
			}
		}
	}
	if !any {
		return s.declareList(&d)
	}
	return code
}

func (d *declaring) option(s *shell, field string) bool {
	for _, c := range field[1:] {
		switch c {
		case 'a':
			d.kind, d.asked = indexed, true
		case 'A':
			d.kind, d.asked = associative, true
		case 'n':
			if d.command == "export" {
				d.on, d.off = "", "x"
			} else {
				d.kind, d.asked = reference, true
			}
		case 'x', 'r', 'i', 'l', 'u', 't':
			if field[0] == '-' {
				d.on += string(c)
			} else {
				d.off += string(c)
			}
		case 'g':
			d.global = true
		case 'p':
			d.print = true
		case 'f':
			d.funcs = true
		case 'F':
			d.funcs, d.names = true, true
		case 'I':
		default:
			s.errorf("%s: -%c: invalid option", d.command, c)
			s.say(d.command + ": usage: " + d.command + " [-aAfFgiIlnrtux] [name[=value] ...]\n")
			return false
		}
	}
	return true
}

// declareText declares name or name=value that an expansion brought.
func (s *shell) declareText(d *declaring, field string) int {
	name, value, has := strings.Cut(field, "=")
	add := has && strings.HasSuffix(name, "+")
	if add {
		name = strings.TrimSuffix(name, "+")
	}
	a := &syntax.Assign{Name: &syntax.Lit{Value: name}, Naked: !has, Append: add}
	if base, index, ok := cutIndex(name); ok {
		a.Name = &syntax.Lit{Value: base}
		a.Index = &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: index}}}
	}
	if !syntax.ValidName(a.Name.Value) {
		if d.funcs && s.funcs[name] != nil {
			return s.declareOne(d, a)
		}
		s.errorf("%s: `%s': not a valid identifier", d.command, field)
		return 1
	}
	if has {
		a.Value = &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: value}}}
	}
	return s.declareOne(d, a)
}

// declareOne declares one name.
func (s *shell) declareOne(d *declaring, a *syntax.Assign) int {
	name := a.Name.Value
	switch {
	case d.funcs:
		return s.showFunction(d, name)
	case d.print && a.Naked && d.command != "export" && d.command != "readonly":
		v := s.lookup(name)
		if v == nil {
			s.errorf("%s: %s: not found", d.command, name)
			return 1
		}
		return s.print(d.command, s.declaration(name, v)+"\n")
	}
	here := d.command == "local" || len(s.calls) > 0 && !d.global && (d.command == "declare" || d.command == "typeset")
	var v *variable
	switch {
	case here:
		if outer := s.lookup(name); outer != nil && outer.readOnly && s.scope.vars[name] == nil {
			s.errorf("%s: %s: readonly variable", d.command, name)
			return 1
		}
		v = s.localVariable(name)
	case d.command == "export" || d.command == "readonly":
		if d.kind != reference {
			name = s.deref(name)
		}
		if v = s.lookup(name); v == nil {
			v = s.define(name)
		}
	case d.global:
		sc := s.scope
		for sc.outer != nil {
			sc = sc.outer
		}
		if v = sc.vars[name]; v == nil {
			v = &variable{}
			sc.vars[name] = v
		}
	default:
		v = s.define(name)
	}
	if v.readOnly && (!a.Naked || strings.Contains(d.off, "r")) {
		s.errorf("%s: readonly variable", name)
		return 1
	}
	return s.declareAs(d, a, name, v)
}

// localVariable is the variable of that name of the function that runs, made
// where it is missing.
func (s *shell) localVariable(name string) *variable {
	v := s.scope.vars[name]
	if v == nil {
		v = &variable{}
		if outer := s.lookup(name); outer != nil && outer.exported {
			v.exported = true // it still reaches commands once it has a value
		}
		s.scope.vars[name] = v
		s.account(v, 64+int64(len(name)))
	}
	return v
}

func (s *shell) declareAs(d *declaring, a *syntax.Assign, name string, v *variable) int {
	v.integer = v.integer && !strings.Contains(d.off, "i") || strings.Contains(d.on, "i")
	if strings.Contains(d.on, "l") {
		v.lower, v.upper = true, false
	}
	if strings.Contains(d.on, "u") {
		v.upper, v.lower = true, false
	}
	if d.asked && v.kind != d.kind {
		switch {
		case d.kind == indexed && v.kind == scalar:
			old, set := v.str()
			v.kind, v.value, v.list = indexed, "", &array{}
			if set {
				v.list.values = []string{old}
			}
		case d.kind == associative && v.kind == scalar && !v.set:
			v.kind = associative
		case d.kind == associative && v.kind == scalar:
			v.kind, v.table, v.value = associative, map[string]string{"0": v.value}, ""
		case d.kind == reference:
			v.kind, v.list, v.table = reference, nil, nil
		default:
			s.errorf("%s: %s: cannot convert between kinds of arrays", d.command, name)
			return 1
		}
	}
	if !a.Naked || a.Array != nil {
		if v.kind == reference {
			v.value = s.value(a.Value)
			v.set = true
		} else if !s.assignNode(a, assigning{kind: d.kind, any: !d.asked}) {
			return 1
		}
	}
	for _, c := range d.on {
		switch c {
		case 'x':
			v.exported = true
		case 'r':
			v.readOnly = true
		}
	}
	if strings.Contains(d.off, "x") {
		v.exported = false
	}
	return 0
}

// showFunction prints a function, or with -F its name.
func (s *shell) showFunction(d *declaring, name string) int {
	fn := s.funcs[name]
	switch {
	case fn == nil:
		return 1
	case d.names:
		return s.print(d.command, name+"\n")
	}
	return s.print(d.command, functionText(name, fn))
}

// functionText is a function as it can be read again.
func functionText(name string, fn *function) string {
	var b strings.Builder
	b.WriteString(name + " () \n")
	if err := syntax.NewPrinter(syntax.Indent(4), syntax.FunctionNextLine(true)).Print(&b, fn.body); err != nil {
		return name + " () { :; }\n"
	}
	return b.String() + "\n"
}

// declareList prints all variables that have what was asked for.
func (s *shell) declareList(d *declaring) int {
	var b strings.Builder
	if d.funcs {
		names := make([]string, 0, len(s.funcs))
		for name := range s.funcs {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if d.names {
				b.WriteString("declare -f " + name + "\n")
			} else {
				b.WriteString(functionText(name, s.funcs[name]))
			}
		}
		return s.print(d.command, b.String())
	}
	plain := !d.print && d.on == "" && !d.asked
	for _, name := range s.names() {
		v := s.lookup(name)
		have := attributes(v)
		wanted := d.on
		if d.asked {
			wanted += map[kind]string{indexed: "a", associative: "A", reference: "n"}[d.kind]
		}
		if strings.ContainsFunc(wanted, func(r rune) bool { return !strings.ContainsRune(have, r) }) {
			continue
		}
		if plain {
			b.WriteString(s.setLine(name, v))
		} else {
			b.WriteString(s.declaration(name, v) + "\n")
		}
		s.charge(len(name) + len(v.value))
	}
	return s.print(d.command, b.String())
}

// setLine is a variable as set prints it.
func (s *shell) setLine(name string, v *variable) string {
	if v.kind == indexed || v.kind == associative {
		_, text, _ := strings.Cut(s.declaration(name, v), "=")
		return name + "=" + text + "\n"
	}
	return name + "=" + shellQuote(v.value) + "\n"
}
