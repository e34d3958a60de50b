package commands

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

var odFlags = NewOptions(1, "A address-radix=", "j skip-bytes=", "N read-bytes=", "t format=", "v output-duplicates", "w width=?", "endian=", "S strings=?",
	"a", "b", "c", "d", "f", "F", "h", "H", "i", "I", "l", "L", "o", "O", "s", "x", "X", "D", "e", "B")

// odType is one way to show bytes.
type odType struct {
	kind  byte // 'a', 'c', 'd', 'f', 'o', 'u' or 'x'
	size  int
	width int // of the text, without the blank before it
	text  bool
}

var odShort = map[string]string{"a": "a", "b": "o1", "c": "c", "d": "u2", "D": "u4", "f": "fF", "F": "fD", "e": "fD", "h": "x2", "H": "x4", "i": "dI", "I": "dL",
	"l": "dL", "L": "dL", "o": "o2", "O": "o4", "B": "o2", "s": "d2", "x": "x2", "X": "x4"}

type odDump struct {
	p       *Proc
	types   []odType
	radix   byte
	width   int
	all     bool
	order   binary.ByteOrder
	pad     []int // blanks that fill up, of each type
	offset  int64
	columns int
}

func od(p *Proc) int {
	parsed, code := p.Parse(odFlags)
	if parsed == nil {
		return code
	}
	d := &odDump{p: p, radix: 'o', width: 16, order: binary.LittleEndian, all: parsed.Has("v")}
	skip, limit := int64(0), int64(-1)
	for _, opt := range parsed.Options {
		switch opt.Key {
		case "A":
			if len(opt.Value) != 1 || strings.IndexByte("doxn", opt.Value[0]) < 0 {
				return p.Errorf(1, "invalid output address radix '%s'; it must be one character from [doxn]", opt.Value)
			}
			d.radix = opt.Value[0]
		case "j", "N":
			n, err := byteCount(opt.Value)
			if strings.HasSuffix(opt.Value, "b") && err != nil {
				if n, err = byteCount(strings.TrimSuffix(opt.Value, "b")); err == nil {
					n *= 512
				}
			}
			if err != nil {
				return p.Errorf(1, "invalid -%s argument '%s'", opt.Key, opt.Value)
			}
			if opt.Key == "j" {
				skip = n
			} else {
				limit = n
			}
		case "t":
			types, problem := odTypes(opt.Value)
			if problem != "" {
				return p.Errorf(1, "%s", problem)
			}
			d.types = append(d.types, types...)
		case "w":
			d.width = 32
			if opt.HasValue {
				n, err := strconv.Atoi(opt.Value)
				if err != nil || n < 1 || n > 1<<16 {
					return p.Errorf(1, "invalid -w argument '%s'", opt.Value)
				}
				d.width = n
			}
		case "endian":
			if opt.Value == "big" || opt.Value == "b" {
				d.order = binary.BigEndian
			}
		case "S":
			return p.Errorf(1, "option -S is not supported here; use strings")
		case "v":
		default:
			types, _ := odTypes(odShort[opt.Key])
			d.types = append(d.types, types...)
		}
	}
	if len(d.types) == 0 {
		d.types, _ = odTypes("o2")
	}
	d.layout()
	in := newChain(p, parsed.Args)
	defer in.Close()
	if n, err := io.CopyN(io.Discard, in, skip); err != nil && !errors.Is(err, io.EOF) {
		return p.FileError("-", err)
	} else if n < skip {
		return max(in.code, p.Errorf(1, "cannot skip past end of combined input"))
	}
	d.offset = skip
	var r io.Reader = in
	if limit >= 0 {
		r = io.LimitReader(in, limit)
	}
	err := d.dump(r)
	if err != nil {
		return p.FileError("-", err)
	}
	return in.code
}

// odTypes reads the value of -t.
func odTypes(text string) (types []odType, problem string) {
	whole := text
	for text != "" {
		t := odType{kind: text[0], size: 4}
		text = text[1:]
		digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
		switch t.kind {
		case 'a', 'c':
			t.size, t.width = 1, 3
			digits = 0
		case 'd', 'o', 'u', 'x', 'f':
			if t.kind == 'f' {
				t.size = 8
			}
			if digits > 0 {
				t.size, _ = strconv.Atoi(text[:digits])
			} else if text != "" {
				letter := text[0]
				sizes := map[byte]int{'C': 1, 'S': 2, 'I': 4, 'L': 8}
				if t.kind == 'f' {
					sizes = map[byte]int{'F': 4, 'D': 8, 'L': 16}
				}
				if n := sizes[letter]; n > 0 {
					t.size, digits = n, 1
				}
			}
			widths := map[byte]map[int]int{
				'd': {1: 4, 2: 6, 4: 11, 8: 20}, 'u': {1: 3, 2: 5, 4: 10, 8: 20},
				'o': {1: 3, 2: 6, 4: 11, 8: 22}, 'x': {1: 2, 2: 4, 4: 8, 8: 16}, 'f': {4: 15, 8: 24},
			}[t.kind]
			if t.width = widths[t.size]; t.width == 0 {
				what := "integral"
				if t.kind == 'f' {
					what = "floating point"
				}
				return nil, fmt.Sprintf("invalid type string '%s';\nthis system doesn't provide a %d-byte %s type", whole, t.size, what)
			}
		default:
			return nil, fmt.Sprintf("invalid character '%c' in type string '%s'", t.kind, whole)
		}
		text = text[digits:]
		if strings.HasPrefix(text, "z") {
			t.text, text = true, text[1:]
		}
		types = append(types, t)
	}
	if len(types) == 0 {
		return nil, fmt.Sprintf("invalid type string '%s'", whole)
	}
	return types, ""
}

