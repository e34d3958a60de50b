package awk

func (p *parser) subscript() []expr {
	p.expect("[")
	more, in := p.noMore, p.noIn
	p.noMore, p.noIn = false, false
	keys := p.exprList()
	p.noMore, p.noIn = more, in
	p.expect("]")
	return keys
}

func (p *parser) variable(name string) *variable {
	if i, ok := p.locals[name]; ok {
		return &variable{name, i, true}
	}
	i, ok := p.globals[name]
	if !ok {
		i = len(p.globals)
		p.globals[name] = i
	}
	return &variable{name, i, false}
}

// arguments reads (a, b, …).
func (p *parser) arguments() []expr {
	p.expect("(")
	more, in := p.noMore, p.noIn
	p.noMore, p.noIn = false, false
	defer func() { p.noMore, p.noIn = more, in }()
	p.newlines()
	if p.accept(")") {
		return nil
	}
	list := p.exprList()
	p.newlines()
	p.expect(")")
	return list
}

func (p *parser) call(name token) expr {
	c := &callExpr{name: name.text, line: name.line}
	c.args = p.arguments()
	p.calls = append(p.calls, c)
	return c
}

func (p *parser) builtin() expr {
	b := &builtinExpr{name: p.tok.text, line: p.tok.line}
	p.advance()
	switch {
	case p.is("("):
		b.args = p.arguments()
	case b.name != "length":
		p.unexpected()
	}
	limits := builtins[b.name]
	if len(b.args) < limits[0] || len(b.args) > limits[1] {
		fail(b.line, "%d is invalid as number of arguments for %s", len(b.args), b.name)
	}
	switch b.name {
	case "sub", "gsub":
		if len(b.args) == 3 && !isLvalue(b.args[2]) {
			if _, ok := b.args[2].(*group); !ok {
				// The result has nowhere to go; gawk warns and goes on.
				b.args[2] = &group{[]expr{b.args[2]}}
			}
		}
	case "split", "asort", "asorti", "patsplit":
		i := 1
		if b.name[0] == 'a' {
			i = 0
		}
		switch b.args[i].(type) {
		case *variable, *indexExpr:
		default:
			fail(b.line, "%s: the argument that is to be an array is none", b.name)
		}
	}
	return b
}
