package fsops

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// grepPattern is a compiled pattern and what helps to find it fast.
type grepPattern struct {
	multi  bool     // a match may span lines
	need   grepNeed // literals of which every match has one
	prog   *syntax.Prog
	looks  bool       // the pattern has anchors, \b or \B
	starts *[256]bool // see grepStarts
}

// maxGrepSize bounds what a pattern is compiled to, in instructions. Without a
// bound 100 bytes of nested repetitions could ask for a gigabyte.
const maxGrepSize = 100_000

// compileGrep compiles the pattern of a request. In line mode a line is a text
// of its own: nothing matches a newline, and \A and \z are ^ and $.
func compileGrep(req backends.GrepRequest) (*grepPattern, error) {
	if req.Pattern == "" {
		return nil, grepMistake("the pattern is empty; to list files use glob")
	}
	flags := syntax.Perl &^ syntax.OneLine
	if req.CaseInsensitive {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(req.Pattern, flags)
	if err != nil {
		return nil, explainGrep(req.Pattern, err)
	}
	multi := req.Multiline && grepSpansLines(tree)
	if !multi {
		if grepNewline(tree) {
			return nil, grepMistake("the pattern contains a newline, and without multiline each line is searched by itself; set multiline to true, or leave the newline out")
		}
		grepOneLine(tree)
	}
	if grepSize(tree) > maxGrepSize {
		return nil, grepMistake("the pattern is too large once its repetitions are written out; search for a part of it")
	}
	tree = tree.Simplify()
	p := &grepPattern{multi: multi, need: grepLiterals(tree)}
	if p.prog, err = syntax.Compile(tree); err != nil {
		return nil, explainGrep(req.Pattern, err)
	}
	p.looks, p.starts = grepLooks(p.prog), grepStarts(p.prog)
	return p, nil
}

// grepSize estimates how many instructions a pattern is compiled to, as long as
// that is not over maxGrepSize.
func grepSize(re *syntax.Regexp) int {
	size := 1
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	for _, sub := range re.Sub {
		size = min(size+grepSize(sub), maxGrepSize+1)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(1, re.Min+1, re.Max)
	}
	return min(size, maxGrepSize+1)
}

func grepMistake(format string, args ...any) error {
	return backends.Errorf(backends.CodeInvalidArgument, "grep", "", format, args...)
}

// grepNewline tells whether part of a pattern is a newline and nothing else.
func grepNewline(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		return len(re.Rune) == 2 && re.Rune[0] == '\n' && re.Rune[1] == '\n'
	}
	return slices.ContainsFunc(re.Sub, grepNewline)
}

// grepSpansLines tells whether it makes a difference to a pattern that a text
// has several lines.
func grepSpansLines(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpBeginText, syntax.OpEndText:
		return true
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && re.Rune[i+1] >= '\n' {
				return true
			}
		}
		return false
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	}
	return slices.ContainsFunc(re.Sub, grepSpansLines)
}

// grepOneLine takes the newline out of what a pattern matches.
func grepOneLine(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
	case syntax.OpCharClass:
		var runes []rune
		for i := 0; i < len(re.Rune); i += 2 {
			lo, hi := re.Rune[i], re.Rune[i+1]
			if lo > '\n' || hi < '\n' {
				runes = append(runes, lo, hi)
				continue
			}
			if lo < '\n' {
				runes = append(runes, lo, '\n'-1)
			}
			if hi > '\n' {
				runes = append(runes, '\n'+1, hi)
			}
		}
		re.Rune = runes
		if len(runes) == 0 {
			re.Op = syntax.OpNoMatch
		}
	}
	for _, sub := range re.Sub {
		grepOneLine(sub)
	}
}

// grepMends are the constructs of other regular expression languages that RE2
// does without, in the order in which they are looked for.
var grepMends = []struct{ token, name, mend string }{
	{"(?=", "lookahead (?=…)", "write the text that follows as part of the pattern: foo(?=bar) becomes foobar"},
	{"(?!", "negative lookahead (?!…)", "search for what you want and leave out the rest when reading the result, or name what may follow: foo(?!bar) becomes foo($|[^b]|b[^a])"},
	{"(?<=", "lookbehind (?<=…)", "write the text before as part of the pattern: (?<=foo)bar becomes foobar"},
	{"(?<!", "negative lookbehind (?<!…)", "name what may come before: (?<!foo)bar becomes (^|[^o])bar, or use \\b for the start of a word"},
	{"(?>", "an atomic group (?>…)", "write (?:…): RE2 never backtracks, so nothing is lost"},
	{"(?#", "a comment (?#…)", "leave it out"},
	{"(?|", "a branch reset (?|…)", "write (?:…)"},
	{"(?(", "a condition (?(…)…)", "write both cases as (?:…|…)"},
	{"(?R)", "recursion (?R)", "write out as many levels as are needed"},
	{"(?&", "a subroutine call (?&…)", "write the group out again"},
	{"(?'", "a group named with quotes", "write (?P<name>…)"},
	{`\k`, `a backreference (\k)`, "write the repeated text out, or search with a wider pattern and compare when reading the result"},
	{`\g`, `a backreference (\g)`, "write the repeated text out, or search with a wider pattern and compare when reading the result"},
	{`\K`, `\K`, "leave it out: whole lines are answered anyway"},
	{`\G`, `\G`, "leave it out"},
	{`\Z`, `\Z`, `write $ for the end of a line, or \z for the end of the text`},
	{`\h`, `\h`, `write [ \t]`},
	{`\R`, `\R`, `write \r?\n, with multiline set to true`},
	{`\X`, `\X`, "write . for any character"},
	{`\u`, `\u`, `write \x{…} with the code point in hexadecimal: \u00e9 becomes \x{e9}`},
	{`\N`, `\N`, `write [^\n]`},
	{`\e`, `\e`, `write \x1b`},
}

