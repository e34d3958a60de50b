package commands

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

var uniqOptions = NewOptions(1, "c count", "d repeated", "D", "all-repeated=?", "f skip-fields=", "group=?", "i ignore-case", "s skip-chars=", "u unique", "z zero-terminated", "w check-chars=")

// uniquer is one run of uniq.
type uniquer struct {
	out                   *bufio.Writer
	sep                   byte
	count, repeated, only bool
	all                   string // how groups of -D are divided; "" without -D
	group                 string // how groups of --group are divided
	skipFields, skipChars int
	check                 int // -1: everything
	fold                  bool
	written               bool
}

func uniq(p *Proc) int {
	o, code := p.Parse(uniqOptions)
	if o == nil {
		return code
	}
	u := &uniquer{sep: separator(o), count: o.Has("c"), repeated: o.Has("d"), only: o.Has("u"), check: -1, fold: o.Has("i")}
	for _, opt := range o.Options {
		var to *int
		what := ""
		switch opt.Key {
		case "f":
			to, what = &u.skipFields, "fields to skip"
		case "s":
			to, what = &u.skipChars, "bytes to skip"
		case "w":
			to, what = &u.check, "bytes to compare"
		case "D":
			u.all = "none"
		case "all-repeated":
			if u.all = opt.Value; !opt.HasValue {
				u.all = "none"
			}
			if u.all != "none" && u.all != "prepend" && u.all != "separate" {
				return p.Usage(1, "invalid argument %s for '--all-repeated'", Quote(opt.Value))
			}
		case "group":
			if u.group = opt.Value; !opt.HasValue {
				u.group = "separate"
			}
			if u.group != "separate" && u.group != "prepend" && u.group != "append" && u.group != "both" {
				return p.Usage(1, "invalid argument %s for '--group'", Quote(opt.Value))
			}
		}
		if to != nil {
			n, err := strconv.ParseUint(opt.Value, 10, 62)
			if err != nil {
				return p.Errorf(1, "%s: invalid number of %s", opt.Value, what)
			}
			*to = int(n)
		}
	}
	switch {
	case len(o.Args) > 2:
		return p.Usage(1, "extra operand %s", Quote(o.Args[2]))
	case u.group != "" && (u.count || u.repeated || u.only || u.all != ""):
		return p.Usage(1, "--group is mutually exclusive with -c/-d/-D/-u")
	case u.count && u.all != "":
		return p.Usage(1, "printing all duplicated lines and repeat counts is meaningless")
	}
	name := "-"
	if len(o.Args) > 0 {
		name = o.Args[0]
	}
	u.out = p.Out
	var closing io.Closer
	if len(o.Args) == 2 && o.Args[1] != "-" {
		w, err := p.Create(o.Args[1])
		if err != nil {
			return p.FileError(o.Args[1], err)
		}
		buffered := newBlocks(w)
		u.out = buffered
		closing = flushClose{buffered.Flush, w}
	}
	code = p.input(name, func(_ string, r io.Reader) (int, error) { return 0, u.run(p, r) })
	if closing != nil {
		if err := closing.Close(); err != nil {
			return p.FileError(o.Args[1], err)
		}
	}
	return code
}

// flushClose is a buffered file.
type flushClose struct {
	flush func() error
	io.Closer
}

func (f flushClose) Close() error {
	err := f.flush()
	if cerr := f.Closer.Close(); err == nil {
		err = cerr
	}
	return err
}

// key is what is compared of a line.
func (u *uniquer) key(line []byte) []byte {
	for range u.skipFields {
		for len(line) > 0 && blank(line[0]) {
			line = line[1:]
		}
		for len(line) > 0 && !blank(line[0]) {
			line = line[1:]
		}
		if len(line) == 0 {
			break
		}
	}
	line = line[min(u.skipChars, len(line)):]
	if u.check >= 0 {
		line = line[:min(u.check, len(line))]
	}
	return line
}

func (u *uniquer) same(a, b []byte) bool {
	if u.fold {
		return len(a) == len(b) && compareFolded(a, b, &sortKey{fold: true}) == 0
	}
	return bytes.Equal(a, b)
}

func (u *uniquer) run(p *Proc, r io.Reader) error {
	lines := p.Lines(r, u.sep)
	defer lines.Close()
	var first []byte // of the group
	n := 0
	for lines.Next() {
		line := lines.Bytes()
		if n > 0 && u.same(u.key(first), u.key(line)) {
			n++
			u.member(first, line, n)
			continue
		}
		u.end(first, n)
		if cap(first) < len(line) {
			if err := p.Hold(len(line) - cap(first)); err != nil {
				return err
			}
		}
		first = append(first[:0], line...)
		n = 1
		u.begin(first)
	}
	u.end(first, n)
	if u.written && (u.group == "append" || u.group == "both") {
		u.out.WriteByte(u.sep)
	}
	return lines.Err()
}

func (u *uniquer) write(line []byte) {
	u.out.Write(line)
	u.out.WriteByte(u.sep)
}

func (u *uniquer) begin(first []byte) {
	if u.group == "" {
		return
	}
	if u.written || u.group == "prepend" || u.group == "both" {
		u.out.WriteByte(u.sep)
	}
	u.written = true
	u.write(first)
}

func (u *uniquer) member(first, line []byte, n int) {
	switch {
	case u.group != "":
		u.write(line)
	case u.all != "" && !u.only:
		if n == 2 {
			if u.all == "prepend" || u.all == "separate" && u.written {
				u.out.WriteByte(u.sep)
			}
			u.written = true
			u.write(first)
		}
		u.write(line)
	case u.all != "" && u.only:
		u.write(line)
	}
}

func (u *uniquer) end(first []byte, n int) {
	if n == 0 || u.group != "" || u.all != "" {
		return
	}
	if n == 1 && u.repeated || n > 1 && u.only {
		return
	}
	if u.count {
		fmt.Fprintf(u.out, "%7d ", n)
	}
	u.write(first)
}
