package shell

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// escapePattern makes text match itself.
func escapePattern(text string) string {
	if !strings.ContainsAny(text, `*?[]\()|+@!^-`) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(`*?[]\()|+@!^-`, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// literalPattern is the text that a pattern without special characters
// matches.
func literalPattern(p string) (string, bool) {
	if !strings.ContainsAny(p, `*?[\(`) {
		return p, true
	}
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '*', '?', '[', '(':
			return "", false
		case '\\':
			if i+1 < len(p) {
				i++
			}
		}
		b.WriteByte(p[i])
	}
	return b.String(), true
}

// patternMode says how a pattern becomes a regular expression.
type patternMode struct {
	ungreedy, fold, filename, dots bool
}

// translate makes a regular expression of a pattern, without anchors. ok is
// false where it cannot say the same: in !(…).
func translate(p string, mode patternMode) (expr string, ok bool) {
	t := translator{mode: mode, in: p}
	if mode.filename && !mode.dots {
		t.start = true
	}
	out, ok := t.sequence(0, false)
	if !ok {
		return "", false
	}
	flags := "s"
	if mode.fold {
		flags += "i"
	}
	return "(?" + flags + ":" + out + ")", true
}

type translator struct {
	mode  patternMode
	in    string
	at    int
	start bool // at the start of a file name
}

// any is what one unknown character is.
func (t *translator) any() string {
	if t.mode.filename {
		return "[^/]"
	}
	return "."
}

func (t *translator) lazy() string {
	if t.mode.ungreedy {
		return "?"
	}
	return ""
}

// sequence translates up to the end, or within a group up to | or ).
func (t *translator) sequence(depth int, group bool) (string, bool) {
	var b strings.Builder
	if depth > 50 {
		return "", false
	}
	for t.at < len(t.in) {
		c := t.in[t.at]
		if group && (c == '|' || c == ')') {
			break
		}
		if strings.IndexByte("?*+@!", c) >= 0 && t.at+1 < len(t.in) && t.in[t.at+1] == '(' && closes(t.in[t.at+1:]) {
			expr, ok := t.group(c, depth)
			if !ok {
				return "", false
			}
			b.WriteString(expr)
			t.start = false
			continue
		}
		start := t.start
		t.start = false
		switch c {
		case '*':
			for t.at < len(t.in) && t.in[t.at] == '*' && (t.at+1 == len(t.in) || t.in[t.at+1] != '(') {
				t.at++
			}
			if start {
				b.WriteString("(?:[^./]" + t.any() + "*" + t.lazy() + ")?")
			} else {
				b.WriteString(t.any() + "*" + t.lazy())
			}
			continue
		case '?':
			if start {
				b.WriteString("[^./]")
			} else {
				b.WriteString(t.any())
			}
		case '[':
			class, n := bracket(t.in[t.at:])
			if n > 0 {
				b.WriteString(class)
				t.at += n
				continue
			}
			b.WriteString(`\[`)
		case '\\':
			if t.at+1 < len(t.in) {
				t.at++
			}
			fallthrough
		default:
			_, n := utf8.DecodeRuneInString(t.in[t.at:])
			b.WriteString(regexp.QuoteMeta(t.in[t.at : t.at+n]))
			t.at += n
			continue
		}
		t.at++
	}
	return b.String(), true
}

// closes tells whether the group that text starts with has an end.
func closes(text string) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return true
			}
		}
	}
	return false
}

func (t *translator) group(op byte, depth int) (string, bool) {
	if op == '!' {
		return "", false
	}
	t.at += 2
	var alts []string
	for {
		alt, ok := t.sequence(depth+1, true)
		if !ok || t.at >= len(t.in) {
			return "", false
		}
		alts = append(alts, alt)
		end := t.in[t.at] == ')'
		t.at++
		if end {
			break
		}
	}
	expr := "(?:" + strings.Join(alts, "|") + ")"
	switch op {
	case '?':
		expr += "?" + t.lazy()
	case '*':
		expr += "*" + t.lazy()
	case '+':
		expr += "+" + t.lazy()
	}
	return expr, true
}

// bracket translates a bracket expression at the start of p and returns its
// length; 0 when it is none.
func bracket(p string) (string, int) {
	i := 1
	var b strings.Builder
	b.WriteByte('[')
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		b.WriteByte('^')
		i++
	}
	for first := true; i < len(p); first = false {
		switch {
		case p[i] == ']' && !first:
			b.WriteByte(']')
			if _, err := regexp.Compile(b.String()); err != nil {
				return `[^\x00-\x{10FFFF}]`, i + 1 // a range that is empty matches nothing
			}
			return b.String(), i + 1
		case strings.HasPrefix(p[i:], "[:"):
			if end := strings.Index(p[i:], ":]"); end > 0 {
				name := p[i+2 : i+end]
				if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == "" {
					b.WriteString("[:" + name + ":]")
					i += end + 2
					continue
				}
			}
			b.WriteString(`\[`)
			i++
		case p[i] == '\\' && i+1 < len(p):
			_, n := utf8.DecodeRuneInString(p[i+1:])
			b.WriteString(quoteInClass(p[i+1 : i+1+n]))
			i += 1 + n
		case p[i] == '-':
			// A range, unless it is at an edge.
			if first || i+1 < len(p) && p[i+1] == ']' {
				b.WriteString(`\-`)
			} else {
				b.WriteByte('-')
			}
			i++
		default:
			_, n := utf8.DecodeRuneInString(p[i:])
			b.WriteString(quoteInClass(p[i : i+n]))
			i += n
		}
	}
	return "", 0
}

func quoteInClass(c string) string {
	if strings.ContainsAny(c, `[]\^-&~`) {
		return `\` + c
	}
	return c
}
