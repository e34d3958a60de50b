package commands

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

func xxd(p *Proc) (code int) {
	o := &xxdOptions{p: p}
	operands, code := o.parse(p.Args)
	if code != 0 {
		return code
	}
	if len(operands) > 2 {
		return o.usage()
	}
	limits := map[bool]int{true: 256, false: 256}
	switch {
	case o.plain:
		limits[true], limits[false] = 1<<20, 30
	case o.include:
		limits[false] = 12
	case o.bits:
		limits[false] = 6
	default:
		limits[false] = 16
	}
	if o.columns <= 0 && (o.columns < 0 || !o.plain) {
		o.columns = limits[false]
	} else if o.columns > 256 && !o.plain {
		return p.Errorf(1, "invalid number of columns (max. 256).")
	}
	if o.group < 0 {
		o.group = 2
		if o.bits {
			o.group = 1
		}
		if o.little {
			o.group = 4
		}
	}
	if o.group == 0 || o.group > o.columns {
		o.group = o.columns
	}
	if o.little && o.group&(o.group-1) != 0 {
		return p.Errorf(1, "number of octets per group must be a power of 2 with -e.")
	}
	in, name := p.Stdin, ""
	if len(operands) > 0 && operands[0] != "-" {
		name = operands[0]
		f, err := p.Open(name)
		if err != nil {
			p.FileError(name, err)
			return 2
		}
		defer f.Close()
		in = f
	}
	if len(operands) == 2 && operands[1] != "-" {
		f, err := p.Create(operands[1])
		if err != nil {
			p.FileError(operands[1], err)
			return 3
		}
		old := p.Out
		p.Out = bufio.NewWriterSize(f, 16<<10)
		defer func() {
			err := p.Out.Flush()
			p.Out = old
			if err = errors.Join(err, f.Close()); err != nil {
				code = p.FileError(operands[1], err)
			}
		}()
	}
	if o.reverse {
		return o.revert(in)
	}
	if code := o.seekTo(in, name); code != 0 {
		return code
	}
	if o.limit >= 0 {
		in = io.LimitReader(in, o.limit)
	}
	switch {
	case o.include:
		return o.source(in, name)
	case o.plain:
		return o.plainHex(in)
	}
	return o.dump(in)
}

// seekTo goes to where -s says; a negative offset counts from the end of a
// file.
func (o *xxdOptions) seekTo(in io.Reader, name string) int {
	p := o.p
	if o.skip < 0 {
		info, err := p.Stat(name)
		if name == "" || err != nil || info.Size()+o.skip < 0 {
			return p.Errorf(4, "Sorry, cannot seek.")
		}
		o.skip += info.Size()
	}
	if n, err := io.CopyN(io.Discard, in, o.skip); err != nil && (!errors.Is(err, io.EOF) || n < o.skip && name == "") {
		return p.Errorf(4, "Sorry, cannot seek.")
	}
	return 0
}

// blocks calls do with each row of n bytes.
func (o *xxdOptions) blocks(in io.Reader, n int, do func(b []byte)) int {
	block := make([]byte, n)
	for !o.p.Stopped() {
		k, err := io.ReadFull(in, block)
		if k > 0 {
			do(block[:k])
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return 0
		case err != nil:
			o.p.FileError("-", err)
			return 2
		}
	}
	return 1
}

func (o *xxdOptions) hex(c byte) string {
	if o.upper {
		return fmt.Sprintf("%02X", c)
	}
	return fmt.Sprintf("%02x", c)
}

func (o *xxdOptions) plainHex(in io.Reader) int {
	n := o.columns
	if n <= 0 {
		n = 4096
	}
	some := false
	code := o.blocks(in, n, func(b []byte) {
		some = true
		for _, c := range b {
			o.p.Out.WriteString(o.hex(c))
		}
		if o.columns > 0 {
			o.p.Out.WriteByte('\n')
		}
	})
	if some && o.columns <= 0 {
		o.p.Out.WriteByte('\n')
	}
	return code
}

func (o *xxdOptions) dump(in io.Reader) int {
	offset := o.skip + o.shift
	zeros := 0
	width := 2
	if o.bits {
		width = 8
	}
	row := func(b []byte) {
		if o.decimal {
			fmt.Fprintf(o.p.Out, "%08d:", offset)
		} else {
			fmt.Fprintf(o.p.Out, "%08x:", offset)
		}
		offset += int64(len(b))
		var line strings.Builder
		for i := range o.columns {
			if i%o.group == 0 {
				line.WriteByte(' ')
			}
			at := i
			if o.little {
				at = i/o.group*o.group + o.group - 1 - i%o.group
			}
			switch {
			case at >= len(b):
				line.WriteString(strings.Repeat(" ", width))
			case o.bits:
				fmt.Fprintf(&line, "%08b", b[at])
			default:
				line.WriteString(o.hex(b[at]))
			}
		}
		full := (width*o.group + 1) * ((o.columns + o.group - 1) / o.group)
		if o.columns%o.group != 0 {
			full = width*o.columns + (o.columns+o.group-1)/o.group
		}
		fmt.Fprintf(o.p.Out, "%-*s  ", full, line.String())
		for _, c := range b {
			if c < ' ' || c > '~' {
				c = '.'
			}
			o.p.Out.WriteByte(c)
		}
		o.p.Out.WriteByte('\n')
	}
	var held []byte
	code := o.blocks(in, o.columns, func(b []byte) {
		if o.all && strings.Trim(string(b), "\x00") == "" {
			// Of many rows of zeros the first is shown, then a "*", then the
			// last if nothing follows.
			switch zeros++; zeros {
			case 1:
				row(b)
			case 2:
				held = append(held[:0], b...)
			case 3:
				o.p.Out.WriteString("*\n")
				fallthrough
			default:
				offset += int64(len(held))
				held = append(held[:0], b...)
			}
			return
		}
		if zeros == 2 {
			row(held)
		} else if zeros > 2 {
			offset += int64(len(held))
		}
		zeros, held = 0, nil
		row(b)
	})
	if len(held) > 0 {
		row(held)
	}
	return code
}

// source writes an array of C.
func (o *xxdOptions) source(in io.Reader, name string) int {
	if o.name != "" {
		name = o.name
	}
	ident := []byte(path.Clean(name))
	if name == "" {
		ident = nil
	}
	for i, c := range ident {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			ident[i] = '_'
		}
	}
	text := string(ident)
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		text = "__" + text
	}
	lengthName := "_len"
	if o.cap {
		text, lengthName = strings.ToUpper(text), "_LEN"
	}
	if name != "" {
		fmt.Fprintf(o.p.Out, "unsigned char %s[] = {\n", text)
	}
	total := 0
	code := o.blocks(in, o.columns, func(b []byte) {
		if total > 0 {
			o.p.Out.WriteString(",\n")
		}
		for i, c := range b {
			prefix := ", 0x"
			if o.upper {
				prefix = ", 0X"
			}
			if i == 0 {
				prefix = " " + prefix[1:]
			}
			o.p.Out.WriteString(prefix + o.hex(c))
		}
		total += len(b)
	})
	if total > 0 {
		o.p.Out.WriteByte('\n')
	}
	if name != "" {
		fmt.Fprintf(o.p.Out, "};\nunsigned int %s%s = %d;\n", text, lengthName, total)
	}
	return code
}
