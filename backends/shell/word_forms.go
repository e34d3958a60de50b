package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// words expands words to the fields of a command.
func (s *shell) words(list []*syntax.Word) []string {
	var out []string
	for _, w := range list {
		if lit, ok := plain(w); ok {
			out = append(out, lit)
			continue
		}
		s.braces(w, func(w *syntax.Word) {
			k := s.newSink(true)
			s.parts(k, s.assignmentTilde(w.Parts), false, true)
			k.end()
			for _, field := range k.fields {
				out = s.addGlobbed(out, field)
				if len(out) > maxFields {
					s.m.fail(overLimit("a command expanded to more than %d words", maxFields))
					panic(stopped{})
				}
			}
		})
	}
	return out
}

// assignmentTilde expands the tilde of a word that looks like an assignment,
// name=~/x, as bash does.
func (s *shell) assignmentTilde(parts []syntax.WordPart) []syntax.WordPart {
	lit, ok := parts[0].(*syntax.Lit)
	if !ok {
		return parts
	}
	name, rest, ok := strings.Cut(lit.Value, "=")
	if !ok || !strings.HasPrefix(rest, "~") || !syntax.ValidName(name) {
		return parts
	}
	head, tail := s.tilde(rest, len(parts) == 1)
	fresh := []syntax.WordPart{&syntax.Lit{Value: name + "="}, &syntax.SglQuoted{Value: head}, &syntax.Lit{Value: tail}}
	return append(fresh, parts[1:]...)
}

// plain is the text of a word in which nothing is to be expanded.
func plain(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		return p.Value, !strings.ContainsAny(p.Value, "\\*?[~{+@!")
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar
	}
	return "", false
}

// single expands a word to one string: no splitting, no globbing.
func (s *shell) single(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	if lit, ok := plain(w); ok {
		return lit
	}
	k := s.newSink(false)
	s.parts(k, w.Parts, false, true)
	return join(k.cur)
}

// value expands the right side of an assignment, where ~ counts after a colon,
// too.
func (s *shell) value(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	if lit, ok := plain(w); ok {
		return lit
	}
	parts := w.Parts
	for i, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || !strings.Contains(lit.Value, ":~") {
			continue
		}
		pieces := strings.Split(lit.Value, ":~")
		for j := range pieces[1:] {
			head, rest := s.tilde("~"+pieces[j+1], i == len(parts)-1 || strings.Contains(pieces[j+1], "/"))
			pieces[j+1] = strings.ReplaceAll(head, `\`, `\\`) + rest
		}
		fresh := append([]syntax.WordPart(nil), parts...)
		fresh[i] = &syntax.Lit{Value: strings.Join(pieces, ":")}
		parts = fresh
	}
	k := s.newSink(false)
	s.parts(k, parts, false, true)
	return join(k.cur)
}

func join(pieces []piece) string {
	if len(pieces) == 1 {
		return pieces[0].text
	}
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// pattern expands a word to a shell pattern: what is quoted is escaped.
func (s *shell) pattern(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	k := s.newSink(false)
	s.parts(k, w.Parts, false, true)
	return patternOf(k.cur)
}

func patternOf(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.quoted {
			b.WriteString(escapePattern(p.text))
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// document expands a here-document.
func (s *shell) document(w *syntax.Word, literal, tabs bool) string {
	k := s.newSink(false)
	bol := true
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			s.part(k, part, true, false)
			bol = false
			continue
		}
		text := lit.Value
		if tabs {
			lines := strings.SplitAfter(text, "\n")
			for i := range lines {
				if i > 0 || bol {
					lines[i] = strings.TrimLeft(lines[i], "\t")
				}
			}
			text = strings.Join(lines, "")
		}
		bol = strings.HasSuffix(text, "\n")
		if !literal {
			text = unescape(text, "$`\\")
		}
		k.add(text, true)
	}
	return join(k.cur)
}

// unescape removes the backslash before each of the special characters, and
// with a newline after it.
func unescape(text, special string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if text[i+1] == '\n' {
				i++
				continue
			}
			if strings.IndexByte(special, text[i+1]) >= 0 {
				i++
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
