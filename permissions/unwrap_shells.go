package permissions

import (
	"path"
	"strconv"
	"strings"
)

// shell is sh and its relatives: -c, a script on standard input, or a file.
func (w *walker) shell(name string, args []field, in stdin) output {
	rest := args[1:]
	command, fromStdin := false, false
	for len(rest) > 0 {
		s, ok := rest[0].value.known()
		if !ok {
			if rest[0].value.hasPrefix("-") || rest[0].value.has(hole) && !command {
				w.askUnknown(words(values(args)).String(), "the options of "+name+" are not known before it runs")
			}
			break
		}
		if s == "--" || s == "-" {
			rest = rest[1:]
			break
		}
		if len(s) < 2 || s[0] != '-' && s[0] != '+' || command && !isOptionName(s[1:]) {
			break
		}
		rest = rest[1:]
		switch {
		case s == "--rcfile" || s == "--init-file":
			if len(rest) > 0 {
				rest = rest[1:]
			}
			w.judge(w.forms(args, w.state), false) // a file that it runs first
		case s == "--command": // fish
			command = true
		case strings.HasPrefix(s, "--"):
		default:
			command = command || s[0] == '-' && strings.Contains(s, "c")
			fromStdin = fromStdin || s[0] == '-' && strings.Contains(s, "s")
			values := strings.Count(s, "o") + strings.Count(s, "O")
			rest = rest[min(values, len(rest)):]
		}
	}
	inner := w.in(w.state.clone())
	inner.state.aliases = map[string]string{}
	switch {
	case command:
		if len(rest) == 0 {
			return output{}
		}
		inner.state.args, inner.state.argsSet = nil, true
		if len(rest) > 2 {
			inner.state.args = rest[2:]
		}
		if len(rest) > 1 {
			inner.state.vars["0"] = []value{rest[1].value}
		}
		inner.depth++
		return inner.shellText(rest[0].value, in)
	case len(rest) == 0 || fromStdin:
		if len(rest) > 0 {
			inner.state.args, inner.state.argsSet = rest, true
		}
		return inner.stdinScript(name, in)
	case rest[0].subst != nil:
		return inner.stdinScript(name, inner.in(inner.state.clone()).quietly(rest[0]))
	}
	if script, _ := argText(rest); script != "" {
		if from, ok := in.stream(path.Clean(script)); ok {
			inner.state.args, inner.state.argsSet = rest[1:], true
			return inner.stdinScript(name, from)
		}
	}
	return output{}
}

func isOptionName(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 || !isNameByte(byte(r)) && r != '-' }) < 0
}

// quietly is what a process substitution prints; it has been checked before.
func (w *walker) quietly(f field) output {
	w.denyOnly++
	defer func() { w.denyOnly-- }()
	return w.processSubstitution(f.subst)
}

// stdinScript checks what a shell reads from its standard input.
func (w *walker) stdinScript(name string, in stdin) output {
	if !in.piped {
		return output{}
	}
	if !in.known {
		w.askUnknown(name, "the script that "+name+" reads from its input is not known before it runs")
		return output{}
	}
	return w.shellText(in.text, stdin{})
}

func (w *walker) eval(_ string, args []field, in stdin) output {
	return w.shellText(words(values(args[1:])), in)
}

func (w *walker) source(name string, args []field, in stdin) output {
	if len(args) < 2 {
		return output{}
	}
	if args[1].subst != nil {
		return w.stdinScript(name, w.quietly(args[1]))
	}
	script, _ := args[1].value.known()
	if from, ok := in.stream(path.Clean(script)); ok {
		from.piped = true
		return w.stdinScript(name, from)
	}
	return output{}
}

func (w *walker) env(_ string, args []field, in stdin) output {
	inner := w.in(w.state.clone())
	rest := args[1:]
	for len(rest) > 0 {
		if name, v, ok := assignment(rest[0].value); ok {
			inner.assign(name, v)
			rest = rest[1:]
			continue
		}
		s, ok := rest[0].value.known()
		if name, body, found := strings.Cut(s, "%%="); found && strings.HasPrefix(name, "BASH_FUNC_") {
			inner.state.tampered = true
			inner.shellText(text("f"+body), stdin{})
			rest = rest[1:]
			continue
		}
		if !ok || len(s) < 2 || s[0] != '-' {
			if s == "-" {
				rest = rest[1:]
				continue
			}
			break
		}
		rest = rest[1:]
		next := func() (v value) {
			if len(rest) > 0 {
				v, rest = rest[0].value, rest[1:]
			}
			return v
		}
		switch {
		case s == "-S", s == "--split-string":
			return inner.shellText(join(next(), text(" "+quoteAll(rest))), in)
		case strings.HasPrefix(s, "--split-string="):
			return inner.shellText(text(s[len("--split-string="):]+" "+quoteAll(rest)), in)
		case s == "-C", s == "--chdir":
			inner.state.cwd = inner.state.paths(next())
		case strings.HasPrefix(s, "--chdir="):
			inner.state.cwd = inner.state.paths(text(s[len("--chdir="):]))
		case s == "-u", s == "--unset", s == "-P":
			next()
		case !strings.HasPrefix(s, "--") && strings.Contains(s, "S"):
			_, script, _ := strings.Cut(s, "S")
			if script == "" {
				return inner.shellText(join(next(), text(" "+quoteAll(rest))), in)
			}
			return inner.shellText(text(script+" "+quoteAll(rest)), in)
		}
	}
	return inner.run(rest, in)
}

// shellText checks a value that a shell will parse. Holes in it may hold any
// commands.
func (w *walker) shellText(v value, in stdin) output {
	if s, ok := v.withHome("$HOME").known(); ok {
		return w.script(s, w.state, in, w.depth+1)
	}
	var b strings.Builder
	unknown := false
	for _, p := range v {
		switch p.kind {
		case lit, wild:
			b.WriteString(p.text)
		case home:
			b.WriteString("$HOME")
		case digits:
			b.WriteByte('0')
		default:
			unknown = true
			b.WriteString("${" + unknownVariable + "}")
		}
	}
	if unknown {
		w.askUnknown(v.String(), "a part of this script is not known before it runs")
	}
	return w.script(b.String(), w.state, in, w.depth+1)
}

// quoteAll writes words so that a shell reads them as they are; what is not
// known becomes a variable that nothing sets.
func quoteAll(args []field) string {
	var b strings.Builder
	for i, a := range args {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(a.value.quote())
	}
	return b.String()
}

const unknownVariable = "__unknown"

func (v value) quote() string {
	if len(v) == 0 {
		return "''"
	}
	var b strings.Builder
	for _, p := range v {
		switch p.kind {
		case lit:
			b.WriteString("'" + strings.ReplaceAll(p.text, "'", `'\''`) + "'")
		case wild:
			b.WriteString(p.text)
		case home:
			b.WriteString("$HOME")
		case digits:
			b.WriteString(strconv.Itoa(0))
		case word, entry:
			b.WriteString(`"$` + unknownVariable + `"`)
		default:
			b.WriteString("$" + unknownVariable)
		}
	}
	return b.String()
}
