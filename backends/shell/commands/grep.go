package commands

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var grepOptions = NewOptions(2, "E extended-regexp", "F fixed-strings", "G basic-regexp", "P perl-regexp", "e regexp=", "f file=", "i y ignore-case", "no-ignore-case",
	"v invert-match", "w word-regexp", "x line-regexp", "c count", "l files-with-matches", "L files-without-match", "q quiet silent", "s no-messages",
	"n line-number", "b byte-offset", "H with-filename", "h no-filename", "o only-matching", "m max-count=", "A after-context=", "B before-context=",
	"C context=", "r recursive", "R dereference-recursive", "include=", "exclude=", "exclude-dir=", "exclude-from=", "z null-data", "Z null", "a text", "I", "U binary",
	"binary-files=", "color colour=?", "line-buffered", "label=", "T initial-tab", "d directories=", "D devices=", "u", "group-separator=", "no-group-separator",
	"0", "1", "2", "3", "4", "5", "6", "7", "8", "9")

// grepper is one run of grep.
type grepper struct {
	p        *Proc
	syntax   byte // G, E, F or P
	fold     bool
	word     bool
	whole    bool
	patterns []grepPattern
	anyMatch bool // where a match is does not matter

	invert, count, only, quiet, silent bool
	list                               byte // l or L
	numbers, offsets, tab, nulName     bool
	names                              int // 1 with, 0 without, -1: within directories
	color                              bool
	most                               int64
	before, after                      int
	groupSeparator                     string
	sep                                byte
	binary                             string // binary, text, without-match
	label                              string
	directories                        string // read, skip, recurse
	follow                             bool
	include, exclude, excludeDirs      []*regexp.Regexp
	// rg is set for rg: files without a match are not counted, text that is not
	// UTF-8 is printed, and rewrite, where it is set, is what is printed of a
	// line or a match.
	rg                        bool
	rewrite                   func([]byte) []byte
	selected, failed, printed bool
}

func grep(p *Proc) int {
	o, code := p.Parse(grepOptions)
	if o == nil {
		return code
	}
	g := &grepper{p: p, syntax: 'G', most: math.MaxInt64, groupSeparator: "--", sep: '\n', binary: "binary", label: "(standard input)", directories: "read"}
	switch p.Name {
	case "egrep":
		g.syntax = 'E'
	case "fgrep":
		g.syntax = 'F'
	}
	texts, given, problem := g.options(o)
	if problem != "" {
		return p.Errorf(2, "%s", problem)
	}
	operands := o.Args
	if !given {
		if len(operands) == 0 {
			fmt.Fprint(p.Stderr, "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.\n")
			return 2
		}
		texts = strings.Split(operands[0], "\n")
		operands = operands[1:]
	}
	g.anyMatch = !g.only && !g.color
	if err := g.compile(texts); err != nil {
		return p.Errorf(2, "%s", Reason(err))
	}
	if o.Last("H", "h") == "" {
		switch {
		case len(operands) > 1:
			g.names = 1
		case g.directories == "recurse":
			g.names = -1
		}
	} else if o.Last("H", "h") == "H" {
		g.names = 1
	}
	switch {
	case len(operands) > 0:
	case g.directories == "recurse":
		g.directory("", 0)
	default:
		operands = []string{"-"}
	}
	if g.most == 0 {
		operands = nil
	}
	for _, name := range operands {
		if p.Stopped() || g.quiet && g.selected {
			break
		}
		g.operand(name)
	}
	switch {
	case g.failed && (!g.quiet || !g.selected):
		return 2
	case g.selected:
		return 0
	}
	return 1
}

