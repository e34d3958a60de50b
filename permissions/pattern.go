package permissions

import (
	"errors"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/gobwas/glob"
	"github.com/gobwas/glob/syntax"
)

// maxPattern is the longest pattern accepted, in bytes.
const maxPattern = 512

// pattern is a gobwas glob as an automaton, which is simulated over all of its
// states at once. Unlike a backtracking matcher it takes time linear in the
// text whatever the pattern, and it can be held against a text of which parts
// are not known (see [value]).
type pattern struct {
	literal string // every match contains this text; the cheap first test
	prefix  bool   // … and starts with it
	suffix  bool   // … and ends with it
	states  []edge
	words   int // length of a set of states
	start   set
	closure []set // what is reached from a state without reading
}

// set is a set of states.
type set []uint64

func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s set) union(t set) (grown bool) {
	for i, w := range t {
		grown = grown || w&^s[i] != 0
		s[i] |= w
	}
	return grown
}

func (s set) empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// each calls f with every state of s.
func (s set) each(f func(int)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			f(i*64 + bits.TrailingZeros64(w))
		}
	}
}

// edge is the one thing a state reads, and where that leads.
type edge struct {
	kind   edgeKind
	r      rune
	except string // edgeOther: the characters it does not read
	set    string // edgeClass
	lo, hi rune   // edgeClass, when set is empty
	not    bool   // edgeClass
	to     int
	eps    []int // states reached without reading
}

type edgeKind uint8

const (
	edgeNone  edgeKind = iota // reads nothing: a fork, or the end
	edgeRune                  // one given character
	edgeOther                 // any character but those of except
	edgeClass                 // [abc], [a-c], [!a]
)

func (e *edge) reads(r rune) bool {
	switch e.kind {
	case edgeRune:
		return e.r == r
	case edgeOther:
		return !strings.ContainsRune(e.except, r)
	case edgeClass:
		if e.set != "" {
			return strings.ContainsRune(e.set, r) != e.not
		}
		return (e.lo <= r && r <= e.hi) != e.not
	default:
		return false
	}
}

// compilePath compiles a path pattern: "/" is the separator.
func compilePath(source string) (*pattern, error) { return compile(source, "/", false) }

// compileCommand compiles a command pattern: "*" reads anything, except where
// "/*" is a word of its own. That stands for the entries of the root directory
// one by one, so that "rm -rf /*" does not forbid every absolute path.
func compileCommand(source string) (*pattern, error) { return compile(source, "", true) }

func compile(source, separators string, command bool) (*pattern, error) {
	if len(source) > maxPattern {
		return nil, errors.New("the pattern is over 512 bytes long")
	}
	// gobwas defines the syntax and finds its mistakes.
	if _, err := glob.Compile(source, []rune(separators)...); err != nil {
		return nil, err
	}
	b := builder{separators: separators, command: command}
	lexer := syntax.NewLexer(source)
	for {
		t := lexer.Next()
		if t.Type == syntax.EOF {
			break
		}
		b.tokens = append(b.tokens, t)
	}
	if err := b.sequence(); err != nil {
		return nil, err
	}
	b.add(edge{kind: edgeNone})
	p := &pattern{states: b.states, words: (len(b.states) + 63) / 64}
	p.literal, p.prefix, p.suffix = b.literals()
	p.closure = make([]set, len(p.states))
	for i := range p.states {
		p.closure[i] = p.reach(i)
	}
	p.start = p.closure[0]
	return p, nil
}

func (p *pattern) reach(from int) set {
	out := make(set, p.words)
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
	states     []edge
	separators string
	command    bool
}

func (b *builder) add(e edge) int {
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
				b.add(edge{kind: edgeRune, r: r, to: len(b.states) + 1})
			}
		case syntax.Single:
			b.add(edge{kind: edgeOther, except: b.separators, to: next})
		case syntax.Any:
			except := b.separators
			if b.command && b.isRootEntry() {
				except = "/ "
			}
			b.add(edge{kind: edgeOther, except: except, to: next - 1, eps: []int{next}})
		case syntax.Super:
			b.add(edge{kind: edgeOther, to: next - 1, eps: []int{next}})
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
	e := edge{kind: edgeClass, to: len(b.states) + 1}
	for b.pos++; b.pos < len(b.tokens); b.pos++ {
		switch t := b.tokens[b.pos]; t.Type {
		case syntax.Not:
			e.not = true
		case syntax.Text:
			e.set = t.Data
		case syntax.RangeLo:
			e.lo, _ = utf8.DecodeRuneInString(t.Data)
		case syntax.RangeHi:
			e.hi, _ = utf8.DecodeRuneInString(t.Data)
		case syntax.RangeClose:
			b.add(e)
			return nil
		}
	}
	return errors.New("unclosed `[`")
}

