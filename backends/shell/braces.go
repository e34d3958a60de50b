package shell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// braces calls do for each word that brace expansion makes of w.
func (s *shell) braces(w *syntax.Word, do func(*syntax.Word)) {
	if !s.options.braceexpand || !mayBrace(w) {
		do(w)
		return
	}
	word := &syntax.Word{Parts: slices.Clone(w.Parts)}
	if !syntax.SplitBraces(word) {
		do(w)
		return
	}
	made := 0
	s.braceParts(nil, word.Parts, func(parts []syntax.WordPart) {
		if made++; made > maxFields {
			s.m.fail(overLimit("a command expanded to more than %d words", maxFields))
			panic(stopped{})
		}
		if made%1024 == 0 {
			s.check()
		}
		do(&syntax.Word{Parts: parts})
	})
}

func mayBrace(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, "{")
	})
}

// braceParts expands the first brace of rest, with left before it, and goes on
// with what follows.
func (s *shell) braceParts(left, rest []syntax.WordPart, do func([]syntax.WordPart)) {
	at := slices.IndexFunc(rest, func(p syntax.WordPart) bool { _, ok := p.(*syntax.BraceExp); return ok })
	if at < 0 {
		do(slices.Concat(left, rest))
		return
	}
	left = slices.Concat(left, rest[:at])
	brace, rest := rest[at].(*syntax.BraceExp), rest[at+1:]
	if !brace.Sequence {
		for _, elem := range brace.Elems {
			s.braceParts(left, slices.Concat(elem.Parts, rest), do)
		}
		return
	}
	sequence(brace, func(text string) {
		s.braceParts(slices.Concat(left, []syntax.WordPart{&syntax.Lit{Value: text}}), rest, do)
	})
}

// sequence yields the elements of {a..b..step}.
func sequence(b *syntax.BraceExp, yield func(string)) {
	from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
	step := int64(1)
	if len(b.Elems) > 2 {
		if n, err := strconv.ParseInt(b.Elems[2].Lit(), 10, 64); err == nil && n != 0 {
			step = max(n, -n)
		}
	}
	first, err1 := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	show := func(n int64) string { return strconv.FormatInt(n, 10) }
	if err1 != nil || err2 != nil {
		f, _ := utf8.DecodeRuneInString(from)
		l, _ := utf8.DecodeRuneInString(to)
		first, last = int64(f), int64(l)
		show = func(n int64) string {
			if c := string(rune(n)); c != `\` {
				return c
			}
			return `\\`
		}
	} else if padded(from) || padded(to) {
		width := max(len(from), len(to))
		show = func(n int64) string { return fmt.Sprintf("%0*d", width, n) }
	}
	for n := first; ; {
		yield(show(n))
		if first <= last {
			if last-n < step || last-n < 0 {
				return
			}
			n += step
		} else {
			if n-last < step || n-last < 0 {
				return
			}
			n -= step
		}
	}
}

func padded(text string) bool {
	text = strings.TrimPrefix(text, "-")
	return len(text) > 1 && text[0] == '0'
}
