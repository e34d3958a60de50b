package commands

import (
	"io"
	"math"
	"strings"
)

var (
	expandOptions   = NewOptions(1, "i initial", "t tabs=")
	unexpandOptions = NewOptions(1, "a all", "first-only", "t tabs=")
)

// tabStops are columns; after the last one there is one every "every" columns,
// or none.
type tabStops struct {
	at    []int
	every int
	after bool // "every" counts from the last stop (+N) and not from 0 (/N)
}

// next is the stop after column, or -1.
func (t *tabStops) next(column int) int {
	for _, stop := range t.at {
		if stop > column {
			return stop
		}
	}
	if t.every == 0 {
		return -1
	}
	from := 0
	if t.after && len(t.at) > 0 {
		from = t.at[len(t.at)-1]
	}
	return column + t.every - (column-from)%t.every
}

func parseTabStops(lists []string) (*tabStops, string) {
	t := &tabStops{}
	for _, word := range strings.FieldsFunc(strings.Join(lists, ","), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		digits := strings.TrimLeft(word, "+/")
		n := 0
		for _, c := range []byte(digits) {
			if !isDigit(c) {
				return nil, "tab size contains invalid character(s): " + Quote(word)
			}
			n = min(n*10+int(c-'0'), math.MaxInt32)
		}
		if n == 0 {
			return nil, "tab size cannot be 0"
		}
		if word[0] == '/' || word[0] == '+' {
			t.every, t.after = n, word[0] == '+'
			continue
		}
		if len(t.at) > 0 && n <= t.at[len(t.at)-1] {
			return nil, "tab sizes must be ascending"
		}
		t.at = append(t.at, n)
	}
	switch {
	case len(t.at) == 1 && t.every == 0:
		t.every, t.at = t.at[0], nil
	case len(t.at) == 0 && t.every == 0:
		t.every = 8
	}
	return t, ""
}

// tabLists gathers the values of -t and rewrites -NUM to it.
func tabLists(p *Proc, options *Options) (*Parsed, []string, int) {
	args := make([]string, 0, len(p.Args))
	for _, arg := range p.Args {
		if len(arg) > 1 && arg[0] == '-' && isDigit(arg[1]) {
			arg = "-t" + arg[1:]
		}
		args = append(args, arg)
	}
	p.Args = args
	o, code := p.Parse(options)
	if o == nil {
		return nil, nil, code
	}
	var lists []string
	for _, opt := range o.Options {
		if opt.Key == "t" {
			lists = append(lists, opt.Value)
		}
	}
	return o, lists, 0
}

func expand(p *Proc) int {
	o, lists, code := tabLists(p, expandOptions)
	if o == nil {
		return code
	}
	stops, problem := parseTabStops(lists)
	if problem != "" {
		return p.Errorf(1, "%s", problem)
	}
	return p.Inputs(o.Args, func(_ string, r io.Reader) (int, error) {
		lines := p.Lines(r, '\n')
		defer lines.Close()
		for lines.Next() {
			column, text := 0, false
			for _, c := range lines.Bytes() {
				switch {
				case c == '\t' && (!text || !o.Has("i")):
					next := stops.next(column)
					if next < 0 {
						next = column + 1
					}
					for ; column < next && !p.Stopped(); column++ {
						p.Out.WriteByte(' ')
					}
					continue
				case c == '\b':
					column = max(column-2, -1)
				case c != ' ':
					text = true
				}
				column++
				p.Out.WriteByte(c)
			}
			if lines.Ended() {
				p.Out.WriteByte('\n')
			}
		}
		return 0, lines.Err()
	})
}

func unexpand(p *Proc) int {
	o, lists, code := tabLists(p, unexpandOptions)
	if o == nil {
		return code
	}
	stops, problem := parseTabStops(lists)
	if problem != "" {
		return p.Errorf(1, "%s", problem)
	}
	all := (o.Has("a") || lists != nil) && !o.Has("first-only")
	return p.Inputs(o.Args, func(_ string, r io.Reader) (int, error) {
		lines := p.Lines(r, '\n')
		defer lines.Close()
		for lines.Next() {
			unexpandLine(p, lines.Bytes(), stops, all)
			if lines.Ended() {
				p.Out.WriteByte('\n')
			}
		}
		return 0, lines.Err()
	})
}

// unexpandLine turns runs of blanks that reach a tab stop into tabs: all of
// them, or those at the start of the line. A single blank before a stop stays
// a blank, unless more blanks follow.
func unexpandLine(p *Proc, line []byte, stops *tabStops, all bool) {
	column := 0
	for i := 0; i < len(line); {
		if line[i] != ' ' && line[i] != '\t' {
			if !all {
				p.Out.Write(line[i:])
				return
			}
			if line[i] == '\b' {
				column = max(column-1, 0)
			} else {
				column++
			}
			p.Out.WriteByte(line[i])
			i++
			continue
		}
		j := i
		pending, tabs, lone := 0, false, false
		for j < len(line) && (line[j] == ' ' || line[j] == '\t') {
			next := stops.next(column)
			if next < 0 {
				break
			}
			if line[j] == '\t' {
				if lone {
					p.Out.WriteByte('\t')
				}
				p.Out.WriteByte('\t')
				pending, tabs, lone, column = 0, true, false, next
				j++
				continue
			}
			if lone {
				p.Out.WriteByte('\t')
				lone, tabs = false, true
			}
			column++
			pending++
			if column == next {
				if pending > 1 || tabs {
					p.Out.WriteByte('\t')
					tabs = true
				} else {
					lone = true
				}
				pending = 0
			}
			j++
		}
		if lone {
			p.Out.WriteByte(' ')
		}
		for range pending {
			p.Out.WriteByte(' ')
		}
		if j == i || j < len(line) && (line[j] == ' ' || line[j] == '\t') {
			p.Out.Write(line[j:]) // there are no more stops
			return
		}
		i = j
	}
}
