package commands

import (
	"fmt"
	"strconv"
	"strings"
)

type xxdOptions struct {
	p                                                               *Proc
	reverse, plain, bits, include, upper, little, all, decimal, cap bool
	columns, group                                                  int
	skip, limit, shift                                              int64
	name                                                            string
	seek                                                            string
}

// xxd does not take its options as others do: each is a word of its own, long
// ones have one dash, and a value may follow at once.
func (o *xxdOptions) parse(args []string) (operands []string, code int) {
	o.columns, o.group, o.limit = -1, -1, -1
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			return append(operands, args...), 0
		}
		if len(arg) < 2 || arg[0] != '-' {
			operands = append(operands, arg)
			continue
		}
		name := strings.TrimPrefix(arg[1:], "-")
		flags := map[string]*bool{"r": &o.reverse, "revert": &o.reverse, "p": &o.plain, "ps": &o.plain, "plain": &o.plain, "postscript": &o.plain,
			"b": &o.bits, "bits": &o.bits, "i": &o.include, "include": &o.include, "u": &o.upper, "upper": &o.upper, "uppercase": &o.upper, "e": &o.little,
			"a": &o.all, "autoskip": &o.all, "d": &o.decimal, "C": &o.cap, "capitalize": &o.cap}
		if f := flags[name]; f != nil {
			*f = true
			continue
		}
		if name == "ps" || name == "h" || name == "help" || name == "v" || name == "version" || name == "E" || name == "EBCDIC" {
			return nil, o.usage()
		}
		key := name[:1]
		value := name[1:]
		for long, short := range map[string]string{"cols": "c", "groupsize": "g", "len": "l", "length": "l", "seek": "s", "skip": "s", "name": "n", "offset": "o"} {
			if name == long {
				key, value = short, ""
			}
		}
		if strings.IndexByte("cglsno", key[0]) < 0 {
			return nil, o.usage()
		}
		if value == "" {
			if len(args) == 0 {
				return nil, o.usage()
			}
			value, args = args[0], args[1:]
		}
		if !o.value(key, value) {
			return nil, o.usage()
		}
	}
	return operands, 0
}

func (o *xxdOptions) usage() int {
	fmt.Fprintf(o.p.Stderr, "Usage:\n       %[1]s [options] [infile [outfile]]\n    or\n       %[1]s -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]\n"+
		"Options: -a -b -C -c cols -d -e -g bytes -i -l len -n name -o off -ps -r -s seek -u\n", o.p.Name)
	return 1
}

func (o *xxdOptions) value(key, value string) bool {
	if key == "n" {
		o.name = value
		return true
	}
	v, err := strconv.ParseInt(strings.TrimPrefix(value, "+"), 0, 62)
	if err != nil {
		return false
	}
	switch key {
	case "c":
		o.columns = int(min(v, 1<<20))
	case "g":
		o.group = int(min(v, 1<<20))
	case "l":
		o.limit = v
	case "s":
		o.skip, o.seek = v, value
	case "o":
		o.shift = v
	}
	return true
}
