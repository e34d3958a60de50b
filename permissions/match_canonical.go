package permissions

import (
	"path"
	"slices"
	"strings"
)

// canonical adds the spellings that mean the same: paths made absolute and
// clean, options of the commands that rules are mostly about in one order.
func (c *checker) canonical(f *forms, base string, args []value, st *state, trusted bool) {
	add := func(vs ...value) { f.strict = append(f.strict, words(append([]value{text(base)}, vs...))) }
	maybe := func(vs ...value) { f.maybe = append(f.maybe, words(append([]value{text(base)}, vs...))) }
	absolute := make([]value, len(args))
	changed := false
	for i, a := range args {
		absolute[i] = a.literally()
		if looksLikePath(a) {
			absolute[i] = st.paths(a)[0].withHome("/~")
			changed = true
		}
	}
	if changed {
		add(absolute...)
	}
	switch base {
	case "rm":
		o := readOptions(args)
		recursive := o.has("r", "R", "recursive")
		if !recursive && !o.open {
			return
		}
		for _, a := range o.operands {
			for _, p := range rootForms(c, st, a) {
				if recursive {
					add(text("-rf"), p)
				} else {
					maybe(text("-rf"), p)
				}
			}
		}
	case "chmod", "chown", "chgrp":
		o := readOptions(args)
		recursive := o.has("R", "recursive")
		if !recursive && !o.open || len(o.operands) == 0 {
			return
		}
		mode := o.operands[0]
		if s, ok := mode.known(); ok && base == "chmod" && worldWritable(s) {
			mode = text("777")
		}
		for _, a := range o.operands[1:] {
			for _, p := range rootForms(c, st, a) {
				if recursive {
					add(text("-R"), mode, p)
				} else {
					maybe(text("-R"), mode, p)
				}
			}
		}
	case "dd":
		c.dd(f, args, st)
	case "mke2fs", "mkdosfs", "mkntfs", "mkswap", "newfs":
		f.strict = append(f.strict, words(append([]value{text("mkfs")}, args...)))
	case "git":
		fields := []field{{}}
		for _, a := range args {
			fields = append(fields, field{value: a})
		}
		global, rest := gitParts(fields)
		if len(global) == 0 {
			return
		}
		short := words(append([]value{text("git")}, values(rest)...))
		if trusted && harmlessGlobals(global) {
			f.plain = append(f.plain, short)
		} else {
			f.strict = append(f.strict, short)
		}
	}
}

// harmlessGlobals tells whether git's global options leave its subcommand what
// it is.
func harmlessGlobals(global []field) bool {
	for i := 0; i < len(global); i++ {
		switch s, _ := global[i].value.known(); s {
		case "-C":
			i++
		case "--no-pager", "-P", "-p", "--paginate", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects":
		default:
			return false
		}
	}
	return true
}

// dd is written with its input before its output. Output that goes nowhere is
// left out.
func (c *checker) dd(f *forms, args []value, st *state) {
	in, out := text("if="), value(nil)
	var other []value
	for _, a := range args {
		switch {
		case a.hasPrefix("if="):
			in = a
		case a.hasPrefix("of="):
			out = a
		default:
			other = append(other, a)
		}
	}
	if len(out) == 0 {
		return
	}
	target := out.trimPrefix(3)
	for _, p := range st.paths(target) {
		if s, ok := p.known(); ok {
			if resolved := c.resolve(s).path; harmlessDevice(s) || harmlessDevice(resolved) {
				without := words(append([]value{text("dd"), in}, other...))
				f.plain, f.strict, f.maybe = []value{without}, nil, nil
				return
			} else if resolved != s {
				f.strict = append(f.strict, words(append([]value{text("dd"), in, text("of=" + resolved)}, other...)))
			}
		}
		f.strict = append(f.strict, words(append([]value{text("dd"), in, join(text("of="), p.withHome("/~"))}, other...)))
	}
}

// worldWritable tells whether a chmod mode gives everything to everyone.
func worldWritable(mode string) bool {
	if t := strings.TrimLeft(mode, "0"); t == "777" || len(mode) == 4 && strings.HasSuffix(mode, "777") {
		return true
	}
	given := map[rune]string{} // to the user, the group, others
	for clause := range strings.SplitSeq(mode, ",") {
		at := strings.IndexAny(clause, "+=-")
		if at < 0 || clause[at] == '-' {
			continue
		}
		who := strings.ReplaceAll(clause[:at], "a", "ugo")
		if who == "" {
			who = "ugo"
		}
		for _, u := range who {
			given[u] += clause[at+1:]
		}
	}
	for _, right := range "rw" {
		for _, u := range "ugo" {
			if !strings.ContainsRune(given[u], right) {
				return false
			}
		}
	}
	return strings.ContainsAny(given['o'], "xX")
}

// rootForms are the absolute spellings of a path: as it is cleaned, as its
// symlinks lead, and, where all entries of a top directory are meant, that
// directory.
func rootForms(c *checker, st *state, v value) []value {
	var out []value
	for _, p := range st.paths(v) {
		if s, ok := p.known(); ok {
			if r := c.resolve(s).path; r != s {
				out = append(out, text(r))
			}
		}
		p = p.withHome("/~")
		out = append(out, p)
		s, ok := p.known()
		if ok && (s == "/*" || s == "/.*" || s == "/~/*" || s == "/~/.*") {
			out = append(out, text(path.Dir(s)))
		}
	}
	return out
}

// optionSet is a command line taken apart at "-".
type optionSet struct {
	short    string
	long     []string
	operands []value
	open     bool // a word that may be any number of options
}

func readOptions(args []value) optionSet {
	var o optionSet
	ended := false
	for _, a := range args {
		s, known := a.known()
		switch {
		case ended || !a.hasPrefix("-") || s == "-":
			if !known && a.has(hole) {
				o.open = o.open || !ended
			}
			o.operands = append(o.operands, a)
		case s == "--":
			ended = true
		case !known:
			o.open = true
		case strings.HasPrefix(s, "--"):
			name, _, _ := strings.Cut(s[2:], "=")
			o.long = append(o.long, name)
		default:
			o.short += s[1:]
		}
	}
	return o
}

// has tells whether one of the options is set. Long ones may be abbreviated.
func (o optionSet) has(names ...string) bool {
	for _, name := range names {
		if len(name) == 1 && strings.Contains(o.short, name) {
			return true
		}
		if len(name) > 1 && slices.ContainsFunc(o.long, func(l string) bool { return l != "" && strings.HasPrefix(name, l) }) {
			return true
		}
	}
	return false
}
