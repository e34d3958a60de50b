package commands

import (
	"io"
	"strconv"
	"strings"
)

// revert makes bytes of a dump.
func (o *xxdOptions) revert(in io.Reader) int {
	p := o.p
	lines := p.Lines(in, '\n')
	defer lines.Close()
	at := int64(0)
	pending, half := 0, false
	for lines.Next() {
		line := lines.Bytes()
		if o.plain {
			for _, c := range line {
				v := hexValue(c)
				switch {
				case v < 0 && isSpace(c):
					continue
				case v < 0: // garbage ends a byte
					half = false
					continue
				case half:
					p.Out.WriteByte(byte(pending<<4 | v))
					half = false
				default:
					pending, half = v, true
				}
			}
			continue
		}
		text := strings.TrimLeft(string(line), " \t")
		address, rest, ok := strings.Cut(text, ":")
		if !ok {
			address, rest, ok = strings.Cut(text, " ")
		}
		offset, err := strconv.ParseInt(address, 16, 62)
		if !ok || err != nil {
			continue
		}
		offset += o.skip
		switch {
		case offset > at:
			// What is left out is zeros, as much as output may have.
			if _, err := p.Copy(p.Out, io.LimitReader(zeros{}, offset-at)); err != nil {
				return 1
			}
			at = offset
		case offset < at:
			return p.Errorf(5, "Sorry, cannot seek backwards.")
		}
		at += int64(o.revertLine(rest))
	}
	if err := lines.Err(); err != nil {
		p.FileError("-", err)
		return 2
	}
	return 0
}

// revertLine reads the columns of one line, and returns how many bytes it
// wrote. Two blanks in a row end them.
func (o *xxdOptions) revertLine(text string) (n int) {
	text = strings.TrimPrefix(text, " ")
	digits := 2
	if o.bits {
		digits = 8
	}
	value, have := 0, 0
	for i := 0; i < len(text) && n < o.columns; i++ {
		c := text[i]
		v := hexValue(c)
		switch {
		case c == ' ' && i+1 < len(text) && text[i+1] == ' ':
			return n
		case c == ' ':
			continue
		case v < 0 || o.bits && v > 1:
			return n
		case o.bits:
			value = value<<1 | v
		default:
			value = value<<4 | v
		}
		if have++; have == digits {
			o.p.Out.WriteByte(byte(value))
			value, have = 0, 0
			n++
		}
	}
	return n
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// zeros is an endless stream of null bytes.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
