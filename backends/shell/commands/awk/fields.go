package awk

import (
	"strings"
	"unicode/utf8"

	"github.com/mcp-workspace/mcp-workspace/backends/shell/commands/posixre"
)

const fieldCost = 64 // what a field takes, in bytes

// splitter is how FS (or a separator given to split) divides.
type splitter struct {
	kind byte // ' ' blanks, 'c' one character, 'e' each character, 'r' regexp
	char string
	re   *posixre.Regexp
}

func (in *interp) splitter(fs string) splitter {
	switch {
	case fs == " ":
		return splitter{kind: ' '}
	case fs == "":
		return splitter{kind: 'e'}
	case fs == `\\`:
		return splitter{kind: 'c', char: `\`}
	case utf8.RuneCountInString(fs) == 1 && (!in.fold || strings.ToLower(fs) == strings.ToUpper(fs)):
		return splitter{kind: 'c', char: fs}
	}
	return splitter{kind: 'r', re: in.regexp(fs)}
}

// each calls do with the pieces of s and the separator after each.
func (in *interp) each(sp splitter, s string, newlines bool, do func(piece, sep string)) {
	if s == "" {
		return
	}
	switch sp.kind {
	case ' ':
		in.eachWord(s, do)
	case 'e':
		for i := 0; i < len(s); {
			_, size := utf8.DecodeRuneInString(s[i:])
			do(s[i:i+size], "")
			i += size
		}
	case 'c':
		for {
			i := strings.Index(s, sp.char)
			size := len(sp.char)
			if newlines {
				if j := strings.IndexByte(s, '\n'); j >= 0 && (i < 0 || j < i) {
					i, size = j, 1
				}
			}
			if i < 0 {
				do(s, "")
				return
			}
			do(s[:i], s[i:i+size])
			s = s[i+size:]
		}
	default:
		at, from := 0, 0
		for at <= len(s) {
			loc := in.find(sp.re, s, at)
			if newlines {
				if j := strings.IndexByte(s[from:], '\n'); j >= 0 && (loc == nil || from+j < loc[0]) {
					loc = []int{from + j, from + j + 1}
				}
			}
			if loc == nil {
				break
			}
			if loc[1] == loc[0] {
				at = loc[1] + 1
				continue
			}
			do(s[from:loc[0]], s[loc[0]:loc[1]])
			from, at = loc[1], loc[1]
			in.tick()
		}
		do(s[from:], "")
	}
}

// eachWord splits at blanks; those at the ends are no separators.
func (in *interp) eachWord(s string, do func(piece, sep string)) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	for i < len(s) {
		from := i
		for i < len(s) && !isSpace(s[i]) {
			i++
		}
		end := i
		for i < len(s) && isSpace(s[i]) {
			i++
		}
		do(s[from:end], s[end:i])
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// setRecord makes s the record.
func (in *interp) setRecord(s string) {
	if n := len(s) - len(in.record); n > 0 {
		in.hold(n)
	} else {
		in.release(-n)
	}
	in.record, in.stale, in.split = s, false, false
}

// record0 is $0.
func (in *interp) record0() string {
	if !in.stale {
		return in.record
	}
	var b strings.Builder
	for i, f := range in.fields {
		if i > 0 {
			b.WriteString(in.ofs)
		}
		b.WriteString(f.str(in.convfmt))
	}
	in.passing(b.Len())
	in.setRecord(b.String())
	in.split = true
	return in.record
}

func (in *interp) addField(v value) {
	if len(in.fields) == in.fieldRoom {
		more := max(16, in.fieldRoom)
		in.hold(more * fieldCost)
		in.fieldRoom += more
	}
	in.fields = append(in.fields, v)
}

// splitRecord makes the fields of the record.
func (in *interp) splitRecord() {
	if in.split {
		return
	}
	in.split = true
	in.fields = in.fields[:0]
	in.release(in.fieldsHeld)
	in.fieldsHeld = 0
	add := func(piece, _ string) { in.addField(fromInput(piece, true)) }
	switch in.parsingMode {
	case 'p':
		in.eachMatch(in.regexp(in.globals[vFPAT].v.str(in.convfmt)), in.record, add)
	case 'w':
		in.eachWidth(in.record, add)
	default:
		in.each(in.fs, in.record, in.recordsBy.paragraphs, add)
	}
}

// eachMatch calls do with the matches of re, as FPAT has fields.
func (in *interp) eachMatch(re *posixre.Regexp, s string, do func(piece, sep string)) {
	at, from, last := 0, 0, -1
	for at <= len(s) && s != "" {
		loc := in.find(re, s, at)
		if loc == nil {
			break
		}
		start, end := loc[0], loc[1]
		if start == end {
			// An empty field stands where a match does not end already.
			if start != last {
				do("", s[from:start])
			}
			at = end + 1
			last = -1
			continue
		}
		do(s[start:end], s[from:start])
		from, at, last = end, end, end
		in.tick()
	}
}

func (in *interp) eachWidth(s string, do func(piece, sep string)) {
	for _, word := range strings.Fields(in.globals[vFIELDWIDTHS].v.str(in.convfmt)) {
		if s == "" {
			return
		}
		if skip, width, ok := strings.Cut(word, ":"); ok {
			n, _ := prefixNumber(skip)
			s = s[byteOffset(s, int(n)):]
			word = width
		}
		n := len(s)
		if word != "*" {
			w, _ := prefixNumber(word)
			n = byteOffset(s, int(w))
		}
		do(s[:n], "")
		s = s[n:]
	}
}

// byteOffset is where character n of s is.
func byteOffset(s string, n int) int {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

func (in *interp) field(i int) value {
	if i == 0 {
		return fromInput(in.record0(), false)
	}
	in.splitRecord()
	if i > len(in.fields) {
		return value{}
	}
	return in.fields[i-1]
}

func (in *interp) setField(i int, v value) {
	if i == 0 {
		in.setRecord(clone(v.str(in.convfmt)))
		return
	}
	in.splitRecord()
	if i > len(in.fields) {
		in.setFieldCount(i)
	}
	if v.part {
		v.s, v.part = clone(v.s), false
	}
	// A piece of the record costs nothing more; what was set does, until the
	// next record.
	old := in.fields[i-1]
	cost := len(v.s)
	if !old.part {
		cost -= len(old.s)
	}
	in.hold(max(cost, 0))
	in.release(max(-cost, 0))
	in.fieldsHeld += cost
	in.fields[i-1] = v
	in.stale = true
}

func (in *interp) setFieldCount(n int) {
	in.splitRecord()
	if n > in.fieldRoom {
		in.hold((n - in.fieldRoom) * fieldCost)
		in.fieldRoom = n
	}
	for len(in.fields) < n {
		in.fields = append(in.fields, fromInput("", false))
	}
	in.fields = in.fields[:n]
	in.stale = true
}

// setSpecial sets a variable that has a meaning.
func (in *interp) setSpecial(i int, v value) {
	switch i {
	case vNF:
		n := v.num()
		if n < 0 || n > 1<<31 || n != n {
			in.fatal("NF set to %s", formatNumber(n, in.convfmt))
		}
		in.setFieldCount(int(n))
		return
	case vNR:
		in.nr = v.num()
		return
	case vFNR:
		in.fnr = v.num()
		return
	}
	in.store(&in.globals[i].v, v)
	s := in.globals[i].v.str(in.convfmt)
	switch i {
	case vFS:
		in.splitRecord() // what was read is split as it was when it was read
		in.fs = in.splitter(s)
		in.parsingMode = 0
	case vFPAT:
		in.splitRecord()
		in.parsingMode = 'p'
	case vFIELDWIDTHS:
		in.splitRecord()
		in.parsingMode = 'w'
	case vOFS:
		if in.stale {
			in.record0()
		}
		in.ofs = s
	case vORS:
		in.ors = s
	case vRS:
		in.recordsBy.set(s)
	case vSUBSEP:
		in.subsep = s
	case vCONVFMT:
		in.convfmt = s
	case vIGNORECASE:
		in.fold = v.truth()
		in.fs = in.splitter(in.globals[vFS].v.str(in.convfmt))
		in.recordsBy.set(in.globals[vRS].v.str(in.convfmt))
	}
}
