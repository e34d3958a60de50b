package permissions

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func hasBraces(word *syntax.Word) bool {
	for _, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok && strings.Contains(l.Value, "{") {
			return true
		}
	}
	return false
}

// braces are the combinations that a word with brace expansions stands for,
// and false when they are too many.
func braces(parts []syntax.WordPart) ([][]syntax.WordPart, bool) {
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		exp, ok := p.(*syntax.BraceExp)
		if !ok {
			for i := range out {
				out[i] = append(slices.Clip(out[i]), p)
			}
			continue
		}
		var choices [][]syntax.WordPart
		if exp.Sequence {
			texts, ok := sequence(exp)
			if !ok {
				return nil, false
			}
			for _, t := range texts {
				choices = append(choices, []syntax.WordPart{&syntax.Lit{Value: t}})
			}
		} else {
			for _, elem := range exp.Elems {
				inner, ok := braces(elem.Parts)
				if !ok || len(choices)+len(inner) > maxFields {
					return nil, false
				}
				choices = append(choices, inner...)
			}
		}
		if len(out)*len(choices) > maxFields {
			return nil, false
		}
		var next [][]syntax.WordPart
		for _, before := range out {
			for _, choice := range choices {
				next = append(next, append(append([]syntax.WordPart(nil), before...), choice...))
			}
		}
		out = next
	}
	return out, true
}

// sequence is {x..y} or {x..y..step}.
func sequence(exp *syntax.BraceExp) ([]string, bool) {
	if len(exp.Elems) < 2 {
		return nil, false
	}
	from, to := exp.Elems[0].Lit(), exp.Elems[1].Lit()
	a, err1 := strconv.Atoi(from)
	b, err2 := strconv.Atoi(to)
	letters := err1 != nil || err2 != nil
	if letters {
		if len(from) != 1 || len(to) != 1 {
			return nil, false
		}
		a, b = int(from[0]), int(to[0])
	}
	step := 1
	if len(exp.Elems) > 2 {
		n, err := strconv.Atoi(exp.Elems[2].Lit())
		if err != nil {
			return nil, false
		}
		step = max(1, max(n, -n))
	}
	if d := max(a, b) - min(a, b); d < 0 || d/step >= maxFields {
		return nil, false
	}
	if a > b {
		step = -step
	}
	var out []string
	for i := a; step > 0 && i <= b || step < 0 && i >= b; i += step {
		if letters {
			out = append(out, string(rune(i)))
		} else {
			out = append(out, strconv.Itoa(i))
		}
	}
	return out, true
}
