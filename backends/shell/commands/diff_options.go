package commands

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

type diffStyle uint8

type diffOptions struct {
	style                                                                             diffStyle
	digits                                                                            int // of -5, as in -u5; -1 where there are none
	context, horizonLines                                                             int
	brief, same, recursive, newFile, oneWay, text, minimal                            bool
	ignoreCase, allSpace, spaceChange, trailingSpace, tabExpansion                    bool
	blankLines, stripCR, expandTabs, initialTab, leftColumn, suppressCommon, noFollow bool
	ignoreLines, function                                                             []*posixre.Regexp
	exclude, labels                                                                   []string
	width                                                                             int
	switches                                                                          string // the options as they were given
}

var diffFlags = NewOptions(2, "u", "U=", "unified=?", "c", "C=", "context=?", "normal", "e ed", "n rcs", "y side-by-side", "W width=",
	"left-column", "suppress-common-lines", "q brief", "s report-identical-files", "r recursive", "N new-file", "P unidirectional-new-file",
	"a text", "i ignore-case", "w ignore-all-space", "b ignore-space-change", "Z ignore-trailing-space", "E ignore-tab-expansion",
	"B ignore-blank-lines", "I ignore-matching-lines=", "strip-trailing-cr", "d minimal", "speed-large-files", "H", "horizon-lines=",
	"L label=", "p show-c-function", "F show-function-line=", "x exclude=", "X exclude-from=", "t expand-tabs", "T initial-tab",
	"color=?", "no-dereference", "from-file=", "to-file=", "ignore-file-name-case", "no-ignore-file-name-case", "tabsize=", "S starting-file=",
	"0", "1", "2", "3", "4", "5", "6", "7", "8", "9")

// diffSwitches are the options of a command line, as they are repeated above
// the files of a directory.
func diffSwitches(args, operands []string) string {
	var b strings.Builder
	for _, a := range args {
		if len(operands) > 0 && a == operands[0] {
			operands = operands[1:]
			continue
		}
		b.WriteString(" " + shellWord(a))
	}
	return b.String()
}

// headName writes a name as it stands above the changes of a file: quoted as in
// C where it would be taken for several.
func headName(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		c := s[i]
		switch at := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); {
		case at >= 0:
			b.WriteString(`\` + `abtnvfr"\`[at:at+1])
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// shellWord quotes s where a shell would take it apart.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'\\$`!*?[]{}()<>|&;#~^", r) }) {
		return s
	}
	return Quote(s)
}

func (o *diffOptions) set(p *Proc, opt Option) int {
	style := func(s diffStyle) int {
		if o.style != diffNormal && o.style != s {
			return p.Usage(2, "conflicting output style options")
		}
		o.style = s
		return 0
	}
	switch opt.Key {
	case "0", "1", "2", "3", "4", "5", "6", "7", "8", "9":
		// -u5 is how -U5 was written once.
		o.digits = min(max(o.digits, 0)*10+int(opt.Key[0]-'0'), 1<<30)
	case "u", "c", "U", "C", "unified", "context":
		n := 3
		if opt.HasValue {
			v, err := strconv.ParseUint(opt.Value, 10, 31)
			if err != nil {
				return p.Usage(2, "invalid context length '%s'", opt.Value)
			}
			n = int(v)
		}
		o.context = max(o.context, n)
		if opt.Key == "u" || opt.Key == "U" || opt.Key == "unified" {
			return style(diffUnified)
		}
		return style(diffContext)
	case "normal":
		return style(diffNormal)
	case "e":
		return style(diffEd)
	case "n":
		return style(diffRCS)
	case "y":
		return style(diffSideBySide)
	case "W", "horizon-lines", "tabsize":
		v, err := strconv.ParseUint(opt.Value, 10, 31)
		if err != nil || opt.Key != "horizon-lines" && v == 0 {
			return p.Usage(2, "invalid %s '%s'", map[string]string{"W": "width", "horizon-lines": "horizon length", "tabsize": "tabsize"}[opt.Key], opt.Value)
		}
		switch opt.Key {
		case "W":
			o.width = int(v)
		case "horizon-lines":
			o.horizonLines = int(v)
		}
	case "I", "F":
		re, err := posixre.Compile(p, opt.Value, 0)
		if err != nil {
			return p.Errorf(2, "%s: %s", opt.Value, err)
		}
		if opt.Key == "F" {
			o.function = append(o.function, re)
		} else {
			o.ignoreLines = append(o.ignoreLines, re)
		}
	case "p":
		re, err := posixre.Compile(p, "^[[:alpha:]$_]", 0)
		if err != nil {
			return p.Errorf(2, "%s", err)
		}
		o.function = append(o.function, re)
		if o.style == diffNormal {
			o.style, o.context = diffContext, max(o.context, 3)
		}
	case "x":
		o.exclude = append(o.exclude, opt.Value)
	case "X":
		content, err := p.ReadFile(opt.Value)
		if err != nil {
			p.FileError(opt.Value, err)
			return 2
		}
		for _, line := range splitLines(content) {
			if len(line) > 0 {
				o.exclude = append(o.exclude, string(line))
			}
		}
	case "L":
		o.labels = append(o.labels, opt.Value)
	default:
		if flag := o.flag(opt.Key); flag != nil {
			*flag = true
		}
	}
	return 0
}

// flag is where an option without a value is kept; nil for one that changes
// nothing here.
func (o *diffOptions) flag(key string) *bool {
	return map[string]*bool{"q": &o.brief, "s": &o.same, "r": &o.recursive, "N": &o.newFile, "P": &o.oneWay, "a": &o.text, "d": &o.minimal,
		"i": &o.ignoreCase, "w": &o.allSpace, "b": &o.spaceChange, "Z": &o.trailingSpace, "E": &o.tabExpansion, "B": &o.blankLines,
		"strip-trailing-cr": &o.stripCR, "t": &o.expandTabs, "T": &o.initialTab, "left-column": &o.leftColumn,
		"suppress-common-lines": &o.suppressCommon, "no-dereference": &o.noFollow}[key]
}
