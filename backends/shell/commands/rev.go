package commands

import (
	"io"
	"slices"
	"unicode/utf8"
)

var revOptions = NewOptions(1, "0 zero")

func rev(p *Proc) int {
	o, code := p.Parse(revOptions)
	if o == nil {
		return code
	}
	sep := byte('\n')
	if o.Has("0") {
		sep = 0
	}
	return p.Inputs(o.Args, func(_ string, r io.Reader) (int, error) {
		lines := p.Lines(r, sep)
		defer lines.Close()
		for lines.Next() {
			p.Out.Write(reversed(lines.Bytes()))
			if lines.Ended() {
				p.Out.WriteByte(sep)
			}
		}
		return 0, lines.Err()
	})
}

// reversed turns the order of characters around, in place.
func reversed(line []byte) []byte {
	for i := 0; i < len(line); {
		_, size := utf8.DecodeRune(line[i:])
		slices.Reverse(line[i : i+size])
		i += size
	}
	slices.Reverse(line)
	return line
}
