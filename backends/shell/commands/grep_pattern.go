package commands

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

// grepPattern finds one of grep's patterns. The result is nil where there is no
// match at or after from.
type grepPattern interface {
	find(line string, from int) ([]int, error)
}

type posixPattern struct{ *posixre.Regexp }

func (r posixPattern) find(line string, from int) ([]int, error) { return r.Find(line, from) }

// anyText is the empty pattern.
type anyText struct{ loc [2]int }

func (a *anyText) find(_ string, from int) ([]int, error) {
	a.loc = [2]int{from, from}
	return a.loc[:], nil
}

// textSet are many plain texts that are looked up as whole lines.
type textSet map[string]bool

func (s textSet) find(line string, from int) ([]int, error) {
	if from == 0 && s[line] {
		return []int{0, len(line)}, nil
	}
	return nil, nil
}

// perlPattern is a pattern of grep -P that RE2 can match. What comes before \K,
// in (?<=…) at the start and in (?=…) at the end is matched but does not belong
// to the match.
type perlPattern struct {
	p     *Proc
	re    *regexp.Regexp
	inner int     // the group that is the match; 0 when all of it is
	all   [][]int // the matches of the line that is searched
	held  int
}

func newPerlPattern(p *Proc, pattern string, fold, word, whole bool) (*perlPattern, error) {
	before, text, after := perlParts(pattern)
	inner := 0
	expr := "(?:" + text + ")"
	if before != "" || after != "" {
		expr = "(?:" + before + ")(?P<match_of_grep>" + text + ")(?:" + after + ")"
		inner = 1
	}
	switch {
	case whole:
		expr = `\A(?:` + expr + `)\z`
	case word:
		expr = `\b(?:` + expr + `)\b`
	}
	if fold {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		for _, construct := range []struct{ text, name string }{
			{"(?!", "a lookahead (?!…)"}, {"(?<!", "a lookbehind (?<!…)"}, {"(?=", "a lookahead (?=…) that is not at the end"},
			{"(?<=", "a lookbehind (?<=…) that is not at the start"}, {"(?>", "an atomic group (?>…)"}, {"(?R)", "a recursion"}, {"(?(", "a condition"},
			{"*+", "a possessive repetition"}, {"++", "a possessive repetition"}, {"?+", "a possessive repetition"},
		} {
			if strings.Contains(pattern, construct.text) {
				return nil, fmt.Errorf("-P: %s cannot be matched in this workspace. Write the pattern for -E, or filter in two steps (grep … | grep -v …)", construct.name)
			}
		}
		if regexp.MustCompile(`\\[1-9]`).MatchString(pattern) {
			return nil, fmt.Errorf("-P: back-references are for -E and -G in this workspace: write the pattern for -E")
		}
		return nil, fmt.Errorf("-P: %s. Patterns for -P are those of RE2 here; -E has POSIX ones", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if inner > 0 {
		inner = re.SubexpIndex("match_of_grep")
	}
	return &perlPattern{p: p, re: re, inner: inner}, nil
}

// perlParts takes \K, a lookbehind at the start and a lookahead at the end off
// a pattern without alternatives outside groups.
func perlParts(pattern string) (before, text, after string) {
	text = pattern
	depth, last := 0, -1
	kept := -1
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			if i+1 < len(pattern) && pattern[i+1] == 'K' && depth == 0 {
				kept = i
			}
			if i+1 < len(pattern) && pattern[i+1] == 'Q' {
				return "", pattern, ""
			}
			i++
		case '[':
			if end := strings.IndexByte(pattern[min(i+2, len(pattern)):], ']'); end >= 0 {
				i += 2 + end
			}
		case '(':
			if depth == 0 {
				last = i
			}
			depth++
		case ')':
			depth--
		case '|':
			if depth == 0 {
				return "", pattern, ""
			}
		}
	}
	if last >= 0 && strings.HasPrefix(text[last:], "(?=") && strings.HasSuffix(text, ")") && kept < last {
		after, text = text[last+3:len(text)-1], text[:last]
	}
	if kept >= 0 {
		return text[:kept], text[kept+2:], after
	}
	if strings.HasPrefix(text, "(?<=") {
		depth = 0
		for i := 0; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '(':
				depth++
			case ')':
				if depth--; depth == 0 {
					return text[4:i], text[i+1:], after
				}
			}
		}
	}
	return "", text, after
}

func (r *perlPattern) find(line string, from int) ([]int, error) {
	if from == 0 {
		r.all = nil
		loc := r.re.FindStringSubmatchIndex(line)
		if loc == nil {
			return nil, nil
		}
		return loc[2*r.inner : 2*r.inner+2], nil
	}
	if r.all == nil {
		// What is before from matters, which package regexp is not told: all
		// matches are found at once.
		if need := (40 + 16*(r.re.NumSubexp()+1)) * (len(line) + 1); need > r.held {
			if err := r.p.Hold(need - r.held); err != nil {
				return nil, err
			}
			r.held = need
		}
		r.all = r.re.FindAllStringSubmatchIndex(line, -1)
	}
	for len(r.all) > 0 {
		loc := r.all[0][2*r.inner : 2*r.inner+2]
		if loc[0] >= from {
			return loc, nil
		}
		r.all = r.all[1:]
	}
	return nil, nil
}

// compile compiles what is to be found.
func (g *grepper) compile(texts []string) error {
	flags := posixre.Flags(0)
	switch g.syntax {
	case 'E':
		flags |= posixre.Extended | posixre.LooseParen
	case 'F':
		flags |= posixre.Fixed
	}
	if g.fold {
		flags |= posixre.IgnoreCase
	}
	if g.whole {
		flags |= posixre.Whole
	} else if g.word {
		flags |= posixre.Word
	}
	if g.syntax == 'F' && g.whole && !g.fold {
		set := textSet{}
		for _, t := range texts {
			set[t] = true
		}
		g.patterns = []grepPattern{set}
		return nil
	}
	seen := map[string]bool{}
	for _, t := range texts {
		if seen[t] {
			continue
		}
		seen[t] = true
		switch {
		case g.syntax == 'P':
			re, err := newPerlPattern(g.p, t, g.fold, g.word, g.whole)
			if err != nil {
				return err
			}
			g.patterns = append(g.patterns, re)
		case t == "" && !g.word && !g.whole:
			g.patterns = []grepPattern{&anyText{}}
			return nil
		default:
			re, err := posixre.Compile(g.p, t, flags)
			if err != nil {
				return err
			}
			g.patterns = append(g.patterns, posixPattern{re})
		}
	}
	return nil
}

// find returns the leftmost longest match of all patterns.
func (g *grepper) find(line string, from int) (start, end int, ok bool, err error) {
	for i, pat := range g.patterns {
		if i%64 == 63 && g.p.Stopped() {
			return 0, 0, false, g.p.Context().Err()
		}
		loc, err := pat.find(line, from)
		if err != nil {
			return 0, 0, false, err
		}
		if loc != nil && (!ok || loc[0] < start || loc[0] == start && loc[1] > end) {
			start, end, ok = loc[0], loc[1], true
			if g.anyMatch {
				return start, end, true, nil
			}
		}
	}
	return start, end, ok, nil
}
