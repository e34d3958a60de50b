package commands

import (
	"io"
	"math/big"
	"strconv"
	"strings"
)

var numfmtFlags = NewOptions(1, "from=", "to=", "from-unit=", "to-unit=", "suffix=", "padding=", "round=", "field=", "d delimiter=", "header=?", "format=", "grouping",
	"invalid=", "z zero-terminated", "debug")

const numfmtPrefixes = "KMGTPEZYRQ"

type numfmtOptions struct {
	from, to, suffix, round, invalid string
	fromUnit, toUnit                 *big.Rat
	padding                          int
	zeros                            bool
	before, after                    string
	precision                        int // -1 where none was given
	fields                           func(i int) bool
	delimiter                        string
}

// numfmt converts numbers between plain ones and those with unit letters.
func numfmt(p *Proc) int {
	o := &numfmtOptions{from: "none", to: "none", round: "from-zero", invalid: "abort", precision: -1, fields: func(i int) bool { return i == 1 }}
	o.fromUnit, o.toUnit = big.NewRat(1, 1), big.NewRat(1, 1)
	parsed, code := p.Parse(numfmtFlags)
	if parsed == nil {
		return code
	}
	header := 0
	for _, opt := range parsed.Options {
		if problem := o.set(opt, &header); problem != "" {
			return p.Errorf(1, "%s", problem)
		}
	}
	end := byte('\n')
	if parsed.Has("z") {
		end = 0
	}
	line := func(text string) int {
		out, problem := o.line(text)
		if problem != "" && o.invalid != "ignore" {
			code := p.Errorf(2, "%s", problem)
			if o.invalid == "abort" {
				return code
			}
			if o.invalid == "warn" {
				code = 0
			}
			p.Out.WriteString(out + string(end))
			return code
		}
		p.Out.WriteString(out + string(end))
		return 0
	}
	for _, text := range parsed.Args {
		if code = max(code, line(text)); code > 0 && o.invalid == "abort" {
			return code
		}
	}
	if len(parsed.Args) > 0 {
		return code
	}
	return p.Inputs(nil, func(_ string, r io.Reader) (int, error) {
		lines := p.Lines(r, end)
		defer lines.Close()
		code := 0
		for n := 0; lines.Next(); n++ {
			if n < header {
				p.Out.WriteString(lines.Text() + string(end))
				continue
			}
			if code = max(code, line(lines.Text())); code > 0 && o.invalid == "abort" {
				break
			}
		}
		return code, lines.Err()
	})
}

func (o *numfmtOptions) set(opt Option, header *int) (problem string) {
	choice := func(to *string, option string, of ...string) {
		for _, c := range of {
			if opt.Value == c {
				*to = c
				return
			}
		}
		problem = "invalid argument " + Quote(opt.Value) + " for '--" + option + "'"
	}
	switch opt.Key {
	case "from":
		choice(&o.from, "from", "none", "auto", "si", "iec", "iec-i")
	case "to":
		choice(&o.to, "to", "none", "si", "iec", "iec-i")
	case "round":
		choice(&o.round, "round", "up", "down", "from-zero", "towards-zero", "nearest")
	case "invalid":
		choice(&o.invalid, "invalid", "abort", "fail", "warn", "ignore")
	case "from-unit", "to-unit":
		v, _, ok := parseUnits(opt.Value, "auto")
		if !ok || v.Sign() <= 0 {
			return "invalid unit size: " + Quote(opt.Value)
		}
		if opt.Key == "from-unit" {
			o.fromUnit = v
		} else {
			o.toUnit = v
		}
	case "suffix":
		o.suffix = opt.Value
	case "padding":
		n, err := strconv.Atoi(opt.Value)
		if err != nil || n == 0 || n > 1<<16 || n < -1<<16 {
			return "invalid padding value " + Quote(opt.Value)
		}
		o.padding = n
	case "d":
		if len(opt.Value) != 1 {
			return "the delimiter must be a single character"
		}
		o.delimiter = opt.Value
	case "header":
		*header = 1
		if opt.HasValue {
			n, err := strconv.Atoi(opt.Value)
			if err != nil || n < 1 {
				return "invalid header value " + Quote(opt.Value)
			}
			*header = n
		}
	case "field":
		return o.setFields(opt.Value)
	case "format":
		return o.setFormat(opt.Value)
	}
	return problem
}

