package main

import (
	"strings"
	"testing"
)

func TestCommandsShareTheMemoryThatIsSet(t *testing.T) {
	const command = "command=x=$(yes | head -c 30M)"
	got := program{args: []string{"call", "execute", command, "--max-memory=16MB"}}.run(t)
	if want := "all callers together may have 16 MiB of this server"; got.code != 1 || !strings.Contains(got.stdout+got.stderr, want) {
		t.Errorf("%+v", got)
	}
	for _, most := range []string{"256MB", "0"} {
		if got := (program{args: []string{"call", "execute", command, "--max-memory", most}}).run(t); got.code != 0 {
			t.Errorf("%s: %+v", most, got)
		}
	}
}
