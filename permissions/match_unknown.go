package permissions

import "github.com/mcp-workspace/mcp-workspace/internal/pathglob"

// pattern is the pattern of a rule. Beyond matching it can be held against a
// text of which parts are not known (see [value]).
type pattern struct{ *pathglob.Pattern }

// must tells whether p matches v whatever its unknown parts turn out to be.
func (p pattern) must(v value) bool {
	if s, ok := v.known(); ok {
		return p.Match(s)
	}
	cur, next := p.Start(), p.None()
	for _, piece := range v {
		if piece.kind == lit {
			for s := piece.text; s != ""; {
				r, n := pathglob.Decode(s)
				s = s[n:]
				clear(next)
				p.Step(cur, next, r)
				cur, next = next, cur
			}
			continue
		}
		clear(next)
		// Only a star that reads all that the hole can hold is certain.
		p.Each(cur, func(e *pathglob.Edge, to pathglob.Set) {
			if e.Kind == pathglob.EdgeOther && (e.Loops || piece.single()) && !piece.mayHold(e.Except) {
				next.Union(to)
			}
		})
		cur, next = next, cur
	}
	return p.Accepts(cur)
}

// suggests is how many characters of a pattern must be spelled out by a text
// with holes before the text is held to suggest a match.
const suggests = 2

// may tells whether p can match v for some filling of its unknown parts, and
// whether its known parts suggest it: whether, from piece number from on, they
// spell out at least two letters or digits of p, or a dot that piece number
// last starts with. Without that "*" or "$x" alone would be taken for every
// name there is.
func (p pattern) may(v value, from, last int) (possible, suggested bool) {
	var cur, next [suggests + 1]pathglob.Set // by how many characters were spelled out
	for i := range cur {
		cur[i], next[i] = p.None(), p.None()
	}
	cur[0] = p.Start()
	for n, piece := range v {
		if piece.kind != lit {
			for i := range cur {
				cur[i] = p.fill(cur[i], piece)
			}
			continue
		}
		for at := 0; at < len(piece.text); {
			r, size := pathglob.Decode(piece.text[at:])
			weight := 0
			switch {
			case r == '.' && n == last && at == 0:
				weight = suggests
			case n < from:
			case r == '_' || r >= 0x80 || r < 0x80 && r >= 0 && isNameByte(byte(r)):
				weight = 1
			}
			at += size
			for i := range next {
				clear(next[i])
			}
			for count := range cur {
				p.Each(cur[count], func(e *pathglob.Edge, to pathglob.Set) {
					switch {
					case !e.Reads(r):
					case e.Kind == pathglob.EdgeRune:
						next[min(count+weight, suggests)].Union(to)
					default:
						next[count].Union(to)
					}
				})
			}
			cur, next = next, cur
		}
	}
	for _, s := range cur {
		possible = possible || p.Accepts(s)
	}
	return possible, p.Accepts(cur[suggests])
}

// fill is what can be reached from cur by some text that piece can stand for.
func (p pattern) fill(cur pathglob.Set, piece piece) pathglob.Set {
	out := p.None()
	if piece.single() {
		p.Each(cur, func(e *pathglob.Edge, to pathglob.Set) {
			if piece.overlaps(e) {
				out.Union(to)
			}
		})
		return out
	}
	out.Union(cur)
	for grown := true; grown; {
		grown = false
		p.Each(append(pathglob.Set(nil), out...), func(e *pathglob.Edge, to pathglob.Set) {
			if piece.overlaps(e) && out.Union(to) {
				grown = true
			}
		})
	}
	return out
}

// mayHold tells whether p can contain one of chars.
func (p piece) mayHold(chars string) bool {
	for _, r := range chars {
		if p.holds(r) {
			return true
		}
	}
	return false
}

// holds tells whether r can be part of what p stands for.
func (p piece) holds(r rune) bool {
	switch p.kind {
	case wild, entry:
		return r != '/'
	case word:
		return r != ' ' && r != '\t' && r != '\n'
	case digits:
		return r >= '0' && r <= '9' || r == '-'
	default:
		return true
	}
}

// single tells whether p stands for exactly one character.
func (p piece) single() bool { return p.kind == wild && p.text != "*" }

// overlaps tells whether something p can hold is read by e.
func (p piece) overlaps(e *pathglob.Edge) bool {
	switch e.Kind {
	case pathglob.EdgeNone:
		return false
	case pathglob.EdgeRune:
		return p.holds(e.Rune)
	case pathglob.EdgeClass:
		if !e.Not && e.Set != "" {
			return p.mayHold(e.Set)
		}
		if !e.Not {
			for r := e.Lo; r <= e.Hi && r-e.Lo < 128; r++ {
				if p.holds(r) {
					return true
				}
			}
			return e.Hi-e.Lo >= 128 && p.kind != digits
		}
		if p.kind == digits {
			for r := '0'; r <= '9'; r++ {
				if e.Reads(r) {
					return true
				}
			}
			return e.Reads('-')
		}
		return true
	default:
		return true
	}
}
