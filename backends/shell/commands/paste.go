package commands

import (
	"io"
)

var pasteOptions = NewOptions(1, "d delimiters=", "s serial", "z zero-terminated")

func paste(p *Proc) int {
	o, code := p.Parse(pasteOptions)
	if o == nil {
		return code
	}
	delims := []string{"\t"}
	if text, ok := o.Value("d"); ok {
		if delims, ok = pasteDelimiters(text); !ok {
			return p.Errorf(1, "delimiter list ends with an unescaped backslash: %s", text)
		}
	}
	names := o.Args
	if len(names) == 0 {
		names = []string{"-"}
	}
	sep := separator(o)
	if o.Has("s") {
		return pasteSerial(p, names, delims, sep)
	}
	var inputs []*Lines
	var stdin *Lines
	defer func() {
		for _, in := range inputs {
			in.Close()
		}
	}()
	for _, name := range names {
		if name == "-" {
			if stdin == nil {
				stdin = p.Lines(p.Stdin, sep)
			}
			inputs = append(inputs, stdin)
			continue
		}
		f, err := p.Open(name)
		if err != nil {
			return p.FileError(name, err)
		}
		defer f.Close()
		inputs = append(inputs, p.Lines(f, sep))
	}
	for {
		// A row is written once one of the files has a line for it.
		any, pending := false, ""
		for i, in := range inputs {
			if i > 0 {
				pending += delims[(i-1)%len(delims)]
			}
			if in.Next() {
				p.Out.WriteString(pending)
				p.Out.Write(in.Bytes())
				any, pending = true, ""
			} else if err := in.Err(); err != nil {
				return p.FileError(names[i], err)
			}
		}
		if !any {
			return 0
		}
		p.Out.WriteString(pending)
		p.Out.WriteByte(sep)
	}
}

func pasteDelimiters(text string) ([]string, bool) {
	if text == "" {
		return []string{""}, true
	}
	var out []string
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			out = append(out, text[i:i+1])
			continue
		}
		if i++; i == len(text) {
			return nil, false
		}
		switch c := text[i]; c {
		case '0':
			out = append(out, "")
		case 'n':
			out = append(out, "\n")
		case 't':
			out = append(out, "\t")
		case 'r':
			out = append(out, "\r")
		case 'b':
			out = append(out, "\b")
		case 'f':
			out = append(out, "\f")
		case 'v':
			out = append(out, "\v")
		default:
			out = append(out, string(c))
		}
	}
	return out, true
}

func pasteSerial(p *Proc, names, delims []string, sep byte) int {
	return p.Inputs(names, func(_ string, r io.Reader) (int, error) {
		lines := p.Lines(r, sep)
		defer lines.Close()
		for i := 0; lines.Next(); i++ {
			if i > 0 {
				p.Out.WriteString(delims[(i-1)%len(delims)])
			}
			p.Out.Write(lines.Bytes())
		}
		p.Out.WriteByte(sep)
		return 0, lines.Err()
	})
}
