package pathglob

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gobwas/glob"
	"github.com/gobwas/glob/syntax"
)

func compile(source, separators string, command bool) (*Pattern, error) {
	if len(source) > MaxPattern {
		return nil, fmt.Errorf("the pattern is over %d bytes long", MaxPattern)
	}
	if !utf8.ValidString(source) {
		return nil, errors.New("the pattern is not UTF-8")
	}
	// gobwas defines the syntax and finds its mistakes.
	if _, err := glob.Compile(source, []rune(separators)...); err != nil {
		return nil, err
	}
	b := builder{separators: separators, command: command}
	lexer := syntax.NewLexer(source)
	for t := lexer.Next(); t.Type != syntax.EOF; t = lexer.Next() {
		b.tokens = append(b.tokens, t)
	}
	if err := b.sequence(); err != nil {
		return nil, err
	}
	b.add(Edge{})
	p := &Pattern{states: b.states, words: (len(b.states) + 63) / 64}
	p.literal, p.prefix, p.suffix = b.literals()
	p.closure = make([]Set, len(p.states))
	for i := range p.states {
		p.states[i].Loops = p.states[i].Kind != EdgeNone && p.states[i].to == i
		p.closure[i] = p.reach(i)
	}
	return p, nil
}

// reach is what can be reached from a state without reading.
func (p *Pattern) reach(from int) Set {
	out := p.None()
	todo := []int{from}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !out.has(i) {
			out.add(i)
			todo = append(todo, p.states[i].eps...)
		}
	}
	return out
}

// builder turns tokens into states; each construct leads to the state that is
// added next.
type builder struct {
	tokens     []syntax.Token
	pos        int
	states     []Edge
	separators string
	command    bool
}

func (b *builder) add(e Edge) int {
	b.states = append(b.states, e)
	return len(b.states) - 1
}

// sequence builds tokens up to the end of them or of the alternative.
func (b *builder) sequence() error {
	for b.pos < len(b.tokens) {
		t := b.tokens[b.pos]
		next := len(b.states) + 1
		switch t.Type {
		case syntax.TermSeparator, syntax.TermsClose:
			return nil
		case syntax.Text:
			for _, r := range t.Data {
				b.add(Edge{Kind: EdgeRune, Rune: r, to: len(b.states) + 1})
			}
		case syntax.Single:
			b.add(Edge{Kind: EdgeOther, Except: b.separators, to: next})
		case syntax.Any:
			except := b.separators
			if b.command && b.isRootEntry() {
				except = "/ "
			}
			b.add(Edge{Kind: EdgeOther, Except: except, to: next - 1, eps: []int{next}})
		case syntax.Super:
			b.add(Edge{Kind: EdgeOther, to: next - 1, eps: []int{next}})
		case syntax.RangeOpen:
			if err := b.class(); err != nil {
				return err
			}
		case syntax.TermsOpen:
			if err := b.alternatives(); err != nil {
				return err
			}
		default:
			return errors.New("unexpected " + t.Type.String())
		}
		b.pos++
	}
	return nil
}

// isRootEntry tells whether the "*" at pos belongs to a word that is "/*".
func (b *builder) isRootEntry() bool {
	if b.pos == 0 || b.tokens[b.pos-1].Type != syntax.Text {
		return false
	}
	before := b.tokens[b.pos-1].Data
	if before != "/" && !strings.HasSuffix(before, " /") || before == "/" && b.pos > 1 {
		return false
	}
	return b.pos+1 == len(b.tokens) ||
		b.tokens[b.pos+1].Type == syntax.Text && strings.HasPrefix(b.tokens[b.pos+1].Data, " ")
}

func (b *builder) class() error {
	e := Edge{Kind: EdgeClass, to: len(b.states) + 1}
	for b.pos++; b.pos < len(b.tokens); b.pos++ {
		switch t := b.tokens[b.pos]; t.Type {
		case syntax.Not:
			e.Not = true
		case syntax.Text:
			e.Set = t.Data
		case syntax.RangeLo:
			e.Lo, _ = utf8.DecodeRuneInString(t.Data)
		case syntax.RangeHi:
			e.Hi, _ = utf8.DecodeRuneInString(t.Data)
		case syntax.RangeClose:
			b.add(e)
			return nil
		}
	}
	return errors.New("unclosed `[`")
}

func (b *builder) alternatives() error {
	fork := b.add(Edge{})
	var ends []int
	for {
		b.pos++
		b.states[fork].eps = append(b.states[fork].eps, len(b.states))
		if err := b.sequence(); err != nil {
			return err
		}
		if b.pos >= len(b.tokens) {
			return errors.New("unclosed `{`")
		}
		ends = append(ends, b.add(Edge{}))
		if b.tokens[b.pos].Type == syntax.TermsClose {
			break
		}
	}
	for _, end := range ends {
		b.states[end].eps = []int{len(b.states)}
	}
	return nil
}

// literals finds the longest text that every match contains.
func (b *builder) literals() (literal string, prefix, suffix bool) {
	depth := 0
	for i, t := range b.tokens {
		switch t.Type {
		case syntax.TermsOpen, syntax.RangeOpen:
			depth++
		case syntax.TermsClose, syntax.RangeClose:
			depth--
		case syntax.Text:
			if depth == 0 && len(t.Data) >= len(literal) {
				literal, prefix, suffix = t.Data, i == 0, i == len(b.tokens)-1
			}
		}
	}
	return literal, prefix, suffix
}
