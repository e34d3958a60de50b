package permissions

import "strings"

// optionNames are options of one program, by how they are written.
type optionNames struct {
	letters string   // -o, also in a cluster such as -sSLo
	words   []string // others, as they are written: --output, -out, of=
	stops   string   // letters that end a cluster because they take a value
}

// at reads the option that args[i] may be, and returns its value and how many
// words it takes: 0 when it is none of o. The value follows in the same word
// or is the next. Long options may be abbreviated.
func (o optionNames) at(args []field, i int) (v value, n int) {
	if i >= len(args) {
		return nil, 0
	}
	a := args[i].value
	if len(a) == 0 || a[0].kind != lit {
		return nil, 0
	}
	next := func() (value, int) {
		if i+1 < len(args) {
			return args[i+1].value, 2
		}
		return nil, 1
	}
	head := a[0].text
	name, _, attached := strings.Cut(head, "=")
	for _, word := range o.words {
		same := name == word || strings.HasPrefix(word, "--") && len(name) > 2 && strings.HasPrefix(word, name) && !fullOptions[name]
		switch {
		case strings.HasSuffix(word, "="):
			if strings.HasPrefix(head, word) {
				return a.trimPrefix(len(word)), 1
			}
		case same && attached:
			return a.trimPrefix(len(name) + 1), 1
		case same && len(a) == 1:
			return next()
		}
	}
	for _, word := range o.words {
		if len(word) == 2 && strings.HasPrefix(head, word) {
			return a.trimPrefix(2), 1
		}
	}
	if !strings.HasPrefix(head, "-") || strings.HasPrefix(head, "--") {
		return nil, 0
	}
	for at := 1; at < len(head); at++ {
		switch {
		case strings.IndexByte(o.letters, head[at]) >= 0:
			if rest := a.trimPrefix(at + 1); len(rest) > 0 {
				return rest, 1
			}
			return next()
		case strings.IndexByte(o.stops, head[at]) >= 0:
			return nil, 0
		}
	}
	return nil, 0
}

// fullOptions are long options that are no abbreviations of longer ones here.
var fullOptions = map[string]bool{"--install": true, "--output": true, "--partial": true, "--pre": true, "--target": true}

func (o optionNames) none() bool { return o.letters == "" && o.words == nil }

// given tells whether one of the options is among args.
func (o optionNames) given(args []field) bool {
	for i := range args {
		if s, _ := args[i].value.known(); s == "--" {
			break
		}
		if _, n := o.at(args, i); n > 0 {
			return true
		}
	}
	return false
}

// each calls f with the value of every one of the options among args.
func (o optionNames) each(args []field, f func(value)) {
	for i := range args {
		if v, n := o.at(args, i); n > 0 && len(v) > 0 {
			f(v)
		}
	}
}

// last is the value of the last of the options among args.
func (o optionNames) last(args []field) (out value) {
	o.each(args, func(v value) { out = v })
	return out
}
