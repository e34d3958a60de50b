package fsops

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
)

// grepFinder finds the texts of a grepNeed in a block of bytes, one after the
// other. Each text's next place is remembered, so that every byte is looked at
// once for each text.
type grepFinder struct {
	need   *grepNeed
	texts  []grepText
	others []grepOther
	block  []byte // in lower case where case does not matter
	low    []byte // memory for block
	loose  bool   // the block may have characters that fold to those of a text
}

type grepText struct {
	text  []byte
	rare  int  // index of the byte of text that is looked for first
	loose bool // finding it proves nothing
	at    int  // next place at or after the last one asked for; -1 unknown; len(block) none
}

// grepOther is a set of texts that a match needs besides.
type grepOther struct {
	texts [][]byte
	first bool // it begins with one of them
}

// Characters outside ASCII that fold to an ASCII letter, by that letter.
var grepFoldings = map[byte]string{'k': "\u212a", 's': "\u017f"}

func newGrepFinder(need *grepNeed) *grepFinder {
	f := &grepFinder{need: need}
	for _, s := range need.texts {
		f.texts = append(f.texts, grepText{text: []byte(s), rare: grepRarest(s)})
	}
	for _, set := range need.others {
		other := grepOther{first: set.first}
		for _, s := range set.texts {
			other.texts = append(other.texts, []byte(s))
		}
		f.others = append(f.others, other)
	}
	if need.fold {
		for _, letter := range []byte("ks") {
			for _, s := range need.texts {
				if bytes.IndexByte([]byte(s), letter) >= 0 {
					other := grepFoldings[letter]
					f.texts = append(f.texts, grepText{text: []byte(other), rare: len(other) - 1, loose: true})
					break
				}
			}
		}
	}
	return f
}

// start begins with a new block.
func (f *grepFinder) start(block []byte) {
	ascii := false
	if f.need.fold {
		if cap(f.low) < len(block) {
			f.low = make([]byte, cap(block))
		}
		f.low = f.low[:len(block)]
		ascii = grepLowerBlock(f.low, block)
		block = f.low
	}
	f.block = block
	f.loose = f.need.fold && !ascii
	for i := range f.texts {
		f.texts[i].at = -1
		if f.texts[i].loose && !f.loose {
			f.texts[i].at = len(block)
		}
	}
}

// next returns the first place at or after from where one of the texts is, and
// whether finding it proves a match; len(block) when there is none. from must
// not go back.
func (f *grepFinder) next(from int) (at int, proof bool) {
	at = len(f.block)
	for i := range f.texts {
		t := &f.texts[i]
		if t.at < from {
			t.at = from + t.index(f.block[from:])
		}
		if t.at < at || t.at == at && !t.loose {
			at, proof = t.at, !t.loose
		}
	}
	return at, proof && f.need.exact
}

// line looks at the line from begin to end, in which one of the texts was found
// first at a place. It tells whether the line has the other texts that a match
// needs and, if so, before which place no match begins.
func (f *grepFinder) line(begin, at, end int) (from int, ok bool) {
	if f.loose {
		return begin, true
	}
	from = begin
	if f.need.first {
		from = at
	}
	for _, other := range f.others {
		first := end
		for _, text := range other.texts {
			if n := bytes.Index(f.block[from:end], text); n >= 0 {
				first = min(first, from+n)
			}
		}
		if first == end {
			return 0, false
		}
		if other.first {
			from = first
		}
	}
	return from, true
}

// index is bytes.Index by way of the text's rarest byte, and len(s) when the
// text is not there.
func (t *grepText) index(s []byte) int {
	misses := 0
	for i := t.rare; i < len(s); {
		n := bytes.IndexByte(s[i:], t.text[t.rare])
		if n < 0 {
			break
		}
		i += n
		begin := i - t.rare
		if begin+len(t.text) > len(s) {
			break
		}
		if string(s[begin:begin+len(t.text)]) == string(t.text) {
			return begin
		}
		i++
		if misses++; misses > 8+i/16 {
			// Not so rare here.
			begin++
			if n := bytes.Index(s[begin:], t.text); n >= 0 {
				return begin + n
			}
			break
		}
	}
	return len(s)
}

// grepRarest returns the index of the byte of s that source code and prose
// have least of.
func grepRarest(s string) int {
	best, rank := 0, 1<<30
	for i := range len(s) {
		if r := grepCommon(s[i]); r < rank {
			best, rank = i, r
		}
	}
	return best
}

// grepOrder is bytes in the order of how often they occur; what it does not
// have is rarer.
const grepOrder = "QZXJKVYWqUGHBjNzMOFDPLRIWESATC#@~^$!%?&\\|`9876354;+<>[]{}XkvyY2'*1\"0-:w/=bxgh,mu()_fpd.clonisrat\te\n "

// grepCommon ranks a byte: the higher, the more often it occurs.
func grepCommon(b byte) int {
	if b >= 0x80 {
		return 20
	}
	return strings.LastIndexByte(grepOrder, b) + 1
}

// grepShare estimates how many of all bytes are b.
func grepShare(b byte) float64 {
	return 0.08 * math.Exp(float64(grepCommon(b)-len(grepOrder))/12)
}

// grepLowerBlock writes src to dst with ASCII letters in lower case, and tells
// whether all of src is ASCII. It works on eight bytes at a time.
func grepLowerBlock(dst, src []byte) (ascii bool) {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	var seen uint64
	i := 0
	for ; i+8 <= len(src); i += 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		seen |= w
		low7 := w &^ high
		// The high bit of each byte: at least 'A', and over 'Z'.
		fromA := low7 + (0x80-'A')*ones
		overZ := low7 + (0x80-'Z'-1)*ones
		upper := (fromA ^ overZ) & high &^ w
		binary.LittleEndian.PutUint64(dst[i:], w|upper>>2)
	}
	for ; i < len(src); i++ {
		b := src[i]
		seen |= uint64(b)
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		dst[i] = b
	}
	return seen&high == 0
}
