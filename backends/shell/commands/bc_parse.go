package commands

import (
	"errors"
)

// bcNode is a part of a program of bc.
type bcNode struct {
	op   string    // what it is; see the evaluator
	text string    // of a name, a number or a string
	kids []*bcNode // operands, conditions, bodies; nil for one that is missing
}

// bcFunction is what define makes.
type bcFunction struct {
	params, autos []string // arrays end in "[]"
	body          *bcNode
	void          bool
}

var errBCSyntax = errors.New("syntax error")

// bcNesting is how deep a program nests.
const bcNesting = 1000

// bcParser reads a program, one line or definition at a time.
type bcParser struct {
	text  string
	pos   int
	line  int
	depth int
	// tok is the next token, kind what it is: 'n' number, 'i' name, 's' string,
	// 'o' operator or keyword, '\n' end of a line, 0 end of the text.
	tok  string
	kind byte
	// held is charged for every node.
	hold func(n int) error
	err  error
}

func (b *bcParser) node(op, text string, kids ...*bcNode) *bcNode {
	if err := b.hold(96 + len(text)); err != nil && b.err == nil {
		b.err = err
	}
	return &bcNode{op, text, kids}
}

func (b *bcParser) enter() bool {
	if b.depth++; b.depth > bcNesting {
		if b.err == nil {
			b.err = errors.New("the program is nested too deeply")
		}
		return false
	}
	return b.err == nil
}

// statements reads statements up to the end of the line, or up to "}".
func (b *bcParser) statements(block bool) *bcNode {
	defer func() { b.depth-- }()
	out := b.node("block", "")
	if !b.enter() {
		return out
	}
	for b.err == nil {
		switch {
		case b.kind == '\n' && block, b.is(";"):
			b.next()
			continue
		case b.kind == '\n' || b.kind == 0:
			if block {
				b.fault()
			}
			return out
		case b.is("}") && block:
			return out
		}
		out.kids = append(out.kids, b.statement())
		if b.err == nil && !b.is(";") && b.kind != '\n' && b.kind != 0 && (!block || !b.is("}")) && !b.afterBlock(out.kids[len(out.kids)-1]) {
			b.fault()
		}
	}
	return out
}

// afterBlock tells whether a statement ended in "}", after which no separator is
// needed... which bc does not allow either, but at the end of blocks.
func (b *bcParser) afterBlock(n *bcNode) bool {
	switch n.op {
	case "block":
		return true
	case "if", "while", "for":
		last := n.kids[len(n.kids)-1]
		if last == nil {
			last = n.kids[len(n.kids)-2]
		}
		return last != nil && b.afterBlock(last)
	}
	return false
}

func (b *bcParser) statement() *bcNode {
	defer func() { b.depth-- }()
	if !b.enter() {
		return b.node("block", "")
	}
	word := b.tok
	if b.kind == 's' {
		n := b.node("string", b.tok)
		b.next()
		return n
	}
	if b.kind != 'o' {
		return b.expressionStatement()
	}
	switch word {
	case "{":
		b.next()
		n := b.statements(true)
		b.expect("}")
		return n
	case "if":
		b.next()
		n := b.node("if", "", b.parens())
		b.newlines()
		n.kids = append(n.kids, b.statement(), nil)
		at, line, kind, tok := b.pos, b.line, b.kind, b.tok
		b.newlines()
		if b.take("else") {
			b.newlines()
			n.kids[2] = b.statement()
		} else {
			b.pos, b.line, b.kind, b.tok = at, line, kind, tok
		}
		return n
	case "while":
		b.next()
		n := b.node("while", "", b.parens())
		b.newlines()
		n.kids = append(n.kids, b.statement())
		return n
	case "for":
		b.next()
		b.expect("(")
		n := b.node("for", "")
		for _, end := range []string{";", ";", ")"} {
			if b.is(end) {
				n.kids = append(n.kids, nil)
			} else {
				n.kids = append(n.kids, b.expression())
			}
			b.expect(end)
		}
		b.newlines()
		n.kids = append(n.kids, b.statement())
		return n
	case "print":
		b.next()
		n := b.node("print", "")
		for {
			if b.kind == 's' {
				n.kids = append(n.kids, b.node("string", b.tok))
				b.next()
			} else {
				n.kids = append(n.kids, b.expression())
			}
			if !b.take(",") {
				return n
			}
		}
	case "return":
		b.next()
		n := b.node("return", "", nil)
		if !b.is(";") && !b.is("}") && b.kind != '\n' && b.kind != 0 {
			n.kids[0] = b.expression()
		}
		return n
	case "break", "continue", "halt", "quit":
		b.next()
		return b.node(word, "")
	case "limits", "warranty":
		b.next()
		return b.node("block", "")
	}
	return b.expressionStatement()
}

func (b *bcParser) parens() *bcNode {
	b.expect("(")
	n := b.expression()
	b.expect(")")
	return n
}

// expressionStatement prints its value, unless it is an assignment.
func (b *bcParser) expressionStatement() *bcNode {
	n := b.expression()
	if n.op == "assign" {
		return n
	}
	return b.node("show", "", n)
}

// define reads a definition after its keyword.
func (b *bcParser) define() (name string, f *bcFunction) {
	f = &bcFunction{void: b.take("void")}
	name = b.tok
	if b.kind != 'i' {
		b.fault()
		return "", f
	}
	b.next()
	b.expect("(")
	f.params = b.nameList(")")
	b.expect(")")
	b.newlines()
	b.expect("{")
	b.newlines()
	for b.err == nil && b.take("auto") {
		f.autos = append(f.autos, b.nameList(";")...)
		if !b.take(";") {
			b.newlines()
		}
		b.newlines()
	}
	f.body = b.statements(true)
	b.expect("}")
	return name, f
}

func (b *bcParser) nameList(end string) (names []string) {
	for b.err == nil && !b.is(end) && b.kind != '\n' {
		b.take("*")
		name := b.tok
		if b.kind != 'i' {
			b.fault()
		}
		b.next()
		if b.take("[") {
			b.expect("]")
			name += "[]"
		}
		names = append(names, name)
		if !b.take(",") {
			break
		}
	}
	return names
}
