package commands

import (
	"fmt"
	"slices"
	"strings"
)

// Options are the options of a command, made once by [NewOptions].
type Options struct {
	code    int
	inOrder bool
	short   map[byte]option
	long    []option
}

type option struct {
	key  string
	long string
	arg  argument
}

type argument uint8

const (
	noArgument argument = iota
	requiredArgument
	optionalArgument
)

// NewOptions describes options, one a string: its letter, its long name, or
// both, with "=" at the end when it takes a value and "=?" when the value can
// be left out (it is then written as -xVALUE or --name=VALUE only). A letter or
// name that comes first is the option's key; there can be several of both:
//
//	NewOptions(1, "A show-all", "n lines=", "color=?", "R r recursive")
//
// An option "+" tells that options end at the first operand, as for env and
// xargs. code is what a command exits with that was called wrongly.
func NewOptions(code int, options ...string) *Options {
	o := &Options{code: code, short: map[byte]option{}}
	for _, s := range options {
		if s == "+" {
			o.inOrder = true
			continue
		}
		arg := noArgument
		if s, ok := strings.CutSuffix(s, "=?"); ok {
			o.add(s, optionalArgument)
			continue
		}
		if t, ok := strings.CutSuffix(s, "="); ok {
			s, arg = t, requiredArgument
		}
		o.add(s, arg)
	}
	return o
}

func (o *Options) add(s string, arg argument) {
	names := strings.Fields(s)
	for _, name := range names {
		if len(name) == 1 {
			o.short[name[0]] = option{names[0], "", arg}
		} else {
			o.long = append(o.long, option{names[0], name, arg})
		}
	}
}

// Option is one option as it was given.
type Option struct {
	Key   string
	Value string
	// HasValue tells an empty value from none.
	HasValue bool
}

// Parsed are the arguments of a command.
type Parsed struct {
	Options []Option // in the order given
	Args    []string // operands
}

// Has tells whether one of the options was given.
func (p *Parsed) Has(keys ...string) bool {
	return slices.ContainsFunc(p.Options, func(o Option) bool { return slices.Contains(keys, o.Key) })
}

// Value is the value of the last option of that key.
func (p *Parsed) Value(key string) (string, bool) {
	for _, o := range slices.Backward(p.Options) {
		if o.Key == key {
			return o.Value, true
		}
	}
	return "", false
}

// Last returns which of the options was given last, or "".
func (p *Parsed) Last(keys ...string) string {
	for _, o := range slices.Backward(p.Options) {
		if slices.Contains(keys, o.Key) {
			return o.Key
		}
	}
	return ""
}

// Parse takes p.Args apart as getopt_long does. It returns nil when the command
// is to exit with code: the arguments are wrong, which it has said, or it was
// asked for --help or --version, which it has answered.
func (p *Proc) Parse(o *Options) (parsed *Parsed, code int) {
	out := &Parsed{}
	args := p.Args
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			out.Args = append(out.Args, args...)
			return out, 0
		case len(arg) < 2 || arg[0] != '-':
			out.Args = append(out.Args, arg)
			if o.inOrder {
				out.Args = append(out.Args, args...)
				return out, 0
			}
		case arg[1] == '-':
			used, code, ok := p.parseLong(o, out, arg[2:], args)
			if !ok {
				return nil, code
			}
			args = args[used:]
		default:
			used, ok := p.parseShort(o, out, arg[1:], args)
			if !ok {
				return nil, o.code
			}
			args = args[used:]
		}
	}
	return out, 0
}

// parseShort takes a cluster of letters; next is what follows it.
func (p *Proc) parseShort(o *Options, out *Parsed, cluster string, next []string) (used int, ok bool) {
	for i := range len(cluster) {
		opt, known := o.short[cluster[i]]
		rest := cluster[i+1:]
		switch {
		case !known:
			p.Usage(o.code, "invalid option -- '%c'", cluster[i])
			return 0, false
		case opt.arg == noArgument:
			out.Options = append(out.Options, Option{Key: opt.key})
			continue
		case rest != "":
			out.Options = append(out.Options, Option{opt.key, rest, true})
		case opt.arg == optionalArgument:
			out.Options = append(out.Options, Option{Key: opt.key})
		case len(next) == 0:
			p.Usage(o.code, "option requires an argument -- '%c'", cluster[i])
			return 0, false
		default:
			out.Options = append(out.Options, Option{opt.key, next[0], true})
			used = 1
		}
		return used, true
	}
	return 0, true
}

func (p *Proc) parseLong(o *Options, out *Parsed, text string, next []string) (used, code int, ok bool) {
	name, value, hasValue := strings.Cut(text, "=")
	opt, problem := o.findLong(name)
	switch {
	case problem != "" && name == "help":
		p.help(o)
		return 0, 0, false
	case problem != "" && name == "version":
		fmt.Fprintf(p.Out, "%s (mcp-workspace)\n", p.Name)
		return 0, 0, false
	case problem != "":
		return 0, p.Usage(o.code, "%s", problem), false
	case hasValue && opt.arg == noArgument:
		return 0, p.Usage(o.code, "option '--%s' doesn't allow an argument", opt.long), false
	case !hasValue && opt.arg == requiredArgument && len(next) == 0:
		return 0, p.Usage(o.code, "option '--%s' requires an argument", opt.long), false
	case !hasValue && opt.arg == requiredArgument:
		value, hasValue, used = next[0], true, 1
	}
	out.Options = append(out.Options, Option{opt.key, value, hasValue})
	return used, 0, true
}

// findLong finds the option that name is, or is the start of.
func (o *Options) findLong(name string) (found option, problem string) {
	var like []option
	for _, opt := range o.long {
		if opt.long == name {
			return opt, ""
		}
		if strings.HasPrefix(opt.long, name) {
			like = append(like, opt)
		}
	}
	if len(like) == 0 || name == "" {
		return option{}, fmt.Sprintf("unrecognized option '--%s'", name)
	}
	for _, opt := range like[1:] {
		if opt.key != like[0].key {
			var all strings.Builder
			for _, opt := range like {
				fmt.Fprintf(&all, " '--%s'", opt.long)
			}
			return option{}, fmt.Sprintf("option '--%s' is ambiguous; possibilities:%s", name, &all)
		}
	}
	return like[0], ""
}

// help prints what the command is for and which options it knows.
func (p *Proc) help(o *Options) {
	if p.cmd == nil {
		return
	}
	fmt.Fprintf(p.Out, "Usage: %s %s\n%s.\n", p.Name, p.cmd.Usage, p.cmd.Summary)
	var lines []string
	for c, opt := range o.short {
		line := "  -" + string(c)
		for _, l := range o.long {
			if l.key == opt.key {
				line += ", --" + l.long
			}
		}
		if opt.arg == requiredArgument {
			line += " VALUE"
		}
		lines = append(lines, line)
	}
	for _, l := range o.long {
		if len(l.key) > 1 {
			lines = append(lines, "      --"+l.long+map[argument]string{noArgument: "", requiredArgument: "=VALUE", optionalArgument: "[=VALUE]"}[l.arg])
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintln(p.Out, line)
	}
}
