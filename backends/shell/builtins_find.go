package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (s *shell) commandBuiltin(_ string, args []string) flow {
	how := byte(0)
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		if args[0] == "--" {
			args = args[1:]
			break
		}
		for _, c := range []byte(args[0][1:]) {
			switch c {
			case 'v', 'V':
				how = c
			case 'p':
			default:
				s.errorf("command: -%c: invalid option", c)
				s.status = 2
				return goOn
			}
		}
		args = args[1:]
	}
	switch {
	case len(args) == 0:
		s.status = 0
		return goOn
	case how == 0:
		return s.dispatch(args, false)
	}
	s.status = 1
	for _, name := range args {
		kind, where := s.kindOf(name)
		if kind == "" {
			if how == 'V' {
				s.errorf("command: %s: not found", name)
			}
			continue
		}
		s.status = 0
		text := name
		switch {
		case how == 'V':
			text = describe(name, kind, where)
		case kind == "file":
			text = where
		case kind == "alias":
			text = "alias " + name + "=" + shellQuote(s.aliases[name])
		}
		s.print("command", text+"\n")
	}
	return goOn
}

// kindOf tells what a name is for the shell.
func (s *shell) kindOf(name string) (kind, where string) {
	switch {
	case s.options.expandAliases && s.aliases[name] != "":
		return "alias", s.aliases[name]
	case syntax.IsKeyword(name):
		return "keyword", ""
	case s.funcs[name] != nil:
		return "function", ""
	case builtinOf(name) != nil:
		return "builtin", ""
	}
	if p, where, ok := s.find(name); ok {
		if p.file != "" {
			if info, err := s.m.files.Stat(p.file); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
				return "", ""
			}
		}
		return "file", where
	}
	return "", ""
}

func describe(name, kind, where string) string {
	switch kind {
	case "alias":
		return name + " is aliased to `" + where + "'"
	case "keyword":
		return name + " is a shell keyword"
	case "function":
		return name + " is a function"
	case "builtin":
		return name + " is a shell builtin"
	}
	return name + " is " + where
}

func (s *shell) typeBuiltin(args []string) int {
	how := ""
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		how += args[0][1:]
		args = args[1:]
	}
	code := 0
	for _, name := range args {
		kind, where := s.kindOf(name)
		if strings.Contains(how, "P") || strings.Contains(how, "p") && kind == "file" {
			if _, where, ok := s.find(name); ok {
				s.print("type", where+"\n")
			} else {
				code = 1
			}
			continue
		}
		switch {
		case kind == "":
			if !strings.ContainsAny(how, "tp") {
				s.errorf("type: %s: not found", name)
			}
			code = 1
		case strings.Contains(how, "p"):
		case strings.Contains(how, "t"):
			s.print("type", kind+"\n")
		case kind == "function":
			s.print("type", describe(name, kind, where)+"\n"+functionText(name, s.funcs[name]))
		default:
			s.print("type", describe(name, kind, where)+"\n")
		}
	}
	return code
}