// layout makes the columns of all types as wide as those of the widest.
func (d *odDump) layout() {
	multiple := 1
	for _, t := range d.types {
		multiple = lcm(multiple, t.size)
	}
	if d.width%multiple != 0 {
		d.p.Errorf(0, "warning: invalid width %d; using %d instead", d.width, multiple)
		d.width = multiple
	}
	for _, t := range d.types {
		d.columns = max(d.columns, (t.width+1)*(d.width/t.size))
	}
	for _, t := range d.types {
		d.pad = append(d.pad, d.columns-t.width*(d.width/t.size))
	}
}

func lcm(a, b int) int {
	x, y := a, b
	for y > 0 {
		x, y = y, x%y
	}
	return a / x * b
}

func (d *odDump) address(offset int64) {
	switch d.radix {
	case 'o':
		fmt.Fprintf(d.p.Out, "%07o", offset)
	case 'd':
		fmt.Fprintf(d.p.Out, "%07d", offset)
	case 'x':
		fmt.Fprintf(d.p.Out, "%06x", offset)
	}
}

func (d *odDump) dump(r io.Reader) error {
	block, last := make([]byte, d.width), make([]byte, 0, d.width)
	repeated := false
	for {
		n, err := io.ReadFull(r, block)
		full := n == len(block)
		switch {
		case n == 0:
		case full && !d.all && string(last) == string(block):
			if !repeated {
				d.p.Out.WriteString("*\n")
			}
			repeated = true
		default:
			repeated = false
			d.line(block, n)
		}
		last = append(last[:0], block...)
		d.offset += int64(n)
		if err != nil {
			d.address(d.offset)
			if d.radix != 'n' {
				d.p.Out.WriteByte('\n')
			}
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return err
		}
		if d.p.Stopped() {
			return d.p.Context().Err()
		}
	}
}

// line shows the n bytes of a block in all types.
func (d *odDump) line(block []byte, n int) {
	clear(block[n:])
	for i, t := range d.types {
		if i == 0 {
			d.address(d.offset)
		} else if d.radix != 'n' {
			d.p.Out.WriteString(map[byte]string{'o': "       ", 'd': "       ", 'x': "      "}[d.radix])
		}
		fields := d.width / t.size
		used := (n + t.size - 1) / t.size
		left := d.pad[i]
		at := 0
		for f := range used {
			// Blanks are spread so that columns of several types line up.
			next := d.pad[i] * (fields - f - 1) / fields
			text := d.value(t, block[f*t.size:(f+1)*t.size])
			fmt.Fprintf(d.p.Out, "%*s", left-next+t.width, text)
			at += left - next + t.width
			left = next
		}
		if t.text {
			fmt.Fprintf(d.p.Out, "%*s  >", d.columns-at, "")
			for _, c := range block[:n] {
				if c < ' ' || c > '~' {
					c = '.'
				}
				d.p.Out.WriteByte(c)
			}
			d.p.Out.WriteByte('<')
		}
		d.p.Out.WriteByte('\n')
	}
}

var controlNames = strings.Fields("nul soh stx etx eot enq ack bel bs ht nl vt ff cr so si dle dc1 dc2 dc3 dc4 nak syn etb can em sub esc fs gs rs us sp")

func (d *odDump) value(t odType, b []byte) string {
	var v uint64
	switch t.size {
	case 1:
		v = uint64(b[0])
	case 2:
		v = uint64(d.order.Uint16(b))
	case 4:
		v = uint64(d.order.Uint32(b))
	case 8:
		v = d.order.Uint64(b)
	}
	switch t.kind {
	case 'a':
		c := b[0] & 0x7f
		switch {
		case int(c) < len(controlNames):
			return controlNames[c]
		case c == 0x7f:
			return "del"
		}
		return string(rune(c))
	case 'c':
		c := b[0]
		if i := strings.IndexByte("\x00\a\b\t\n\v\f\r", c); i >= 0 {
			return `\` + string("0abtnvfr"[i])
		}
		if c < ' ' || c > '~' {
			return fmt.Sprintf("%03o", c)
		}
		return string(rune(c))
	case 'd':
		shift := 64 - 8*t.size
		return strconv.FormatInt(int64(v<<shift)>>shift, 10)
	case 'u':
		return strconv.FormatUint(v, 10)
	case 'o':
		return fmt.Sprintf("%0*o", t.width, v)
	case 'x':
		return fmt.Sprintf("%0*x", t.width, v)
	}
	if t.size == 4 {
		return shortestFloat(float64(math.Float32frombits(uint32(v))), 32)
	}
	return shortestFloat(math.Float64frombits(v), 64)
}

// shortestFloat writes the fewest digits that mean the number, as %g does.
func shortestFloat(v float64, bits int) string {
	switch {
	case math.IsNaN(v) && math.Signbit(v):
		return "-nan"
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64)), "+")
	}
	text := strconv.FormatFloat(v, 'e', -1, bits)
	mantissa, exponent, _ := strings.Cut(text, "e")
	digits := len(strings.TrimLeft(strings.ReplaceAll(mantissa, ".", ""), "-"))
	if e, _ := strconv.Atoi(exponent); e >= -4 && e < max(digits, 6) {
		return strconv.FormatFloat(v, 'f', -1, bits)
	}
	return text
}
