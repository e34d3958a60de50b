package commands

import (
	"bytes"
	"fmt"
)

var commOptions = NewOptions(1, "1", "2", "3", "check-order", "nocheck-order", "output-delimiter=", "total", "z zero-terminated")

func comm(p *Proc) int {
	o, code := p.Parse(commOptions)
	if o == nil {
		return code
	}
	switch {
	case len(o.Args) == 0:
		return p.Usage(1, "missing operand")
	case len(o.Args) == 1:
		return p.Usage(1, "missing operand after %s", Quote(o.Args[0]))
	case len(o.Args) > 2:
		return p.Usage(1, "extra operand %s", Quote(o.Args[2]))
	}
	sep := separator(o)
	between, ok := o.Value("output-delimiter")
	if !ok {
		between = "\t"
	} else if between == "" {
		between = "\x00"
	}
	var in [2]*Lines
	for i, name := range o.Args {
		r := p.Stdin
		if name != "-" {
			f, err := p.Open(name)
			if err != nil {
				return p.FileError(name, err)
			}
			defer f.Close()
			r = f
		}
		in[i] = p.Lines(r, sep)
		defer in[i].Close()
	}
	c := &comparer{p: p, in: in, check: !o.Has("nocheck-order"), strict: o.Has("check-order")}
	hidden := [3]bool{o.Has("1"), o.Has("2"), o.Has("3")}
	var totals [3]int
	write := func(column int, line []byte) {
		totals[column]++
		if hidden[column] {
			return
		}
		for i := range column {
			if !hidden[i] {
				p.Out.WriteString(between)
			}
		}
		p.Out.Write(line)
		p.Out.WriteByte(sep)
	}
	if err := c.run(write); err != nil && !p.Stopped() {
		return p.Errorf(1, "%s", Reason(err))
	}
	if c.strict && c.disorder {
		return 1
	}
	if o.Has("total") {
		fmt.Fprintf(p.Out, "%d%s%d%s%d%stotal%c", totals[0], between, totals[1], between, totals[2], between, sep)
	}
	if c.disorder {
		return p.Errorf(1, "input is not in sorted order")
	}
	return 0
}

// comparer walks two sorted files.
type comparer struct {
	p             *Proc
	in            [2]*Lines
	lines         [2][]byte
	read          [2]bool
	end           [2]bool
	check, strict bool
	disorder      bool
	warned        [2]bool
	unpaired      bool
}

// next goes to the next line of file i.
func (c *comparer) next(i int) error {
	if !c.in[i].Next() {
		c.end[i] = true
		return c.in[i].Err()
	}
	line := c.in[i].Bytes()
	if c.read[i] && c.check && (c.strict || c.unpaired) && !c.warned[i] && bytes.Compare(c.lines[i], line) > 0 {
		c.warned[i], c.disorder = true, true
		c.p.Errorf(1, "file %d is not in sorted order", i+1)
	}
	c.read[i] = true
	if cap(c.lines[i]) < len(line) {
		if err := c.p.Hold(len(line) - cap(c.lines[i])); err != nil {
			return err
		}
	}
	c.lines[i] = append(c.lines[i][:0], line...)
	return nil
}

func (c *comparer) run(write func(column int, line []byte)) error {
	for i := range c.in {
		if err := c.next(i); err != nil {
			return err
		}
	}
	for !c.end[0] || !c.end[1] {
		if c.strict && c.disorder {
			return nil
		}
		var order int
		switch {
		case c.end[0]:
			order = 1
		case c.end[1]:
			order = -1
		default:
			order = bytes.Compare(c.lines[0], c.lines[1])
		}
		var err error
		switch {
		case order < 0:
			c.unpaired = true
			write(0, c.lines[0])
			err = c.next(0)
		case order > 0:
			c.unpaired = true
			write(1, c.lines[1])
			err = c.next(1)
		default:
			write(2, c.lines[0])
			if err = c.next(0); err == nil {
				err = c.next(1)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
