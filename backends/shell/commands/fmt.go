package commands

import (
	"bytes"
	"io"
	"strconv"
	"strings"
)

var fmtOptions = NewOptions(1, "c crown-margin", "g goal=", "p prefix=", "s split-only", "t tagged-paragraph", "u uniform-spacing", "w width=")

// What fmt charges for lines and breaks, as GNU's does: the sum is least for
// the breaks that are taken.
const (
	fmtLine     = 70 * 70   // each line
	fmtNoBreak  = 600 * 600 // after a full stop that ends no sentence
	fmtSentence = 50 * 50   // credit for a break after a sentence
	fmtPunct    = 40 * 40   // … after punctuation, or before a bracket
	fmtWidow    = 200 * 200 // divided by a length: the last word of a sentence alone at a line's start
	fmtOrphan   = 150 * 150 // divided by a length: its first word alone at a line's end
)

func fmtShort(n int) int  { return 100 * n * n }
func fmtRagged(n int) int { return fmtShort(n) / 2 }

// fmtWord is a word of a paragraph.
type fmtWord struct {
	text                        string
	space                       int // columns after it
	paren, period, punct, final bool

	next   int // where the line after the one that starts here begins
	length int // of the line that starts here
	cost   int // of all lines from here on
}

// formatter is one run of fmt over one file.
type formatter struct {
	p                             *Proc
	crown, split, tagged, uniform bool
	prefix                        string
	lead                          int // blanks before the prefix as it was given
	width, goal                   int

	in    *Lines
	line  []byte // what is left of the current line
	more  bool   // there is a line
	tabs  bool   // there were tabs: they are used to indent
	at    int    // column in the current line
	mark  int    // column of its prefix
	out   int    // column in the output
	words []fmtWord

	margin, first, other int // columns of a paragraph's prefix, first line and others
}

func fmtCommand(p *Proc) int {
	// -NUM, as the first argument, is a width.
	if len(p.Args) > 0 && len(p.Args[0]) > 1 && p.Args[0][0] == '-' && isDigit(p.Args[0][1]) {
		p.Args = append([]string{"-w" + p.Args[0][1:]}, p.Args[1:]...)
	}
	o, code := p.Parse(fmtOptions)
	if o == nil {
		return code
	}
	f := formatter{p: p, crown: o.Has("c"), split: o.Has("s"), tagged: o.Has("t"), uniform: o.Has("u"), width: 75}
	number := func(key, what string, to *int, most int) bool {
		text, ok := o.Value(key)
		if !ok {
			return false
		}
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || int(n) > most {
			code = p.Errorf(1, "invalid %s: %s", what, Quote(text))
		}
		*to = int(n)
		return true
	}
	wide := number("w", "width", &f.width, 2500)
	most := f.width
	if !wide {
		most = 75
	}
	if number("g", "goal", &f.goal, most) {
		if !wide {
			f.width = f.goal + 10
		}
	} else {
		f.goal = f.width * 187 / 200
	}
	if code != 0 {
		return code
	}
	if text, ok := o.Value("p"); ok {
		f.prefix = strings.TrimLeft(text, " ")
		f.lead = len(text) - len(f.prefix)
	}
	return p.Inputs(o.Args, func(_ string, r io.Reader) (int, error) {
		f := f
		f.in = p.Lines(r, '\n')
		defer f.in.Close()
		held := p.held
		defer func() { p.Release(int(p.held - held)) }()
		f.nextLine()
		for {
			again, err := f.paragraph()
			if err != nil || !again {
				return 0, err
			}
			f.breaks()
			f.print()
		}
	})
}

// nextLine goes to the next line and over its prefix.
func (f *formatter) nextLine() {
	f.at, f.mark = 0, 0
	f.more = f.in.Next()
	if !f.more {
		f.line = nil
		return
	}
	f.line = f.in.Bytes()
	f.blanks()
	if f.prefix == "" {
		f.mark = min(f.lead, f.at)
		return
	}
	f.mark = f.at
	bare := strings.TrimRight(f.prefix, " ")
	for i := range len(bare) {
		if len(f.line) == 0 || f.line[0] != bare[i] {
			return
		}
		f.at++
		f.line = f.line[1:]
	}
	f.blanks()
}

// blanks goes over spaces and tabs.
func (f *formatter) blanks() {
	for len(f.line) > 0 {
		switch f.line[0] {
		case ' ':
			f.at++
		case '\t':
			f.tabs = true
			f.at += 8 - f.at%8
		default:
			return
		}
		f.line = f.line[1:]
	}
}

// begins tells whether the current line is one of a paragraph, and not blank or
// without the prefix.
func (f *formatter) begins() bool {
	return len(f.line) > 0 && f.mark >= f.lead && f.at >= f.mark+len(f.prefix)
}

// goesOn tells whether the current line can belong to the paragraph before it.
func (f *formatter) goesOn() bool {
	return f.more && len(f.line) > 0 && f.mark == f.margin && f.at >= f.mark+len(f.prefix)
}

