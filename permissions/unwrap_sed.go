package permissions

import "strings"

// sed finds what a program of sed's reads and writes (r, R, w, W and the flag
// w), and what it runs (e and the flag e).
func (w *walker) sed(src string) {
	p := sedParser{src: src}
	for !p.done() && !w.exhausted() {
		w.commands++
		p.skip(" \t\n;{}")
		p.address()
		switch c := p.next(); c {
		case 's':
			_, replacement, flags := p.substitution()
			if strings.Contains(flags, "e") {
				w.shellText(text(strings.ReplaceAll(replacement, `\`, "")), stdin{})
			}
			if before, file, found := strings.Cut(flags, "w"); found && strings.Trim(before, "0123456789gpIiMme") == "" {
				w.sedFile(Write, file)
			}
		case 'y':
			p.substitution()
		case 'r', 'R':
			w.sedFile(Read, p.line())
		case 'w', 'W':
			w.sedFile(Write, p.line())
		case 'e':
			w.shellText(text(p.line()), stdin{})
		case 'a', 'i', 'c':
			for strings.HasSuffix(p.line(), `\`) {
			}
		case '#':
			p.line()
		case ':', 'b', 't', 'T', 'q', 'Q', 'l', 'L', 'v':
			p.until(";}\n")
		}
	}
}

func (w *walker) sedFile(op Operation, name string) {
	if name = strings.TrimSpace(name); name != "" {
		w.denyPath(op, text(name), false)
	}
}

// sedParser reads a program of sed's as far as it is understood here.
type sedParser struct {
	src string
	at  int
}

func (p *sedParser) done() bool { return p.at >= len(p.src) }

// next is the next character, or 0 at the end.
func (p *sedParser) next() byte {
	if p.done() {
		return 0
	}
	p.at++
	return p.src[p.at-1]
}

func (p *sedParser) skip(chars string) {
	for !p.done() && strings.IndexByte(chars, p.src[p.at]) >= 0 {
		p.at++
	}
}

// until is the text up to one of chars.
func (p *sedParser) until(chars string) string {
	start := p.at
	for !p.done() && strings.IndexByte(chars, p.src[p.at]) < 0 {
		p.at++
	}
	return p.src[start:p.at]
}

// line is the rest of the line.
func (p *sedParser) line() string {
	s := p.until("\n")
	p.next()
	return s
}

// delimited is the text up to delimiter, which a backslash or a set may hold.
func (p *sedParser) delimited(delimiter byte) string {
	start := p.at
	for !p.done() {
		switch p.next() {
		case '\\':
			p.next()
		case delimiter:
			return p.src[start : p.at-1]
		}
	}
	return p.src[start:]
}

// address passes what stands before a command.
func (p *sedParser) address() {
	for !p.done() {
		p.skip(" \t0123456789$,~+!IM")
		switch {
		case p.done():
		case p.src[p.at] == '/':
			p.at++
			p.delimited('/')
			continue
		case p.src[p.at] == '\\':
			p.at++
			p.delimited(p.next())
			continue
		}
		return
	}
}

// substitution is what follows s or y. The flag w takes the rest of the line.
func (p *sedParser) substitution() (pattern, replacement, flags string) {
	delimiter := p.next()
	pattern = p.delimited(delimiter)
	replacement = p.delimited(delimiter)
	flags = p.until(";}\n w")
	if !p.done() && p.src[p.at] == 'w' {
		flags += p.line()
	}
	return pattern, replacement, flags
}
