package commands

// Expressions of bc, from what binds least: || && ! comparisons assignments + -
// * / % ^ unary minus ++ --.

func (b *bcParser) expression() *bcNode {
	defer func() { b.depth-- }()
	if !b.enter() {
		return b.node("number", "0")
	}
	n := b.conjunction()
	for b.err == nil && b.take("||") {
		n = b.node("||", "", n, b.conjunction())
	}
	return n
}

func (b *bcParser) conjunction() *bcNode {
	n := b.negation()
	for b.err == nil && b.take("&&") {
		n = b.node("&&", "", n, b.negation())
	}
	return n
}

func (b *bcParser) negation() *bcNode {
	if b.take("!") {
		defer func() { b.depth-- }()
		if !b.enter() {
			return b.node("number", "0")
		}
		return b.node("!", "", b.negation())
	}
	return b.comparison()
}

func (b *bcParser) comparison() *bcNode {
	n := b.assignment()
	for b.err == nil && b.kind == 'o' {
		op := b.tok
		switch op {
		case "==", "!=", "<", "<=", ">", ">=":
			b.next()
			n = b.node(op, "", n, b.assignment())
			continue
		}
		break
	}
	return n
}

func (b *bcParser) assignment() *bcNode {
	n := b.sum()
	if b.err != nil || b.kind != 'o' {
		return n
	}
	op := b.tok
	switch op {
	case "=", "+=", "-=", "*=", "/=", "%=", "^=":
	default:
		return n
	}
	if !n.assignable() {
		b.fault()
		return n
	}
	b.next()
	defer func() { b.depth-- }()
	if !b.enter() {
		return n
	}
	return b.node("assign", op[:len(op)-1], n, b.assignment())
}

func (n *bcNode) assignable() bool {
	return n.op == "variable" || n.op == "element" || n.op == "special"
}

func (b *bcParser) sum() *bcNode {
	n := b.product()
	for b.err == nil && (b.is("+") || b.is("-")) {
		op := b.tok
		b.next()
		n = b.node(op, "", n, b.product())
	}
	return n
}

func (b *bcParser) product() *bcNode {
	n := b.power()
	for b.err == nil && (b.is("*") || b.is("/") || b.is("%")) {
		op := b.tok
		b.next()
		n = b.node(op, "", n, b.power())
	}
	return n
}

func (b *bcParser) power() *bcNode {
	n := b.minus()
	if b.err == nil && b.take("^") {
		defer func() { b.depth-- }()
		if !b.enter() {
			return n
		}
		return b.node("^", "", n, b.power())
	}
	return n
}

func (b *bcParser) minus() *bcNode {
	if b.take("-") {
		defer func() { b.depth-- }()
		if !b.enter() {
			return b.node("number", "0")
		}
		return b.node("negate", "", b.minus())
	}
	return b.primary()
}

func (b *bcParser) primary() *bcNode {
	for _, op := range []string{"++", "--"} {
		if b.take(op) {
			n := b.primary()
			if !n.assignable() {
				b.fault()
			}
			return b.node("before", op[:1], n)
		}
	}
	n := b.operand()
	for _, op := range []string{"++", "--"} {
		if n.assignable() && b.take(op) {
			return b.node("after", op[:1], n)
		}
	}
	return n
}

func (b *bcParser) operand() *bcNode {
	text := b.tok
	switch {
	case b.kind == 'n':
		b.next()
		return b.node("number", text)
	case b.take("("):
		// In parentheses an assignment is a value.
		n := b.expression()
		b.expect(")")
		return b.node("value", "", n)
	case b.is("scale"), b.is("length"), b.is("sqrt"), b.is("read"):
		b.next()
		if text == "scale" && !b.is("(") {
			return b.node("special", text)
		}
		if text == "read" {
			b.expect("(")
			b.expect(")")
			return b.node("read", "")
		}
		return b.node("builtin", text, b.parens())
	case b.is("ibase"), b.is("obase"), b.is("last"):
		b.next()
		return b.node("special", text)
	case b.is("."):
		b.next()
		return b.node("special", "last")
	case b.kind == 'i':
		b.next()
		switch {
		case b.take("("):
			n := b.node("call", text)
			for b.err == nil && !b.is(")") {
				n.kids = append(n.kids, b.argument())
				if !b.take(",") {
					break
				}
			}
			b.expect(")")
			return n
		case b.take("["):
			n := b.node("element", text, b.expression())
			b.expect("]")
			return n
		}
		return b.node("variable", text)
	}
	b.fault()
	return b.node("number", "0")
}

// argument reads a value, or an array as a[].
func (b *bcParser) argument() *bcNode {
	if b.kind == 'i' {
		at, line, tok := b.pos, b.line, b.tok
		b.next()
		if b.take("[") && b.take("]") {
			return b.node("array", tok)
		}
		b.pos, b.line, b.tok, b.kind = at, line, tok, 'i'
	}
	return b.expression()
}
