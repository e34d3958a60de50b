package commands

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
)

var cutOptions = NewOptions(1, "b bytes=", "c characters=", "f fields=", "d delimiter=", "s only-delimited", "n", "complement", "output-delimiter=", "z zero-terminated")

// span is a range of positions from 1, both ends included.
type span struct{ from, to int }

func cut(p *Proc) int {
	o, code := p.Parse(cutOptions)
	if o == nil {
		return code
	}
	lists := 0
	for _, opt := range o.Options {
		if opt.Key == "b" || opt.Key == "c" || opt.Key == "f" {
			lists++
		}
	}
	key := o.Last("b", "c", "f")
	if lists > 1 {
		return p.Usage(1, "only one list may be specified")
	}
	if key == "" {
		return p.Usage(1, "you must specify a list of bytes, characters, or fields")
	}
	delimiter, hasDelimiter := o.Value("d")
	switch {
	case hasDelimiter && key != "f":
		return p.Usage(1, "an input delimiter may be specified only when operating on fields")
	case o.Has("s") && key != "f":
		return p.Usage(1, "suppressing non-delimited lines makes sense\n\tonly when operating on fields")
	case len(delimiter) > 1:
		return p.Usage(1, "the delimiter must be a single character")
	}
	delim := byte('\t')
	if hasDelimiter {
		delim = 0
		if delimiter != "" {
			delim = delimiter[0]
		}
	}
	list, _ := o.Value(key)
	spans, problem := cutList(list, key == "f")
	if problem != "" {
		return p.Usage(1, "%s", problem)
	}
	if o.Has("complement") {
		spans = complement(spans)
	}
	between, hasBetween := o.Value("output-delimiter")
	if !hasBetween && key == "f" {
		between = string([]byte{delim})
	}
	sep := separator(o)
	return p.Inputs(o.Args, func(_ string, r io.Reader) (int, error) {
		lines := p.Lines(r, sep)
		defer lines.Close()
		for lines.Next() {
			if key == "f" {
				if !cutFields(p, lines.Bytes(), spans, delim, between, o.Has("s")) {
					continue
				}
			} else {
				cutBytes(p, lines.Bytes(), spans, between)
			}
			p.Out.WriteByte(sep)
		}
		return 0, lines.Err()
	})
}

// cutList reads a list such as 1,3-5,7-.
func cutList(list string, fields bool) (spans []span, problem string) {
	what, numbered := "byte/character", "byte/character positions are numbered from 1"
	if fields {
		what, numbered = "field", "fields are numbered from 1"
	}
	number := func(text string) (int, bool) {
		if text == "" {
			return 0, false
		}
		n := 0
		for _, c := range []byte(text) {
			if !isDigit(c) {
				return 0, false
			}
			n = min(n*10+int(c-'0'), math.MaxInt32*1000)
		}
		return n, true
	}
	for _, part := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		from, to, isRange := strings.Cut(part, "-")
		s := span{1, math.MaxInt}
		if isRange && from == "" && to == "" {
			return nil, "invalid range with no endpoint: -"
		}
		var ok bool
		if from != "" {
			if s.from, ok = number(from); !ok {
				return nil, "invalid " + what + map[bool]string{true: " value ", false: " position "}[fields] + Quote(part)
			}
			if s.from == 0 {
				return nil, numbered
			}
		}
		switch {
		case !isRange:
			s.to = s.from
		case to != "":
			if s.to, ok = number(to); !ok {
				return nil, "invalid " + what + " range"
			}
			if s.to < s.from {
				return nil, "invalid decreasing range"
			}
		}
		spans = append(spans, s)
	}
	if len(spans) == 0 {
		return nil, numbered
	}
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	merged := spans[:1]
	for _, s := range spans[1:] {
		if last := &merged[len(merged)-1]; s.from <= last.to {
			last.to = max(last.to, s.to)
		} else {
			merged = append(merged, s)
		}
	}
	return merged, ""
}

func complement(spans []span) []span {
	var out []span
	next := 1
	for _, s := range spans {
		if s.from > next {
			out = append(out, span{next, s.from - 1})
		}
		if s.to == math.MaxInt {
			return out
		}
		next = s.to + 1
	}
	return append(out, span{next, math.MaxInt})
}

func cutBytes(p *Proc, line []byte, spans []span, between string) {
	for i, s := range spans {
		if s.from > len(line) {
			break
		}
		if i > 0 {
			p.Out.WriteString(between)
		}
		p.Out.Write(line[s.from-1 : min(s.to, len(line))])
	}
}

// cutFields writes the fields of a line; false when the line is left out.
func cutFields(p *Proc, line []byte, spans []span, delim byte, between string, only bool) bool {
	if bytes.IndexByte(line, delim) < 0 {
		if only {
			return false
		}
		p.Out.Write(line)
		return true
	}
	n, at, any := 1, 0, false
	for more := true; more && at < len(spans); n++ {
		field := line
		if i := bytes.IndexByte(line, delim); i >= 0 {
			field, line = line[:i], line[i+1:]
		} else {
			more = false
		}
		for at < len(spans) && n > spans[at].to {
			at++
		}
		if at < len(spans) && n >= spans[at].from {
			if any {
				p.Out.WriteString(between)
			}
			any = true
			p.Out.Write(field)
		}
	}
	return true
}
