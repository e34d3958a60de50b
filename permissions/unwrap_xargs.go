package permissions

import (
	"slices"
	"strings"
)

// xargs runs its command with words read from standard input appended.
func (w *walker) xargs(name string, args []field, in stdin) output {
	o := options{short: "IndPLsEaR", long: []string{"max-args", "max-procs", "max-chars", "delimiter", "arg-file", "process-slot-var"}}
	if name == "parallel" {
		o = options{short: "jaNnLIdS", long: []string{"jobs", "arg-file", "colsep", "delay", "timeout", "joblog", "results", "sshlogin", "tmpdir", "workdir"}}
	}
	replace, whole := "", false
	for i, a := range args[1:] {
		s, ok := a.value.known()
		if !ok || !strings.HasPrefix(s, "-") {
			break
		}
		switch {
		case s == "-I" && i+2 < len(args):
			replace, _ = args[i+2].value.known()
		case strings.HasPrefix(s, "-I"):
			replace = s[2:]
		case s == "-i", s == "--replace":
			replace = "{}"
		case strings.HasPrefix(s, "-i"):
			replace = s[2:]
		case strings.HasPrefix(s, "--replace="):
			replace = s[len("--replace="):]
		case s == "-0", s == "--null", strings.HasPrefix(s, "-d"), strings.HasPrefix(s, "--delimiter"):
			whole = true
		}
	}
	rest := o.skip(w, args[1:])
	optionNames{letters: "a", words: []string{"--arg-file"}, stops: o.short}.each(args[:len(args)-len(rest)], func(v value) {
		w.useFile(Read, v)
		in = stdin{piped: true}
	})
	given := []field{{value: value{{kind: hole, made: in.made}}}}
	if s, ok := in.text.known(); ok && in.known {
		given = nil
		if whole || replace != "" {
			given = append(given, field{value: text(strings.TrimSpace(s)), quoted: true})
		}
		for f := range strings.FieldsSeq(s) {
			if whole {
				break // not at blanks
			}
			given = append(given, field{value: text(strings.Trim(f, `"'`)), quoted: true})
		}
		if len(given) > maxFields {
			w.over = true
			given = given[:maxFields]
		}
	} else if in.known {
		given[0].value[0].made = given[0].value[0].made || in.text.made()
	}
	if name == "parallel" {
		if replace == "" {
			replace = "{}"
		}
		for i, a := range rest {
			if s, ok := a.value.known(); ok && (s == ":::" || s == "::::" || s == ":::+") {
				given = rest[i+1:]
				if s == "::::" {
					given = []field{{value: value{{kind: hole}}}}
				}
				rest = rest[:i]
				break
			}
		}
		if len(rest) == 0 {
			for _, g := range given {
				w.shellText(g.value, stdin{})
			}
			return output{}
		}
	}
	run := func(command []field) output {
		if name == "parallel" {
			return w.shellText(words(values(command)), stdin{})
		}
		return w.run(command, stdin{})
	}
	if len(rest) == 0 {
		return output{} // xargs alone prints
	}
	if replace != "" && slices.ContainsFunc(rest, func(f field) bool { return strings.Contains(f.value.String(), replace) }) {
		for _, g := range given {
			run(replaceIn(rest, replace, g.value))
		}
		if len(given) == 0 {
			run(rest)
		}
		return output{made: true}
	}
	return run(append(slices.Clone(rest), given...))
}

// replaceIn puts v wherever words contain placeholder.
func replaceIn(args []field, placeholder string, v value) []field {
	out := slices.Clone(args)
	for i, a := range out {
		var replaced value
		for _, p := range a.value {
			if p.kind != lit {
				replaced.add(p)
				continue
			}
			for n, part := range strings.Split(p.text, placeholder) {
				if n > 0 {
					for _, q := range v {
						replaced.add(q)
					}
				}
				replaced.add(piece{kind: lit, text: part})
			}
		}
		out[i].value = replaced
	}
	return out
}
