package commands

import (
	"bytes"
	"hash/maphash"
	"strings"
)

// sortKey is what is compared of a line, and how.
type sortKey struct {
	field, char       int  // where it starts, from 0
	endField, endChar int  // where it ends; endField -1 is the end of the line
	skipStart         bool // blanks before the start
	skipEnd           bool
	kind              byte // 0, or one of g h M n R V
	dictionary, fold  bool
	printable         bool
	reverse           bool
	own               bool // it has options of its own
}

// set adds the option letter c; false when there is none.
func (k *sortKey) set(c byte, start, end bool) bool {
	switch c {
	case 'b':
		k.skipStart = k.skipStart || start
		k.skipEnd = k.skipEnd || end
	case 'd':
		k.dictionary = true
	case 'f':
		k.fold = true
	case 'i':
		k.printable = true
	case 'r':
		k.reverse = true
	case 'g', 'h', 'M', 'n', 'R', 'V':
		k.kind = c
	default:
		return false
	}
	return true
}

// parseSortKey reads F[.C][OPTS][,F[.C][OPTS]].
func parseSortKey(text string) (k sortKey, problem string) {
	k.endField = -1
	start, end, hasEnd := strings.Cut(text, ",")
	field, char, opts, problem := sortPosition(start)
	switch {
	case problem != "":
		return k, problem + " at field start: invalid count at start of " + Quote(start)
	case field == 0:
		return k, "-: invalid field specification " + Quote(text) + ": field number is zero"
	case char == 0:
		return k, "-: invalid field specification " + Quote(text) + ": character offset is zero"
	}
	k.field, k.char = field-1, max(char-1, 0)
	for _, c := range []byte(opts) {
		if k.own = true; !k.set(c, true, false) {
			return k, "stray character in field spec: invalid field specification " + Quote(text)
		}
	}
	if !hasEnd {
		return k, ""
	}
	field, char, opts, problem = sortPosition(end)
	switch {
	case problem != "":
		return k, problem + " after ',': invalid count at start of " + Quote(end)
	case field == 0:
		return k, "field number is zero: invalid field specification " + Quote(text)
	}
	k.endField, k.endChar = field-1, max(char, 0) // characters up to and with this one; 0 is the end of the field
	for _, c := range []byte(opts) {
		if k.own = true; !k.set(c, false, true) {
			return k, "stray character in field spec: invalid field specification " + Quote(text)
		}
	}
	return k, ""
}

// sortPosition reads F[.C] and what follows; char is -1 when it is left out.
func sortPosition(text string) (field, char int, rest, problem string) {
	i := 0
	number := func() (int, bool) {
		n, from := 0, i
		for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
			n = min(n*10+int(text[i]-'0'), 1<<40)
		}
		return n, i > from
	}
	field, ok := number()
	if !ok {
		return 0, 0, "", "invalid number"
	}
	char = -1
	if i < len(text) && text[i] == '.' {
		i++
		if char, ok = number(); !ok {
			return 0, 0, "", "invalid number"
		}
	}
	return field, char, text[i:], ""
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// sorting compares lines.
type sorting struct {
	keys    []sortKey
	sep     int // -1: fields are split at blanks
	stable  bool
	reverse bool
	unique  bool
	seed    maphash.Seed
}

// fieldStart is where field n of line starts.
func (s *sorting) fieldStart(line []byte, n int) int {
	i := 0
	for ; n > 0 && i < len(line); n-- {
		if s.sep >= 0 {
			j := bytes.IndexByte(line[i:], byte(s.sep))
			if j < 0 {
				return len(line)
			}
			i += j + 1
			continue
		}
		for i < len(line) && blank(line[i]) {
			i++
		}
		for i < len(line) && !blank(line[i]) {
			i++
		}
	}
	return i
}

// key cuts what k compares out of line.
func (s *sorting) key(line []byte, k *sortKey) []byte {
	from := s.fieldStart(line, k.field)
	if k.skipStart {
		for from < len(line) && blank(line[from]) {
			from++
		}
	}
	from = min(from+k.char, len(line))
	to := len(line)
	if k.endField >= 0 {
		if k.endChar == 0 {
			to = s.fieldStart(line, k.endField+1)
			if s.sep >= 0 && to > 0 && (to < len(line) || line[len(line)-1] == byte(s.sep)) && s.endsInSeparator(line, k.endField) {
				to--
			}
		} else {
			to = s.fieldStart(line, k.endField)
			if k.skipEnd {
				for to < len(line) && blank(line[to]) {
					to++
				}
			}
			to = min(to+k.endChar, len(line))
		}
	}
	if to < from {
		return nil
	}
	return line[from:to]
}

// endsInSeparator tells whether a separator follows field n of line.
func (s *sorting) endsInSeparator(line []byte, n int) bool {
	return bytes.Count(line, []byte{byte(s.sep)}) > n
}

// compare tells the order of two lines: negative, 0 or positive.
func (s *sorting) compare(a, b []byte) int {
	for i := range s.keys {
		k := &s.keys[i]
		c := s.compareKey(s.key(a, k), s.key(b, k), k)
		if c != 0 {
			if k.reverse {
				return -c
			}
			return c
		}
	}
	if s.unique || s.stable {
		return 0
	}
	c := bytes.Compare(a, b)
	if s.reverse {
		return -c
	}
	return c
}
