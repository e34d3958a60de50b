package fsops

import (
	"bytes"
	"strings"
)

// maxIgnoreFile is how much of a .gitignore file is honoured, in bytes.
const maxIgnoreFile = 1 << 20

// Limits of all .gitignore files together of a directory and those above it,
// which bound the memory of a search: it works on few directories at once.
const (
	maxIgnoreText  = 2 << 20 // bytes
	maxIgnoreLines = 100_000
)

// ignoreRules is one .gitignore file. Later rules override earlier ones, so
// what is kept is the index of the last rule that a lookup finds.
type ignoreRules struct {
	rules []ignoreRule
	names map[string]ignoreLast // rules that are a plain name
	exts  map[string]ignoreLast // rules like *.o, by what follows the dot
	rest  []int                 // all others, in order
}

type ignoreRule struct {
	ignorePattern
	negate   bool // names what is not ignored after all
	dirOnly  bool
	baseOnly bool // held against the last name of the path alone
}

// ignoreLast is the last rule for directories and for everything else, as
// index+1; 0 is none.
type ignoreLast struct{ dir, other int }

// parseIgnore reads a .gitignore file. As in git nothing in it is an error;
// a pattern that cannot match is left out. It returns nil when no rule is
// left.
func parseIgnore(content []byte) *ignoreRules {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	set := &ignoreRules{}
	for line := range bytes.SplitSeq(content, []byte("\n")) {
		set.add(string(bytes.TrimSuffix(line, []byte("\r"))))
	}
	if len(set.rules) == 0 {
		return nil
	}
	return set
}

func (r *ignoreRules) add(line string) {
	line, _, _ = strings.Cut(line, "\x00")
	if strings.HasPrefix(line, "#") {
		return
	}
	line = trimIgnoreSpaces(line)
	var rule ignoreRule
	line, rule.negate = strings.CutPrefix(line, "!")
	line, rule.dirOnly = strings.CutSuffix(line, "/")
	rule.baseOnly = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return
	}
	compiled, ok := compileIgnore(line)
	if !ok {
		return
	}
	rule.ignorePattern = compiled
	index := len(r.rules)
	r.rules = append(r.rules, rule)

	ext, isExt := strings.CutPrefix(line, "*.")
	switch {
	case rule.baseOnly && len(compiled.steps) == 0:
		r.names = rule.index(r.names, line, index)
	case rule.baseOnly && isExt && !strings.ContainsAny(ext, `*?[\.`):
		r.exts = rule.index(r.exts, ext, index)
	default:
		r.rest = append(r.rest, index)
	}
}

func (rule *ignoreRule) index(m map[string]ignoreLast, key string, index int) map[string]ignoreLast {
	if m == nil {
		m = map[string]ignoreLast{}
	}
	last := m[key]
	last.dir = index + 1
	if !rule.dirOnly {
		last.other = index + 1
	}
	m[key] = last
	return m
}

// trimIgnoreSpaces takes off the spaces at the end that no backslash keeps.
func trimIgnoreSpaces(s string) string {
	end := 0 // of what stays
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			continue
		case '\\':
			if i++; i == len(s) {
				return s
			}
		}
		end = i + 1
	}
	return s[:end]
}

type ignoreVerdict uint8

const (
	ignoreUnsaid ignoreVerdict = iota // no rule matches
	ignoreYes
	ignoreNo // a rule with "!" matches
)

// match holds a path against the rules. rel is the path below the directory
// of the file that the rules are from, name its last part.
func (r *ignoreRules) match(rel, name []byte, dir bool, scratch *ignoreScratch) ignoreVerdict {
	last := r.names[string(name)].of(dir)
	if r.exts != nil {
		if dot := bytes.LastIndexByte(name, '.'); dot >= 0 {
			last = max(last, r.exts[string(name[dot+1:])].of(dir))
		}
	}
	for i := len(r.rest) - 1; i >= 0 && r.rest[i] >= last; i-- {
		if scratch.clock.spend(1) {
			return ignoreUnsaid
		}
		rule := &r.rules[r.rest[i]]
		if rule.dirOnly && !dir {
			continue
		}
		subject := rel
		if rule.baseOnly {
			subject = name
		}
		if rule.match(subject, scratch) {
			last = r.rest[i] + 1
			break
		}
	}
	switch {
	case last == 0:
		return ignoreUnsaid
	case r.rules[last-1].negate:
		return ignoreNo
	default:
		return ignoreYes
	}
}

func (l ignoreLast) of(dir bool) int {
	if dir {
		return l.dir
	}
	return l.other
}

// ignoreLevel is the rules that hold in a directory: its own, then those of
// the levels above. Levels are shared by the directories below them.
type ignoreLevel struct {
	above *ignoreLevel
	dir   string // real path of the directory that the rules are relative to
	rules *ignoreRules
	// Of the files of this level and all above, forgotten ones included, which
	// the directories above still hold.
	text, lines int
}

// forget is where a repository begins, in which no rules from outside hold.
func (l *ignoreLevel) forget(dir string) *ignoreLevel {
	if l == nil {
		return nil
	}
	return &ignoreLevel{dir: dir, rules: &ignoreRules{}, text: l.text, lines: l.lines}
}

// ignored tells whether the rules leave a path out. full is its real path,
// which must be below l.dir; name is the last part of it.
func (l *ignoreLevel) ignored(full, name []byte, dir bool, scratch *ignoreScratch) bool {
	return l.verdict(full, name, dir, scratch) == ignoreYes
}

// verdict is what the rules say of a path; see ignored.
func (l *ignoreLevel) verdict(full, name []byte, dir bool, scratch *ignoreScratch) ignoreVerdict {
	for ; l != nil; l = l.above {
		rel := full[len(l.dir):]
		if rel[0] == '/' { // not so where l.dir is "/"
			rel = rel[1:]
		}
		if v := l.rules.match(rel, name, dir, scratch); v != ignoreUnsaid {
			return v
		}
	}
	return ignoreUnsaid
}
