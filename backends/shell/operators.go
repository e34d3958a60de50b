package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// replaced applies ${x/pattern/text} to each element.
func (s *shell) replaced(r *syntax.Replace, elems []string) []string {
	pattern := s.pattern(r.Orig)
	with := s.replacement(r.With)
	anchor := byte(0)
	if !r.All && r.Orig != nil && len(r.Orig.Parts) > 0 {
		if lit, ok := r.Orig.Parts[0].(*syntax.Lit); ok && (strings.HasPrefix(lit.Value, "#") || strings.HasPrefix(lit.Value, "%")) {
			anchor, pattern = pattern[0], pattern[1:]
		}
	}
	if pattern == "" && anchor == 0 {
		return elems
	}
	out := make([]string, len(elems))
	for i, e := range elems {
		out[i] = s.replaceIn(e, pattern, with, anchor, r.All)
	}
	return out
}

// replacement is what a match is replaced by: texts between which the match
// comes, for each unquoted & in the word.
func (s *shell) replacement(w *syntax.Word) []string {
	if w == nil {
		return []string{""}
	}
	k := s.newSink(false)
	s.parts(k, w.Parts, false, true)
	if !s.options.patsubReplacement {
		return []string{join(k.cur)}
	}
	out := []string{""}
	for _, p := range k.cur {
		text := p.text
		for !p.quoted {
			i := strings.IndexByte(text, '&')
			if i < 0 {
				break
			}
			if i > 0 && text[i-1] == '\\' { // of an expansion
				out[len(out)-1] += text[:i-1] + "&"
			} else {
				out[len(out)-1] += text[:i]
				out = append(out, "")
			}
			text = text[i+1:]
		}
		out[len(out)-1] += text
	}
	return out
}

func (s *shell) replaceIn(text, pattern string, with []string, anchor byte, all bool) string {
	mode := patternMode{fold: s.options.nocasematch}
	var at [][]int
	lit, isLit := literalPattern(pattern)
	switch {
	case anchor == '#':
		at = [][]int{s.regexpFor(pattern, mode, "^", "").find(text)}
	case anchor == '%':
		at = [][]int{s.regexpFor(pattern, mode, "", "$").find(text)}
	case isLit && !mode.fold && !all:
		i := strings.Index(text, lit)
		if i < 0 {
			return text
		}
		at = [][]int{{i, i + len(lit)}}
	case isLit && !mode.fold:
		n := strings.Count(text, lit)
		by := s.joined(with, lit)
		s.chargeProduct(n, len(by)-len(lit), len(text))
		return strings.ReplaceAll(text, lit, by)
	case !all:
		at = [][]int{s.regexpFor(pattern, mode, "", "").find(text)}
	default:
		return s.replaceAll(text, pattern, with, mode)
	}
	if len(at) == 0 || at[0] == nil {
		return text
	}
	m := at[0]
	if m[0] == m[1] && anchor == 0 {
		return text // an empty match replaces nothing
	}
	by := s.joined(with, text[m[0]:m[1]])
	s.charge(len(text) + len(by))
	return text[:m[0]] + by + text[m[1]:]
}

// joined is a replacement for match.
func (s *shell) joined(with []string, match string) string {
	if len(with) == 1 {
		return with[0]
	}
	s.chargeProduct(len(with)-1, len(match), 0)
	return strings.Join(with, match)
}

// replaceAll replaces all matches of a pattern, one at a time: a list of them
// would be larger than the text.
func (s *shell) replaceAll(text, pattern string, with []string, mode patternMode) string {
	re := s.regexpFor(pattern, mode, "", "")
	var b strings.Builder
	for n := 0; ; n++ {
		m := re.find(text)
		if m == nil {
			break
		}
		if n%1024 == 1023 {
			s.check()
		}
		if m[0] == m[1] { // empty: one character is passed over
			_, w := utf8.DecodeRuneInString(text[m[1]:])
			if w == 0 {
				break
			}
			m[1] += w
			s.charge(2 * m[1])
			b.WriteString(text[:m[1]])
		} else {
			by := s.joined(with, text[m[0]:m[1]])
			s.charge(2 * (m[0] + len(by)))
			b.WriteString(text[:m[0]])
			b.WriteString(by)
		}
		text = text[m[1]:]
	}
	b.WriteString(text)
	return b.String()
}

// chargeProduct charges what n pieces of size each make, on top of more.
func (s *shell) chargeProduct(n, size, more int) {
	if size > 0 && n > 0 && int64(n) > s.m.limits.Memory/int64(size) {
		s.m.fail(s.m.memoryError())
		panic(stopped{})
	}
	s.charge(n*max(size, 0) + more)
}

