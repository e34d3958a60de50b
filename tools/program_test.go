package tools

import (
	"slices"
	"testing"
)

func TestPlainWordsAreWhatAProgramGetsWithoutAShell(t *testing.T) {
	for script, want := range map[string][]string{
		"/bin/app":                    {"/bin/app"},
		"app -x  --long=v  ":          {"app", "-x", "--long=v"},
		`app 'a b' "c d" e\ f`:        {"app", "a b", "c d", "e f"},
		`app '$HOME' "\$HOME" '*' \*`: {"app", "$HOME", "$HOME", "*", "*"},
		`app "" ''`:                   {"app", "", ""},
		"app a\\\nb":                  {"app", "ab"},
		"app x~ a=b":                  {"app", "x~", "a=b"},
	} {
		if got, wrong := plainWords(script); wrong != "" || !slices.Equal(got, want) {
			t.Errorf("%q is %q (%s), want %q", script, got, wrong, want)
		}
	}
}

func TestWhatNeedsAShellIsNotTakenForPlain(t *testing.T) {
	for _, script := range []string{
		"a; b", "a\nb", "a && b", "a | b", "a > f", "X=1 a", "a &", "! a", "a $HOME", `a "$x"`, "a $(b)", "a `b`", "a *", "a [x]",
		"a ?", "~/a", "a {1,2}", "if a; then b; fi", "a <(b)", "a 'open", "(a)", "f() { a; }", "a $((1))", "a $'\\n'", "",
	} {
		if got, wrong := plainWords(script); wrong == "" {
			t.Errorf("%q is taken for %q", script, got)
		}
	}
}
