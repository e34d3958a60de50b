package permissions

import "strings"

// interpreterOptions are the options of an interpreter.
type interpreterOptions struct {
	code    optionNames // a program
	also    optionNames // a program too, where a letter means both
	file    optionNames // a file with a program
	text    optionNames // a text that the program is given
	value   string      // letters of others that take a value
	operand bool        // without any of these the first operand is a program, else a file
}

var interpreters = byName(map[string]interpreterOptions{
	"python python2 python3 pypy pypy3": {code: optionNames{letters: "c", stops: "mWXQ"}, value: "mWXQ"},
	"perl":                              {code: optionNames{letters: "eE", stops: "IMmxF"}, value: "I"},
	"ruby":                              {code: optionNames{letters: "e", stops: "IrCEF"}, value: "IrCEF"},
	"node nodejs bun":                   {code: optionNames{letters: "e", words: []string{"--eval", "eval"}, stops: "r"}, also: optionNames{letters: "p", words: []string{"--print"}, stops: "r"}, value: "r"},
	"deno":                              {code: optionNames{words: []string{"eval"}}},
	"php":                               {code: optionNames{letters: "rBRE", stops: "dzcfF"}, value: "dzcfF"},
	"lua":                               {code: optionNames{letters: "e", stops: "l"}, value: "l"},
	"Rscript":                           {code: optionNames{letters: "e"}},
	"awk gawk mawk nawk": {
		code: optionNames{letters: "e", words: []string{"--source"}, stops: "fFvi"}, file: optionNames{letters: "f", words: []string{"--file"}, stops: "Fvi"},
		text: optionNames{letters: "v", words: []string{"--assign"}, stops: "fFi"}, value: "Fi", operand: true,
	},
	"sed": {
		code: optionNames{letters: "e", words: []string{"--expression"}, stops: "fil"}, file: optionNames{letters: "f", words: []string{"--file"}, stops: "il"},
		value: "l", operand: true,
	},
})

// interpreter looks into a program given on the command line, or on standard
// input: texts in it that name what is denied for reading, or that are command
// lines which a rule denies. What a program puts together when it runs is not
// seen.
func (w *walker) interpreter(name string, args []field, in stdin) output {
	o := interpreters[name]
	given := false
	var operands []field
	for i := 1; i < len(args); i++ {
		most := 1
		take := func(names optionNames, use func(value)) {
			if v, n := names.at(args, i); n > 0 {
				most = max(most, n)
				use(v)
			}
		}
		code := func(v value) {
			given = true
			w.code(name, v)
		}
		take(o.code, code)
		take(o.also, code)
		take(o.file, func(v value) {
			given = true
			path, _ := v.known()
			if from, ok := in.stream(path); (ok || path == "-") && from.known {
				w.code(name, from.text)
			} else if path == "-" && in.known {
				w.code(name, in.text)
			}
		})
		take(o.text, func(v value) {
			if _, assigned, ok := assignment(v); ok {
				w.codeText(assigned.String())
			}
		})
		take(optionNames{letters: o.value}, func(value) {})
		s, _ := args[i].value.known()
		if most == 1 && (s == "-" || !args[i].value.hasPrefix("-")) {
			operands = append(operands, args[i])
		}
		i += most - 1
	}
	if given {
		return output{made: true}
	}
	if o.operand {
		if len(operands) > 0 {
			w.code(name, operands[0].value)
		}
		return output{made: true}
	}
	if script, _ := argText(operands); in.known && (len(operands) == 0 || script == "-" || script == "/dev/stdin") {
		w.code(name, in.text)
	}
	return output{made: true}
}

func (w *walker) code(name string, v value) {
	for _, p := range v {
		if p.kind != lit {
			continue
		}
		src := p.text
		if len(src) > maxScript {
			w.over = true
			return
		}
		if name == "sed" {
			w.sed(src)
			continue
		}
		for _, s := range stringLiterals(src) {
			w.codeText(s)
		}
	}
}

// codeText is a text in a program.
func (w *walker) codeText(s string) {
	if s == "" || len(s) > 4096 {
		return
	}
	w.commands++
	if !w.spend(len(s)) {
		return
	}
	if !strings.ContainsAny(s, " \t\n") {
		if v := text(s); looksLikePath(v) || w.exists(v) {
			if v, ok := filePath(v); ok {
				w.denyPath(Read, v, false)
			}
		}
		return
	}
	if w.denyOnly > maxNesting {
		return
	}
	w.denyOnly++
	defer func() { w.denyOnly-- }()
	w.script(s, w.state.clone(), stdin{}, w.depth+1)
}

// stringLiterals are the texts in single, double or back quotes in a program
// of nearly any language.
func stringLiterals(src string) []string {
	var out []string
	for i := 0; i < len(src); i++ {
		q := src[i]
		if q != '\'' && q != '"' && q != '`' {
			continue
		}
		var b strings.Builder
		j := i + 1
		for ; j < len(src) && src[j] != q; j++ {
			if src[j] == '\\' && j+1 < len(src) {
				n := escapeLength(src[j:])
				b.WriteString(decodeANSI(src[j : j+n]))
				j += n - 1
				continue
			}
			b.WriteByte(src[j])
		}
		if j == len(src) {
			continue // no end: an apostrophe
		}
		out = append(out, b.String())
		i = j
	}
	return out
}
