package shell

import (
	"fmt"
	"strings"
	"testing"
)

// TestConditionalExpansions holds every form of ${x-word} and its kin against
// bash: what x is, the operator, the word, quoted and not.
func TestConditionalExpansions(t *testing.T) {
	needsBash(t)
	head := `show() { printf '%s:' $#; [ $# -gt 0 ] && printf '<%s>' "$@"; echo; }
e= s="v w"; ea=(); a1=(""); a2=(p "q r"); declare -A m=([k]=); r=s; HOME=/h
`
	parameters := []string{"u", "e", "s", "1", "2", "@", "*", "ea[0]", "ea[@]", "ea[*]", "a1[0]", "a1[@]", "a2[@]", "a2[*]", "m[k]", "m[x]", "!r"}
	words := []string{
		"", "x", "$e", `"$e"`, "$u", `"$@"`, "$@", `"$*"`, "$*", "'a b'", "a b", `"a b"`, "~", `"${ea[@]}"`, `"${a2[@]}"`, "${a2[*]}",
		`""`, "''", "$s", `"$s"`, "$(echo q w)", `"$(echo)"`, `"${u:-}"`, "${u:-}", `a"$@"`,
	}
	for _, parameter := range parameters {
		t.Run(parameter, func(t *testing.T) {
			var script strings.Builder
			script.WriteString(head)
			var shown []string
			for _, set := range []string{"set --", `set -- ""`, `set -- a "b c"`} {
				for _, op := range []string{"-", ":-", "+", ":+", "=", ":="} {
					if strings.Contains(op, "=") && strings.ContainsAny(parameter, "@*12") {
						continue // cannot be assigned to
					}
					for _, word := range words {
						for _, form := range []string{`"%s"`, "%s", `x"%s"`} {
							w := fmt.Sprintf(form, "${"+parameter+op+word+"}")
							shown = append(shown, set+"; show "+w)
							fmt.Fprintf(&script, "(%s; show %s)\n", set, w)
						}
					}
				}
			}
			dir := t.TempDir()
			want, got := onBash(t, script.String(), dir), onShell(t, script.String(), dir)
			if want.err != "" || got.err != "" {
				t.Fatalf("bash says %s, this shell %s", want.err, got.err)
			}
			there, here := strings.Split(want.out, "\n"), strings.Split(got.out, "\n")
			if len(there) != len(shown)+1 || len(here) != len(shown)+1 {
				t.Fatalf("%d lines, and %d from bash, of %d", len(here), len(there), len(shown)+1)
			}
			for i, line := range shown {
				if here[i] != there[i] {
					t.Errorf("%s\nis        %s\nshould be %s", line, here[i], there[i])
				}
			}
		})
	}
}