// paragraph reads the next paragraph into f.words, and copies what comes before.
func (f *formatter) paragraph() (bool, error) {
	for !f.begins() {
		if !f.more {
			return false, f.in.Err()
		}
		f.copyLine()
		f.nextLine()
	}
	f.words = f.words[:0]
	f.margin, f.first = f.mark, f.at
	if err := f.addLine(); err != nil {
		return false, err
	}
	switch {
	case !f.split && f.tagged && f.goesOn() && f.at != f.first, !f.split && f.crown && f.goesOn():
		f.other = f.at
	case f.split || !f.tagged:
		f.other = f.first
	case f.other == f.first && f.first == 0: // of the paragraph before
		f.other = 3
	case f.other == f.first:
		f.other = 0
	}
	joins := !f.split && (!f.tagged || f.at != f.first)
	for joins && f.goesOn() && f.at == f.other {
		if f.p.Stopped() {
			return false, nil
		}
		if err := f.addLine(); err != nil {
			return false, err
		}
	}
	last := &f.words[len(f.words)-1]
	last.period, last.final = true, true
	return true, nil
}

// copyLine writes a line that is in no paragraph.
func (f *formatter) copyLine() {
	f.out = 0
	if f.at > f.mark || len(f.line) > 0 {
		f.space(f.mark)
		n := min(f.at-f.mark, len(f.prefix))
		f.p.Out.WriteString(f.prefix[:n])
		if f.out += n; len(f.line) > 0 {
			f.space(f.at - f.out)
		}
	}
	f.p.Out.Write(f.line)
	f.p.Out.WriteByte('\n')
}

// addLine adds the words of the current line, and goes to the next.
func (f *formatter) addLine() error {
	if err := f.p.Hold(len(f.line) + 96*(len(f.line)/2+1)); err != nil {
		return err
	}
	text := string(f.line)
	for len(f.line) > 0 {
		end := bytes.IndexAny(f.line, " \t\n\v\f\r")
		if end < 0 {
			end = len(f.line)
		}
		end = max(end, 1) // another white space than blanks is a word
		w := fmtWord{text: text[len(text)-len(f.line):][:end]}
		w.paren = strings.IndexByte("(['`\"", w.text[0]) >= 0
		last := w.text[end-1]
		w.punct = last > ' ' && last < 0x7f && !isDigit(last) && (last|0x20 < 'a' || last|0x20 > 'z')
		stem := strings.TrimRight(w.text[1:], ")]'\"")
		w.period = strings.IndexByte(".?!", (w.text[:1] + stem)[len(stem)]) >= 0
		f.at += end
		f.line = f.line[end:]
		before := f.at
		f.blanks()
		w.space = f.at - before
		w.final = w.period && (len(f.line) == 0 || w.space > 1)
		if len(f.line) == 0 || f.uniform {
			if w.space = 1; w.final {
				w.space = 2
			}
		}
		f.words = append(f.words, w)
	}
	f.nextLine()
	return nil
}

// breaks finds where lines end, from the paragraph's last word to its first.
func (f *formatter) breaks() {
	w := f.words
	n := len(w)
	for start := n - 1; start >= 0; start-- {
		if start%1024 == 0 && f.p.Stopped() {
			return
		}
		length := f.other
		if start == 0 {
			length = f.first
		}
		length += len(w[start].text)
		best := -1
		for next := start + 1; ; next++ {
			cost := 0
			if next < n {
				cost = fmtShort(f.goal-length) + w[next].cost
				if w[next].next != n {
					cost += fmtRagged(length - w[next].length)
				}
			}
			if best < 0 || cost < best {
				best, w[start].next, w[start].length = cost, next, length
			}
			if next == n {
				break
			}
			if length += w[next-1].space + len(w[next].text); length >= f.width {
				break
			}
		}
		w[start].cost = best + f.breakCost(start)
	}
}

// breakCost is what it costs to begin a line with a word.
func (f *formatter) breakCost(i int) int {
	w := f.words
	cost := fmtLine
	if i > 0 {
		switch before := w[i-1]; {
		case before.period && before.final:
			cost -= fmtSentence
		case before.period:
			cost += fmtNoBreak
		case before.punct:
			cost -= fmtPunct
		case i > 1 && w[i-2].final:
			cost += fmtWidow / (len(before.text) + 2)
		}
	}
	switch {
	case w[i].paren:
		cost -= fmtPunct
	case w[i].final:
		cost += fmtOrphan / (len(w[i].text) + 2)
	}
	return cost
}

func (f *formatter) print() {
	indent := f.first
	for at := 0; at < len(f.words) && !f.p.Stopped(); indent = f.other {
		f.out = 0
		f.space(f.margin)
		f.p.Out.WriteString(f.prefix)
		f.out += len(f.prefix)
		f.space(indent - f.out)
		next := f.words[at].next
		for ; at < next; at++ {
			f.p.Out.WriteString(f.words[at].text)
			if f.out += len(f.words[at].text); at+1 < next {
				f.space(f.words[at].space)
			}
		}
		f.p.Out.WriteByte('\n')
	}
}

// space writes n columns of white space.
func (f *formatter) space(n int) {
	to := f.out + n
	if tab := to / 8 * 8; f.tabs && f.out+1 < tab {
		for ; f.out < tab; f.out += 8 - f.out%8 {
			f.p.Out.WriteByte('\t')
		}
	}
	for ; f.out < to; f.out++ {
		f.p.Out.WriteByte(' ')
	}
}
