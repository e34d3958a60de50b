package awk

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

// splitInto is split and patsplit.
func (in *interp) splitInto(x *builtinExpr) value {
	s := in.eval(x.args[0]).str(in.convfmt)
	var re *posixre.Regexp
	sp := in.fs
	pattern := x.name == "patsplit"
	if len(x.args) > 2 {
		if lit, ok := x.args[2].(*regexpLit); ok {
			re = in.compiled(lit)
			sp = splitter{kind: 'r', re: re}
		} else {
			text := in.eval(x.args[2]).str(in.convfmt)
			if pattern {
				re = in.regexp(text)
			} else {
				sp = in.splitter(text)
			}
		}
	} else if pattern {
		re = in.regexp(in.globals[vFPAT].v.str(in.convfmt))
	}
	arr := in.arrayOf(x.args[1])
	var seps *array
	if len(x.args) > 3 {
		seps = in.arrayOf(x.args[3])
		in.clear(seps)
	}
	in.clear(arr)
	n := 0
	if pattern {
		end := 0
		in.eachMatch(re, s, func(piece, sep string) {
			n++
			in.store(in.element(arr, strconv.Itoa(n)), fromInput(piece, true))
			end += len(sep) + len(piece)
			if seps != nil {
				in.store(in.element(seps, strconv.Itoa(n-1)), fromInput(sep, true))
			}
		})
		if seps != nil && n > 0 {
			in.store(in.element(seps, strconv.Itoa(n)), fromInput(s[end:], true))
		}
		return num(float64(n))
	}
	if seps != nil && sp.kind == ' ' {
		lead := s[:len(s)-len(strings.TrimLeft(s, " \t\n"))]
		in.store(in.element(seps, "0"), str(lead))
	}
	in.each(sp, s, false, func(piece, sep string) {
		n++
		if n&63 == 0 {
			in.tick()
		}
		in.store(in.element(arr, strconv.Itoa(n)), fromInput(piece, true))
		if seps != nil && (sep != "" || sp.kind == 'e') {
			in.store(in.element(seps, strconv.Itoa(n)), fromInput(sep, true))
		}
	})
	return num(float64(n))
}

func (in *interp) match(x *builtinExpr) value {
	s := in.eval(x.args[0]).str(in.convfmt)
	re := in.compiled(x.args[1])
	loc := in.find(re, s, 0)
	start, length := 0, -1
	if loc != nil {
		start = characters(s, loc[0])
		length = utf8.RuneCountInString(s[loc[0]:loc[1]])
	}
	if len(x.args) > 2 {
		arr := in.arrayOf(x.args[2])
		in.clear(arr)
		for i := 0; i+1 < len(loc); i += 2 {
			if loc[i] < 0 {
				continue
			}
			n := strconv.Itoa(i / 2)
			piece := s[loc[i]:loc[i+1]]
			in.store(in.element(arr, n), fromInput(piece, true))
			in.store(in.element(arr, n+in.subsep+"start"), num(float64(characters(s, loc[i]))))
			in.store(in.element(arr, n+in.subsep+"length"), num(float64(utf8.RuneCountInString(piece))))
		}
	}
	in.setSpecial(vRSTART, num(float64(start)))
	in.setSpecial(vRLENGTH, num(float64(length)))
	return num(float64(start))
}

// replacement is a text with "&" and, for gensub, \0 to \9 in it.
type replacement []struct {
	text  string
	group int // -1: text
}

// escapesAmpersand tells whether t, after two backslashes, is what makes the
// first of them escape the second.
func escapesAmpersand(t string) bool {
	return strings.HasPrefix(t, "&") || strings.HasPrefix(t, `\&`)
}

func parseReplacement(s string, groups bool) (out replacement) {
	var b strings.Builder
	add := func(group int) {
		if b.Len() > 0 {
			out = append(out, struct {
				text  string
				group int
			}{b.String(), -1})
			b.Reset()
		}
		if group >= 0 {
			out = append(out, struct {
				text  string
				group int
			}{"", group})
		}
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '&':
			add(0)
		case s[i] == '\\' && i+1 < len(s):
			next := s[i+1]
			switch {
			case next == '&' || next == '\\' && (groups || escapesAmpersand(s[i+2:])):
				b.WriteByte(next)
				i++
			case groups && next >= '0' && next <= '9':
				add(int(next - '0'))
				i++
			default:
				b.WriteByte('\\')
			}
		default:
			b.WriteByte(s[i])
		}
	}
	add(-1)
	return out
}

// replace replaces match number which of re in s (0: all of them), and tells
// how many were.
func (in *interp) replace(re *posixre.Regexp, s string, with replacement, which int) (string, int) {
	var b strings.Builder
	seen, made, at, copied, ended := 0, 0, 0, 0, -1
	for at <= len(s) {
		loc := in.find(re, s, at)
		if loc == nil {
			break
		}
		start, end := loc[0], loc[1]
		if start == end && end == ended {
			_, size := utf8.DecodeRuneInString(s[start:])
			at, ended = start+max(size, 1), -1
			continue
		}
		ended = end
		if seen++; which == 0 || seen == which {
			made++
			grown := b.Len() + start - copied
			for _, part := range with {
				grown += len(part.text)
				if g := part.group; g >= 0 && 2*g+1 < len(loc) && loc[2*g] >= 0 {
					grown += loc[2*g+1] - loc[2*g]
				}
			}
			if grown > b.Cap() {
				in.passing(2 * grown)
			}
			b.WriteString(s[copied:start])
			for _, part := range with {
				if g := part.group; g < 0 {
					b.WriteString(part.text)
				} else if 2*g+1 < len(loc) && loc[2*g] >= 0 {
					b.WriteString(s[loc[2*g]:loc[2*g+1]])
				}
			}
			copied = end
			if which > 0 {
				break
			}
		}
		at = end
		if start == end {
			_, size := utf8.DecodeRuneInString(s[end:])
			at += max(size, 1)
		}
		in.tick()
	}
	if made == 0 {
		return s, 0
	}
	in.passing(b.Len() + len(s) - copied)
	b.WriteString(s[copied:])
	return b.String(), made
}

func (in *interp) substitute(x *builtinExpr) value {
	re := in.compiled(x.args[0])
	with := parseReplacement(in.eval(x.args[1]).str(in.convfmt), false)
	var target expr = &fieldRef{&numberLit{num(0)}}
	if len(x.args) == 3 {
		target = x.args[2]
	}
	which := 1
	if x.name == "gsub" {
		which = 0
	}
	old := in.eval(target).str(in.convfmt)
	result, n := in.replace(re, old, with, which)
	if n > 0 {
		in.set(target, str(result))
	}
	return num(float64(n))
}

func (in *interp) gensub(x *builtinExpr) value {
	re := in.compiled(x.args[0])
	with := parseReplacement(in.eval(x.args[1]).str(in.convfmt), true)
	how := in.eval(x.args[2])
	which := 1
	if s := how.str(in.convfmt); strings.HasPrefix(s, "g") || strings.HasPrefix(s, "G") {
		which = 0
	} else if n := how.num(); n >= 1 {
		which = int(min(n, 1<<40))
	}
	s := in.record0()
	if len(x.args) > 3 {
		s = in.eval(x.args[3]).str(in.convfmt)
	}
	result, _ := in.replace(re, s, with, which)
	return str(result)
}
