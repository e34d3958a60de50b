package fsops

import (
	"strings"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/internal/pathglob"
)

// filter is a [backends.Filter] with its patterns compiled. A nil filter shows
// everything.
type filter struct {
	names   []filterRules
	content []filterRules
}

type filterRules struct {
	rules []filterRule
	shown bool // what no rule matches
}

type filterRule struct {
	pattern *pathglob.Pattern
	show    bool
	// subtree tells that the pattern ends in "/**" (or is "**"): once it
	// matches "dir/" it matches every path below dir.
	subtree bool
}

// compileFilter compiles f. A pattern that does not compile is an error: to
// ignore it would show what it was meant to hide.
func compileFilter(f backends.Filter) (*filter, error) {
	if len(f.Names) == 0 && len(f.Content) == 0 {
		return nil, nil
	}
	names, err := compileFilterSets(f.Names)
	if err != nil {
		return nil, err
	}
	content, err := compileFilterSets(f.Content)
	if err != nil {
		return nil, err
	}
	return &filter{names: names, content: content}, nil
}

func compileFilterSets(sets []backends.FilterSet) ([]filterRules, error) {
	out := make([]filterRules, 0, len(sets))
	for _, set := range sets {
		compiled := filterRules{shown: set.Default}
		for _, r := range set.Rules {
			p, err := pathglob.Compile(r.Pattern)
			if err != nil {
				return nil, badFilter(r.Pattern, err)
			}
			compiled.rules = append(compiled.rules, filterRule{
				pattern: p,
				show:    r.Show,
				subtree: r.Pattern == "**" || strings.HasSuffix(r.Pattern, "/**"),
			})
		}
		out = append(out, compiled)
	}
	return out, nil
}

func badFilter(pattern string, err error) error {
	e := backends.Errorf(backends.CodeInvalidArgument, "filter", "", "the rule pattern %q does not parse: %v", pattern, err)
	e.Err = err
	return e
}

// shows tells whether a path may be named in an answer. real is display with
// symlinks resolved; the stricter of the two decides.
func (f *filter) shows(display, real string) bool {
	return f == nil || allShow(f.names, display) && (real == display || allShow(f.names, real))
}

// readable tells whether the content of a file that shows may be searched.
func (f *filter) readable(display, real string) bool {
	return f == nil || allShow(f.content, display) && (real == display || allShow(f.content, real))
}

// hidesBelow tells whether every path below a directory is certain to be
// hidden, so that it need not be entered. It may say no where that is so.
func (f *filter) hidesBelow(display, real string) bool {
	if f == nil {
		return false
	}
	for i := range f.names {
		set := &f.names[i]
		if set.hidesBelow(display) || real != display && set.hidesBelow(real) {
			return true
		}
	}
	return false
}

func allShow(sets []filterRules, name string) bool {
	for i := range sets {
		if !sets[i].shows(name) {
			return false
		}
	}
	return true
}

func (s *filterRules) shows(name string) bool {
	for i := range s.rules {
		if s.rules[i].pattern.Match(name) {
			return s.rules[i].show
		}
	}
	return s.shown
}

// hidesBelow looks at the rules up to the first that shows: only those decide
// for every path below dir, whatever it is called.
func (s *filterRules) hidesBelow(dir string) bool {
	for i := range s.rules {
		r := &s.rules[i]
		if r.show {
			return false
		}
		if r.subtree && r.pattern.Match(join(dir, "")) {
			return true
		}
	}
	return !s.shown
}
