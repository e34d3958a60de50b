package commands

import (
	"bytes"
	"strconv"
	"strings"
)

var joinOptions = NewOptions(1, "a=", "e=", "i ignore-case", "j=", "o=", "t=", "v=", "1=", "2=", "check-order", "nocheck-order", "header", "z zero-terminated")

// joiner is one run of join.
type joiner struct {
	p        *Proc
	fields   [2]int // the join field of each file, from 0
	unpaired [2]bool
	paired   bool
	fold     bool
	sep      int // -1: fields are split at blanks
	empty    string
	auto     bool
	counts   [2]int
	format   []joinField
	check    bool
	disorder bool
	eol      byte
	code     int
}

// joinField is a field of a file (0 or 1), or (file -1) the join field.
type joinField struct{ file, field int }

// joinInput reads one of the files.
type joinInput struct {
	*Lines
	name   string
	line   [][]byte
	number int
	eof    bool
	warned bool
}

func join(p *Proc) int {
	o, code := p.Parse(joinOptions)
	if o == nil {
		return code
	}
	j := &joiner{p: p, paired: true, sep: -1, fold: o.Has("i"), check: o.Has("check-order"), eol: separator(o)}
	if problem := j.options(o); problem != "" {
		return p.Errorf(1, "%s", problem)
	}
	switch {
	case len(o.Args) == 0:
		return p.Usage(1, "missing operand")
	case len(o.Args) == 1:
		return p.Usage(1, "missing operand after %s", Quote(o.Args[0]))
	case len(o.Args) > 2:
		return p.Usage(1, "extra operand %s", Quote(o.Args[2]))
	case o.Args[0] == "-" && o.Args[1] == "-":
		return p.Errorf(1, "both files cannot be standard input")
	}
	var in [2]*joinInput
	for i, name := range o.Args {
		in[i] = &joinInput{name: name}
		if name == "-" {
			in[i].Lines = p.Lines(p.Stdin, j.eol)
		} else {
			f, err := p.Open(name)
			if err != nil {
				return p.FileError(name, err)
			}
			defer f.Close()
			in[i].Lines = p.Lines(f, j.eol)
		}
		defer in[i].Close()
	}
	if err := j.run(in, o.Has("header"), !o.Has("nocheck-order")); err != nil && !p.Stopped() {
		return p.Errorf(1, "%s", Reason(err))
	}
	if j.disorder && !j.check {
		p.Errorf(1, "input is not in sorted order")
	}
	return j.code
}

func (j *joiner) options(o *Parsed) string {
	for _, opt := range o.Options {
		switch opt.Key {
		case "a", "v":
			if opt.Value != "1" && opt.Value != "2" {
				return "invalid field number: " + Quote(opt.Value)
			}
			j.unpaired[opt.Value[0]-'1'] = true
			if opt.Key == "v" {
				j.paired = false
			}
		case "e":
			j.empty = opt.Value
		case "1", "2", "j":
			n, err := strconv.ParseUint(opt.Value, 10, 31)
			if err != nil || n == 0 {
				return "invalid field number: " + Quote(opt.Value)
			}
			if opt.Key != "2" {
				j.fields[0] = int(n) - 1
			}
			if opt.Key != "1" {
				j.fields[1] = int(n) - 1
			}
		case "t":
			switch {
			case opt.Value == `\0`:
				j.sep = 0
			case opt.Value == "":
				j.sep = '\n'
			case len(opt.Value) > 1:
				return "multi-character tab " + Quote(opt.Value)
			default:
				j.sep = int(opt.Value[0])
			}
		case "o":
			if opt.Value == "auto" {
				j.auto = true
				continue
			}
			for _, f := range strings.FieldsFunc(opt.Value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
				if f == "0" {
					j.format = append(j.format, joinField{-1, 0})
					continue
				}
				file, field, ok := strings.Cut(f, ".")
				n, err := strconv.ParseUint(field, 10, 31)
				if !ok || err != nil || n == 0 {
					return "invalid field specifier: " + Quote(f)
				}
				if file != "1" && file != "2" {
					return "invalid file number in field spec: " + Quote(f)
				}
				j.format = append(j.format, joinField{int(file[0] - '1'), int(n) - 1})
			}
		}
	}
	return ""
}

// split splits a line into fields.
func (j *joiner) split(line []byte) [][]byte {
	if j.sep >= 0 {
		return bytes.Split(line, []byte{byte(j.sep)})
	}
	return bytes.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' })
}

func (j *joiner) key(file int, line [][]byte) []byte {
	if j.fields[file] < len(line) {
		return line[j.fields[file]]
	}
	return nil
}

