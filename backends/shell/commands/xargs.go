package commands

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

var xargsOptions = NewOptions(1, "+", "0 null", "a arg-file=", "d delimiter=", "E=", "e=?", "eof=?", "I=", "i replace=?", "L max-lines=", "l=?", "n max-args=", "P max-procs=", "p interactive", "r no-run-if-empty", "s max-chars=", "t verbose", "x exit", "show-limits", "process-slot-var=")

// arguments is one run of xargs.
type arguments struct {
	p       *Proc
	command []string
	replace string
	lines   int // -L
	most    int // -n
	chars   int // -s
	verbose bool
	batch   []string
	size    int
	ran     bool
	code    int
	stop    bool
}

func xargs(p *Proc) int {
	opts, code := p.Parse(xargsOptions)
	if opts == nil {
		return code
	}
	x := &arguments{p: p, command: opts.Args, chars: maxBatch, verbose: opts.Has("t")}
	if len(x.command) == 0 {
		x.command = []string{"echo"}
	}
	delim, eof := -1, ""
	for _, o := range opts.Options {
		var err error
		switch o.Key {
		case "0":
			delim = 0
		case "d":
			text, _ := Unescape(o.Value, FormatEscapes)
			if text == "" {
				return p.Errorf(1, "Invalid input delimiter specification %s: the delimiter must be either a single character or an escape sequence starting with \\.", o.Value)
			}
			delim = int(text[0])
		case "E", "e", "eof":
			eof = o.Value
		case "I":
			x.replace = o.Value
		case "i":
			if x.replace = o.Value; x.replace == "" {
				x.replace = "{}"
			}
		case "L":
			x.lines, err = positive(o.Value)
		case "l":
			if x.lines = 1; o.Value != "" {
				x.lines, err = positive(o.Value)
			}
		case "n":
			x.most, err = positive(o.Value)
		case "s":
			if x.chars, err = positive(o.Value); x.chars > maxBatch {
				x.chars = maxBatch
			}
		}
		if err != nil {
			return p.Errorf(1, "invalid number \"%s\" for -%s option", o.Value, o.Key)
		}
	}
	in := p.Stdin
	if file, ok := opts.Value("a"); ok {
		f, err := p.Open(file)
		if err != nil {
			return p.Errorf(1, "Cannot open input file %s: %s", Quote(file), Reason(err))
		}
		defer f.Close()
		in = f
	}
	for _, arg := range x.command {
		x.size += len(arg) + 1
	}
	base := x.size
	if err := x.read(in, delim, eof, base); err != nil {
		return p.Errorf(1, "%s", err)
	}
	if !x.stop && (len(x.batch) > 0 || !x.ran && !opts.Has("r") && x.replace == "") {
		x.run(base)
	}
	return x.code
}

func positive(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err == nil && n < 1 {
		err = strconv.ErrRange
	}
	return n, err
}

// read reads items and runs the command whenever there are enough.
func (x *arguments) read(in io.Reader, delim int, eof string, base int) error {
	sep := byte('\n')
	if delim >= 0 {
		sep = byte(delim)
	}
	lines := x.p.Lines(in, sep)
	defer lines.Close()
	inBatch := 0
	pending := "" // an item that goes on in the next line
	for lines.Next() && !x.stop {
		text := lines.Text()
		if delim >= 0 {
			x.add(text, base)
			continue
		}
		if x.replace != "" {
			if text = strings.TrimLeft(text, " \t"); text != "" {
				items, _, open := splitQuoted(text, "", false)
				if open != 0 && open != '\\' {
					return fmt.Errorf("unmatched %s quote; by default quotes are special to xargs unless you use the -0 option", quoteName(open))
				}
				x.add(strings.Join(items, ""), base)
			}
			continue
		}
		goes := x.lines > 0 && strings.HasSuffix(text, " ")
		items, rest, open := splitQuoted(text, pending, true)
		if pending = rest; open != 0 && open != '\\' {
			return fmt.Errorf("unmatched %s quote; by default quotes are special to xargs unless you use the -0 option", quoteName(open))
		}
		for _, item := range items {
			if eof != "" && item == eof {
				return lines.Err()
			}
			x.add(item, base)
			if x.stop {
				return nil
			}
		}
		if x.lines > 0 && len(items) > 0 && !goes {
			if inBatch++; inBatch == x.lines {
				x.run(base)
				inBatch = 0
			}
		}
	}
	return lines.Err()
}

func quoteName(c byte) string {
	if c == '"' {
		return "double"
	}
	return "single"
}

// splitQuoted splits a line into items, with quotes and backslashes; without
// blanks it is one item. pending is what the line before left.
func splitQuoted(text, pending string, blanks bool) (items []string, rest string, open byte) {
	var b strings.Builder
	b.WriteString(pending)
	has := pending != ""
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b.WriteByte(c)
		case c == '\'' || c == '"':
			quote, has = c, true
		case c == '\\':
			has = true
			if i++; i == len(text) {
				return items, b.String() + "\n", '\\'
			}
			b.WriteByte(text[i])
		case blanks && (c == ' ' || c == '\t' || c == '\v' || c == '\f'):
			if has || b.Len() > 0 {
				items = append(items, b.String())
				b.Reset()
				has = false
			}
		default:
			b.WriteByte(c)
		}
	}
	if has || b.Len() > 0 {
		items = append(items, b.String())
	}
	return items, "", quote
}

func (x *arguments) add(item string, base int) {
	if x.replace != "" {
		call := make([]string, len(x.command))
		for i, arg := range x.command {
			call[i] = arg
			if i > 0 {
				call[i] = strings.ReplaceAll(arg, x.replace, item)
			}
		}
		x.call(call)
		return
	}
	if len(x.batch) > 0 && x.size+len(item)+1 > x.chars {
		x.run(base)
	}
	x.batch = append(x.batch, item)
	x.size += len(item) + 1
	if x.most > 0 && len(x.batch) >= x.most {
		x.run(base)
	}
}

func (x *arguments) run(base int) {
	call := append(append([]string(nil), x.command...), x.batch...)
	x.batch, x.size = nil, base
	x.call(call)
}

func (x *arguments) call(args []string) {
	if x.stop || x.p.Stopped() {
		x.stop = true
		return
	}
	x.ran = true
	if x.verbose {
		fmt.Fprintln(x.p.Stderr, strings.Join(args, " "))
	}
	code := x.p.Run(x.p.ctx, Call{Args: args, Stdin: NoInput{}})
	switch {
	case code == 0:
	case code == 126 || code == 127:
		x.code, x.stop = code, true
	case code == 255:
		x.p.Errorf(124, "%s: exited with status 255; aborting", args[0])
		x.code, x.stop = 124, true
	case code == exitPipe || code > 128 && code < 160:
		x.p.Errorf(125, "%s: terminated by signal %d", args[0], code-128)
		x.code, x.stop = 125, true
	default:
		x.code = 123
	}
}
