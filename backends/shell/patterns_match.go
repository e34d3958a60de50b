package shell

import (
	"regexp"
	"strings"
	"sync"
)

// compiled remembers the patterns that loops use again and again.
var compiled = struct {
	sync.Mutex
	byExpr map[string]*regexp.Regexp
}{byExpr: map[string]*regexp.Regexp{}}

// compile compiles an expression with leftmost-longest matching, or leftmost
// first where it is ungreedy. The error is nil for all that translate makes but
// what is too large.
func compile(expr string, longest bool) (*regexp.Regexp, error) {
	key := expr
	if longest {
		key = "L" + expr
	}
	compiled.Lock()
	defer compiled.Unlock()
	if re := compiled.byExpr[key]; re != nil {
		return re, nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	if longest {
		re.Longest()
	}
	if len(key) < 1024 {
		if len(compiled.byExpr) >= 256 {
			clear(compiled.byExpr)
		}
		compiled.byExpr[key] = re
	}
	return re, nil
}

// regexpFor compiles a pattern with what stands before and after it.
func (s *shell) regexpFor(p string, mode patternMode, before, after string) *regexp.Regexp {
	expr, ok := translate(p, mode)
	if !ok {
		s.fault("the pattern %s cannot be used here: !(…) is for whole words only", p)
	}
	re, err := compile(before+expr+after, !mode.ungreedy)
	if err != nil {
		s.fault("the pattern is too large")
	}
	return re
}

// matches tells whether the whole text matches the pattern.
func (s *shell) matches(p, text string) bool {
	return s.matchesMode(p, text, patternMode{fold: s.options.nocasematch})
}

func (s *shell) matchesMode(p, text string, mode patternMode) bool {
	switch lit, ok := literalPattern(p); {
	case p == "*" && !mode.filename:
		return true
	case ok && !mode.fold:
		return lit == text
	}
	if strings.Contains(p, "!(") {
		if mode.filename && !mode.dots && strings.HasPrefix(text, ".") && !strings.HasPrefix(p, ".") {
			return false
		}
		return s.matchesNegated(p, text, mode)
	}
	return s.regexpFor(p, mode, "^", "$").MatchString(text)
}

// matchesNegated matches a pattern with !(…): what is before it, what is not in
// it, and what is after it.
func (s *shell) matchesNegated(p, text string, mode patternMode) bool {
	s.step()
	at := negation(p)
	if at < 0 {
		mode.dots = true
		return s.regexpFor(p, mode, "^", "$").MatchString(text)
	}
	end := at + 1
	for depth := 0; end < len(p); end++ {
		if p[end] == '\\' {
			end++
			continue
		}
		if p[end] == '(' {
			depth++
		} else if p[end] == ')' {
			if depth--; depth == 0 {
				break
			}
		}
	}
	if end >= len(p) {
		return false
	}
	before, inner, after := p[:at], "@"+p[at+1:end+1], p[end+1:]
	mode.dots = true
	for i := 0; i <= len(text); i++ {
		if !s.matchesMode(before, text[:i], mode) {
			continue
		}
		for j := len(text); j >= i; j-- {
			if !s.matchesMode(inner, text[i:j], mode) && s.matchesMode(after, text[j:], mode) {
				return true
			}
		}
	}
	return false
}

// negation is where the first !( of p is that is not escaped, or -1.
func negation(p string) int {
	for i := 0; i+1 < len(p); i++ {
		if p[i] == '\\' {
			i++
		} else if p[i] == '!' && p[i+1] == '(' {
			return i
		}
	}
	return -1
}
