package fsops

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Limits of a pattern: its length in bytes, and how many patterns its braces
// may stand for.
const (
	maxGlobPattern      = 4096
	maxGlobAlternatives = 1000
)

// globPattern is a doublestar pattern in segments, so that a walk can hold it
// against one name at a time and leave out directories that nothing below can
// match. Braces are expanded first.
type globPattern struct {
	segs []globSeg // of all alternatives, each ended by globEnd or globEndDir
	from globState // where a match starts
}

// globState is the segments that the next name on a path may match, by index
// in ascending order. An empty one matches nothing below.
type globState []int32

type globSeg struct {
	kind globKind
	text string
}

type globKind uint8

const (
	globLiteral globKind = iota // text itself
	globAll                     // "*"
	globSuffix                  // "*" and then text
	globMatch                   // text as a doublestar pattern
	globDeep                    // "**"
	globEnd                     // the end of a pattern for files
	globEndDir                  // the end of a pattern for directories
)

// compileGlob compiles a pattern that is relative to the start of the walk.
func compileGlob(op, pattern string) (*globPattern, error) {
	if pattern == "" {
		return nil, backends.Errorf(backends.CodeInvalidArgument, op, "", `the glob pattern is empty; "**" finds every file`)
	}
	if len(pattern) > maxGlobPattern {
		return nil, backends.Errorf(backends.CodeInvalidArgument, op, "", "the glob pattern is longer than %d bytes", maxGlobPattern)
	}
	if strings.IndexByte(pattern, 0) >= 0 {
		return nil, backends.Errorf(backends.CodeInvalidArgument, op, "", "a glob pattern cannot contain a NUL character")
	}
	if !doublestar.ValidatePattern(pattern) {
		return nil, backends.Errorf(backends.CodeInvalidArgument, op, "",
			`the glob pattern %q does not parse: %s; put a backslash before a character that is meant itself`, pattern, globMistake(pattern))
	}
	alternatives, ok := expandGlob(pattern)
	if !ok {
		return nil, backends.Errorf(backends.CodeInvalidArgument, op, "",
			"the braces of this glob pattern stand for more than %d patterns; search in several calls", maxGlobAlternatives)
	}
	g := &globPattern{}
	for _, alt := range alternatives {
		if err := g.add(op, pattern, alt); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// add adds a pattern without braces.
func (g *globPattern) add(op, whole, alt string) error {
	end := globSeg{kind: globEnd}
	first := int32(len(g.segs))
	segs := splitGlob(alt)
	if len(segs) > 1 && segs[len(segs)-1] == "" {
		end.kind = globEndDir
	}
	for _, text := range segs {
		if text != "**" {
			text = joinGlobStars(text)
		}
		seg := globSeg{kind: globMatch, text: text}
		switch {
		case text == "" || text == ".":
			continue
		case text == "..":
			return backends.Errorf(backends.CodeInvalidArgument, op, "",
				`the glob pattern %q contains ".."; give the directory to search as path, and a pattern that is relative to it`, whole)
		case text == "**":
			if len(g.segs) > int(first) && g.segs[len(g.segs)-1].kind == globDeep {
				continue
			}
			seg.kind = globDeep
		case text == "*":
			seg.kind = globAll
		case !strings.ContainsAny(text, `*?[\`):
			seg.kind = globLiteral
		case strings.HasPrefix(text, "*") && !strings.ContainsAny(text[1:], `*?[\`):
			seg = globSeg{kind: globSuffix, text: text[1:]}
		}
		g.segs = append(g.segs, seg)
	}
	if len(g.segs) == int(first) {
		return nil // nothing but the start itself, which is no answer
	}
	g.segs = append(g.segs, end)
	g.from = g.reach(g.from, first)
	return nil
}

// reach adds segment i to a state, and the one that may match instead because
// a "**" can stand for no directory at all.
func (g *globPattern) reach(s globState, i int32) globState {
	for {
		for _, have := range s {
			if have == i {
				return s
			}
		}
		s = append(s, i)
		if g.segs[i].kind != globDeep {
			return s
		}
		i++
	}
}

// step holds the name of an entry against a state. It returns the state that
// holds below the entry, for a directory, and whether the entry itself
// matches: a directory against patterns for directories, anything else against
// those for files.
func (g *globPattern) step(s globState, name string, dir bool) (below globState, match bool) {
	for _, i := range s {
		seg := &g.segs[i]
		switch seg.kind {
		case globEnd, globEndDir:
			continue
		case globDeep:
			below = g.reach(below, i)
			continue
		}
		if seg.matches(name) {
			below = g.reach(below, i+1)
		}
	}
	alive := false
	for _, i := range below {
		switch g.segs[i].kind {
		case globEnd:
			match = match || !dir
		case globEndDir:
			match = match || dir
		default:
			alive = true
		}
	}
	if !alive {
		below = nil
	}
	return below, match
}

func (s *globSeg) matches(name string) bool {
	switch s.kind {
	case globLiteral:
		return name == s.text
	case globAll:
		return true
	case globSuffix:
		return strings.HasSuffix(name, s.text)
	default:
		return doublestar.MatchUnvalidated(s.text, name)
	}
}

// matchesPath holds a relative path of a file against the pattern.
func (g *globPattern) matchesPath(rel string) bool {
	state := g.from
	for {
		name, more, ok := strings.Cut(rel, "/")
		if !ok {
			_, match := g.step(state, name, false)
			return match
		}
		if state, _ = g.step(state, name, true); state == nil {
			return false
		}
		rel = more
	}
}

// splitGlob splits a pattern without braces at its slashes. A class never
// matches a slash, so one inside of it does not count.
func splitGlob(p string) []string {
	var segs []string
	var seg strings.Builder
	for i := 0; i < len(p); i++ {
		switch c := p[i]; c {
		case '/':
			segs = append(segs, seg.String())
			seg.Reset()
		case '[':
			n := globClassLen(p[i:])
			seg.WriteString(p[i : i+n])
			i += n - 1
		case '\\':
			if i++; p[i] == '/' {
				i-- // a slash is one with a backslash as well
				p = p[:i] + p[i+1:]
				i--
				continue
			}
			seg.WriteByte('\\')
			seg.WriteByte(p[i])
		default:
			seg.WriteByte(c)
		}
	}
	return append(segs, seg.String())
}

// joinGlobStars makes one star of several in a row, which mean the same inside
// of a name.
func joinGlobStars(seg string) string {
	if !strings.Contains(seg, "**") {
		return seg
	}
	var b strings.Builder
	for i := 0; i < len(seg); i++ {
		n := 1
		switch seg[i] {
		case '\\':
			n = 2
		case '[':
			n = globClassLen(seg[i:])
		case '*':
			for i+1 < len(seg) && seg[i+1] == '*' {
				i++
			}
		}
		b.WriteString(seg[i : i+n])
		i += n - 1
	}
	return b.String()
}

// globClassLen is the length of the class that p starts with, as doublestar
// reads it.
func globClassLen(p string) int {
	for i := 1; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return len(p)
}

// expandGlob writes a pattern out for each choice that its braces give. It
// fails when that is too many.
func expandGlob(p string) ([]string, bool) {
	open := indexGlobBrace(p)
	if open < 0 {
		return []string{p}, true
	}
	// The alternatives of this pair, at its own depth.
	var choices []string
	depth, start := 1, open+1
	i := start
	for ; depth > 0; i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			i += globClassLen(p[i:]) - 1
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				choices = append(choices, p[start:i])
			}
		case ',':
			if depth == 1 {
				choices = append(choices, p[start:i])
				start = i + 1
			}
		}
	}
	var out []string
	for _, c := range choices {
		more, ok := expandGlob(p[:open] + c + p[i:])
		if !ok || len(out)+len(more) > maxGlobAlternatives {
			return nil, false
		}
		out = append(out, more...)
	}
	return out, true
}

func indexGlobBrace(p string) int {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			i += globClassLen(p[i:]) - 1
		case '{':
			return i
		}
	}
	return -1
}

// globMistake says what is wrong with a pattern that doublestar refuses.
func globMistake(p string) string {
	depth := 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			if i++; i == len(p) {
				return "it ends in a backslash"
			}
		case '[':
			n := globClassLen(p[i:])
			if class := p[i : i+n]; !strings.HasSuffix(class, "]") || n < 3 {
				return `a "[" is not closed, or has nothing in it`
			}
			i += n - 1
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return `there is a "}" without a "{"`
			}
		}
	}
	if depth > 0 {
		return `a "{" is not closed`
	}
	return "a class in it has nothing to match"
}

// static returns the directory names that every match starts with, joined by
// "/", and the pattern's state there.
func (g *globPattern) static() (dir string, state globState) {
	state = g.from
	for {
		var name string
		for n, i := range state {
			seg := &g.segs[i]
			if seg.kind != globLiteral || n > 0 && seg.text != name {
				return dir, state
			}
			name = seg.text
		}
		below, _ := g.step(state, name, true)
		if name == "" || below == nil {
			return dir, state
		}
		// A pattern may be for the directory itself, which its parent has.
		for _, i := range below {
			if k := g.segs[i].kind; k == globEnd || k == globEndDir {
				return dir, state
			}
		}
		dir, state = path.Join(dir, name), below
	}
}
