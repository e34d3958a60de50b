package shell

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands"
)

// maxFields is how many words one command can expand to.
const maxFields = 1 << 20

// piece is a part of a word: quoted text means itself in patterns.
type piece struct {
	text   string
	quoted bool
}

// sink gathers what the parts of a word expand to.
type sink struct {
	s      *shell
	split  bool                // split what is expanded into fields
	ascii  [utf8.RuneSelf]bool // what separates: characters of $IFS
	others string              // those that are not ASCII, each once
	fields [][]piece
	cur    []piece
	has    bool // there is a field, be it empty
	space  bool // the last separator was white space only
	none   bool // the double quotes being read have held a "$@" of no elements
	sure   bool // they make a field all the same
}

func (s *shell) newSink(split bool) *sink {
	ifs := " \t\n"
	if v, ok := s.variable("IFS").str(); ok {
		ifs = v
	}
	k := &sink{s: s, split: split}
	if split {
		k.separators(ifs)
	}
	return k
}

// separators takes over $IFS.
func (k *sink) separators(ifs string) {
	var others []rune
	for _, r := range ifs {
		switch {
		case r < utf8.RuneSelf:
			k.ascii[r] = true
		case len(others) < 256 && !slices.Contains(others, r):
			others = append(others, r)
		}
	}
	k.others = string(others)
}

// add adds text that is not split.
func (k *sink) add(text string, quoted bool) {
	k.has, k.space = true, false
	if text == "" {
		return
	}
	k.s.charge(len(text) + 32)
	k.cur = append(k.cur, piece{text, quoted})
}

// end ends the current field.
func (k *sink) end() {
	if !k.has {
		return
	}
	if len(k.fields) >= maxFields {
		k.s.m.fail(overLimit("a command expanded to more than %d words", maxFields))
		panic(stopped{})
	}
	k.fields = append(k.fields, k.cur)
	k.cur, k.has = nil, false
}

// expanded adds text that an unquoted expansion brought.
func (k *sink) expanded(text string) {
	if !k.split {
		if text != "" {
			k.add(text, false)
		}
		return
	}
	start := 0
	flush := func(to int) {
		if start < to {
			k.add(text[start:to], false)
		}
	}
	seen := 0
	for i, r := range text {
		if seen++; seen%4096 == 0 {
			k.s.check()
		}
		if r < utf8.RuneSelf {
			if !k.ascii[r] {
				continue
			}
		} else if r == utf8.RuneError || !strings.ContainsRune(k.others, r) {
			continue
		}
		flush(i)
		start = i + utf8.RuneLen(r)
		white := r == ' ' || r == '\t' || r == '\n'
		switch {
		case k.has:
			k.end()
			k.space = white
		case !white && k.space:
			k.space = false // it belongs to the white space before it
		case !white:
			k.has = true
			k.end()
		}
	}
	flush(len(text))
}

// list adds the elements of $@, $* and the like.
func (k *sink) list(elems []string, star, quoted bool) {
	switch {
	case quoted && star, !k.split && star:
		sep := " "
		if v, ok := k.s.variable("IFS").str(); ok {
			sep = v
			if _, n := utf8.DecodeRuneInString(v); n > 0 {
				sep = v[:n]
			}
		}
		if !quoted && len(elems) == 0 {
			return
		}
		k.s.chargeAll(elems)
		k.add(strings.Join(elems, sep), quoted)
	case !k.split:
		if quoted || len(elems) > 0 {
			k.s.chargeAll(elems)
			k.add(strings.Join(elems, " "), quoted)
		}
	case quoted:
		k.none, k.sure = k.none || len(elems) == 0, k.sure || len(elems) > 0
		for i, e := range elems {
			if i > 0 {
				k.end()
			}
			k.add(e, true)
		}
	default:
		for i, e := range elems {
			if i > 0 {
				k.end()
				k.space = false
			}
			k.expanded(e)
		}
	}
}

func (s *shell) chargeAll(elems []string) {
	n := 0
	for _, e := range elems {
		n += len(e) + 1
	}
	s.charge(n)
}

