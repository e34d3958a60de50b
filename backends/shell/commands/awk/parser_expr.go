package awk

import "strings"

func (p *parser) exprList() []expr {
	list := []expr{p.expr()}
	for p.accept(",") {
		p.newlines()
		list = append(list, p.expr())
	}
	return list
}

// expr reads an expression; assignments are read with their left side, in
// primary.
func (p *parser) expr() expr {
	defer p.nest()()
	return p.ternary()
}

func (p *parser) ternary() expr {
	x := p.or()
	if !p.accept("?") {
		return x
	}
	p.newlines()
	yes := p.expr()
	p.newlines()
	p.expect(":")
	p.newlines()
	return &condExpr{x, yes, p.expr()}
}

func (p *parser) or() expr {
	x := p.and()
	for p.accept("||") {
		p.newlines()
		x = &logicExpr{x, p.and(), true}
	}
	return x
}

func (p *parser) and() expr {
	x := p.in()
	for p.accept("&&") {
		p.newlines()
		x = &logicExpr{x, p.in(), false}
	}
	return x
}

func (p *parser) in() expr {
	x := p.match()
	for !p.noIn && p.accept("in") {
		keys := []expr{x}
		if g, ok := x.(*group); ok {
			keys = g.list
		}
		x = &inExpr{keys, p.arrayRef()}
	}
	return x
}

func (p *parser) match() expr {
	x := p.comparison()
	for p.is("~") || p.is("!~") {
		negate := p.tok.text == "!~"
		p.advance()
		x = &matchExpr{x, p.comparison(), negate}
	}
	return x
}

func (p *parser) comparison() expr {
	x := p.concat()
	for {
		switch {
		case p.is("<") || p.is("<=") || p.is("==") || p.is("!=") || p.is(">=") || p.is(">") && !p.noMore:
			op := p.tok.text
			p.advance()
			x = &compareExpr{op, x, p.concat()}
		case p.is("|") && p.getlineFollows():
			line := p.tok.line
			p.advance()
			p.advance()
			x = &getlineExpr{source: x, mode: '|', target: p.optionalLvalue(), line: line}
		case p.is("|&"):
			fail(p.tok.line, "coprocesses (|&) are not available in this workspace")
		default:
			return x
		}
	}
}

func (p *parser) getlineFollows() bool {
	lex := p.lex
	return lex.next().text == "getline"
}

// startsOperand tells whether the next token can be what is concatenated.
func (p *parser) startsOperand() bool {
	switch p.tok.kind {
	case tNumber, tString, tName, tBuiltin:
		return true
	case tOp:
		switch p.tok.text {
		case "$", "!", "(", "-", "+", "++", "--":
			return true
		}
	}
	return false
}

func (p *parser) concat() expr {
	x := p.additive()
	if !p.startsOperand() {
		return x
	}
	c := &concatExpr{parts: []expr{x}}
	for p.startsOperand() {
		c.parts = append(c.parts, p.additive())
	}
	return c
}

func (p *parser) additive() expr {
	x := p.multiplicative()
	for p.is("+") || p.is("-") {
		op, line := p.tok.text[0], p.tok.line
		p.advance()
		x = &binaryExpr{op, x, p.multiplicative(), line}
	}
	return x
}

func (p *parser) multiplicative() expr {
	x := p.unary()
	for p.is("*") || p.is("/") || p.is("%") {
		op, line := p.tok.text[0], p.tok.line
		p.advance()
		x = &binaryExpr{op, x, p.unary(), line}
	}
	return x
}

func (p *parser) unary() expr {
	if p.is("!") || p.is("-") || p.is("+") {
		defer p.nest()()
		op := p.tok.text[0]
		p.advance()
		return &unaryExpr{op, p.unary()}
	}
	return p.power()
}

func (p *parser) power() expr {
	x := p.postfix()
	if !p.is("^") {
		return x
	}
	defer p.nest()()
	line := p.tok.line
	p.advance()
	if p.is("-") || p.is("+") || p.is("!") {
		op := p.tok.text[0]
		p.advance()
		return &binaryExpr{'^', x, &unaryExpr{op, p.power()}, line}
	}
	return &binaryExpr{'^', x, p.power(), line}
}

func isLvalue(x expr) bool {
	switch x.(type) {
	case *variable, *fieldRef, *indexExpr:
		return true
	}
	return false
}

// postfix reads an operand, and an assignment to it.
func (p *parser) postfix() expr {
	x := p.primary()
	if !isLvalue(x) {
		return x
	}
	if p.is("++") || p.is("--") {
		delta := 1.0
		if p.is("--") {
			delta = -1
		}
		p.advance()
		return &stepExpr{x, delta, false}
	}
	if p.tok.kind != tOp {
		return x
	}
	switch op := p.tok.text; op {
	case "=", "+=", "-=", "*=", "/=", "%=", "^=":
		line := p.tok.line
		p.advance()
		p.newlines()
		a := &assignExpr{left: x, line: line}
		if len(op) == 2 {
			a.op = op[0]
		}
		a.val = p.expr()
		return a
	}
	return x
}

func (p *parser) primary() expr {
	defer p.nest()()
	tok := p.tok
	switch tok.kind {
	case tNumber:
		p.advance()
		return &numberLit{num(tok.num)}
	case tString:
		p.advance()
		return &stringLit{str(tok.text)}
	case tName:
		p.advance()
		if tok.call {
			return p.call(tok)
		}
		var x expr = p.variable(tok.text)
		for p.is("[") {
			x = &indexExpr{x, p.subscript()}
		}
		return x
	case tBuiltin:
		return p.builtin()
	case tKeyword:
		if tok.text == "getline" {
			p.advance()
			g := &getlineExpr{target: p.optionalLvalue(), line: tok.line}
			if p.accept("<") {
				g.mode, g.source = '<', p.withoutConcat()
			}
			return g
		}
	case tOp:
		switch tok.text {
		case "/", "/=":
			source := p.lex.regexp(strings.TrimPrefix(tok.text, "/"))
			p.advance()
			return &regexpLit{source: source}
		case "$":
			p.advance()
			return &fieldRef{p.fieldIndex()}
		case "++", "--":
			p.advance()
			x := p.primary()
			if !isLvalue(x) {
				fail(tok.line, "syntax error: %s needs a variable", tok.text)
			}
			return &stepExpr{x, map[string]float64{"++": 1, "--": -1}[tok.text], true}
		case "(":
			p.advance()
			more, in := p.noMore, p.noIn
			p.noMore, p.noIn = false, false
			p.newlines()
			list := p.exprList()
			p.newlines()
			p.noMore, p.noIn = more, in
			p.expect(")")
			return &group{list}
		case "-", "+", "!":
			return p.unary()
		}
	}
	p.unexpected()
	return nil
}

// fieldIndex reads what follows "$": an operand without operators, with ++ and
// -- before it, or a minus.
func (p *parser) fieldIndex() expr {
	if p.is("-") || p.is("+") || p.is("!") {
		op := p.tok.text[0]
		p.advance()
		return &unaryExpr{op, p.fieldIndex()}
	}
	return p.primary()
}

func (p *parser) withoutConcat() expr {
	return p.primary()
}

func (p *parser) optionalLvalue() expr {
	if p.tok.kind == tName && !p.tok.call || p.is("$") {
		return p.primary()
	}
	return nil
}
