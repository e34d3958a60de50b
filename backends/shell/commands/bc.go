package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

var bcFlags = NewOptions(1, "l mathlib", "q quiet", "s standard", "w warn", "i interactive")

// bcMachine runs programs of bc.
type bcMachine struct {
	p         *Proc
	parser    *bcParser
	math      bool
	scale     int
	in, out   int // bases
	last      bcDecimal
	functions map[string]*bcFunction
	vars      map[string]bcDecimal
	arrays    map[string]map[int]bcDecimal
	calls     int
	steps     int
	column    int
	value     bcDecimal // what return has
	name      string    // of the function that runs
}

// Why statements end early.
var (
	errBCBreak    = errors.New("break outside a for/while")
	errBCContinue = errors.New("continue outside a for")
	errBCReturn   = errors.New("return outside of a function")
	errBCHalt     = errors.New("halt")
)

// bc calculates with numbers of any precision.
func bc(p *Proc) int {
	parsed, code := p.Parse(bcFlags)
	if parsed == nil {
		return code
	}
	m := &bcMachine{p: p, math: parsed.Has("l"), in: 10, out: 10, last: bcZero, functions: map[string]*bcFunction{}, vars: map[string]bcDecimal{}, arrays: map[string]map[int]bcDecimal{}}
	if m.math {
		m.scale = 20
	}
	for _, name := range parsed.Args {
		content, err := p.ReadFile(name)
		if err != nil {
			fmt.Fprintf(p.Stderr, "File %s is unavailable.\n", name)
			return 1
		}
		if code, done := m.run(string(content), name); done {
			return code
		}
	}
	content, err := p.ReadAll(p.Stdin)
	if err != nil {
		return p.FileError("-", err)
	}
	code, _ = m.run(string(content), "(standard_in)")
	return code
}

// run runs a program. done tells that nothing is to be run after it.
func (m *bcMachine) run(text, file string) (code int, done bool) {
	b := &bcParser{text: text, line: 1, hold: m.p.Hold}
	m.parser = b
	b.next()
	for b.kind != 0 || b.err != nil {
		if m.p.Stopped() {
			return 1, true
		}
		if b.err == nil && b.kind == '\n' {
			b.next()
			continue
		}
		var program *bcNode
		line := b.line
		quit := false
		if b.err == nil {
			if b.take("define") {
				if name, f := b.define(); b.err == nil {
					m.functions[name] = f
				}
			} else {
				program = b.statements(false)
				quit = b.err == nil && program.has("quit")
			}
			line = max(line, b.line)
			if b.kind == '\n' && b.err == nil {
				line--
			}
		}
		switch {
		case errors.Is(b.err, ErrMemory):
			return m.p.Errorf(1, "%s", b.err), true
		case b.err != nil:
			if b.kind == '\n' {
				line--
			}
			fmt.Fprintf(m.p.Stderr, "%s %d: %s\n", file, line, b.err)
			b.err, b.depth = nil, 0
			for b.kind != '\n' && b.kind != 0 {
				b.next()
				b.err = nil
			}
			continue
		case program == nil:
			continue
		}
		err := m.exec(program)
		switch {
		case m.p.Stopped():
			return 1, true
		case errors.Is(err, errBCHalt):
			return 0, true
		case errors.Is(err, ErrMemory):
			return m.p.Errorf(1, "%s", err), true
		case err != nil:
			fmt.Fprintf(m.p.Stderr, "Runtime error (func=%s, adr=0): %s\n", m.function(), err)
			m.calls = 0
			m.name = ""
		}
		if quit {
			return 0, true
		}
	}
	return 0, false
}

func (m *bcMachine) function() string {
	if m.name == "" {
		return "(main)"
	}
	return m.name
}

// has tells whether a program has a statement: quit counts where it is read.
func (n *bcNode) has(op string) bool {
	if n == nil {
		return false
	}
	if n.op == op {
		return true
	}
	for _, k := range n.kids {
		if k.has(op) {
			return true
		}
	}
	return false
}

