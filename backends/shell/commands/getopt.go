package commands

import (
	"fmt"
	"strings"
)

var getoptOptions = NewOptions(2, "+", "a alternative", "l longoptions=", "n name=", "o options=", "q quiet", "Q quiet-output", "s shell=", "T test", "u unquoted")

// optionReader is one run of getopt: it reads arguments by a description, and
// prints them in a form that a shell can go over.
type optionReader struct {
	p      *Proc
	name   string
	short  *Options
	quiet  bool
	single bool // long options can have one dash
	quote  func(string) string
	failed bool
	out    strings.Builder
}

func getopt(p *Proc) int {
	args := p.Args
	r := &optionReader{p: p, name: p.Name, quote: quoteForShell}
	var short string
	var long []string
	o := &Parsed{}
	if compatible := len(args) > 0 && (args[0] == "" || args[0][0] != '-'); compatible {
		short, args = args[0], args[1:]
		r.quote = func(s string) string { return s }
	} else {
		var code int
		if o, code = p.Parse(getoptOptions); o == nil {
			return code
		}
		if o.Has("T") {
			return 4
		}
		args = o.Args
		var given bool
		if short, given = o.Value("o"); !given {
			if len(args) == 0 {
				return p.Usage(2, "missing optstring argument")
			}
			short, args = args[0], args[1:]
		}
	}
	for _, opt := range o.Options {
		switch opt.Key {
		case "a":
			r.single = true
		case "l":
			long = append(long, strings.FieldsFunc(opt.Value, func(c rune) bool { return strings.ContainsRune(", \t\n", c) })...)
		case "n":
			r.name = opt.Value
		case "q":
			r.quiet = true
		case "u":
			r.quote = func(s string) string { return s }
		case "s":
			switch opt.Value {
			case "sh", "bash":
			case "csh", "tcsh":
				r.quote = quoteForCsh
			default:
				return p.Usage(2, "unknown shell after -s or --shell argument")
			}
		}
	}
	order := byte(0)
	if short != "" && (short[0] == '+' || short[0] == '-') {
		order, short = short[0], short[1:]
	}
	if _, posix := p.Getenv("POSIXLY_CORRECT"); posix && order == 0 {
		order = '+'
	}
	r.describe(short, long)
	r.read(args, order)
	if !o.Has("Q") {
		p.Out.WriteString(r.out.String() + "\n")
	}
	if r.failed {
		return 1
	}
	return 0
}

// describe makes options of the description.
func (r *optionReader) describe(short string, long []string) {
	r.short = &Options{short: map[byte]option{}}
	kind := func(colons int) argument {
		return [...]argument{noArgument, requiredArgument, optionalArgument}[min(colons, 2)]
	}
	for short != "" {
		rest := strings.TrimLeft(short[1:], ":")
		if short[0] != ':' {
			r.short.short[short[0]] = option{key: short[:1], arg: kind(len(short) - 1 - len(rest))}
		}
		short = rest
	}
	for _, name := range long {
		bare := strings.TrimRight(name, ":")
		r.short.long = append(r.short.long, option{key: bare, long: bare, arg: kind(len(name) - len(bare))})
	}
}

// read reads the arguments and writes them to r.out.
func (r *optionReader) read(args []string, order byte) {
	var operands []string
	for len(args) > 0 && !r.p.Stopped() {
		arg := args[0]
		args = args[1:]
		dashes := len(arg) - len(strings.TrimLeft(arg, "-"))
		switch {
		case arg == "--":
			operands, args = append(operands, args...), nil
		case arg == "-" || dashes == 0:
			if order == '-' {
				r.out.WriteString(" " + r.quote(arg))
				continue
			}
			operands = append(operands, arg)
			if order == '+' {
				operands, args = append(operands, args...), nil
			}
		case dashes >= 2:
			args = r.long(arg[2:], "--", args)
		case r.single && (len(arg) > 2 || r.short.short[arg[1]].key == "") && r.isLong(arg[1:]):
			args = r.long(arg[1:], "-", args)
		default:
			args = r.letters(arg[1:], args)
		}
	}
	r.out.WriteString(" --")
	for _, operand := range operands {
		r.out.WriteString(" " + r.quote(operand))
	}
}

func (r *optionReader) isLong(text string) bool {
	name, _, _ := strings.Cut(text, "=")
	_, problem := r.short.findLong(name)
	return problem == ""
}

func (r *optionReader) problem(format string, args ...any) {
	if r.failed = true; !r.quiet {
		fmt.Fprintf(r.p.Stderr, "%s: %s\n", r.name, fmt.Sprintf(format, args...))
	}
}

// letters reads a cluster of short options, and returns the arguments after it.
func (r *optionReader) letters(cluster string, next []string) []string {
	for i := range len(cluster) {
		opt, known := r.short.short[cluster[i]]
		rest := cluster[i+1:]
		switch {
		case !known:
			r.problem("invalid option -- '%c'", cluster[i])
			continue
		case opt.arg == noArgument:
			r.out.WriteString(" -" + opt.key)
			continue
		case rest != "" || opt.arg == optionalArgument:
			r.out.WriteString(" -" + opt.key + " " + r.quote(rest))
		case len(next) == 0:
			r.problem("option requires an argument -- '%c'", cluster[i])
		default:
			r.out.WriteString(" -" + opt.key + " " + r.quote(next[0]))
			return next[1:]
		}
		break
	}
	return next
}

// long reads a long option, and returns the arguments after it.
func (r *optionReader) long(text, dashes string, next []string) []string {
	name, value, hasValue := strings.Cut(text, "=")
	opt, problem := r.short.findLong(name)
	written := dashes + name
	switch {
	case problem != "":
		r.problem("%s", problem)
		return next
	case hasValue && opt.arg == noArgument:
		r.problem("option '%s' doesn't allow an argument", written)
		return next
	case !hasValue && opt.arg == requiredArgument && len(next) == 0:
		r.problem("option '%s' requires an argument", written)
		return next
	case !hasValue && opt.arg == requiredArgument:
		value, next = next[0], next[1:]
	}
	r.out.WriteString(" --" + opt.long)
	if opt.arg != noArgument {
		r.out.WriteString(" " + r.quote(value))
	}
	return next
}

// quoteForShell makes one word of s for a POSIX shell.
func quoteForShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func quoteForCsh(s string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`, "\n", `\n`, " ", `'\ '`, "\t", `'\`+"\t'").Replace(s) + "'"
}
