package awk

import (
	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

type reKey struct {
	source string
	fold   bool
}

const maxRegexps = 200 // that are kept compiled

// regexp compiles a regular expression, or finds it compiled.
func (in *interp) regexp(source string) *posixre.Regexp {
	key := reKey{source, in.fold}
	if re := in.regexps[key]; re != nil {
		return re
	}
	flags := posixre.Extended | posixre.Awk
	if in.fold {
		flags |= posixre.IgnoreCase
	}
	re, err := posixre.Compile(in.cfg.Host, source, flags)
	if err != nil {
		in.fatal("%s: /%s/", in.cfg.Reason(err), source)
	}
	if len(in.regexps) >= maxRegexps {
		clear(in.regexps)
	}
	in.regexps[key] = re
	return re
}

// compiled is the regular expression that x is: a literal, or a text.
func (in *interp) compiled(x expr) *posixre.Regexp {
	if lit, ok := x.(*regexpLit); ok {
		if lit.re == nil || lit.fold != in.fold {
			lit.re, lit.fold = in.regexp(lit.source), in.fold
		}
		return lit.re
	}
	return in.regexp(in.eval(x).str(in.convfmt))
}

func (in *interp) find(re *posixre.Regexp, s string, from int) []int {
	loc, err := re.Find(s, from)
	if err != nil {
		in.failed(err)
	}
	return loc
}

func (in *interp) matches(x expr, s string) bool { return in.find(in.compiled(x), s, 0) != nil }