func (b *builder) alternatives() error {
	fork := b.add(edge{kind: edgeNone})
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
		ends = append(ends, b.add(edge{kind: edgeNone}))
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

// match tells whether p matches the whole of s.
func (p *pattern) match(s string) bool {
	var possible bool
	switch {
	case p.prefix:
		possible = strings.HasPrefix(s, p.literal)
	case p.suffix:
		possible = strings.HasSuffix(s, p.literal)
	default:
		possible = strings.Contains(s, p.literal)
	}
	if !possible {
		return false
	}
	if p.words == 1 {
		return p.match64(s)
	}
	cur, next := make(set, p.words), make(set, p.words)
	copy(cur, p.start)
	for s != "" && !cur.empty() {
		r, n := decode(s)
		s = s[n:]
		clear(next)
		p.step(cur, next, r)
		cur, next = next, cur
	}
	return cur.has(len(p.states) - 1)
}

// match64 is match for patterns of up to 64 states, which are nearly all.
func (p *pattern) match64(s string) bool {
	cur := p.start[0]
	for s != "" && cur != 0 {
		r, n := decode(s)
		s = s[n:]
		next := uint64(0)
		for w := cur; w != 0; w &= w - 1 {
			if e := &p.states[bits.TrailingZeros64(w)]; e.reads(r) {
				next |= p.closure[e.to][0]
			}
		}
		cur = next
	}
	return cur&(1<<(len(p.states)-1)) != 0
}

func (p *pattern) step(cur, next set, r rune) {
	cur.each(func(i int) {
		if e := &p.states[i]; e.reads(r) {
			next.union(p.closure[e.to])
		}
	})
}

// decode is utf8.DecodeRuneInString with every invalid byte a character of its
// own, which no pattern can name.
func decode(s string) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return -1 - rune(s[0]), 1
	}
	return r, n
}

// must tells whether p matches v whatever its unknown parts turn out to be.
func (p *pattern) must(v value) bool {
	if s, ok := v.known(); ok {
		return p.match(s)
	}
	cur := make(set, p.words)
	copy(cur, p.start)
	for _, piece := range v {
		next := make(set, p.words)
		if piece.kind == lit {
			for s := piece.text; s != ""; {
				r, n := decode(s)
				s = s[n:]
				clear(next)
				p.step(cur, next, r)
				cur, next = next, cur
			}
			continue
		}
		// Only a star that reads all that the hole can hold is certain.
		cur.each(func(i int) {
			e := &p.states[i]
			switch {
			case e.kind != edgeOther:
			case e.to == i && !piece.mayHold(e.except):
				next.union(p.closure[i])
			case piece.single() && !piece.mayHold(e.except):
				next.union(p.closure[e.to])
			}
		})
		cur = next
	}
	return cur.has(len(p.states) - 1)
}

// suggests is how many characters of a pattern must be spelled out by a text
// with holes before the text is held to suggest a match.
const suggests = 2

// may tells whether p can match v for some filling of its unknown parts, and
// whether its known parts suggest it: whether, from piece number from on, they
// spell out at least two letters or digits of p, or a dot that piece number
// last starts with. Without that "*" or "$x" alone would be taken for every
// name there is.
func (p *pattern) may(v value, from, last int) (possible, suggested bool) {
	var cur [suggests + 1]set // by how many characters were spelled out
	for i := range cur {
		cur[i] = make(set, p.words)
	}
	copy(cur[0], p.start)
	for n, piece := range v {
		if piece.kind != lit {
			for i := range cur {
				cur[i] = p.fill(cur[i], piece)
			}
			continue
		}
		for at := 0; at < len(piece.text); {
			r, size := decode(piece.text[at:])
			weight := 0
			switch {
			case r == '.' && n == last && at == 0:
				weight = suggests
			case n < from:
			case r == '_' || r >= 0x80 || r < 0x80 && r >= 0 && isNameByte(byte(r)):
				weight = 1
			}
			at += size
			var next [suggests + 1]set
			for i := range next {
				next[i] = make(set, p.words)
			}
			for count := range cur {
				cur[count].each(func(i int) {
					e := &p.states[i]
					if !e.reads(r) {
						return
					}
					to := count
					if e.kind == edgeRune {
						to = min(count+weight, suggests)
					}
					next[to].union(p.closure[e.to])
				})
			}
			cur = next
		}
	}
	end := len(p.states) - 1
	for _, s := range cur {
		possible = possible || s.has(end)
	}
	return possible, cur[suggests].has(end)
}

// fill is what can be reached from cur by some text that piece can stand for.
func (p *pattern) fill(cur set, piece piece) set {
	out := make(set, p.words)
	if !piece.single() {
		copy(out, cur)
	}
	for grown := true; grown; {
		grown = false
		from := cur
		if !piece.single() {
			from = append(set(nil), out...)
		}
		from.each(func(i int) {
			if e := &p.states[i]; piece.overlaps(e) && out.union(p.closure[e.to]) {
				grown = !piece.single()
			}
		})
	}
	return out
}
