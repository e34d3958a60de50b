package shell

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (s *shell) setLetter(c byte, on bool) bool {
	for _, o := range setOptions {
		if o.letter == c {
			*o.field(&s.options) = on
			return true
		}
	}
	return c == 'b' || c == 'k' || c == 'p' || c == 't' || c == 'H'
}

func (s *shell) setOption(name string, on bool) bool {
	for _, o := range setOptions {
		if o.name == name {
			*o.field(&s.options) = on
			return true
		}
	}
	return slices.Contains([]string{"emacs", "vi", "history", "histexpand", "ignoreeof", "interactive-comments", "keyword", "nolog", "notify", "onecmd", "privileged"}, name)
}

func (s *shell) setShopt(name string, on bool) bool {
	for _, o := range shoptOptions {
		if o.name == name {
			*o.field(&s.options) = on
			return true
		}
	}
	return false
}

func (s *shell) set(args []string) int {
	if len(args) == 0 {
		var b strings.Builder
		for _, name := range s.names() {
			b.WriteString(s.setLine(name, s.lookup(name)))
		}
		return s.print("set", b.String())
	}
	for len(args) > 0 {
		arg := args[0]
		if len(arg) == 0 || arg[0] != '-' && arg[0] != '+' || arg == "+" {
			break
		}
		args = args[1:]
		if arg == "--" {
			s.params = slices.Clone(args)
			return 0
		}
		if arg == "-" {
			s.options.xtrace, s.options.verbose = false, false
			if len(args) > 0 {
				s.params = slices.Clone(args)
			}
			return 0
		}
		for i := 1; i < len(arg); i++ {
			if arg[i] != 'o' {
				if !s.setLetter(arg[i], arg[0] == '-') {
					s.errorf("set: %c%c: invalid option", arg[0], arg[i])
					return 2
				}
				continue
			}
			if len(args) == 0 {
				return s.showSetOptions(arg[0] == '+')
			}
			if !s.setOption(args[0], arg[0] == '-') {
				s.errorf("set: %s: invalid option name", args[0])
				return 2
			}
			args = args[1:]
		}
	}
	if len(args) > 0 {
		s.params = slices.Clone(args)
	}
	return 0
}

func (s *shell) showSetOptions(asCommands bool) int {
	var b strings.Builder
	opts := slices.Clone(setOptions)
	sort.Slice(opts, func(i, j int) bool { return opts[i].name < opts[j].name })
	for _, o := range opts {
		on := *o.field(&s.options)
		if asCommands {
			b.WriteString("set " + map[bool]string{true: "-o ", false: "+o "}[on] + o.name + "\n")
		} else {
			b.WriteString(pad(o.name, 15) + "\t" + onOff(on) + "\n")
		}
	}
	return s.print("set", b.String())
}

func pad(text string, n int) string { return text + strings.Repeat(" ", max(0, n-len(text))) }

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (s *shell) shopt(args []string) int {
	mode := ""
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		mode += args[0][1:]
		args = args[1:]
	}
	on, off := strings.Contains(mode, "s"), strings.Contains(mode, "u")
	if strings.Contains(mode, "o") {
		code := 0
		for _, name := range args {
			if (on || off) && !s.setOption(name, on) {
				s.errorf("shopt: %s: invalid option name", name)
				code = 1
			}
			for _, o := range setOptions {
				if o.name == name && !on && !off && !*o.field(&s.options) {
					code = 1
				}
			}
		}
		return code
	}
	if len(args) == 0 {
		var b strings.Builder
		for _, o := range shoptOptions {
			state := *o.field(&s.options)
			if on && !state || off && state {
				continue
			}
			b.WriteString(pad(o.name, 15) + "\t" + onOff(state) + "\n")
		}
		return s.print("shopt", b.String())
	}
	code := 0
	for _, name := range args {
		known := false
		for _, o := range shoptOptions {
			if o.name != name {
				continue
			}
			known = true
			state := o.field(&s.options)
			switch {
			case on:
				*state = true
			case off:
				*state = false
			default:
				if !*state {
					code = 1
				}
				if !strings.Contains(mode, "q") {
					if strings.Contains(mode, "p") {
						s.print("shopt", "shopt "+map[bool]string{true: "-s ", false: "-u "}[*state]+name+"\n")
					} else {
						s.print("shopt", pad(name, 15)+"\t"+onOff(*state)+"\n")
					}
				}
			}
		}
		if !known {
			s.errorf("shopt: %s: invalid shell option name", name)
			code = 1
		}
	}
	return code
}

func (s *shell) shift(args []string) int {
	n := 1
	if len(args) > 0 {
		var err error
		if n, err = strconv.Atoi(args[0]); err != nil {
			s.errorf("shift: %s: numeric argument required", args[0])
			return 1
		}
	}
	switch {
	case n < 0:
		s.errorf("shift: %d: shift count out of range", n)
		return 1
	case n > len(s.params):
		return 1
	}
	s.params = s.params[n:]
	return 0
}

func (s *shell) unsetBuiltin(args []string) int {
	vars, funcs, ref := true, true, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		switch args[0] {
		case "-v":
			funcs = false
		case "-f":
			vars = false
		case "-n":
			ref = true
		case "--":
		default:
			s.errorf("unset: %s: invalid option", args[0])
			return 2
		}
		args = args[1:]
	}
	code := 0
	for _, name := range args {
		base, index, isElem := cutIndex(name)
		if vars && !syntax.ValidName(base) && (!funcs || s.funcs[name] == nil) {
			s.errorf("unset: `%s': not a valid identifier", name)
			code = 1
			continue
		}
		if !ref {
			base = s.deref(base)
		}
		v := s.lookup(base)
		switch {
		case vars && v != nil && v.readOnly:
			s.errorf("unset: %s: cannot unset: readonly variable", base)
			code = 1
		case vars && isElem && v != nil:
			v.own()
			switch v.kind {
			case associative:
				delete(v.table, s.subscript(base, index))
			case indexed:
				i := s.arithText(index)
				if i < 0 {
					i += int64(v.list.last()) + 1
				}
				v.list.remove(int(min(i, 1<<40)))
			}
			s.measure(v)
		case vars && v != nil:
			s.unset(base)
		case funcs:
			delete(s.funcs, name)
		}
	}
	return code
}
