package fsops

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// grepNeed is literal texts of which every match of a pattern has one. Without
// any the pattern has to be tried everywhere.
type grepNeed struct {
	texts []string
	fold  bool // texts are in lower case ASCII and match in either case
	exact bool // whatever has one of the texts matches
}

// Limits of the literals that are looked for.
const (
	maxGrepTexts = 12
	maxGrepText  = 64 // bytes
)

// grepLiterals finds the literals that a pattern needs.
func grepLiterals(re *syntax.Regexp) grepNeed {
	b := &grepLits{fold: grepFolds(re)}
	need := b.of(re)
	texts := need.best()
	if texts == nil {
		return grepNeed{}
	}
	return grepNeed{texts: texts, fold: b.fold, exact: need.whole != nil && !need.inexact && !b.inexact}
}

func grepFolds(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase != 0 {
		return true
	}
	for _, sub := range re.Sub {
		if grepFolds(sub) {
			return true
		}
	}
	return false
}

// grepLits extracts literals. With fold all are lowered, so that they are
// found in lowered text, and what they find has to be looked at again unless
// case is of no importance for it.
type grepLits struct {
	fold    bool
	inexact bool // a text was loosened
}

// grepPart is what is known of the matches of a part of a pattern.
type grepPart struct {
	whole   []string // all texts that it matches, when they are few
	needs   []string // texts of which a match has one, when whole is not known
	inexact bool     // whole holds only at certain places
}

func (p grepPart) best() []string {
	texts := p.whole
	if texts == nil {
		texts = p.needs
	}
	for _, s := range texts {
		if s == "" {
			return nil
		}
	}
	return texts
}

func (b *grepLits) of(re *syntax.Regexp) grepPart {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return grepPart{whole: []string{""}}
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return grepPart{whole: []string{""}, inexact: true}
	case syntax.OpLiteral:
		return b.literal(re)
	case syntax.OpCharClass:
		return b.class(re)
	case syntax.OpCapture:
		return b.of(re.Sub[0])
	case syntax.OpPlus:
		return grepPart{needs: b.of(re.Sub[0]).best()}
	case syntax.OpQuest:
		part := b.of(re.Sub[0])
		if part.whole == nil || len(part.whole) >= maxGrepTexts {
			return grepPart{}
		}
		part.whole = append(part.whole[:len(part.whole):len(part.whole)], "")
		return part
	case syntax.OpConcat:
		return b.concat(re.Sub)
	case syntax.OpAlternate:
		return b.alternate(re.Sub)
	default:
		return grepPart{}
	}
}

func (b *grepLits) literal(re *syntax.Regexp) grepPart {
	folds := re.Flags&syntax.FoldCase != 0
	if slices.Contains(re.Rune, unicode.ReplacementChar) {
		return grepPart{} // matches bytes that are no character
	}
	text := string(re.Rune)
	if !b.fold {
		return grepPart{whole: []string{text}}
	}
	if !folds {
		// The text is looked for in lowered text, where it has lost its case.
		b.inexact = b.inexact || strings.ContainsFunc(text, grepLetter)
		return grepPart{whole: []string{grepLower(text)}}
	}
	// Where case folds, only runs of ASCII can be looked for.
	var runs []string
	run := make([]byte, 0, len(re.Rune))
	for _, r := range re.Rune {
		if r < 0x80 || unicode.SimpleFold(r) == r {
			run = append(run, grepLower(string(r))...)
			continue
		}
		runs = append(runs, string(run))
		run = run[:0]
	}
	if runs == nil {
		return grepPart{whole: []string{string(run)}}
	}
	runs = append(runs, string(run))
	best := ""
	for _, s := range runs {
		if len(s) > len(best) {
			best = s
		}
	}
	if best == "" {
		return grepPart{}
	}
	return grepPart{needs: []string{best}}
}

func grepLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func grepLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// class is a class of a few characters: [fF]oo is looked for as two texts.
func (b *grepLits) class(re *syntax.Regexp) grepPart {
	var texts []string
	for i := 0; i < len(re.Rune); i += 2 {
		if int(re.Rune[i+1]-re.Rune[i]) >= maxGrepTexts-len(texts) {
			return grepPart{}
		}
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if r == unicode.ReplacementChar || r >= 0xd800 && r < 0xe000 {
				return grepPart{} // matches bytes that are no character
			}
			s := string(r)
			if b.fold {
				b.inexact = true
				s = grepLower(s)
			}
			if !slices.Contains(texts, s) {
				texts = append(texts, s)
			}
		}
	}
	if texts == nil {
		return grepPart{}
	}
	return grepPart{whole: texts}
}

func (b *grepLits) concat(subs []*syntax.Regexp) grepPart {
	whole := true
	inexact := false
	run := []string{""} // what the parts since the last unknown one match
	var best []string
	consider := func(texts []string) {
		if grepBetter(texts, best) {
			best = texts
		}
	}
	for _, sub := range subs {
		part := b.of(sub)
		inexact = inexact || part.inexact
		if part.whole != nil && len(run)*len(part.whole) <= maxGrepTexts {
			next := make([]string, 0, len(run)*len(part.whole))
			long := false
			for _, left := range run {
				for _, right := range part.whole {
					next = append(next, left+right)
					long = long || len(left)+len(right) > maxGrepText
				}
			}
			if !long {
				run = next
				continue
			}
		}
		whole = false
		consider(grepPart{whole: run}.best())
		if part.whole != nil {
			run = part.whole
			continue
		}
		consider(part.needs)
		run = []string{""}
	}
	if whole {
		return grepPart{whole: run, inexact: inexact}
	}
	consider(grepPart{whole: run}.best())
	return grepPart{needs: best}
}

func (b *grepLits) alternate(subs []*syntax.Regexp) grepPart {
	whole := true
	inexact := false
	var texts []string
	for _, sub := range subs {
		part := b.of(sub)
		inexact = inexact || part.inexact
		mine := part.whole
		if mine == nil {
			whole = false
			mine = part.needs
		}
		if mine == nil || len(texts)+len(mine) > maxGrepTexts {
			return grepPart{}
		}
		texts = append(texts, mine...)
	}
	if whole {
		return grepPart{whole: texts, inexact: inexact}
	}
	return grepPart{needs: grepPart{needs: texts}.best()}
}

// grepBetter tells whether texts are likely to be rarer than others: the
// shortest of them is longer, or they are as long and fewer.
func grepBetter(texts, others []string) bool {
	if texts == nil || others == nil {
		return texts != nil
	}
	a, b := grepShortest(texts), grepShortest(others)
	return a > b || a == b && len(texts) < len(others)
}

func grepShortest(texts []string) int {
	n := len(texts[0])
	for _, s := range texts {
		n = min(n, len(s))
	}
	return n
}
