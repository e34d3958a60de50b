//go:build linux || darwin

package local

import (
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

func BenchmarkRead10KB(b *testing.B) {
	ws := benchmarked(b)
	for b.Loop() {
		if _, err := ws.Read(b.Context(), backends.ReadRequest{Path: "a/b/c/d/f"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite10KB(b *testing.B) {
	ws := benchmarked(b)
	for b.Loop() {
		if _, err := ws.Write(b.Context(), backends.WriteRequest{Path: "a/b/c/d/g", Content: strings.NewReader(tenKB)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRunTrue(b *testing.B) {
	ws := benchmarked(b)
	for b.Loop() {
		if exit, err := ws.Run(b.Context(), backends.Command{Script: "true"}); err != nil || exit.Code != 0 {
			b.Fatal(exit, err)
		}
	}
}

var tenKB = strings.Repeat("a line of some text\n", 500)

// benchmarked returns a workspace with a file of 10 KB some directories down.
func benchmarked(b *testing.B) backends.Workspace {
	backend, err := New(Config{Root: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := backend.Close(); err != nil {
			b.Error(err)
		}
	})
	ws, err := backend.Create(b.Context(), backends.Spec{})
	if err == nil {
		_, err = ws.Write(b.Context(), backends.WriteRequest{Path: "a/b/c/d/f", Content: strings.NewReader(tenKB)})
	}
	if err != nil {
		b.Fatal(err)
	}
	return ws
}
