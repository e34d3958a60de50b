package shell

import (
	"slices"
	"sort"
	"strconv"
	"strings"
)

func (s *shell) alias(args []string) int {
	if s.aliases == nil {
		s.aliases = map[string]string{}
	}
	show := func(name string) string { return "alias " + name + "=" + "'" + s.aliases[name] + "'\n" }
	if len(args) == 0 {
		var names []string
		for name := range s.aliases {
			names = append(names, name)
		}
		slices.Sort(names)
		var b strings.Builder
		for _, name := range names {
			b.WriteString(show(name))
		}
		return s.print("alias", b.String())
	}
	code := 0
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		switch {
		case ok:
			s.hold(int64(len(arg)))
			s.aliases[name] = text
		case s.aliases[name] != "":
			s.print("alias", show(name))
		default:
			s.errorf("alias: %s: not found", arg)
			code = 1
		}
	}
	return code
}

func (s *shell) unalias(args []string) int {
	code := 0
	for _, name := range args {
		if name == "-a" {
			clear(s.aliases)
			continue
		}
		if _, ok := s.aliases[name]; !ok {
			s.errorf("unalias: %s: not found", name)
			code = 1
		}
		delete(s.aliases, name)
	}
	return code
}

// trap sets, prints and removes actions.
func (s *shell) trap(args []string) int {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || args[0] == "-p" {
		var names []string
		for name := range s.traps {
			if len(args) < 2 || slices.Contains(args[1:], name) || slices.Contains(args[1:], "SIG"+name) {
				names = append(names, name)
			}
		}
		order := func(name string) int {
			return map[string]int{"EXIT": 0, "DEBUG": 100, "ERR": 101, "RETURN": 102}[name] + signals[name]
		}
		sort.Slice(names, func(i, j int) bool { return order(names[i]) < order(names[j]) })
		var b strings.Builder
		for _, name := range names {
			shown := name
			if signals[name] > 0 {
				shown = "SIG" + name
			}
			b.WriteString("trap -- '" + strings.ReplaceAll(s.traps[name], "'", `'\''`) + "' " + shown + "\n")
		}
		return s.print("trap", b.String())
	}
	if args[0] == "-l" {
		return s.kill([]string{"-l"})
	}
	action, remove := args[0], false
	names := args[1:]
	if _, err := strconv.Atoi(action); err == nil || len(names) == 0 {
		remove, names = true, args
	}
	code := 0
	for _, name := range names {
		upper := strings.TrimPrefix(strings.ToUpper(name), "SIG")
		switch upper {
		case "EXIT", "ERR", "DEBUG", "RETURN":
		default:
			var ok bool
			if upper, _, ok = signalOf(name); !ok {
				s.errorf("trap: %s: invalid signal specification", name)
				code = 1
				continue
			}
		}
		if remove || action == "-" {
			s.removeTrap(upper)
		} else {
			s.hold(int64(len(action)))
			s.setTrap(upper, action)
		}
	}
	return code
}
