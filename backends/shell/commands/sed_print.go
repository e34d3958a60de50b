package commands

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// transliterate does y.
func (s *sedRun) transliterate(table map[string]string) error {
	s.scratch.b = s.scratch.b[:0]
	for b := s.pattern.b; len(b) > 0; {
		_, size := utf8.DecodeRune(b)
		ch := b[:size]
		b = b[size:]
		var err error
		if to, ok := table[view(ch)]; ok {
			err = s.scratch.addString(to)
		} else {
			err = s.scratch.add(ch...)
		}
		if err != nil {
			return err
		}
	}
	s.pattern, s.scratch = s.scratch, s.pattern
	return nil
}

// list prints the pattern space so that everything in it can be seen.
func (s *sedRun) list(width int) {
	var line bytes.Buffer
	s.out.complete()
	put := func(t string) {
		if width > 1 && line.Len()+len(t) > width-1 {
			line.WriteString("\\\n")
			s.out.write(line.Bytes())
			line.Reset()
		}
		line.WriteString(t)
	}
	for b := s.pattern.b; len(b) > 0; {
		r, size := utf8.DecodeRune(b)
		c := b[0]
		const special, letters = "\a\b\f\n\r\t\v\\", `abfnrtv\`
		switch i := bytes.IndexByte([]byte(special), c); {
		case i >= 0:
			put(`\` + letters[i:i+1])
		case size > 1 && r != utf8.RuneError:
			for _, c := range b[:size] {
				put(fmt.Sprintf(`\%03o`, c))
			}
		case c < ' ' || c >= 0x7f:
			size = 1
			put(fmt.Sprintf(`\%03o`, c))
		default:
			put(string(c))
		}
		b = b[size:]
	}
	line.WriteString("$\n")
	s.out.write(line.Bytes())
}
