package commands

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

var cmpFlags = NewOptions(2, "b print-bytes", "i ignore-initial=", "l verbose", "n bytes=", "s quiet silent")

// cmpCommand compares two files byte by byte.
func cmpCommand(p *Proc) int {
	parsed, code := p.Parse(cmpFlags)
	if parsed == nil {
		return code
	}
	args := parsed.Args
	switch {
	case len(args) == 0:
		return p.Usage(2, "missing operand after '%s'", p.Name)
	case len(args) > 4:
		return p.Usage(2, "extra operand '%s'", args[4])
	case len(args) == 1:
		args = append(args, "-")
	}
	var skip [2]int64
	limit := int64(-1)
	if v, ok := parsed.Value("i"); ok {
		first, second, two := strings.Cut(v, ":")
		if !two {
			second = first
		}
		for i, text := range []string{first, second} {
			n, err := byteCount(text)
			if err != nil {
				return p.Usage(2, "invalid --ignore-initial value '%s'", v)
			}
			skip[i] = n
		}
	}
	for i, text := range args[2:] {
		n, err := byteCount(text)
		if err != nil {
			return p.Usage(2, "invalid --ignore-initial value '%s'", text)
		}
		skip[i] = n
	}
	if v, ok := parsed.Value("n"); ok {
		n, err := byteCount(v)
		if err != nil {
			return p.Usage(2, "invalid --bytes value '%s'", v)
		}
		limit = n
	}
	if parsed.Has("l") && parsed.Has("s") {
		return p.Usage(2, "options -l and -s are incompatible")
	}
	c := &byteComparer{p: p, names: [2]string(args[:2]), list: parsed.Has("l"), silent: parsed.Has("s"), bytes: parsed.Has("b"), limit: limit, width: 1}
	size := int64(-1)
	for i, name := range c.names {
		r := io.NopCloser(p.Stdin)
		if name != "-" {
			f, err := p.Open(name)
			if err != nil {
				if !c.silent {
					p.FileError(name, err)
				}
				return 2
			}
			r = f
			if info, err := p.Stat(name); err == nil && info.Mode().IsRegular() {
				if left := max(0, info.Size()-skip[i]); size < 0 || left < size {
					size = left
				}
			}
		}
		defer r.Close()
		if _, err := io.CopyN(io.Discard, r, skip[i]); err != nil && !errors.Is(err, io.EOF) {
			p.FileError(name, err)
			return 2
		}
		c.in[i] = bufio.NewReaderSize(r, 32<<10)
	}
	if size < 0 {
		size = 1<<63 - 1
	}
	if limit >= 0 {
		size = min(size, limit)
	}
	c.width = len(strconv.FormatInt(size, 10))
	return c.run()
}

// byteCount reads a number of bytes with a suffix such as K, kB or M.
func byteCount(text string) (int64, error) {
	digits := strings.TrimRight(text, "kKMGTPEBi")
	base := 10
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X") {
		n, err := strconv.ParseInt(text[2:], 16, 64)
		return n, err
	}
	if len(digits) > 1 && digits[0] == '0' {
		base = 8
	}
	n, err := strconv.ParseInt(digits, base, 64)
	if err != nil || n < 0 {
		return 0, strconv.ErrSyntax
	}
	suffix := text[len(digits):]
	if suffix == "" {
		return n, nil
	}
	power := strings.IndexByte("KMGTPE", suffix[0]&^0x20)
	unit := int64(1024)
	switch rest := suffix[1:]; {
	case power < 0 || rest != "" && rest != "B" && rest != "iB":
		return 0, strconv.ErrSyntax
	case rest == "B":
		unit = 1000
	}
	for range power + 1 {
		if n > (1<<63-1)/unit {
			return 1<<63 - 1, nil
		}
		n *= unit
	}
	return n, nil
}

type byteComparer struct {
	p                   *Proc
	names               [2]string
	in                  [2]*bufio.Reader
	list, silent, bytes bool
	limit               int64
	width               int
}

func (c *byteComparer) run() int {
	at, line, code := int64(0), int64(1), 0
	last := byte('\n')
	for c.limit < 0 || at < c.limit {
		if at%4096 == 0 && c.p.Stopped() {
			return 2
		}
		x, errX := c.in[0].ReadByte()
		y, errY := c.in[1].ReadByte()
		for i, err := range []error{errX, errY} {
			if err != nil && !errors.Is(err, io.EOF) {
				c.p.FileError(c.names[i], err)
				return 2
			}
		}
		switch {
		case errX != nil && errY != nil:
			return code
		case errX != nil || errY != nil:
			name := c.names[0]
			if errX == nil {
				name = c.names[1]
			}
			c.end(name, at, line, last)
			return 1
		}
		at++
		if x != y {
			if c.silent {
				return 1
			}
			code = 1
			c.differ(at, line, x, y)
			if !c.list {
				return 1
			}
		}
		if last = x; x == '\n' {
			line++
		}
	}
	return code
}

// end tells that one file is shorter.
func (c *byteComparer) end(name string, at, line int64, last byte) {
	switch {
	case c.silent:
	case at == 0:
		c.p.Errorf(1, "EOF on %s which is empty", Quote(name))
	case c.list:
		c.p.Errorf(1, "EOF on %s after byte %d", Quote(name), at)
	case last == '\n':
		c.p.Errorf(1, "EOF on %s after byte %d, line %d", Quote(name), at, line-1)
	default:
		c.p.Errorf(1, "EOF on %s after byte %d, in line %d", Quote(name), at, line)
	}
}

func (c *byteComparer) differ(at, line int64, x, y byte) {
	out := c.p.Out
	switch {
	case c.list && c.bytes:
		fmt.Fprintf(out, "%*d %3o %-4s %3o %s\n", c.width, at, x, visible(x), y, visible(y))
	case c.list:
		fmt.Fprintf(out, "%*d %3o %3o\n", c.width, at, x, y)
	case c.bytes:
		fmt.Fprintf(out, "%s %s differ: byte %d, line %d is %3o %s %3o %s\n", c.names[0], c.names[1], at, line, x, visible(x), y, visible(y))
	default:
		fmt.Fprintf(out, "%s %s differ: byte %d, line %d\n", c.names[0], c.names[1], at, line)
	}
}

// visible writes a byte as cat -v does.
func visible(c byte) string {
	text := ""
	if c >= 0x80 {
		text, c = "M-", c-0x80
	}
	switch {
	case c < ' ':
		return text + "^" + string(rune(c+'@'))
	case c == 0x7f:
		return text + "^?"
	}
	return text + string(rune(c))
}