func (j *joiner) compare(a, b []byte) int {
	if j.fold {
		return compareFolded(a, b, &sortKey{fold: true})
	}
	return bytes.Compare(a, b)
}

// next reads the next line of a file and looks at the order.
func (j *joiner) next(file int, in *joinInput, check bool) error {
	last := in.line
	if !in.Next() {
		in.eof, in.line = true, nil
		return in.Err()
	}
	line := in.Bytes()
	cost := 2*len(line) + 24
	if err := j.p.Hold(cost); err != nil {
		return err
	}
	in.line = j.split(append([]byte(nil), line...))
	in.number++
	if check && last != nil && !in.warned && j.compare(j.key(file, last), j.key(file, in.line)) > 0 {
		in.warned, j.disorder = true, true
		j.code = j.p.Errorf(1, "%s:%d: is not sorted: %s", in.name, in.number, line)
		if j.check {
			in.eof = true
		}
	}
	j.p.Release(cost)
	return nil
}

func (j *joiner) run(in [2]*joinInput, header, check bool) error {
	for i := range in {
		if err := j.next(i, in[i], false); err != nil {
			return err
		}
		j.counts[i] = len(in[i].line)
	}
	if header && (!in[0].eof || !in[1].eof) {
		j.write(in[0].line, in[1].line)
		for i := range in {
			in[i].line = nil
			if !in[i].eof {
				if err := j.next(i, in[i], false); err != nil {
					return err
				}
			}
		}
	}
	for !in[0].eof && !in[1].eof {
		c := j.compare(j.key(0, in[0].line), j.key(1, in[1].line))
		if c != 0 {
			file := 0
			if c > 0 {
				file = 1
			}
			if err := j.alone(file, in[file], check); err != nil {
				return err
			}
			continue
		}
		if err := j.group(in, check); err != nil {
			return err
		}
		if j.check && j.disorder {
			return nil
		}
	}
	for i := range in {
		for !in[i].eof {
			if !j.unpaired[i] && !j.check {
				// The rest is read for its order only, when anything was unpaired.
				if err := j.next(i, in[i], check); err != nil {
					return err
				}
				continue
			}
			if err := j.alone(i, in[i], check); err != nil {
				return err
			}
		}
	}
	return nil
}

// alone writes a line that has no partner, and goes on.
func (j *joiner) alone(file int, in *joinInput, check bool) error {
	if j.unpaired[file] {
		if file == 0 {
			j.write(in.line, nil)
		} else {
			j.write(nil, in.line)
		}
	}
	return j.next(file, in, check)
}

// group pairs all lines of both files that have the same key.
func (j *joiner) group(in [2]*joinInput, check bool) error {
	var same [2][][][]byte
	held := 0
	defer func() { j.p.Release(held) }()
	key := j.key(0, in[0].line)
	for i := range in {
		for !in[i].eof && j.compare(j.key(i, in[i].line), key) == 0 {
			cost := 48
			for _, f := range in[i].line {
				cost += len(f) + 24
			}
			if err := j.p.Hold(cost); err != nil {
				return err
			}
			held += cost
			same[i] = append(same[i], in[i].line)
			if err := j.next(i, in[i], check); err != nil {
				return err
			}
		}
	}
	if !j.paired {
		return nil
	}
	for _, a := range same[0] {
		for _, b := range same[1] {
			if j.write(a, b); j.p.Stopped() {
				return nil
			}
		}
	}
	return nil
}

func (j *joiner) write(a, b [][]byte) {
	sep := byte(' ')
	if j.sep >= 0 {
		sep = byte(j.sep)
	}
	out := j.p.Out
	first := true
	put := func(f []byte) {
		if !first {
			out.WriteByte(sep)
		}
		first = false
		if len(f) == 0 {
			out.WriteString(j.empty)
		} else {
			out.Write(f)
		}
	}
	lines := [2][][]byte{a, b}
	key := j.key(0, a)
	if a == nil {
		key = j.key(1, b)
	}
	switch {
	case j.format != nil:
		for _, f := range j.format {
			switch {
			case f.file < 0:
				put(key)
			case f.field < len(lines[f.file]):
				put(lines[f.file][f.field])
			default:
				put(nil)
			}
		}
	default:
		put(key)
		for i, line := range lines {
			n := len(line)
			if j.auto {
				n = j.counts[i]
			}
			for k := range n {
				if k == j.fields[i] {
					continue
				}
				if k < len(line) {
					put(line[k])
				} else {
					put(nil)
				}
			}
		}
	}
	out.WriteByte(j.eol)
}
