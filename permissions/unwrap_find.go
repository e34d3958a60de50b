package permissions

import (
	"slices"
	"strings"
)

// findNames are the tests of find whose value is a pattern for names.
var findNames = map[string]bool{"-name": true, "-iname": true, "-path": true, "-ipath": true, "-wholename": true, "-regex": true, "-iregex": true, "-lname": true}

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
	filtered := false
	name := value(nil)
	for j := i; j < len(args); j++ {
		s, _ := args[j].value.known()
		if findNames[s] || s == "-type" || s == "-mtime" || s == "-newer" || s == "-size" || s == "-mmin" || s == "-empty" || s == "-mindepth" || s == "-user" || s == "-perm" {
			filtered = filtered || s != "-type"
			if s == "-name" && j+1 < len(args) && name == nil {
				name = wildcards(args[j+1].value)
			} else if findNames[s] && name != nil {
				name = value{{kind: entry}}
			}
		}
	}
	if name == nil {
		name = value{{kind: entry}}
	}
	found := func(root value) []value {
		out := []value{join(root, text("/"), name), join(root, text("/"), value{{kind: hole}}, text("/"), name)}
		if !filtered {
			out = append(out, root)
		}
		return out
	}
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
			for _, root := range roots {
				for _, v := range found(root) {
					w.run(replaceIn(args[j+1:end], "{}", v), stdin{})
				}
			}
			j = end
		case "-delete":
			for _, root := range roots {
				for _, v := range found(root) {
					w.run([]field{{value: text("rm")}, {value: text("-rf")}, {value: v}}, stdin{})
				}
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