func (o *numfmtOptions) setFields(text string) string {
	type span struct{ from, to int }
	var spans []span
	for _, part := range strings.Split(text, ",") {
		a, b, isRange := strings.Cut(part, "-")
		s := span{1, 1 << 30}
		var err1, err2 error
		if a != "" {
			s.from, err1 = strconv.Atoi(a)
		}
		if !isRange {
			s.to = s.from
		} else if b != "" {
			s.to, err2 = strconv.Atoi(b)
		}
		if err1 != nil || err2 != nil || s.from < 1 || s.to < s.from || a == "" && !isRange {
			return "invalid field value " + Quote(part)
		}
		spans = append(spans, s)
	}
	o.fields = func(i int) bool {
		for _, s := range spans {
			if i >= s.from && i <= s.to {
				return true
			}
		}
		return false
	}
	return ""
}

// setFormat reads a format such as "%10.2f units".
func (o *numfmtOptions) setFormat(text string) string {
	i := strings.Index(strings.ReplaceAll(text, "%%", "\x00\x00"), "%")
	if i < 0 {
		return "format " + Quote(text) + " has no % directive"
	}
	o.before = strings.ReplaceAll(text[:i], "%%", "%")
	rest := text[i+1:]
	left := false
	for rest != "" && strings.IndexByte("-0' ", rest[0]) >= 0 {
		left = left || rest[0] == '-'
		o.zeros = o.zeros || rest[0] == '0'
		rest = rest[1:]
	}
	number := func() (n int) {
		for rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			n = min(n*10+int(rest[0]-'0'), 1<<16)
			rest = rest[1:]
		}
		return n
	}
	if o.padding = number(); left {
		o.padding = -o.padding
	}
	if strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		o.precision = min(number(), 1000)
	}
	if !strings.HasPrefix(rest, "f") {
		return "invalid format " + Quote(text) + ", directive must be %[0]['][-][N][.][N]f"
	}
	o.after = strings.ReplaceAll(rest[1:], "%%", "%")
	return ""
}

// line converts the fields of a line.
func (o *numfmtOptions) line(text string) (out, problem string) {
	var b strings.Builder
	if o.delimiter != "" {
		for i, field := range strings.Split(text, o.delimiter) {
			if i > 0 {
				b.WriteString(o.delimiter)
			}
			if o.fields(i + 1) {
				converted, why := o.convert(field, len(field))
				if problem == "" {
					problem = why
				}
				field = converted
			}
			b.WriteString(field)
		}
		return b.String(), problem
	}
	for i := 1; text != ""; i++ {
		blanks := len(text) - len(strings.TrimLeft(text, " \t"))
		n := strings.IndexAny(text[blanks:], " \t")
		if n < 0 {
			n = len(text) - blanks
		}
		lead, field := text[:blanks], text[blanks:blanks+n]
		text = text[blanks+n:]
		if field == "" || !o.fields(i) {
			b.WriteString(lead + field)
			continue
		}
		width := len(field)
		if i > 1 {
			// One blank separates, the others belong to what was aligned.
			b.WriteByte(' ')
			width += len(lead) - 1
		} else {
			width = 0
			if lead != "" {
				width = len(lead) + len(field)
			}
		}
		converted, why := o.convert(field, width)
		if why != "" {
			if problem == "" {
				problem = why
			}
			converted = strings.Repeat(" ", max(0, width-len(field))) + field
		}
		b.WriteString(converted)
	}
	return b.String(), problem
}
