package shell

import (
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// BenchmarkRun measures scripts from the parser to their end.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct{ name, script string }{
		{"true", "true"},
		{"five stages", "seq 100 | cat | sort -r | head -n 3 | wc -l"},
		{"a loop of 1000", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done"},
	} {
		b.Run(c.name, func(b *testing.B) {
			files := newFiles(b, "/work")
			for b.Loop() {
				exit, err := Run(b.Context(), backends.Command{Script: c.script}, Options{Files: files, Dir: "/work"})
				if err != nil || exit.Code != 0 {
					b.Fatal(exit, err)
				}
			}
		})
	}
}
