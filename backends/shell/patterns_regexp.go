package shell

import (
	"errors"
	"io"
	"regexp"
	"regexp/syntax"
	"sync"
	"unicode/utf8"
)

// compiled remembers the small expressions that loops use again and again.
var compiled = struct {
	sync.Mutex
	byExpr map[string]compiledExpr
}{byExpr: map[string]compiledExpr{}}

type compiledExpr struct {
	re   *regexp.Regexp
	size int // about how many instructions it has
}

const (
	// rememberedSize is the size of expressions that are remembered: they stay
	// when the script has ended.
	rememberedSize = 2000
	// instructionCost is how many bytes an instruction takes, with what matching
	// needs for it.
	instructionCost = 160
)

var errLargeExpression = errors.New("the expression is too large")

// compile compiles an expression with leftmost-longest matching, or leftmost
// first. What a large one takes is charged before it is made.
func (s *shell) compile(expr string, longest bool) (matcher, error) {
	key := expr
	if longest {
		key = "L" + expr
	}
	compiled.Lock()
	known, ok := compiled.byExpr[key]
	compiled.Unlock()
	if ok {
		return matcher{s, known}, nil
	}
	s.charge(instructionCost * len(expr))
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return matcher{}, err
	}
	c := compiledExpr{size: instructions(tree, 1)}
	if int64(c.size) > s.m.limits.Memory/instructionCost {
		return matcher{}, errLargeExpression
	}
	s.charge(instructionCost * c.size)
	s.check()
	if c.re, err = regexp.Compile(expr); err != nil {
		return matcher{}, err
	}
	if longest {
		c.re.Longest()
	}
	if c.size <= rememberedSize && len(key) < 1024 {
		compiled.Lock()
		if len(compiled.byExpr) >= 256 {
			clear(compiled.byExpr)
		}
		compiled.byExpr[key] = c
		compiled.Unlock()
	}
	return matcher{s, c}, nil
}

// instructions tells about how many instructions an expression becomes, times
// of them. It does not go on past what no script may have.
func instructions(re *syntax.Regexp, times int) int {
	const most = 1 << 30
	if re.Op == syntax.OpRepeat {
		n := re.Max
		if n < 0 {
			n = re.Min + 1
		}
		times = min(most, times*max(1, n))
	}
	n := times
	switch re.Op {
	case syntax.OpLiteral:
		n = times * len(re.Rune)
	case syntax.OpCharClass:
		n = times * (1 + len(re.Rune)/20)
	}
	for _, sub := range re.Sub {
		if n >= most {
			break
		}
		n += instructions(sub, times)
	}
	return min(n, most)
}

// matcher is an expression that a shell looks for. Looking for a large one in a
// large text ends with the shell's context.
type matcher struct {
	s *shell
	compiledExpr
}

// quick is how much work, in instructions times bytes, is done without looking
// at the context.
const quick = 1 << 24

func (m matcher) slow(text string) bool { return len(text) > quick/max(1, m.size) }

func (m matcher) matches(text string) bool {
	if m.slow(text) {
		return m.re.MatchReader(&runes{m: m, text: text})
	}
	return m.re.MatchString(text)
}

// find returns where the first match is, or nil.
func (m matcher) find(text string) []int {
	if m.slow(text) {
		return m.re.FindReaderIndex(&runes{m: m, text: text})
	}
	return m.re.FindStringIndex(text)
}

// findAll returns where the first match and its groups are, or nil.
func (m matcher) findAll(text string) []int {
	// Each instruction can remember where each group is, twice.
	m.s.charge(2 * 16 * (m.re.NumSubexp() + 1) * min(m.size, quick))
	if m.slow(text) {
		return m.re.FindReaderSubmatchIndex(&runes{m: m, text: text})
	}
	return m.re.FindStringSubmatchIndex(text)
}

// runes reads a text for a matcher, and unwinds when the shell is to end.
type runes struct {
	m    matcher
	text string
	work int
}

func (r *runes) ReadRune() (rune, int, error) {
	if r.work += r.m.size; r.work > quick/16 {
		r.work = 0
		r.m.s.check()
	}
	if r.text == "" {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRuneInString(r.text)
	r.text = r.text[n:]
	return c, n, nil
}
