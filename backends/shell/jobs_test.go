package shell

import (
	"strings"
	"testing"
)

func TestJobsThatEndWithTheScriptAreTold(t *testing.T) {
	for _, c := range []struct{ script, out, told string }{
		{"sleep 100 & echo a", "a\n", "1 background job ended with the script"},
		{"sleep 100 & sleep 100 & (sleep 100 &); echo a", "a\n", "3 background jobs ended with the script"},
		{"sleep 100 & disown; echo a", "a\n", "1 background job ended"},
		{"sleep 100 & kill $!; echo a", "a\n", ""},
		{"sleep 100 & trap 'kill %1' EXIT; echo a", "a\n", ""},
		{"sleep 0.01 & wait; echo a", "a\n", ""},
		{"(sleep 0.02; echo b) & echo a", "a\nb\n", ""},
		{"exec > >(tr a-z A-Z); echo a", "A\n", ""},
		{"head -n 1 < <(echo a; sleep 100)", "a\n", ""},
	} {
		got := onShell(t, c.script, t.TempDir())
		if got.out != c.out || got.code != 0 {
			t.Errorf("%s: %q, %d, want %q", c.script, got.out, got.code, c.out)
		}
		if (got.err != "") != (c.told != "") || !strings.Contains(got.err, c.told) {
			t.Errorf("%s: it is told %q, want %q", c.script, got.err, c.told)
		}
	}
}
