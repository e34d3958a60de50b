package permissions

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// field is one word of a command after expansion.
type field struct {
	value  value
	quoted bool // at least a part of it was
	// subst is the process substitution that the word is, if it is one.
	subst *syntax.ProcSubst
}

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

func (e *expander) end() {
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

// unescapeDouble removes the backslashes that mean something in double quotes.
func unescapeDouble(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '\n':
				i++
				continue
			case '"', '\\', '$', '`':
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// literal appends unquoted text of the script.
func (e *expander) literal(s string, first bool) {
	if first && strings.HasPrefix(s, "~") {
		user, rest, slash := strings.Cut(s[1:], "/")
		if !strings.ContainsAny(user, `\*?[`) {
			switch user {
			case "+":
				e.cur = join(e.cur, quotedHoles(e.w.state.lookup("PWD")))
			default:
				e.cur.add(piece{kind: home})
			}
			if !slash {
				return
			}
			s = "/" + rest
		}
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' {
				e.cur.add(piece{kind: lit, text: s[i : i+1]})
			}
			e.open = true
		case s[i] == '*' || s[i] == '?':
			e.cur.add(piece{kind: wild, text: s[i : i+1]})
		case s[i] == '[':
			if end := strings.IndexByte(s[i:], ']'); end > 1 && !strings.Contains(s[i:i+end], "/") {
				e.cur.add(piece{kind: wild, text: s[i : i+end+1]})
				i += end
				continue
			}
			e.cur.add(piece{kind: lit, text: "["})
		default:
			end := i + 1
			for end < len(s) && !strings.ContainsRune(`\*?[`, rune(s[end])) {
				end++
			}
			e.cur.add(piece{kind: lit, text: s[i:end]})
			i = end - 1
		}
	}
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

// param appends what a parameter expansion stands for.
func (e *expander) param(p *syntax.ParamExp, whole, quoted bool) {
	w := e.w
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	simple := !p.Excl && !p.Length && !p.Width && !p.IsSet && p.NestedParam == nil && p.Index == nil &&
		p.Slice == nil && p.Repl == nil && p.Names == 0 && len(p.Modifiers) == 0 && p.Flags == nil
	if simple && p.Exp == nil && (name == "@" || name == "*") && w.state.argsSet {
		for i, a := range w.state.args {
			if i > 0 {
				if quoted && name == "@" || !quoted {
					e.end()
				} else {
					e.cur.add(piece{kind: lit, text: " "})
				}
			}
			e.open = e.open || quoted
			if quoted {
				e.cur = join(e.cur, quotedHoles(a.value))
			} else {
				e.unquoted(a.value, whole)
			}
		}
		return
	}
	var v value
	switch {
	case p.Length:
		v = value{{kind: digits}}
	case !simple:
		w.substitutions(p)
		v = value{{kind: hole, made: true}}
	case p.Exp == nil:
		v = w.state.lookup(name)
	default:
		v = w.expansion(name, p.Exp)
	}
	if quoted {
		e.cur = join(e.cur, quotedHoles(v))
		return
	}
	e.unquoted(v, whole)
}

// expansion is ${name:-word} and its kin.
func (w *walker) expansion(name string, exp *syntax.Expansion) value {
	arg := w.single(exp.Word)
	known, set := w.state.vars[name]
	switch exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if set && len(known) == 1 {
			if s, ok := known[0].known(); ok && s != "" {
				return known[0]
			}
		}
		if (exp.Op == syntax.AssignUnset || exp.Op == syntax.AssignUnsetOrNull) && !set {
			w.state.vars[name] = []value{arg, {{kind: hole}}}
		}
		if !set {
			return arg // where the environment has it, it is not the script's doing
		}
		return value{{kind: hole, made: true}}
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return arg
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return w.state.lookup(name)
	case syntax.OtherParamOps:
		// ${x@P} runs the substitutions in x.
		if s, ok := w.state.lookup(name).known(); ok && strings.ContainsAny(s, "$`") {
			w.script("echo \""+strings.ReplaceAll(s, `"`, `\"`)+"\"", w.state.clone(), stdin{}, w.depth+1)
		}
	}
	return value{{kind: hole, made: true}}
}

// lookup is the value of a variable: a hole when it has none that is known, or
// several.
func (st *state) lookup(name string) value {
	switch name {
	case "PWD":
		if len(st.cwd) == 1 {
			return st.cwd[0]
		}
		return value{{kind: hole}}
	case "?", "#", "$", "!", "PPID", "UID", "EUID", "RANDOM", "SECONDS", "LINENO", "OPTIND", "EPOCHSECONDS":
		return value{{kind: digits}}
	}
	if n, err := strconv.Atoi(name); err == nil && st.argsSet && n > 0 {
		if n <= len(st.args) {
			return st.args[n-1].value
		}
		return nil
	}
	if vs := st.vars[name]; len(vs) == 1 {
		return vs[0]
	}
	return value{{kind: hole}}
}

// decodeANSI is what $'…' makes of s.
func decodeANSI(s string) string {
	var b strings.Builder
	nul := false // the text ends at a NUL
	for i := 0; i < len(s) && !nul; i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		number := func(base, most int) (int, bool) {
			end := i + 1
			if base == 8 {
				end = i
			}
			start := end
			for end < len(s) && end-start < most && digitOf(s[end]) < base {
				end++
			}
			n, err := strconv.ParseUint(s[start:end], base, 32)
			if err != nil {
				return 0, false
			}
			nul = nul || n == 0
			i = end - 1
			return int(n), true
		}
		switch c := s[i]; c {
		case 'a':
			b.WriteByte(7)
		case 'b':
			b.WriteByte(8)
		case 'e', 'E':
			b.WriteByte(27)
		case 'f':
			b.WriteByte(12)
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'v':
			b.WriteByte(11)
		case 'x':
			if n, ok := number(16, 2); ok && n != 0 {
				b.WriteByte(byte(n))
			}
		case 'u':
			if n, ok := number(16, 4); ok && n != 0 {
				b.WriteRune(rune(n))
			}
		case 'U':
			if n, ok := number(16, 8); ok && n != 0 {
				b.WriteRune(rune(n))
			}
		case 'c':
			if i+1 < len(s) {
				i++
				b.WriteByte(s[i] & 31)
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			if n, ok := number(8, 3); ok && n != 0 {
				b.WriteByte(byte(n))
			}
		case '\\', '\'', '"', '?':
			b.WriteByte(c)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

func digitOf(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	default:
		return 99
	}
}
