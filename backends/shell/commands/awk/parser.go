package awk

import (
	"slices"
)

const maxNesting = 400

type parser struct {
	lex     lexer
	tok     token
	prog    *program
	byName  map[string]*function
	locals  map[string]int // of the function that is parsed, or nil
	depth   int
	loops   int
	inside  string // function, BEGIN…: where some statements are not allowed
	noIn    bool
	noMore  bool // ">" is a redirection
	calls   []*callExpr
	globals map[string]int
}

// parse reads a program.
func parse(src string) (prog *program, err error) {
	p := &parser{lex: lexer{src: src, line: 1}, prog: &program{}, byName: map[string]*function{}, globals: map[string]int{}}
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fault)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	for i, name := range specials {
		p.globals[name] = i
	}
	p.advance()
	for p.separators(); p.tok.kind != tEOF; p.separators() {
		p.item()
	}
	for _, c := range p.calls {
		if c.fn = p.byName[c.name]; c.fn == nil {
			fail(c.line, "function `%s' is not defined", c.name)
		}
		if len(c.args) > len(c.fn.params) {
			fail(c.line, "function `%s' called with more arguments than it has", c.name)
		}
	}
	p.prog.globals = p.globals
	return p.prog, nil
}

func (p *parser) advance() { p.tok = p.lex.next() }

func (p *parser) is(op string) bool {
	return p.tok.text == op && (p.tok.kind == tOp || p.tok.kind == tKeyword)
}

func (p *parser) accept(op string) bool {
	if p.is(op) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(op string) {
	if !p.accept(op) {
		p.unexpected()
	}
}

func (p *parser) unexpected() {
	switch p.tok.kind {
	case tEOF:
		fail(p.tok.line, "syntax error: unexpected end of the program")
	case tNewline:
		fail(p.tok.line, "syntax error: unexpected newline")
	case tNumber:
		fail(p.tok.line, "syntax error near %s", formatNumber(p.tok.num, "%.6g"))
	}
	fail(p.tok.line, "syntax error near %s", p.tok.text)
}

// nest counts how deep the parser is; call what it returns at the end.
func (p *parser) nest() func() {
	if p.depth++; p.depth > maxNesting {
		fail(p.tok.line, "the program nests more than %d deep", maxNesting)
	}
	return func() { p.depth-- }
}

func (p *parser) newlines() {
	for p.tok.kind == tNewline {
		p.advance()
	}
}

func (p *parser) separators() {
	for p.tok.kind == tNewline || p.is(";") {
		p.advance()
	}
}

// item reads a rule or a function.
func (p *parser) item() {
	if p.tok.kind == tKeyword {
		switch p.tok.text {
		case "function":
			p.function()
			return
		case "BEGIN", "END", "BEGINFILE", "ENDFILE":
			which := p.tok.text
			p.advance()
			if !p.is("{") {
				fail(p.tok.line, "%s blocks must have an action part", which)
			}
			p.inside = which
			b := p.block()
			p.inside = ""
			to := map[string]*[]*block{"BEGIN": &p.prog.begin, "END": &p.prog.end, "BEGINFILE": &p.prog.beginFile, "ENDFILE": &p.prog.endFile}[which]
			*to = append(*to, b)
			return
		}
	}
	if p.is("@") {
		fail(p.tok.line, "@include, @load and @namespace are not available in this workspace")
	}
	r := &rule{}
	if !p.is("{") {
		r.pattern = p.expr()
		if p.accept(",") {
			p.newlines()
			r.until = p.expr()
		}
	}
	if p.is("{") {
		r.body = p.block()
	} else {
		r.prints = true
		if p.tok.kind != tNewline && p.tok.kind != tEOF && !p.is(";") {
			p.unexpected()
		}
	}
	p.prog.rules = append(p.prog.rules, r)
}

func (p *parser) function() {
	p.advance()
	f := &function{name: p.tok.text, line: p.tok.line}
	if p.tok.kind != tName {
		fail(p.tok.line, "`%s' cannot be used as the name of a function", p.tok.text)
	}
	if p.byName[f.name] != nil {
		fail(p.tok.line, "function name `%s' previously defined", f.name)
	}
	p.byName[f.name] = f
	p.advance()
	p.expect("(")
	p.locals = map[string]int{}
	for p.newlines(); !p.is(")"); p.newlines() {
		if p.tok.kind != tName {
			p.unexpected()
		}
		if slices.Contains(f.params, p.tok.text) {
			fail(p.tok.line, "function `%s': parameter `%s' comes twice", f.name, p.tok.text)
		}
		p.locals[p.tok.text] = len(f.params)
		f.params = append(f.params, p.tok.text)
		p.advance()
		p.newlines()
		if !p.accept(",") && !p.is(")") {
			p.unexpected()
		}
	}
	p.advance()
	p.newlines()
	p.inside = "function"
	f.body = p.block()
	p.inside, p.locals = "", nil
	p.prog.functions = append(p.prog.functions, f)
}

// block reads { … }.
func (p *parser) block() *block {
	p.expect("{")
	b := &block{}
	for p.separators(); !p.is("}"); p.separators() {
		if p.tok.kind == tEOF {
			p.unexpected()
		}
		b.list = append(b.list, p.stmt())
	}
	p.advance()
	return b
}

// body reads the statement of an if or a loop.
func (p *parser) body() *block {
	p.newlines()
	if p.is("{") {
		return p.block()
	}
	if p.accept(";") {
		return &block{}
	}
	return &block{list: []stmt{p.stmt()}}
}