// step counts what is done and ends it in time.
func (m *bcMachine) step() error {
	if m.steps++; m.steps%256 == 0 && m.p.Stopped() {
		return context.Cause(m.p.ctx)
	}
	return nil
}

func (m *bcMachine) exec(n *bcNode) error {
	if n == nil {
		return nil
	}
	if err := m.step(); err != nil {
		return err
	}
	switch n.op {
	case "block":
		for _, k := range n.kids {
			if err := m.exec(k); err != nil {
				return err
			}
		}
		return nil
	case "string":
		m.print(n.text)
		return nil
	case "print":
		for _, k := range n.kids {
			if k.op == "string" {
				m.print(bcEscapes(k.text))
				continue
			}
			v, err := m.eval(k)
			if err != nil {
				return err
			}
			m.last = v
			m.print(v.text(m.out))
		}
		return nil
	case "show":
		v, err := m.eval(n.kids[0])
		if err != nil {
			return err
		}
		if call := n.kids[0]; call.op == "call" && m.functions[call.text] != nil && m.functions[call.text].void {
			return nil
		}
		m.last = v
		m.print(v.text(m.out))
		m.p.Out.WriteByte('\n')
		m.column = 0
		return nil
	case "assign":
		_, err := m.eval(n)
		return err
	case "if":
		yes, err := m.test(n.kids[0])
		if err != nil {
			return err
		}
		if yes {
			return m.exec(n.kids[1])
		}
		return m.exec(n.kids[2])
	case "while":
		return m.loop(n.kids[0], nil, n.kids[1])
	case "for":
		if n.kids[0] != nil {
			if _, err := m.eval(n.kids[0]); err != nil {
				return err
			}
		}
		return m.loop(n.kids[1], n.kids[2], n.kids[3])
	case "return":
		m.value = bcZero
		if n.kids[0] != nil {
			v, err := m.eval(n.kids[0])
			if err != nil {
				return err
			}
			m.value = v
		}
		return errBCReturn
	case "break":
		return errBCBreak
	case "continue":
		return errBCContinue
	case "halt", "quit":
		return errBCHalt
	}
	return fmt.Errorf("there is no statement %s", n.op)
}

func (m *bcMachine) test(n *bcNode) (bool, error) {
	v, err := m.eval(n)
	return !v.zero(), err
}

func (m *bcMachine) loop(condition, after, body *bcNode) error {
	for {
		if err := m.step(); err != nil {
			return err
		}
		if condition != nil {
			if yes, err := m.test(condition); err != nil || !yes {
				return err
			}
		}
		switch err := m.exec(body); {
		case errors.Is(err, errBCBreak):
			return nil
		case err != nil && !errors.Is(err, errBCContinue):
			return err
		}
		if after != nil {
			if _, err := m.eval(after); err != nil {
				return err
			}
		}
	}
}

// print writes text, and breaks lines of numbers after 69 characters.
func (m *bcMachine) print(text string) {
	width := 70
	if v, ok := m.p.Getenv("BC_LINE_LENGTH"); ok {
		if _, err := fmt.Sscan(v, &width); err != nil || width < 3 && width != 0 {
			width = 70
		}
	}
	for i := range len(text) {
		c := text[i]
		if c == '\n' {
			m.column = 0
		} else if m.column++; width > 0 && m.column == width-1 {
			m.p.Out.WriteString("\\\n")
			m.column = 1
		}
		m.p.Out.WriteByte(c)
	}
}

// bcEscapes reads the escapes of print.
func bcEscapes(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		if at := strings.IndexByte(`abfnrtq\`, text[i]); at >= 0 {
			b.WriteByte("\a\b\f\n\r\t\"\\"[at])
		} else {
			b.WriteString(`\` + text[i:i+1])
		}
	}
	return b.String()
}
