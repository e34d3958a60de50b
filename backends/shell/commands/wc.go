package commands

import (
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"unicode"
	"unicode/utf8"
)

var wcOptions = NewOptions(1, "c bytes", "m chars", "l lines", "w words", "L max-line-length", "files0-from=", "total=")

// counts are what wc counts.
type counts struct{ lines, words, chars, bytes, width int64 }

func wc(p *Proc) int {
	o, code := p.Parse(wcOptions)
	if o == nil {
		return code
	}
	total, _ := o.Value("total")
	switch total {
	case "", "auto", "always", "only", "never":
	default:
		return p.Usage(1, "invalid argument %s for %s", Quote(total), Quote("--total"))
	}
	show := map[string]bool{}
	for _, opt := range o.Options {
		show[opt.Key] = true
	}
	delete(show, "total")
	if list, ok := o.Value("files0-from"); ok {
		delete(show, "files0-from")
		if len(o.Args) > 0 {
			return p.Errorf(1, "file operands cannot be combined with --files0-from")
		}
		names, err := p.ReadFile(list)
		if err != nil {
			return p.Errorf(1, "cannot open %s for reading: %s", Quote(list), Reason(err))
		}
		o.Args = splitNul(names)
		if len(o.Args) == 0 {
			return 0
		}
	}
	if len(show) == 0 {
		show = map[string]bool{"l": true, "w": true, "c": true}
	}
	names := o.Args
	if len(names) == 0 {
		names = []string{"-"}
	}
	width := wcWidth(p, names, len(show))
	if list, ok := o.Value("files0-from"); ok && list == "-" || total == "only" {
		width = 1 // what is to come is not known
	}
	write := func(c counts, name string) {
		sep := ""
		for _, part := range []struct {
			key string
			n   int64
		}{{"l", c.lines}, {"w", c.words}, {"m", c.chars}, {"c", c.bytes}, {"L", c.width}} {
			if show[part.key] {
				fmt.Fprintf(p.Out, "%s%*d", sep, width, part.n)
				sep = " "
			}
		}
		if name != "" {
			p.Out.WriteString(" " + name)
		}
		p.Out.WriteByte('\n')
	}
	var sum counts
	for _, name := range names {
		if p.Stopped() {
			return 1
		}
		var c counts
		code = max(code, p.input(name, func(_ string, r io.Reader) (int, error) {
			var err error
			c, err = count(r, show["m"] || show["L"] || show["w"])
			shown := name
			if len(o.Args) == 0 {
				shown = ""
			}
			if total != "only" {
				write(c, shown)
			}
			return 0, err
		}))
		sum.lines += c.lines
		sum.words += c.words
		sum.chars += c.chars
		sum.bytes += c.bytes
		sum.width = max(sum.width, c.width)
	}
	switch {
	case total == "only":
		write(sum, "")
	case total == "always", len(names) > 1 && total != "never":
		write(sum, "total")
	}
	return code
}

func splitNul(b []byte) []string {
	var out []string
	for len(b) > 0 {
		i := 0
		for i < len(b) && b[i] != 0 {
			i++
		}
		out = append(out, string(b[:i]))
		b = b[min(i+1, len(b)):]
	}
	return out
}

// wcWidth is how wide numbers are: enough for the size of all files, and 7
// where something has no size beforehand.
func wcWidth(p *Proc, names []string, shown int) int {
	if len(names) == 1 && shown == 1 {
		return 1
	}
	least, size := 1, int64(0)
	for _, name := range names {
		var info fs.FileInfo
		var err error
		if name == "-" {
			info, err = statInput(p)
		} else {
			info, err = p.Stat(name)
		}
		switch {
		case err != nil:
			if name == "-" {
				least = 7
			}
		case info.Mode().IsRegular():
			size += info.Size()
		default:
			least = 7
		}
	}
	return max(least, len(strconv.FormatInt(size, 10)))
}

// statInput describes standard input where it is a file.
func statInput(p *Proc) (fs.FileInfo, error) {
	in := p.Stdin
	if i, ok := in.(*input); ok {
		in = i.from
	}
	if s, ok := in.(interface{ Stat() (fs.FileInfo, error) }); ok {
		return s.Stat()
	}
	return nil, fs.ErrInvalid
}

// count counts what r has; characters, words and widths when deep is set.
func count(r io.Reader, deep bool) (c counts, err error) {
	buf := make([]byte, 64<<10)
	kept := 0 // bytes of a character that is not complete
	word, column := false, int64(0)
	for {
		n, err := r.Read(buf[kept:])
		c.bytes += int64(n)
		block := buf[:kept+n]
		kept = 0
		for i := 0; i < len(block); {
			b := block[i]
			if !deep {
				if b == '\n' {
					c.lines++
				}
				i++
				continue
			}
			ch, size := rune(b), 1
			if b >= utf8.RuneSelf {
				if err == nil && !utf8.FullRune(block[i:]) {
					kept = copy(buf, block[i:])
					break
				}
				ch, size = utf8.DecodeRune(block[i:])
			}
			i += size
			if ch == utf8.RuneError && size == 1 {
				continue
			}
			c.chars++
			switch ch {
			case '\n':
				c.lines++
				c.width, column, word = max(c.width, column), 0, false
			case '\r', '\f':
				c.width, column, word = max(c.width, column), 0, false
			case '\t':
				column, word = column+8-column%8, false
			case ' ':
				column, word = column+1, false
			case '\v':
				word = false
			default:
				if !unicode.IsPrint(ch) {
					if unicode.IsSpace(ch) {
						word = false
					}
					continue
				}
				column += int64(runeWidth(ch))
				if !word {
					word = true
					c.words++
				}
			}
		}
		if err == io.EOF {
			c.width = max(c.width, column)
			return c, nil
		}
		if err != nil {
			return c, err
		}
	}
}

// runeWidth is how many columns a character takes.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf && r != 0x303f || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff ||
		r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1f64f ||
		r >= 0x1f900 && r <= 0x1f9ff || r >= 0x20000 && r <= 0x3fffd):
		return 2
	}
	return 1
}
