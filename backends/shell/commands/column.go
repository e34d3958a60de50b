package commands

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var columnOptions = NewOptions(1, "t table", "s separator=", "o output-separator=", "c output-width=", "x fillrows", "N table-columns=", "R table-right=",
	"H table-hide=", "d table-noheadings", "l table-columns-limit=", "L keep-empty-lines", "n table-name=", "e table-header-repeat")

func column(p *Proc) int {
	o, code := p.Parse(columnOptions)
	if o == nil {
		return code
	}
	width := 80
	text, ok := o.Value("c")
	if !ok {
		text, ok = p.Getenv("COLUMNS")
	}
	if ok {
		if text == "unlimited" {
			width = 0
		} else if n, err := strconv.ParseUint(text, 10, 20); err == nil {
			width = int(n)
		} else if o.Has("c") {
			return p.Errorf(1, "invalid columns argument: %s", Quote(text))
		}
	}
	var lines []string
	code = p.Inputs(o.Args, func(_ string, r io.Reader) (int, error) {
		in := p.Lines(r, '\n')
		defer in.Close()
		for in.Next() {
			line := in.Text()
			if strings.Trim(line, " \t\r\v\f") == "" && !o.Has("L") {
				continue
			}
			if err := p.Hold(6*len(line) + 64); err != nil { // fields and widths as well
				return 1, err
			}
			lines = append(lines, line)
		}
		return 0, in.Err()
	})
	switch {
	case p.Stopped() || len(lines) == 0:
	case o.Has("t"):
		code = max(code, columnTable(p, o, lines))
	default:
		columnFill(p, lines, width, o.Has("x"))
	}
	return code
}

// columnFill writes entries in as many columns as fit, set apart by tabs.
func columnFill(p *Proc, lines []string, width int, rows bool) {
	widest := 0
	for _, line := range lines {
		widest = max(widest, textWidth(line))
	}
	widest = (widest + 8) &^ 7
	columns := max(width/widest, 1)
	n := (len(lines) + columns - 1) / columns
	step := n
	if rows {
		step = 1
	}
	for row := range n {
		at, end := 0, widest
		first := row
		if rows {
			first = row * columns
		}
		for c, i := 0, first; c < columns && i < len(lines); c, i = c+1, i+step {
			if c > 0 {
				for next := (at + 8) &^ 7; next <= end; next = (at + 8) &^ 7 {
					p.Out.WriteByte('\t')
					at = next
				}
				end += widest
			}
			p.Out.WriteString(lines[i])
			at += textWidth(lines[i])
		}
		p.Out.WriteByte('\n')
	}
}

func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// columnFields splits a line: at runs of blanks, or at each separator. limit is
// how many fields there are at most, 0 being any number.
func columnFields(line, separators string, set bool, limit int) []string {
	var out []string
	for {
		if !set {
			line = strings.TrimLeft(line, separators)
			if line == "" {
				return out
			}
		}
		i := strings.IndexAny(line, separators)
		if i < 0 || limit > 0 && len(out)+1 == limit {
			return append(out, line)
		}
		out = append(out, line[:i])
		_, size := utf8.DecodeRuneInString(line[i:])
		line = line[i+size:]
	}
}

func columnTable(p *Proc, o *Parsed, lines []string) int {
	separators, set := o.Value("s")
	if !set {
		separators = "\t "
	}
	between, ok := o.Value("o")
	if !ok {
		between = "  "
	}
	limit := 0
	if text, ok := o.Value("l"); ok {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return p.Errorf(1, "failed to parse columns limit: %s", Quote(text))
		}
		limit = int(n)
	}
	var names []string
	if text, ok := o.Value("N"); ok {
		names = strings.Split(text, ",")
	}
	var table [][]string
	if names != nil && !o.Has("d") {
		table = append(table, names)
	}
	count := len(names)
	for _, line := range lines {
		fields := columnFields(line, separators, set, limit)
		count = max(count, len(fields))
		table = append(table, fields)
	}
	right, problem := columnList(o, "R", names, count)
	if problem != "" {
		return p.Errorf(1, "%s", problem)
	}
	hidden, problem := columnList(o, "H", names, count)
	if problem != "" {
		return p.Errorf(1, "%s", problem)
	}
	if err := p.Hold(8 * count); err != nil {
		return p.Errorf(1, "%s", Reason(err))
	}
	widths := make([]int, count)
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], textWidth(cell))
		}
	}
	last := count - 1
	for last >= 0 && hidden[last] {
		last--
	}
	pad := func(n int) {
		for range n {
			p.Out.WriteByte(' ')
		}
	}
	for _, row := range table {
		if p.Stopped() {
			break
		}
		for i := range last + 1 {
			if hidden[i] {
				continue
			}
			cell := ""
			if i < len(row) {
				cell = row[i]
			}
			gap := widths[i] - textWidth(cell)
			if right[i] {
				pad(gap)
				gap = 0
			}
			p.Out.WriteString(cell)
			if i < last {
				pad(gap)
				p.Out.WriteString(between)
			}
		}
		p.Out.WriteByte('\n')
	}
	return 0
}

// columnList reads a list of columns: numbers, names, or 0 and "-" for all that
// have no name.
func columnList(o *Parsed, key string, names []string, count int) ([]bool, string) {
	out := make([]bool, count)
	text, ok := o.Value(key)
	if !ok {
		return out, ""
	}
	for _, part := range strings.Split(text, ",") {
		switch n, err := strconv.Atoi(part); {
		case part == "-":
			for i := len(names); i < count; i++ {
				out[i] = true
			}
		case part == "0":
			for i := range out {
				out[i] = true
			}
		case err == nil && n > 0 && n <= count:
			out[n-1] = true
		case slices.Contains(names, part):
			out[slices.Index(names, part)] = true
		case err == nil && n > 0:
		default:
			return nil, "undefined column name " + Quote(part)
		}
	}
	return out, ""
}