// options reads the options; given tells whether there were patterns among them.
func (g *grepper) options(o *Parsed) (texts []string, given bool, problem string) {
	digits, lastDigit := "", false
	context := -1
	before, after := -1, -1
	number := func(text string) int {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			if strings.Trim(text, "0123456789") == "" && text != "" {
				return math.MaxInt32
			}
			problem = text + ": invalid context length argument"
		}
		return int(n)
	}
	for _, opt := range o.Options {
		if len(opt.Key) == 1 && isDigit(opt.Key[0]) {
			if !lastDigit {
				digits = ""
			}
			digits, lastDigit = digits+opt.Key, true
			context = number(digits)
			continue
		}
		lastDigit = false
		switch opt.Key {
		case "E", "F", "G", "P":
			g.syntax = opt.Key[0]
		case "e":
			texts, given = append(texts, strings.Split(opt.Value, "\n")...), true
		case "f":
			given = true
			b, err := g.p.ReadFile(opt.Value)
			if err != nil {
				return nil, true, opt.Value + ": " + Reason(err)
			}
			for _, line := range splitLines(b) {
				texts = append(texts, string(line))
			}
		case "i":
			g.fold = true
		case "no-ignore-case":
			g.fold = false
		case "v":
			g.invert = true
		case "w":
			g.word = true
		case "x":
			g.whole = true
		case "c":
			g.count = true
		case "l", "L":
			g.list = opt.Key[0]
		case "q":
			g.quiet = true
		case "s":
			g.silent = true
		case "n":
			g.numbers = true
		case "b":
			g.offsets = true
		case "o":
			g.only = true
		case "m":
			n, err := strconv.ParseInt(opt.Value, 10, 64)
			if err != nil {
				return nil, given, "invalid max count"
			}
			if g.most = n; n < 0 {
				g.most = math.MaxInt64
			}
		case "A":
			after = number(opt.Value)
		case "B":
			before = number(opt.Value)
		case "C":
			context = number(opt.Value)
		case "r", "R":
			g.directories, g.follow = "recurse", opt.Key == "R"
		case "d":
			g.directories = opt.Value
			if opt.Value != "read" && opt.Value != "skip" && opt.Value != "recurse" {
				return nil, given, "unknown directories method"
			}
		case "include", "exclude", "exclude-dir":
			problem = g.glob(opt.Key, opt.Value)
		case "exclude-from":
			b, err := g.p.ReadFile(opt.Value)
			if err != nil {
				return nil, given, opt.Value + ": " + Reason(err)
			}
			for _, line := range splitLines(b) {
				if p := g.glob("exclude", string(line)); p != "" {
					problem = p
				}
			}
		case "z":
			g.sep = 0
		case "Z":
			g.nulName = true
		case "a":
			g.binary = "text"
		case "I":
			g.binary = "without-match"
		case "binary-files":
			g.binary = opt.Value
			if opt.Value != "binary" && opt.Value != "text" && opt.Value != "without-match" {
				return nil, given, "invalid argument " + Quote(opt.Value) + " for '--binary-files'"
			}
		case "color":
			switch opt.Value {
			case "", "auto", "tty", "if-tty", "never", "no", "none":
				g.color = false
			case "always", "yes", "force":
				g.color = true
			default:
				return nil, given, "invalid argument " + Quote(opt.Value) + " for '--color'"
			}
		case "label":
			g.label = opt.Value
		case "T":
			g.tab = true
		case "group-separator":
			g.groupSeparator = opt.Value
		case "no-group-separator":
			g.groupSeparator = "\x00"
		}
		if problem != "" {
			return nil, given, problem
		}
	}
	if before < 0 {
		before = max(context, 0)
	}
	if after < 0 {
		after = max(context, 0)
	}
	if g.before, g.after = before, after; g.only || g.count || g.list != 0 || g.quiet {
		g.before, g.after = 0, 0
	}
	return texts, given, problem
}

func (g *grepper) glob(kind, pattern string) string {
	if kind == "exclude-dir" {
		pattern = strings.TrimRight(pattern, "/")
	}
	re, err := globRegexp(pattern, false)
	if err != nil {
		return pattern + ": invalid pattern: " + Reason(err)
	}
	switch kind {
	case "include":
		g.include = append(g.include, re)
	case "exclude":
		g.exclude = append(g.exclude, re)
	default:
		g.excludeDirs = append(g.excludeDirs, re)
	}
	return ""
}
