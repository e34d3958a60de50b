package commands

import (
	"strings"
	"testing"
)

// A program that nests too deep would fill the stack, which nothing recovers.
func TestJqProgramsAreBounded(t *testing.T) {
	if underRace {
		t.Skip("what is measured is not what the race detector leaves of it")
	}
	for _, piece := range []string{"1+", ".[]|", ".a//", "1 and ", "try ", "-", "[", "(", "{a:"} {
		for _, n := range []int{maxJqProgram/len(piece) - 2, 400_000 / len(piece)} {
			got := runCommand(t, map[string]string{"p.jq": strings.Repeat(piece, n) + "1"}, "", "jq", "-n", "-f", "p.jq")
			if len(piece)*n > maxJqProgram && !strings.Contains(got.err, "is the most here") {
				t.Errorf("%d times %q: %.200q", n, piece, got.err)
			}
		}
	}
}