// explainGrep says what is wrong with a pattern that does not parse, and what
// to write instead.
func explainGrep(pattern string, err error) error {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return grepMistake("the pattern does not compile: %v", err)
	}
	mistake := func(format string, args ...any) error {
		e := backends.Errorf(backends.CodeInvalidArgument, "grep", "", format, args...)
		e.Err = err
		return e
	}
	if name, mend, ok := grepForeign(pattern, bad); ok {
		return mistake("the pattern uses %s, which RE2 syntax does not have; %s", name, mend)
	}
	var what string
	switch bad.Code {
	case syntax.ErrInvalidRepeatSize:
		return mistake("the pattern repeats something too often (%s); a count may be at most 1000, counts inside of each other multiplied", bad.Expr)
	case syntax.ErrLarge, syntax.ErrNestingDepth:
		return mistake("the pattern is too large or nested too deeply; search for a part of it")
	case syntax.ErrInvalidUTF8:
		return mistake("the pattern is not valid UTF-8; write a byte as \\x{…}")
	case syntax.ErrMissingParen:
		what = `a "(" is not closed`
	case syntax.ErrUnexpectedParen:
		what = `there is a ")" without a "("`
	case syntax.ErrMissingBracket:
		what = fmt.Sprintf(`the "[" of %q is not closed`, bad.Expr)
	case syntax.ErrMissingRepeatArgument:
		what = fmt.Sprintf("there is nothing that %q could repeat", bad.Expr)
	case syntax.ErrInvalidRepeatOp:
		what = fmt.Sprintf("%q repeats a repetition", bad.Expr)
	case syntax.ErrTrailingBackslash:
		what = "it ends in a backslash"
	case syntax.ErrInvalidCharRange:
		what = fmt.Sprintf("%q is not a range of characters", bad.Expr)
	case syntax.ErrInvalidEscape:
		what = fmt.Sprintf("%q is no escape sequence", bad.Expr)
	default:
		what = fmt.Sprintf("%s: %q", bad.Code, bad.Expr)
	}
	where := ""
	if at := strings.Index(pattern, bad.Expr); bad.Expr != "" && at >= 0 && strings.Count(pattern, bad.Expr) == 1 && bad.Expr != pattern {
		where = fmt.Sprintf(" (at character %d)", len([]rune(pattern[:at]))+1)
	}
	return mistake("the pattern does not parse: %s%s; to search for this text itself, write %s", what, where, regexp.QuoteMeta(pattern))
}

// grepForeign looks for a construct that RE2 does not have, where the parser
// stopped or, failing that, the first in the pattern.
func grepForeign(pattern string, bad *syntax.Error) (name, mend string, ok bool) {
	switch bad.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture, syntax.ErrInvalidEscape, syntax.ErrMissingRepeatArgument, syntax.ErrInvalidCharRange:
	case syntax.ErrInvalidRepeatOp:
		if len(bad.Expr) > 1 && bad.Expr[len(bad.Expr)-1] == '+' {
			return "a possessive repetition (" + bad.Expr + ")", "leave the last + out: RE2 never backtracks, so nothing is lost", true
		}
		return "", "", false
	default:
		return "", "", false
	}
	class := false
	for i := 0; i < len(pattern); i++ {
		rest := pattern[i:]
		switch {
		case !class:
			for _, m := range grepMends {
				if strings.HasPrefix(rest, m.token) {
					return m.name, m.mend, true
				}
			}
			if len(rest) > 1 && rest[0] == '\\' && rest[1] >= '1' && rest[1] <= '9' {
				return "a backreference (" + rest[:2] + ")",
					"write the repeated text out, or search with a wider pattern and compare when reading the result", true
			}
			class = rest[0] == '['
			if class && len(rest) > 1 && (rest[1] == ']' || strings.HasPrefix(rest, "[^]")) {
				i += 1 + len(rest[:strings.IndexByte(rest, ']')]) - 1 // a "]" first is the character
			}
		case rest[0] == ']':
			class = false
		case strings.HasPrefix(rest, `\u`):
			return `\u`, `write \x{…} with the code point in hexadecimal: \u00e9 becomes \x{e9}`, true
		}
		if rest[0] == '\\' {
			i++
		}
	}
	return "", "", false
}
