package posixre

import (
	"context"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/fair"
)

// Regexp is a compiled pattern. It is used from one goroutine.
type Regexp struct {
	host   Host
	flags  Flags
	groups int
	size   int // instructions, about
	m      *matcher

	// whole and inside are for package regexp: for a search from the start of
	// a text, and for one from further on. nil where it cannot say the same.
	whole, inside *regexp.Regexp
	looksBack     bool

	literal   string // the pattern is plain text
	isLiteral bool
	must      string // a text that every match has in it

	// What is known of the text of the last search.
	last         string
	ascii, valid bool
}

// Compile reads a pattern. Errors are in the words of regcomp.
func Compile(host Host, pattern string, flags Flags) (*Regexp, error) {
	root, groups, err := parse(pattern, flags)
	if err != nil {
		return nil, err
	}
	prog, err := compile(root, groups)
	if err != nil {
		return nil, err
	}
	if err := host.Hold(64 * len(prog.insts)); err != nil {
		return nil, err
	}
	re := &Regexp{host: host, flags: flags, groups: groups, size: len(prog.insts)}
	re.m = &matcher{prog: prog, host: host, fold: flags&IgnoreCase != 0, multi: flags&Multiline != 0}
	if flags&IgnoreCase != 0 {
		prog.first = nil
	} else {
		re.literal, re.isLiteral = plain(root)
		re.must = required(root)
	}
	if !re.isLiteral && len(prog.insts) < 5000 {
		re.whole, re.looksBack = re.translate(root, false)
		re.inside, _ = re.translate(root, true)
	}
	return re, nil
}

func (re *Regexp) translate(root *node, inside bool) (*regexp.Regexp, bool) {
	t := &translation{inside: inside, multiline: re.flags&Multiline != 0}
	t.node(root, nil, nil)
	if t.cannot || inside && t.looksBack {
		return nil, t.looksBack
	}
	mode := "(?s)"
	if re.flags&IgnoreCase != 0 {
		mode = "(?si)"
	}
	compiled, err := regexp.Compile(mode + t.b.String())
	if err != nil {
		return nil, t.looksBack // a count that is too high for it
	}
	compiled.Longest()
	return compiled, t.looksBack
}

// plain returns the text that the pattern is, if it is one.
func plain(n *node) (string, bool) {
	switch n.kind {
	case kRune:
		return text(n.r), true
	case kCat:
		var b strings.Builder
		for _, sub := range n.subs {
			if sub.kind != kRune {
				return "", false
			}
			b.WriteString(text(sub.r))
		}
		return b.String(), true
	}
	return "", false
}

func text(r rune) string {
	if r >= rawByte {
		return string([]byte{byte(r - rawByte)})
	}
	return string(r)
}

// required is the longest text that is in every match.
func required(n *node) string {
	switch n.kind {
	case kRune:
		return text(n.r)
	case kGroup:
		return required(n.subs[0])
	case kRepeat:
		if n.min > 0 {
			return required(n.subs[0])
		}
	case kCat:
		best, run := "", ""
		for _, sub := range n.subs {
			if sub.kind == kRune {
				run += text(sub.r)
			} else {
				run = ""
				if s := required(sub); len(s) > len(best) {
					best = s
				}
			}
			if len(run) > len(best) {
				best = run
			}
		}
		return best
	}
	return ""
}

// Groups is how many groups the pattern has.
func (re *Regexp) Groups() int { return re.groups }

// longText is from how much work (bytes times instructions) on a search looks
// at the context.
const longText = 16 << 20

// Find returns the leftmost longest match in text at or after from: the places
// where it and its groups start and end, -1 for a group that took no part; or
// nil. What is before from counts for ^ and word boundaries. The result is
// valid until the next search.
func (re *Regexp) Find(text string, from int) ([]int, error) {
	rest := text[from:]
	if re.isLiteral {
		i := strings.Index(rest, re.literal)
		if i < 0 {
			return nil, nil
		}
		re.m.best = append(re.m.best[:0], from+i, from+i+len(re.literal))
		return re.m.best, nil
	}
	if re.must != "" && !strings.Contains(rest, re.must) {
		return nil, nil
	}
	engine := re.whole
	if from > 0 {
		engine = re.inside
	}
	if engine == nil {
		return re.m.find(text, from)
	}
	if re.look(text, from); !re.valid || re.looksBack && !re.ascii {
		return re.m.find(text, from)
	}
	var loc []int
	if len(rest) > longText/re.size {
		var err error
		if loc, err = re.findLong(engine, rest); err != nil {
			return nil, err
		}
	} else {
		loc = engine.FindStringSubmatchIndex(rest)
	}
	for i := range loc {
		if loc[i] >= 0 {
			loc[i] += from
		}
	}
	return loc, nil
}

// look finds out what the text is made of, once for all searches in it: the
// bytes at one place can be another text only when it is searched from its
// start.
func (re *Regexp) look(text string, from int) {
	if from > 0 && len(text) == len(re.last) && unsafe.StringData(text) == unsafe.StringData(re.last) {
		return
	}
	re.last = text
	re.ascii = isASCII(text)
	re.valid = re.ascii || utf8.ValidString(text)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Match tells whether text has a match.
func (re *Regexp) Match(text string) (bool, error) {
	loc, err := re.Find(text, 0)
	return loc != nil, err
}

// interrupted unwinds package regexp, which knows no context.
type interrupted struct{ err error }

// watched reads a text rune by rune and looks at the context.
type watched struct {
	ctx  context.Context
	text string
	at   int
	n    int
}

func (w *watched) ReadRune() (rune, int, error) {
	if w.n++; w.n%checkSteps == 0 {
		fair.Take(w.ctx)
		if w.ctx.Err() != nil {
			panic(interrupted{context.Cause(w.ctx)})
		}
	}
	if w.at >= len(w.text) {
		return 0, 0, io.EOF
	}
	r, size := rune(w.text[w.at]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRuneInString(w.text[w.at:])
	}
	w.at += size
	return r, size, nil
}

// findLong searches a text so long that the search must be able to stop.
func (re *Regexp) findLong(engine *regexp.Regexp, text string) (loc []int, err error) {
	defer func() {
		if r := recover(); r != nil {
			i, ok := r.(interrupted)
			if !ok {
				panic(r)
			}
			err = i.err
		}
	}()
	return engine.FindReaderSubmatchIndex(&watched{ctx: re.host.Context(), text: text}), nil
}

// WordBefore tells whether the character before pos belongs to a word.
func WordBefore(text string, pos int) bool {
	if pos == 0 {
		return false
	}
	if c := text[pos-1]; c < utf8.RuneSelf {
		return isWord(rune(c))
	}
	r, size := utf8.DecodeLastRuneInString(text[:pos])
	return (r != utf8.RuneError || size > 1) && isWord(r)
}

// WordAfter tells whether the character at pos belongs to a word.
func WordAfter(text string, pos int) bool {
	if pos >= len(text) {
		return false
	}
	r, _ := decode(text, pos)
	return r < rawByte && isWord(r)
}
