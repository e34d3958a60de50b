package awk

import (
	"strings"
)

func (p *parser) stmt() stmt {
	defer p.nest()()
	if p.is("{") {
		return p.block()
	}
	if p.tok.kind == tKeyword {
		switch p.tok.text {
		case "if":
			return p.ifStmt()
		case "while":
			p.advance()
			s := &whileStmt{cond: p.parenthesized()}
			if p.accept(";") {
				s.body = &block{}
				return s
			}
			s.body = p.loopBody()
			return s
		case "do":
			p.advance()
			s := &whileStmt{do: true, body: p.loopBody()}
			p.separators()
			p.expect("while")
			s.cond = p.parenthesized()
			p.terminator()
			return s
		case "for":
			return p.forStmt()
		case "switch":
			return p.switchStmt()
		}
	}
	s := p.simple()
	p.terminator()
	return s
}

func (p *parser) loopBody() *block {
	p.loops++
	defer func() { p.loops-- }()
	return p.body()
}

// terminator reads the end of a simple statement.
func (p *parser) terminator() {
	if p.tok.kind == tNewline || p.is(";") {
		p.advance()
		return
	}
	if p.tok.kind != tEOF && !p.is("}") {
		p.unexpected()
	}
}

func (p *parser) parenthesized() expr {
	p.expect("(")
	more, in := p.noMore, p.noIn
	p.noMore, p.noIn = false, false
	x := p.expr()
	p.noMore, p.noIn = more, in
	p.expect(")")
	return x
}

func (p *parser) ifStmt() stmt {
	p.advance()
	s := &ifStmt{cond: p.parenthesized(), yes: p.body()}
	// An else can come after separators.
	lex, tok := p.lex, p.tok
	p.separators()
	if p.accept("else") {
		s.no = p.body()
		return s
	}
	p.lex, p.tok = lex, tok
	return s
}

func (p *parser) forStmt() stmt {
	line := p.tok.line
	p.advance()
	p.expect("(")
	lex, tok := p.lex, p.tok
	if p.tok.kind == tName {
		v := p.tok
		p.advance()
		if p.accept("in") && p.tok.kind == tName {
			arr := p.arrayRef()
			if p.accept(")") {
				return &forInStmt{v: p.variable(v.text), arr: arr, body: p.loopBody(), line: line}
			}
		}
		p.lex, p.tok = lex, tok
	}
	s := &forStmt{}
	if !p.is(";") {
		s.init = p.simple()
	}
	p.expect(";")
	p.newlines()
	if !p.is(";") {
		s.cond = p.expr()
	}
	p.expect(";")
	p.newlines()
	if !p.is(")") {
		s.post = p.simple()
	}
	p.expect(")")
	if p.accept(";") {
		s.body = &block{}
	} else {
		s.body = p.loopBody()
	}
	return s
}

// arrayRef reads the name of an array, or an element that is one.
func (p *parser) arrayRef() expr {
	if p.tok.kind != tName {
		p.unexpected()
	}
	var x expr = p.variable(p.tok.text)
	p.advance()
	for p.is("[") {
		x = &indexExpr{x, p.subscript()}
	}
	return x
}

func (p *parser) switchStmt() stmt {
	p.advance()
	s := &switchStmt{x: p.parenthesized()}
	p.newlines()
	p.expect("{")
	p.loops++
	defer func() { p.loops-- }()
	for p.newlines(); !p.accept("}"); p.newlines() {
		c := switchCase{}
		switch {
		case p.accept("case"):
			c.match = p.ternary()
		case p.accept("default"):
		default:
			p.unexpected()
		}
		p.expect(":")
		for p.separators(); !p.is("case") && !p.is("default") && !p.is("}"); p.separators() {
			c.body = append(c.body, p.stmt())
		}
		s.cases = append(s.cases, c)
	}
	return s
}

// simple reads a statement that has no statements in it.
func (p *parser) simple() stmt {
	if p.tok.kind != tKeyword {
		return &exprStmt{p.expr()}
	}
	line, word := p.tok.line, p.tok.text
	switch word {
	case "print", "printf":
		return p.print()
	case "delete":
		p.advance()
		paren := p.accept("(")
		x := p.arrayRef()
		if paren {
			p.expect(")")
		}
		if i, ok := x.(*indexExpr); ok {
			return &deleteStmt{i.base, i.keys}
		}
		return &deleteStmt{arr: x}
	case "break", "continue":
		if p.advance(); p.loops == 0 {
			fail(line, "`%s' is not allowed outside a loop", word)
		}
		return &flowStmt{flow: map[string]flow{"break": flowBreak, "continue": flowContinue}[word]}
	case "next", "nextfile":
		if p.advance(); strings.HasPrefix(p.inside, "BEGIN") && p.inside != "BEGINFILE" || p.inside == "END" {
			fail(line, "`%s' used in %s action", word, p.inside)
		}
		return &flowStmt{flow: map[string]flow{"next": flowNext, "nextfile": flowNextFile}[word]}
	case "exit", "return":
		if p.advance(); word == "return" && p.inside != "function" {
			fail(line, "`return' used outside function context")
		}
		s := &flowStmt{flow: map[string]flow{"exit": flowExit, "return": flowReturn}[word]}
		if p.tok.kind != tNewline && p.tok.kind != tEOF && !p.is(";") && !p.is("}") {
			s.x = p.expr()
		}
		return s
	}
	return &exprStmt{p.expr()}
}

func (p *parser) print() stmt {
	s := &printStmt{format: p.tok.text == "printf", line: p.tok.line}
	p.advance()
	p.noMore = true
	if p.tok.kind != tNewline && p.tok.kind != tEOF && !p.is(";") && !p.is("}") && !p.is(">") && !p.is(">>") && !p.is("|") {
		s.args = p.exprList()
		if g, ok := s.args[0].(*group); ok && len(s.args) == 1 {
			s.args = g.list
		}
	}
	for _, op := range []string{">", ">>", "|", "|&"} {
		if p.is(op) {
			if op == "|&" {
				fail(p.tok.line, "coprocesses (|&) are not available in this workspace")
			}
			p.advance()
			s.redir = op
			s.to = p.concat()
			break
		}
	}
	p.noMore = false
	if s.format && len(s.args) == 0 {
		fail(s.line, "printf: no format")
	}
	return s
}
