package permissions

import (
	"path"
	"slices"
	"strings"
)

// findNames are the tests of find whose value is a pattern for names.
var findNames = map[string]bool{"-name": true, "-iname": true, "-path": true, "-ipath": true, "-wholename": true, "-iwholename": true, "-regex": true, "-iregex": true, "-lname": true}

// find runs commands with -exec and its kin, with paths below its roots.
func (w *walker) find(_ string, args []field, _ stdin) output {
	var roots []value
	i := 1
	for ; i < len(args); i++ {
		s, ok := args[i].value.known()
		if s == "-H" || s == "-L" || s == "-P" {
			continue
		}
		if ok && (strings.HasPrefix(s, "-") || s == "(" || s == "!") {
			break
		}
		roots = append(roots, args[i].value)
	}
	if roots == nil {
		roots = []value{text(".")}
	}
	found := foundBy(roots, args[i:])
	for j := i; j < len(args); j++ {
		s, _ := args[j].value.known()
		switch s {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := j + 1
			for end < len(args) {
				if t, _ := args[end].value.known(); t == ";" || t == "+" && end > j+1 {
					break
				}
				end++
			}
			command := args[j+1 : end]
			if s, _ := argText(command); path.Base(s) == "rm" {
				// It goes through directories whether rm does or not.
				command = slices.Insert(slices.Clone(command), 1, field{value: text("-r")})
			}
			for _, v := range found {
				w.run(replaceIn(command, "{}", v), stdin{})
			}
			j = end
		case "-delete":
			for _, v := range found {
				w.run([]field{{value: text("rm")}, {value: text("-rf")}, {value: v}}, stdin{})
			}
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if j+1 < len(args) {
				w.useFile(Write, args[j+1].value)
			}
		case "-files0-from":
			if j+1 < len(args) {
				w.useFile(Read, args[j+1].value)
			}
		}
	}
	return output{}
}

// foundBy are the paths that find comes upon: below its roots, with each of
// the names that its tests give.
func foundBy(roots []value, tests []field) []value {
	filtered := false
	var names, out []value
	for i := range tests {
		s, _ := tests[i].value.known()
		filtered = filtered || findNames[s] || slices.Contains([]string{"-mtime", "-newer", "-size", "-mmin", "-empty", "-mindepth", "-user", "-perm", "-samefile"}, s)
		negated := i > 0 && slices.Contains([]string{"!", "-not"}, tests[i-1].value.String())
		if i+1 == len(tests) || negated || len(names)+len(out) > maxAlternatives {
			continue
		}
		v := tests[i+1].value
		switch s {
		case "-iname", "-ipath", "-iwholename", "-iregex":
			if t, ok := v.known(); ok {
				v = text(strings.ToLower(t))
			}
		}
		switch s {
		case "-name", "-iname":
			names = append(names, wildcards(v))
		case "-path", "-ipath", "-wholename", "-iwholename":
			out = append(out, wildcards(v))
		case "-regex", "-iregex":
			t, _ := v.known()
			t = strings.NewReplacer(`\.`, ".", ".*", "*", ".+", "*", "(", "*", ")", "*", "|", "*", "+", "*", "^", "", "$", "", ".", "?", `\`, "").Replace(t)
			out = append(out, wildcards(text(t)))
		case "-samefile":
			out = append(out, v)
		}
	}
	if names == nil {
		names = []value{{{kind: entry}}}
	}
	for _, root := range roots {
		for _, name := range names {
			out = append(out, join(root, text("/"), name), join(root, text("/"), value{{kind: hole}}, text("/"), name))
		}
		if !filtered {
			out = append(out, root)
		}
	}
	return out
}

// wildcards is a text that a program takes for a pattern.
func wildcards(v value) value {
	var out value
	for _, p := range v {
		if p.kind != lit {
			out.add(p)
			continue
		}
		for _, r := range p.text {
			switch r {
			case '*':
				out.add(piece{kind: entry})
			case '?', '[', ']':
				out.add(piece{kind: entry})
			default:
				out.add(piece{kind: lit, text: string(r)})
			}
		}
	}
	return out
}

// fd runs commands with -x and -X.
func (w *walker) fd(_ string, args []field, _ stdin) output {
	for i, a := range args {
		switch s, _ := a.value.known(); s {
		case "-x", "-X", "--exec", "--exec-batch":
			found := value{{kind: hole}}
			rest := args[i+1:]
			if !slices.ContainsFunc(rest, func(f field) bool { return strings.Contains(f.value.String(), "{") }) {
				rest = append(slices.Clone(rest), field{value: found})
			}
			return w.run(replaceIn(rest, "{}", found), stdin{})
		}
	}
	return output{}
}
