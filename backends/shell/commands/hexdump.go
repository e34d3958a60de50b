package commands

import (
	"errors"
	"fmt"
	"io"
)

var hexdumpFlags = NewOptions(1, "C canonical", "b one-byte-octal", "c one-byte-char", "d two-bytes-decimal", "o two-bytes-octal", "x two-bytes-hex",
	"n length=", "s skip=", "v no-squeezing", "e format=", "f format-file=", "L color=?")

// hexdump shows bytes as hexdump of BSD does.
func hexdump(p *Proc) int {
	parsed, code := p.Parse(hexdumpFlags)
	if parsed == nil {
		return code
	}
	if parsed.Has("e", "f") {
		return p.Errorf(1, "formats of one's own (-e, -f) are not supported here; use od -t or xxd")
	}
	skip, limit := int64(0), int64(-1)
	for key, to := range map[string]*int64{"s": &skip, "n": &limit} {
		if v, ok := parsed.Value(key); ok {
			n, err := byteCount(v)
			if err != nil {
				return p.Errorf(1, "failed to parse %s: '%s'", map[string]string{"s": "offset", "n": "length"}[key], v)
			}
			*to = n
		}
	}
	var formats []string
	for _, o := range parsed.Options {
		if len(o.Key) == 1 && o.Key != "n" && o.Key != "s" && o.Key != "v" && o.Key != "L" {
			formats = append(formats, o.Key)
		}
	}
	if p.cmd.Name == "hd" {
		formats = append(formats, "C")
	}
	if len(formats) == 0 {
		formats = []string{""}
	}
	in := newChain(p, parsed.Args)
	defer in.Close()
	if _, err := io.CopyN(io.Discard, in, skip); err != nil && !errors.Is(err, io.EOF) {
		return p.FileError("-", err)
	}
	var r io.Reader = in
	if limit >= 0 {
		r = io.LimitReader(in, limit)
	}
	offset, repeated, any := skip, false, false
	block, last := make([]byte, 16), make([]byte, 0, 16)
	for {
		n, err := io.ReadFull(r, block)
		any = any || n > 0
		switch {
		case n == 0:
		case n == 16 && !parsed.Has("v") && string(last) == string(block):
			if !repeated {
				p.Out.WriteString("*\n")
			}
			repeated = true
		default:
			repeated = false
			for _, f := range formats {
				hexdumpLine(p, f, offset, block[:n])
			}
		}
		last = append(last[:0], block[:n]...)
		offset += int64(n)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			switch {
			case !any:
			case formats[0] == "C":
				fmt.Fprintf(p.Out, "%08x\n", offset)
			default:
				fmt.Fprintf(p.Out, "%07x\n", offset)
			}
			return in.code
		case err != nil:
			return p.FileError("-", err)
		}
		if p.Stopped() {
			return 1
		}
	}
}

func hexdumpLine(p *Proc, format string, offset int64, b []byte) {
	if format == "C" {
		fmt.Fprintf(p.Out, "%08x ", offset)
		for i := range 16 {
			if i == 8 {
				p.Out.WriteByte(' ')
			}
			if i < len(b) {
				fmt.Fprintf(p.Out, " %02x", b[i])
			} else {
				p.Out.WriteString("   ")
			}
		}
		p.Out.WriteString("  |")
		for _, c := range b {
			if c < ' ' || c > '~' {
				c = '.'
			}
			p.Out.WriteByte(c)
		}
		p.Out.WriteString("|\n")
		return
	}
	fmt.Fprintf(p.Out, "%07x", offset)
	if format == "b" || format == "c" {
		for i := range 16 {
			switch {
			case i >= len(b):
				p.Out.WriteString("    ")
			case format == "b":
				fmt.Fprintf(p.Out, " %03o", b[i])
			default:
				fmt.Fprintf(p.Out, " %3s", (&odDump{}).value(odType{kind: 'c', size: 1}, b[i:i+1]))
			}
		}
		p.Out.WriteByte('\n')
		return
	}
	layout := map[string]struct {
		text  string
		width int
	}{"": {" %04x", 5}, "x": {"    %04x", 8}, "d": {"   %05d", 8}, "o": {"  %06o", 8}}[format]
	for i := 0; i < 16; i += 2 {
		switch {
		case i >= len(b):
			fmt.Fprintf(p.Out, "%*s", layout.width, "")
		case i+1 == len(b):
			fmt.Fprintf(p.Out, layout.text, int(b[i]))
		default:
			fmt.Fprintf(p.Out, layout.text, int(b[i])|int(b[i+1])<<8)
		}
	}
	p.Out.WriteByte('\n')
}
