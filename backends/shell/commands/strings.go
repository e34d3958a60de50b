package commands

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

var stringsFlags = NewOptions(1, "a all", "d data", "n bytes=", "t radix=", "f print-file-name", "o", "w include-all-whitespace", "s output-separator=", "e encoding=", "U unicode=",
	"1", "2", "3", "4", "5", "6", "7", "8", "9")

// stringsCommand prints the runs of printable characters in files.
func stringsCommand(p *Proc) int {
	parsed, code := p.Parse(stringsFlags)
	if parsed == nil {
		return code
	}
	least, radix, sep := 4, "", "\n"
	for _, o := range parsed.Options {
		switch o.Key {
		case "n":
			n, err := strconv.ParseUint(o.Value, 0, 31)
			if err != nil {
				return p.Errorf(1, "invalid integer argument %s", o.Value)
			}
			if n == 0 {
				return p.Errorf(1, "minimum string length is too small: %d", n)
			}
			least = int(n)
		case "t":
			if o.Value != "d" && o.Value != "o" && o.Value != "x" {
				return p.Usage(1, "invalid argument to -t: '%s'", o.Value)
			}
			radix = o.Value
		case "o":
			radix = "o"
		case "s":
			sep = o.Value
		case "e":
			if o.Value != "s" && o.Value != "S" {
				return p.Errorf(1, "only 8-bit characters (-e s, -e S) are supported here")
			}
		case "1", "2", "3", "4", "5", "6", "7", "8", "9":
			least = int(o.Key[0] - '0')
		}
	}
	encoding, _ := parsed.Value("e")
	printable := func(c byte) bool {
		return c >= ' ' && c <= '~' || c == '\t' || encoding == "S" && c >= 0x80 || parsed.Has("w") && isSpace(c)
	}
	return p.Inputs(parsed.Args, func(name string, r io.Reader) (int, error) {
		if name == "-" {
			name = "{standard input}"
		}
		in := bufio.NewReaderSize(r, 32<<10)
		var start []byte // of a run that may be too short
		long := false
		end := func() {
			if long {
				p.Out.WriteString(sep)
			}
			start, long = start[:0], false
		}
		for offset := int64(0); ; offset++ {
			c, err := in.ReadByte()
			switch {
			case err == io.EOF:
				end()
				return 0, nil
			case err != nil:
				return 0, err
			case !printable(c):
				end()
				continue
			case long:
				p.Out.WriteByte(c)
				continue
			}
			if len(start) >= 1<<20 {
				return 0, ErrMemory
			}
			if start = append(start, c); len(start) < least {
				continue
			}
			if parsed.Has("f") {
				fmt.Fprintf(p.Out, "%s: ", name)
			}
			at := offset - int64(len(start)) + 1
			switch radix {
			case "d":
				fmt.Fprintf(p.Out, "%7d ", at)
			case "o":
				fmt.Fprintf(p.Out, "%7o ", at)
			case "x":
				fmt.Fprintf(p.Out, "%7x ", at)
			}
			p.Out.Write(start)
			long = true
		}
	})
}
