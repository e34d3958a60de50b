package shell

import (
	"slices"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// slice expands ${x:offset:length}.
func (s *shell) slice(p *syntax.ParamExp, e expansion) expansion {
	offset, length, limited := int64(0), int64(0), p.Slice.Length != nil
	if p.Slice.Offset != nil {
		offset = s.arithm(p.Slice.Offset)
	}
	if limited {
		length = s.arithm(p.Slice.Length)
	}
	if !e.list {
		e.elems = []string{s.sliceText(e.text(), offset, length, limited)}
		return e
	}
	elems := e.elems
	if e.name == "" { // positional: $0 comes first
		elems = slices.Concat([]string{s.name}, elems)
		if offset == 0 && p.Slice.Offset == nil {
			offset = 1
		}
	}
	if limited && length < 0 {
		s.fault("%s: substring expression < 0", sourceOfArithm(p.Slice.Length))
	}
	n := int64(len(elems))
	if e.v != nil && e.v.kind == indexed && e.v.list != nil && e.v.list.indexes != nil {
		// Of an array with holes, the offset is an index.
		if offset < 0 {
			offset += int64(e.v.list.last()) + 1
		}
		at, _ := slices.BinarySearch(e.v.list.indexes, int(max(offset, 0)))
		if offset < 0 {
			at = len(elems)
		}
		offset = int64(at)
	} else if offset < 0 {
		if offset += n; offset < 0 {
			offset = n
		}
	}
	offset = min(offset, n)
	end := n
	if limited {
		end = offset + min(length, n-offset)
	}
	e.elems = elems[offset:end]
	return e
}

func (s *shell) sliceText(text string, offset, length int64, limited bool) string {
	n := int64(utf8.RuneCountInString(text))
	if offset < 0 {
		offset += n
	}
	if offset < 0 || offset > n {
		return ""
	}
	end := n
	if limited {
		if length < 0 {
			if end = n + length; end < offset {
				s.fault("%d: substring expression < 0", length)
			}
		} else if length < n-offset {
			end = offset + length
		}
	}
	if n == int64(len(text)) {
		return text[offset:end]
	}
	at := func(k int64) int {
		i := 0
		for ; k > 0; k-- {
			_, w := utf8.DecodeRuneInString(text[i:])
			i += w
		}
		return i
	}
	from := at(offset)
	rest := text[from:]
	i := 0
	for k := end - offset; k > 0; k-- {
		_, w := utf8.DecodeRuneInString(rest[i:])
		i += w
	}
	return rest[:i]
}