// operated applies ${x#p}, ${x%p}, ${x^p}, ${x@Q} and their like.
func (s *shell) operated(p *syntax.ParamExp, e expansion) []string {
	op := p.Exp.Op
	if op == syntax.OtherParamOps {
		return s.transformed(p, e)
	}
	pattern := s.pattern(p.Exp.Word)
	out := make([]string, len(e.elems))
	for i, text := range e.elems {
		switch op {
		case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
			out[i] = s.removed(op, pattern, text)
		default:
			out[i] = s.changedCase(op, pattern, text)
		}
	}
	return out
}

func (s *shell) removed(op syntax.ParExpOperator, pattern, text string) string {
	if lit, ok := literalPattern(pattern); ok && !s.options.nocasematch {
		if op == syntax.RemSmallPrefix || op == syntax.RemLargePrefix {
			return strings.TrimPrefix(text, lit)
		}
		return strings.TrimSuffix(text, lit)
	}
	if strings.Contains(pattern, "!(") {
		return s.removedNegated(op, pattern, text)
	}
	mode := patternMode{fold: s.options.nocasematch}
	switch op {
	case syntax.RemLargePrefix:
		if m := s.regexpFor(pattern, mode, "^", "").find(text); m != nil {
			return text[m[1]:]
		}
	case syntax.RemSmallPrefix:
		mode.ungreedy = true
		if m := s.regexpFor(pattern, mode, "^", "").find(text); m != nil {
			return text[m[1]:]
		}
	case syntax.RemLargeSuffix:
		if m := s.regexpFor(pattern, mode, "", "$").find(text); m != nil {
			return text[:m[0]]
		}
	default:
		// The shortest suffix has the longest text before it.
		mode.ungreedy = true // leftmost first: the greedy text before it wins
		if m := s.regexpFor(pattern, mode, "^((?s:.*))", "$").findAll(text); m != nil {
			return text[:m[3]]
		}
	}
	return text
}

// removedNegated tries each prefix or suffix.
func (s *shell) removedNegated(op syntax.ParExpOperator, pattern, text string) string {
	n := len(text)
	for k := range n + 1 {
		s.step()
		switch {
		case op == syntax.RemSmallPrefix && s.matches(pattern, text[:k]):
			return text[k:]
		case op == syntax.RemLargePrefix && s.matches(pattern, text[:n-k]):
			return text[n-k:]
		case op == syntax.RemSmallSuffix && s.matches(pattern, text[n-k:]):
			return text[:n-k]
		case op == syntax.RemLargeSuffix && s.matches(pattern, text[k:]):
			return text[:k]
		}
	}
	return text
}

func (s *shell) changedCase(op syntax.ParExpOperator, pattern, text string) string {
	change := unicode.ToUpper
	if op == syntax.LowerFirst || op == syntax.LowerAll {
		change = unicode.ToLower
	}
	all := op == syntax.UpperAll || op == syntax.LowerAll
	if pattern == "" {
		pattern = "?"
	}
	s.charge(len(text))
	var b strings.Builder
	for i, seen := 0, 0; i < len(text); seen++ {
		if seen%4096 == 0 {
			s.check()
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if (all || i == 0) && (r != utf8.RuneError || n > 1) && (pattern == "?" || s.matches(pattern, text[i:i+n])) {
			b.WriteRune(change(r))
		} else {
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// transformed applies ${x@Q}, ${x@A} and their like.
func (s *shell) transformed(p *syntax.ParamExp, e expansion) []string {
	op := p.Exp.Word.Lit()
	switch op {
	case "a":
		return []string{attributes(e.v)}
	case "A":
		if e.v == nil {
			return nil
		}
		return []string{s.assignment(e)}
	case "K", "k":
		if e.v == nil || e.v.kind == scalar || !e.list {
			break
		}
		var pairs []string
		for i, key := range e.v.keys() {
			pairs = append(pairs, key+" "+doubleQuote(e.elems[i]))
		}
		return []string{strings.Join(pairs, " ")}
	}
	out := make([]string, len(e.elems))
	for i, text := range e.elems {
		s.charge(4 * len(text))
		switch op {
		case "Q", "K", "k":
			if out[i] = shellQuote(text); out[i] == text && op == "Q" || text == "" {
				out[i] = "'" + text + "'"
			}
		case "U":
			out[i] = strings.ToUpper(text)
		case "L":
			out[i] = strings.ToLower(text)
		case "u":
			r, n := utf8.DecodeRuneInString(text)
			if n > 0 {
				out[i] = string(unicode.ToUpper(r)) + text[n:]
			}
		case "E":
			out[i] = ansiC(text)
		case "P":
			out[i] = text
		default:
			s.fault("%s: bad substitution", sourceOf(p))
		}
	}
	return out
}
