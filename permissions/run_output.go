package permissions

import "strings"

// echo is what echo prints, where shells agree.
func echo(args []field) output {
	newline := "\n"
	var vs []value
	options := true
	for _, a := range args {
		s, ok := a.value.known()
		if options && ok && len(s) > 1 && s[0] == '-' && strings.Trim(s[1:], "neE") == "" {
			if strings.Contains(s, "n") {
				newline = ""
			}
			continue
		}
		options = false
		vs = append(vs, a.value)
		if strings.Contains(s, `\`) {
			return output{made: true} // some shells decode escapes
		}
	}
	out := join(words(vs), text(newline))
	return output{known: true, text: out, made: out.made()}
}

// printf is what printf prints when its format is simple.
func (w *walker) printf(args []field) output {
	if len(args) > 1 {
		if s, ok := args[0].value.known(); ok && s == "-v" {
			if name, ok := args[1].value.known(); ok {
				out := w.printf(args[2:])
				v := value{{kind: hole, made: true}}
				if out.known {
					v = out.text
				}
				w.state.set(name, v)
			}
			return output{known: true}
		}
	}
	if s, ok := argText(args); ok && s == "--" {
		args = args[1:]
	}
	format, ok := argText(args)
	if !ok {
		return output{made: true}
	}
	args = args[1:]
	var out value
	var b strings.Builder // literal text since the last argument
	flush := func() {
		out.add(piece{kind: lit, text: b.String()})
		b.Reset()
	}
	for range 64 { // the format is used again while arguments are left
		used := false
		for i := 0; i < len(format); i++ {
			switch {
			case format[i] == '\\':
				if i+1 < len(format) && format[i+1] == '0' {
					return output{made: true} // printf reads \0nnn as shells do not
				}
				length := escapeLength(format[i:])
				b.WriteString(decodeANSI(format[i : i+length]))
				i += length - 1
			case format[i] == '%' && i+1 < len(format) && format[i+1] == '%':
				b.WriteByte('%')
				i++
			case format[i] == '%' && i+1 < len(format) && format[i+1] == 's':
				i++
				if len(args) > 0 {
					flush()
					out = join(out, quotedHoles(args[0].value))
					args = args[1:]
					used = true
				}
			case format[i] == '%':
				return output{made: true}
			default:
				b.WriteByte(format[i])
			}
		}
		if len(args) == 0 || !used {
			flush()
			return output{known: true, text: out, made: out.made()}
		}
	}
	return output{made: true}
}
