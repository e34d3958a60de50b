package commands

import (
	"io"
	"strconv"
	"strings"
)

var foldOptions = NewOptions(1, "b bytes", "s spaces", "w width=")

// foldWidth rewrites -NUM to -wNUM, also after other letters.
func foldWidth(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		if width := strings.TrimLeft(arg, "-bs"); width != "" && len(arg) > len(width) && arg[0] == '-' && strings.Trim(width, "0123456789") == "" {
			arg = arg[:len(arg)-len(width)] + "w" + width
		}
		out[i] = arg
	}
	return out
}

func fold(p *Proc) int {
	p.Args = foldWidth(p.Args)
	o, code := p.Parse(foldOptions)
	if o == nil {
		return code
	}
	width := 80
	if text, ok := o.Value("w"); ok {
		n, err := strconv.ParseUint(text, 10, 62)
		if err != nil || n == 0 {
			return p.Errorf(1, "invalid number of columns: %s", Quote(text))
		}
		width = int(n)
	}
	return p.Inputs(o.Args, func(_ string, r io.Reader) (int, error) {
		lines := p.Lines(r, '\n')
		defer lines.Close()
		for lines.Next() {
			foldLine(p, lines.Bytes(), width, o.Has("b"), o.Has("s"))
			if lines.Ended() {
				p.Out.WriteByte('\n')
			}
		}
		return 0, lines.Err()
	})
}

func foldLine(p *Proc, line []byte, width int, byBytes, atSpaces bool) {
	column := func(at int, c byte) int {
		switch {
		case byBytes:
			return at + 1
		case c == '\b':
			return max(at-1, 0)
		case c == '\r':
			return 0
		case c == '\t':
			return at + 8 - at%8
		}
		return at + 1
	}
	start, at := 0, 0
	for i := 0; i < len(line); {
		next := column(at, line[i])
		if next <= width || i == start {
			at = next
			i++
			continue
		}
		end := i
		if atSpaces {
			for j := i; j > start; j-- {
				if line[j-1] == ' ' || line[j-1] == '\t' {
					end = j
					break
				}
			}
		}
		p.Out.Write(line[start:end])
		p.Out.WriteByte('\n')
		start, at = end, 0
		for _, c := range line[end:i] {
			at = column(at, c)
		}
	}
	p.Out.Write(line[start:])
}
