package permissions

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// expander turns the parts of one word into fields.
type expander struct {
	w      *walker
	fields []field
	cur    value
	open   bool // cur is a field even if empty
	quoted bool
	subst  *syntax.ProcSubst
}

// expand is what a shell makes of word: brace expansion, substitutions, word
// splitting, quote removal. Patterns stay, as wild pieces.
func (w *walker) expand(word *syntax.Word) []field {
	if word == nil {
		return nil
	}
	combinations := [][]syntax.WordPart{word.Parts}
	if !w.posix && hasBraces(word) {
		split := *word
		split.Parts = append([]syntax.WordPart(nil), word.Parts...)
		if syntax.SplitBraces(&split) {
			var ok bool
			if combinations, ok = braces(split.Parts); !ok {
				w.substitutions(word)
				return []field{{value: value{{kind: hole, made: true}}}}
			}
		}
	}
	var out []field
	for _, parts := range combinations {
		e := &expander{w: w}
		e.parts(parts, false)
		e.end()
		out = append(out, e.fields...)
		if len(out) > maxFields {
			w.over = true
			return out[:maxFields]
		}
	}
	return out
}

// expandAll expands words in order.
func (w *walker) expandAll(list []*syntax.Word) []field {
	var out []field
	for _, word := range list {
		if out = append(out, w.expand(word)...); len(out) > 4*maxFields {
			w.over = true
			break
		}
	}
	return out
}

// single expands word to one value, without splitting: the right side of an
// assignment, a redirection's target.
func (w *walker) single(word *syntax.Word) value {
	if word == nil {
		return nil
	}
	e := &expander{w: w}
	e.parts(word.Parts, true)
	e.end()
	if len(e.fields) == 0 {
		return nil
	}
	return e.fields[0].value
}

func (e *expander) end() {
	e.w.spend(e.cur.size())
	e.w.over = e.w.over || e.cur.cut()
	if e.open || len(e.cur) > 0 {
		e.fields = append(e.fields, field{value: e.cur, quoted: e.quoted, subst: e.subst})
	}
	e.cur, e.open, e.quoted, e.subst = nil, false, false, nil
}

// parts appends the expansion of parts. With whole nothing is split.
func (e *expander) parts(parts []syntax.WordPart, whole bool) {
	for i, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			e.literal(part.Value, i == 0 && len(e.cur) == 0 && !e.open)
		case *syntax.SglQuoted:
			e.open, e.quoted = true, true
			s := part.Value
			if part.Dollar {
				s = decodeANSI(s)
			}
			e.cur.add(piece{kind: lit, text: s})
		case *syntax.DblQuoted:
			e.open, e.quoted = true, true
			e.doubleQuoted(part.Parts)
		case *syntax.ParamExp:
			e.param(part, whole, false)
		case *syntax.CmdSubst:
			e.unquoted(e.w.substitute(part), whole)
		case *syntax.ArithmExp:
			e.w.substitutions(part)
			e.cur.add(piece{kind: digits})
		case *syntax.ProcSubst:
			e.w.processSubstitution(part)
			e.cur.add(piece{kind: lit, text: "/dev/fd/63"})
			e.subst = part
		case *syntax.ExtGlob:
			e.w.substitutions(part)
			e.cur.add(piece{kind: wild, text: "*"})
		default:
			e.w.substitutions(part)
			e.cur.add(piece{kind: hole, made: true})
		}
	}
}

func (e *expander) doubleQuoted(parts []syntax.WordPart) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			e.cur.add(piece{kind: lit, text: unescapeDouble(part.Value)})
		case *syntax.ParamExp:
			e.param(part, true, true)
		case *syntax.CmdSubst:
			e.cur = join(e.cur, quotedHoles(e.w.substitute(part)))
		case *syntax.ArithmExp:
			e.w.substitutions(part)
			e.cur.add(piece{kind: digits})
		default:
			e.w.substitutions(part)
			e.cur.add(piece{kind: word, made: true})
		}
	}
}

// quotedHoles is v inside quotes: patterns are text, and a hole is a part of
// one word.
func quotedHoles(v value) value {
	var out value
	for _, p := range v {
		switch p.kind {
		case hole:
			p.kind = word
		case wild:
			p.kind = lit
		}
		out.add(p)
	}
	return out
}

// literal appends unquoted text of the script.
func (e *expander) literal(s string, first bool) {
	if first && strings.HasPrefix(s, "~") {
		user, rest, slash := strings.Cut(s[1:], "/")
		if !strings.ContainsAny(user, `\*?[`) {
			st := e.w.state
			switch {
			case user == "":
				e.cur = join(e.cur, quotedHoles(st.lookup("HOME")))
			case user == "+":
				e.cur = join(e.cur, quotedHoles(st.lookup("PWD")))
			case user == "-" && len(st.been) == 1:
				e.cur = join(e.cur, quotedHoles(st.been[0]))
			case strings.Trim(user, "+-0123456789") == "":
				e.cur.add(piece{kind: hole}) // of the stack of directories
			default:
				e.cur.add(piece{kind: home})
			}
			if !slash {
				return
			}
			s = "/" + rest
		}
	}
	var b strings.Builder
	flush := func(next piece) {
		e.cur.add(piece{kind: lit, text: b.String()})
		b.Reset()
		e.cur.add(next)
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
			e.open = true
		case c == '*' || c == '?':
			flush(piece{kind: wild, text: s[i : i+1]})
		case c == '[':
			if end := classEnd(s[i:]); end > 1 && !strings.Contains(s[i:i+end], "/") {
				flush(piece{kind: wild, text: s[i : i+end+1]})
				i += end
				continue
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	flush(piece{kind: lit})
}

// unquoted appends the text of an unquoted expansion, which a shell splits at
// IFS and then takes for patterns.
func (e *expander) unquoted(v value, whole bool) {
	if whole {
		e.cur = join(e.cur, v)
		return
	}
	ifs, known := e.w.state.lookup("IFS").known()
	for _, p := range v {
		switch {
		case p.kind != lit:
			e.cur.add(p)
		case !known:
			e.cur.add(piece{kind: hole, made: true})
		default:
			rest := p.text
			for {
				i := strings.IndexAny(rest, ifs)
				if ifs == "" || i < 0 {
					e.literalGlobs(rest)
					break
				}
				e.literalGlobs(rest[:i])
				e.end()
				_, size := utf8.DecodeRuneInString(rest[i:])
				rest = rest[i+size:]
			}
		}
	}
}

// literalGlobs appends text in which only patterns mean something.
func (e *expander) literalGlobs(s string) {
	for s != "" {
		i := strings.IndexAny(s, "*?")
		if i < 0 {
			e.cur.add(piece{kind: lit, text: s})
			return
		}
		e.cur.add(piece{kind: lit, text: s[:i]})
		e.cur.add(piece{kind: wild, text: s[i : i+1]})
		s = s[i+1:]
	}
}

// classEnd is where the class that s starts with ends, or -1.
func classEnd(s string) int {
	at := 1
	if at < len(s) && (s[at] == '!' || s[at] == '^') {
		at++
	}
	for start := at; at < len(s); at++ {
		switch {
		case s[at] == ']' && at > start:
			return at
		case s[at] == '[' && at+1 < len(s) && strings.IndexByte(":.=", s[at+1]) >= 0:
			if end := strings.Index(s[at+2:], s[at+1:at+2]+"]"); end >= 0 {
				at += 2 + end + 1
			}
		}
	}
	return -1
}
