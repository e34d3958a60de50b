//go:build linux

package guest_test

import (
	"strings"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

// What the protocol costs, over pipes to a process on this machine.
func BenchmarkCalls(b *testing.B) {
	p, err := startAgent()
	if err != nil {
		b.Fatal(err)
	}
	c, err := guest.Connect(b.Context(), p, guest.Setup{WorkingDir: b.TempDir()}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
		<-p.ended
	})
	text := strings.Repeat("a line of fifty characters, more or less of them.\n", 205)
	if _, err := c.Write(b.Context(), backends.WriteRequest{Path: "f", Content: strings.NewReader(text)}); err != nil {
		b.Fatal(err)
	}
	b.Run("stat", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Stat(b.Context(), "f"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read 10 KB", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Read(b.Context(), backends.ReadRequest{Path: "f"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("run true", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Run(b.Context(), backends.Command{Script: "true"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