// parts expands the parts of a word. start tells that a tilde can stand there.
func (s *shell) parts(k *sink, parts []syntax.WordPart, quoted, start bool) {
	for i, part := range parts {
		if lit, ok := part.(*syntax.Lit); ok && i == 0 && start && !quoted && strings.HasPrefix(lit.Value, "~") {
			head, rest := s.tilde(lit.Value, len(parts) == 1)
			if head != "" {
				k.add(head, true)
			}
			s.literal(k, rest)
			continue
		}
		s.part(k, part, quoted, false)
	}
}

// tilde expands ~ at the start of text and returns the rest. whole tells that
// nothing follows text in its word.
func (s *shell) tilde(text string, whole bool) (head, rest string) {
	name, rest, slash := strings.Cut(text[1:], "/")
	if slash {
		rest = "/" + rest
	} else if !whole {
		return "", text
	}
	switch name {
	case "":
		if home, ok := s.variable("HOME").str(); ok {
			return home, rest
		}
		return "/", rest
	case "+":
		return s.dir, rest
	case "-":
		if old, ok := s.variable("OLDPWD").str(); ok {
			return old, rest
		}
	case s.m.system.User:
		if home, ok := s.variable("HOME").str(); ok {
			return home, rest
		}
	}
	return "", text
}

// literal adds unquoted text of the script: a backslash quotes what follows.
func (s *shell) literal(k *sink, text string) {
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i == len(text)-1 {
			break
		}
		if i > 0 {
			k.add(text[:i], false)
		}
		_, n := utf8.DecodeRuneInString(text[i+1:])
		if text[i+1] != '\n' {
			k.add(text[i+1:i+1+n], true)
		}
		text = text[i+1+n:]
	}
	if text != "" {
		k.add(text, false)
	}
}

// part expands one part. splitLits tells that even literal text is split: it
// is the word of an unquoted ${x:-word}.
func (s *shell) part(k *sink, part syntax.WordPart, quoted, splitLits bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		switch {
		case quoted:
			k.add(unescape(p.Value, "\"$`\\"), true)
		case splitLits && k.split && !strings.Contains(p.Value, `\`):
			k.expanded(p.Value)
		default:
			s.literal(k, p.Value)
		}
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			text = ansiC(text)
		}
		k.add(text, true)
	case *syntax.DblQuoted:
		s.doubleQuoted(k, p)
	case *syntax.ParamExp:
		s.param(k, p, quoted)
	case *syntax.CmdSubst:
		text := s.commandSubst(p)
		if quoted {
			k.add(text, true)
		} else {
			k.expanded(text)
		}
	case *syntax.ArithmExp:
		text := strconv.FormatInt(s.arithm(p.X), 10)
		if quoted {
			k.add(text, true)
		} else {
			k.expanded(text)
		}
	case *syntax.ProcSubst:
		k.add(s.processSubst(p), true)
	case *syntax.ExtGlob:
		k.add(p.Op.String()+p.Pattern.Value+")", false)
	case *syntax.BraceExp: // where braces mean nothing
		k.add(sourceOf(&syntax.Word{Parts: []syntax.WordPart{p}}), false)
	default:
		s.fault("this shell cannot expand %T", part)
	}
}

// doubleQuoted expands "…". A "$@" of no elements makes no field, nor does
// "$@$x" when x is empty.
func (s *shell) doubleQuoted(k *sink, p *syntax.DblQuoted) {
	if len(p.Parts) == 0 {
		k.add("", true)
	}
	has, none, sure, pieces := k.has, k.none, k.sure, len(k.cur)
	k.none, k.sure = false, false
	for _, part := range p.Parts {
		s.part(k, part, true, false)
	}
	if k.none && !k.sure && len(k.cur) == pieces {
		k.has = has
	}
	k.none, k.sure = k.none || none, sure
}

// maxSource is how many bytes of a script are printed as they were written.
const maxSource = 16 << 10

// sourceOf prints a word as it was written, as far as that is known.
func sourceOf(n syntax.Node) string {
	if int64(n.End().Offset())-int64(n.Pos().Offset()) > maxSource {
		return "…" // printing needs stack for what nests in it
	}
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, n); err != nil {
		return "?"
	}
	return b.String()
}

// ansiC reads the escapes of $'…'.
func ansiC(text string) string {
	if i := strings.IndexByte(text, 0); i >= 0 {
		text = text[:i]
	}
	out, _ := commands.Unescape(text, commands.DollarQuotes)
	if i := strings.IndexByte(out, 0); i >= 0 {
		out = out[:i]
	}
	return out
}
