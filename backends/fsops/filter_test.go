package fsops

import (
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func TestFilter(t *testing.T) {
	hide := func(patterns ...string) backends.FilterSet {
		set := backends.FilterSet{Default: true}
		for _, p := range patterns {
			set.Rules = append(set.Rules, backends.FilterRule{Pattern: p})
		}
		return set
	}
	for _, c := range []struct {
		name            string
		filter          backends.Filter
		display, real   string
		shows, readable bool
		hidesBelow      bool
	}{
		{name: "the zero filter shows everything", display: "/w/a", real: "/w/a", shows: true, readable: true},
		{name: "a rule hides", filter: backends.Filter{Names: []backends.FilterSet{hide("**/.env")}}, display: "/w/.env", real: "/w/.env", readable: true},
		{name: "a star stops at a slash", filter: backends.Filter{Names: []backends.FilterSet{hide("/w/*")}}, display: "/w/a/b", real: "/w/a/b", shows: true, readable: true},
		{name: "the real name hides as well", filter: backends.Filter{Names: []backends.FilterSet{hide("**/.env")}}, display: "/w/x", real: "/w/.env", readable: true},
		{name: "every set must show", filter: backends.Filter{Names: []backends.FilterSet{hide(), hide("**/a")}}, display: "/w/a", real: "/w/a", readable: true},
		{name: "content is another matter", filter: backends.Filter{Content: []backends.FilterSet{hide("**/a")}}, display: "/w/a", real: "/w/a", shows: true},
		{name: "the first rule decides", filter: backends.Filter{Names: []backends.FilterSet{{Default: true, Rules: []backends.FilterRule{{Pattern: "**/a", Show: true}, {Pattern: "**"}}}}}, display: "/w/a", real: "/w/a", shows: true, readable: true},
		{name: "a default that hides", filter: backends.Filter{Names: []backends.FilterSet{{}}}, display: "/w/a", real: "/w/a", readable: true, hidesBelow: true},
		{name: "a subtree that is hidden", filter: backends.Filter{Names: []backends.FilterSet{hide("**/p/**")}}, display: "/w/p", real: "/w/p", shows: true, readable: true, hidesBelow: true},
		{name: "a subtree that is hidden, further down", filter: backends.Filter{Names: []backends.FilterSet{hide("**/p/**")}}, display: "/w/p/q", real: "/w/p/q", readable: true, hidesBelow: true},
		{name: "a subtree that is hidden by its real name", filter: backends.Filter{Names: []backends.FilterSet{hide("**/p/**")}}, display: "/w/x", real: "/w/p", shows: true, readable: true, hidesBelow: true},
		{name: "a directory that is hidden, not what is below", filter: backends.Filter{Names: []backends.FilterSet{hide("**/p")}}, display: "/w/p", real: "/w/p", readable: true},
		{name: "a subtree with an exception", filter: backends.Filter{Names: []backends.FilterSet{{Default: true, Rules: []backends.FilterRule{{Pattern: "**/ok", Show: true}, {Pattern: "**/p/**"}}}}}, display: "/w/p", real: "/w/p", shows: true, readable: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := compileFilter(c.filter)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.shows(c.display, c.real); got != c.shows {
				t.Errorf("shows: %v", got)
			}
			if got := f.readable(c.display, c.real); got != c.readable {
				t.Errorf("readable: %v", got)
			}
			if got := f.hidesBelow(c.display, c.real); got != c.hidesBelow {
				t.Errorf("hidesBelow: %v", got)
			}
		})
	}
}

func TestFilterRefusesABadPattern(t *testing.T) {
	bad := []backends.FilterSet{{Default: true, Rules: []backends.FilterRule{{Pattern: "{a"}}}}
	tree, _ := walkTree(t, map[string]string{"a": "x"})
	for name, f := range map[string]backends.Filter{"names": {Names: bad}, "content": {Content: bad}} {
		_, err := tree.Glob(t.Context(), backends.GlobRequest{Pattern: "**", Filter: f})
		if backends.CodeOf(err) != backends.CodeInvalidArgument || !strings.Contains(err.Error(), `"{a"`) {
			t.Errorf("glob, %s: %v", name, err)
		}
		_, err = tree.Grep(t.Context(), backends.GrepRequest{Pattern: "x", Filter: f})
		if backends.CodeOf(err) != backends.CodeInvalidArgument {
			t.Errorf("grep, %s: %v", name, err)
		}
	}
}

// FuzzFilterPruning looks for a directory that is left out although something
// below it shows.
func FuzzFilterPruning(f *testing.F) {
	f.Add("**/p/**", "/a/p", "x/y", true)
	f.Add("/a/{b,c/**}", "/a/c", "d", true)
	f.Add("/a/[/**", "/a/", "d", true)
	f.Fuzz(func(t *testing.T, pattern, dir, below string, def bool) {
		if len(pattern) > 64 || len(dir) > 64 || len(below) > 64 || below == "" {
			return
		}
		flt, err := compileFilter(backends.Filter{Names: []backends.FilterSet{{Default: def, Rules: []backends.FilterRule{{Pattern: pattern}}}}})
		if err != nil {
			return
		}
		dir = "/" + strings.Trim(dir, "/")
		if flt.hidesBelow(dir, dir) && flt.shows(join(dir, below), join(dir, below)) {
			t.Errorf("pattern %q hides all below %q, but shows %q", pattern, dir, join(dir, below))
		}
	})
}
