package shell

import (
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// outputOf runs a script and returns what it printed.
func outputOf(t *testing.T, script string) (string, backends.Exit) {
	t.Helper()
	var out strings.Builder
	exit, err := Run(t.Context(), backends.Command{Script: script, Output: func(_ backends.Stream, b []byte) { out.Write(b) }},
		Options{Files: newFiles(t, "/work"), Dir: "/work"})
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return out.String(), exit
}

// TestASignalToAScriptReachesItFromAnyOfItsGoroutines: the script within the
// script ends, and what ran it goes on.
func TestASignalToAScriptReachesItFromAnyOfItsGoroutines(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"from a stage of a pipeline", `sh -c '{ kill $$; sleep 10; } | cat; echo not reached'; echo "code $?"`, "code 143\n"},
		{"from a job", `sh -c '(kill -KILL $$) & wait; echo not reached'; echo "code $?"`, "code 137\n"},
		{"from a subshell", `sh -c '(kill $$); echo not reached'; echo "code $?"`, "code 143\n"},
		{"from a substitution in a pipeline", `sh -c 'echo $(kill $$) | cat; echo not reached'; echo "code $?"`, "code 143\n"},
		{"to one that catches it", `sh -c 'trap "echo caught" TERM; true | kill $$; echo on'; echo "code $?"`, "caught\non\ncode 0\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := outputOf(t, c.script); got != c.want {
				t.Errorf("printed %q, want %q", got, c.want)
			}
		})
	}
}

func TestASignalToTheWholeScriptFromAPipeline(t *testing.T) {
	if got, exit := outputOf(t, `{ kill $$; sleep 10; } | cat; echo not reached`); exit.Signal != "SIGTERM" || exit.Code != 143 || got != "" {
		t.Errorf("%+v, printed %q", exit, got)
	}
}

func TestExpansionsAtTheEdges(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`set -- a b c; echo ${@:1:9223372036854775807} ${@:2:9223372036854775806}`, "a b c b c\n"},
		{`a=(1 2); echo ${a@K} ${a[0]@K} ${a[@]@K}`, "1 1 0 \"1\" 1 \"2\"\n"},
		{`declare -n r=s; s=x; echo $r; declare -n q=RANDOM; [[ $q ]] && echo set`, "x\nset\n"},
		{`x=$(printf 'a%.0s' {1..3000}); [[ $x == *"$x"* ]] && echo in; [[ b$x == *a*b* ]] || echo out`, "in\nout\n"},
		{`IFS=é:; x='aébc:d'; for w in $x; do echo $w; done`, "a\nbc\nd\n"},
	} {
		if got, _ := outputOf(t, c.script); got != c.want {
			t.Errorf("%s printed %q, want %q", c.script, got, c.want)
		}
	}
}
