package fsops

import (
	"math"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// grepNeed is literal texts of which every match of a pattern has one. Without
// any the pattern has to be tried everywhere.
type grepNeed struct {
	grepSet
	others []grepSet // of each of which every match has a text, too
	fold   bool      // texts are in lower case ASCII and match in either case
	exact  bool      // whatever has one of the texts matches
}

// grepSet is literal texts of which something has one.
type grepSet struct {
	texts []string
	first bool // it begins with it
}

// Limits of the literals that are looked for.
const (
	maxGrepTexts = 12 // in a set
	maxGrepText  = 64 // bytes
	maxGrepSets  = 8
)

// grepLiterals finds the literals that a pattern needs.
func grepLiterals(re *syntax.Regexp) grepNeed {
	b := &grepLits{fold: grepFolds(re)}
	need := b.of(re)
	sets := need.sets()
	best := grepRarestSet(sets)
	if best < 0 {
		return grepNeed{}
	}
	return grepNeed{
		grepSet: sets[best],
		others:  slices.Concat(sets[:best], sets[best+1:]),
		fold:    b.fold,
		exact:   need.whole != nil && !need.inexact && !b.inexact,
	}
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
	whole   []string  // all texts that it matches, when they are few
	needs   []grepSet // of each of which a match has a text, when whole is not known
	inexact bool      // whole holds only at certain places
}

func (p grepPart) sets() []grepSet {
	switch {
	case p.whole == nil:
		return p.needs
	case slices.Contains(p.whole, ""):
		return nil
	default:
		return []grepSet{{texts: p.whole, first: true}}
	}
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
		return grepPart{needs: b.of(re.Sub[0]).sets()}
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
	return grepPart{needs: []grepSet{{texts: []string{best}}}}
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
	out := grepPart{whole: []string{""}} // whole: what the parts since the last unknown one match
	known := true                        // so far out.whole is all
	var needs []grepSet
	add := func(sets []grepSet, first bool) {
		for _, set := range sets {
			set.first = set.first && first
			if len(needs) < maxGrepSets {
				needs = append(needs, set)
			}
		}
	}
	for _, sub := range subs {
		part := b.of(sub)
		out.inexact = out.inexact || part.inexact
		if part.whole != nil {
			if next := grepProduct(out.whole, part.whole); next != nil {
				out.whole = next
				continue
			}
		}
		empty := len(out.whole) == 1 && out.whole[0] == ""
		add(out.sets(), known)
		if part.whole != nil {
			out.whole = part.whole
		} else {
			add(part.needs, known && empty)
			out.whole = []string{""}
		}
		known = false
	}
	if known {
		return out
	}
	add(out.sets(), false)
	return grepPart{needs: needs}
}

// grepProduct is each text of left with each of right behind it, nil when that
// is too much.
func grepProduct(left, right []string) []string {
	if len(left)*len(right) > maxGrepTexts {
		return nil
	}
	out := make([]string, 0, len(left)*len(right))
	for _, l := range left {
		for _, r := range right {
			if len(l)+len(r) > maxGrepText {
				return nil
			}
			out = append(out, l+r)
		}
	}
	return out
}

func (b *grepLits) alternate(subs []*syntax.Regexp) grepPart {
	out := grepPart{whole: []string{}}
	known := true
	set := grepSet{first: true}
	for _, sub := range subs {
		part := b.of(sub)
		out.inexact = out.inexact || part.inexact
		known = known && part.whole != nil
		out.whole = append(out.whole, part.whole...)
		sets := part.sets()
		if best := grepRarestSet(sets); best >= 0 {
			set.texts = append(set.texts, sets[best].texts...)
			set.first = set.first && sets[best].first
		} else if part.whole == nil {
			return grepPart{}
		}
		if len(out.whole) > maxGrepTexts || len(set.texts) > maxGrepTexts {
			return grepPart{}
		}
	}
	switch {
	case known:
		return out
	case slices.Contains(out.whole, ""):
		return grepPart{}
	default:
		return grepPart{needs: []grepSet{set}}
	}
}

// grepRarestSet returns the index of the set that is likely to be the cheapest
// to look for, -1 where there is none.
func grepRarestSet(sets []grepSet) int {
	best, least := -1, math.Inf(1)
	for i, set := range sets {
		if c := set.cost(); c < least {
			best, least = i, c
		}
	}
	return best
}

// cost estimates what it takes to look for the texts in a byte of source code
// or prose: to pass over the byte, to look again where it is the rarest of
// the text, and to look at the line where all of the text is.
func (s grepSet) cost() float64 {
	const pass, again, line = 0.05, 5, 150 // nanoseconds
	sum := 0.0
	for _, text := range s.texts {
		all := 1.0
		for i := range len(text) {
			all *= grepShare(text[i])
		}
		sum += pass + again*grepShare(text[grepRarest(text)]) + line*all
	}
	return sum
}
