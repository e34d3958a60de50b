package permissions

import "strings"

// codeOptions are the options after which an interpreter takes its program
// from the command line. "" is the first operand.
var codeOptions = map[string][]string{
	"python": {"-c"}, "python2": {"-c"}, "python3": {"-c"}, "pypy3": {"-c"},
	"perl": {"-e", "-E", "-ne", "-pe", "-nE", "-i -pe", "-pie", "-lne", "-lpe", "-nle", "-le", "-ple", "-0pe"},
	"ruby": {"-e", "-ne", "-pe"}, "node": {"-e", "-p", "--eval", "--print", "-pe"}, "nodejs": {"-e", "-p"}, "bun": {"-e", "eval"}, "deno": {"eval"},
	"php": {"-r"}, "lua": {"-e"}, "Rscript": {"-e"},
	"awk": {"", "-e"}, "gawk": {"", "-e"}, "mawk": {""}, "nawk": {""}, "sed": {"", "-e", "--expression"},
}

// interpreter looks into a program given on the command line, or on standard
// input: texts in it that name what is denied for reading, or that are command
// lines which a rule denies. What a program puts together when it runs is not
// seen.
func (w *walker) interpreter(name string, args []field, in stdin) output {
	operand := true
	for i := 1; i < len(args); i++ {
		s, known := args[i].value.known()
		for _, option := range codeOptions[name] {
			switch {
			case option == "" && operand && !args[i].value.hasPrefix("-"):
				operand = false
				w.code(name, args[i].value)
			case option != "" && known && s == option && i+1 < len(args):
				operand = false
				w.code(name, args[i+1].value)
			case len(option) == 2 && option[0] == '-' && len(s) > 2 && strings.HasPrefix(s, option):
				w.code(name, args[i].value.trimPrefix(2))
			}
		}
	}
	if in.known && (len(args) == 1 || len(args) == 2 && args[1].value.String() == "-") {
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
			w.sedFiles(src)
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

// sedFiles finds what sed's commands r, R, w and W read and write, and what e
// runs.
func (w *walker) sedFiles(src string) {
	for line := range strings.FieldsFuncSeq(src, func(r rune) bool { return r == ';' || r == '\n' || r == '{' || r == '}' }) {
		line = strings.TrimSpace(line)
		for i := range len(line) - 2 {
			before := i == 0 || strings.ContainsRune("0123456789$/,! Igp", rune(line[i-1]))
			if !before || line[i+1] != ' ' && line[i+1] != '\t' {
				continue
			}
			operand := text(strings.TrimSpace(line[i+1:]))
			switch line[i] {
			case 'r', 'R':
				w.denyPath(Read, operand, false)
			case 'w', 'W':
				w.denyPath(Write, operand, false)
			case 'e':
				w.denyOnly++
				w.script(operand.String(), w.state.clone(), stdin{}, w.depth+1)
				w.denyOnly--
			}
		}
	}
}
