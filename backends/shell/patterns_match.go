package shell

import "strings"

// regexpFor compiles a pattern with what stands before and after it.
func (s *shell) regexpFor(p string, mode patternMode, before, after string) matcher {
	expr, ok := translate(p, mode)
	if !ok {
		s.fault("the pattern %s cannot be used here: !(…) is for whole words only", p)
	}
	re, err := s.compile(before+expr+after, !mode.ungreedy)
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
	case !mode.fold && !mode.filename:
		// Is one text in another: often of large ones.
		if inner, ok := strings.CutPrefix(p, "*"); ok {
			if inner, ok = strings.CutSuffix(inner, "*"); ok {
				if lit, ok := literalPattern(inner); ok && !strings.HasSuffix(lit, `\`) {
					return strings.Contains(text, lit)
				}
			}
		}
	}
	if strings.Contains(p, "!(") {
		if mode.filename && !mode.dots && strings.HasPrefix(text, ".") && !strings.HasPrefix(p, ".") {
			return false
		}
		return s.matchesNegated(p, text, mode)
	}
	return s.regexpFor(p, mode, "^", "$").matches(text)
}

// matchesNegated matches a pattern with !(…): what is before it, what is not in
// it, and what is after it.
func (s *shell) matchesNegated(p, text string, mode patternMode) bool {
	s.step()
	at := negation(p)
	if at < 0 {
		mode.dots = true
		return s.regexpFor(p, mode, "^", "$").matches(text)
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
		s.check()
		if !s.matchesMode(before, text[:i], mode) {
			continue
		}
		for j := len(text); j >= i; j-- {
			if j%256 == 0 {
				s.check()
			}
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
