package permissions

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is a text as far as it is known before a command runs: literal pieces
// and holes.
//
// A word has at most maxPieces pieces, and a text of at most maxValue bytes when
// it was put together from others. What is longer becomes a hole that is marked
// as cut.
type value []piece

const (
	maxPieces = 512
	maxValue  = 64 << 10
)

type piece struct {
	kind pieceKind
	text string // lit and wild
	// made marks a hole whose text was computed from other text (decoded,
	// translated, printed by an interpreter) rather than found.
	made bool
	cut  bool
}

func cutValue() value { return value{{kind: hole, made: true, cut: true}} }

func (v value) cut() bool { return len(v) > 0 && v[0].cut }

// size is how many bytes v has, with one for each hole and at least one.
func (v value) size() int {
	n := 1
	for _, p := range v {
		n += max(1, len(p.text))
	}
	return n
}

type pieceKind uint8

const (
	lit    pieceKind = iota
	wild             // an unquoted "*", "?" or "[…]": a hole for paths, text for rules
	hole             // anything
	word             // anything without a blank: the hole of a quoted word
	digits           // a number
	home             // the home directory
	entry            // a name that a pattern stood for: anything without a "/"
)

func text(s string) value {
	if s == "" {
		return nil
	}
	return value{{kind: lit, text: s}}
}

// known returns v when it has no holes.
func (v value) known() (string, bool) {
	switch len(v) {
	case 0:
		return "", true
	case 1:
		return v[0].text, v[0].kind == lit
	}
	for _, p := range v {
		if p.kind != lit {
			return "", false
		}
	}
	return v.String(), true
}

// String writes v with "…" for each hole.
func (v value) String() string {
	if len(v) == 1 && v[0].kind == lit {
		return v[0].text
	}
	var b strings.Builder
	for _, p := range v {
		switch p.kind {
		case lit, wild:
			b.WriteString(p.text)
		case home:
			b.WriteString("~")
		default:
			b.WriteString("…")
		}
	}
	return b.String()
}

// work is what it costs to hold v against one rule, in bytes: what is not
// known takes longer.
func (v value) work() int {
	if _, known := v.known(); known {
		return v.size()
	}
	return 8 * v.size()
}

func (v value) has(kinds ...pieceKind) bool {
	for _, p := range v {
		for _, k := range kinds {
			if p.kind == k {
				return true
			}
		}
	}
	return false
}

// open tells whether v has a hole that may hold any text.
func (v value) open() bool { return v.has(hole, word) }

func (v value) made() bool {
	for _, p := range v {
		if p.made {
			return true
		}
	}
	return false
}

// add appends a piece to a value that is still being made, joining literals.
func (v *value) add(p piece) {
	n := len(*v)
	switch {
	case p.kind == lit && p.text == "", v.cut():
	case p.cut, n > 0 && v.size()+len(p.text) > maxScript:
		*v = cutValue()
	case n > 0 && p.kind == lit && (*v)[n-1].kind == lit:
		if len((*v)[n-1].text)+len(p.text) > maxValue {
			*v = cutValue()
			return
		}
		(*v)[n-1].text += p.text
	case n == maxPieces:
		*v = cutValue()
	default:
		*v = append(*v, p)
	}
}

// join is vs in sequence.
func join(vs ...value) value {
	var out value
	size := 0
	for _, v := range vs {
		if size += v.size(); size > maxValue {
			return cutValue()
		}
		for _, p := range v {
			out.add(p)
		}
	}
	return out
}

// words joins vs with single blanks.
func words(vs []value) value {
	known := true
	size := 0
	for _, v := range vs {
		s, ok := v.known()
		known = known && ok
		size += len(s) + 1
	}
	if known {
		var b strings.Builder
		b.Grow(size)
		for i, v := range vs {
			if i > 0 {
				b.WriteByte(' ')
			}
			s, _ := v.known()
			b.WriteString(s)
		}
		return text(b.String())
	}
	var out value
	for i, v := range vs {
		if i > 0 {
			out = append(out, piece{kind: lit, text: " "})
		}
		out = append(out, v...)
	}
	return out
}

// literally is v with wildcards and the home directory as text, as a rule sees
// a command.
func (v value) literally() value { return v.withHome("~") }

// withHome is v with wildcards as text and homeText for the home directory.
func (v value) withHome(homeText string) value {
	if !v.has(wild, home) {
		return v
	}
	var out value
	for _, p := range v {
		switch p.kind {
		case wild:
			p.kind = lit
		case home:
			p = piece{kind: lit, text: homeText}
		}
		out.add(p)
	}
	return out
}

// hasPrefix tells whether v starts with the literal text s.
func (v value) hasPrefix(s string) bool {
	return len(v) > 0 && v[0].kind == lit && strings.HasPrefix(v[0].text, s)
}

// trimPrefix is v without its first n literal bytes.
func (v value) trimPrefix(n int) value {
	out := append(value(nil), v...)
	out[0].text = out[0].text[n:]
	if out[0].text == "" {
		return out[1:]
	}
	return out
}

// before is v up to the first literal sep.
func (v value) before(sep string) value {
	for i, p := range v {
		if head, _, found := strings.Cut(p.text, sep); found && p.kind == lit {
			return join(v[:i], text(head))
		}
	}
	return v
}

// field is one word of a command after expansion.
type field struct {
	value  value
	quoted bool // at least a part of it was
	// subst is the process substitution that the word is, if it is one.
	subst *syntax.ProcSubst
}

func values(args []field) []value {
	out := make([]value, len(args))
	for i, a := range args {
		out[i] = a.value
	}
	return out
}

func argText(args []field) (string, bool) {
	if len(args) == 0 {
		return "", false
	}
	return args[0].value.known()
}
