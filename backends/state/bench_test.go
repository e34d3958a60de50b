package state

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// eachBench runs do as a benchmark of each store, with a workspace that holds
// a file "f" of 10 KB.
func eachBench(b *testing.B, do func(b *testing.B, ws *Workspace)) {
	for _, s := range stores {
		b.Run(s.name, func(b *testing.B) {
			ws := create(b, open(b, Config{Store: s.make(b)}), backends.Spec{})
			write(b, ws, "f", strings.Repeat("a line of forty characters or thereabout\n", 250))
			b.ReportAllocs()
			do(b, ws)
		})
	}
}

func BenchmarkStat(b *testing.B) {
	eachBench(b, func(b *testing.B, ws *Workspace) {
		for b.Loop() {
			if _, err := ws.Stat(b.Context(), "f"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRead10KB(b *testing.B) {
	eachBench(b, func(b *testing.B, ws *Workspace) {
		for b.Loop() {
			if _, err := ws.Read(b.Context(), backends.ReadRequest{Path: "f"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkWriteSmall(b *testing.B) {
	eachBench(b, func(b *testing.B, ws *Workspace) {
		for b.Loop() {
			write(b, ws, "g", "some text\n")
		}
	})
}

func BenchmarkWriteSmallAmong50000Files(b *testing.B) {
	for _, s := range stores {
		b.Run(s.name, func(b *testing.B) {
			back := open(b, Config{Store: s.make(b)})
			ws := create(b, back, backends.Spec{})
			err := back.Update(b.Context(), ws.Ref(), func(d *Document) error {
				for i := range 50_000 {
					d.Files[fmt.Sprintf("/workspace/d%d/f%d", i%100, i)] = File{Content: []byte("some text\n"), Mode: 0o644}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				write(b, ws, "g", "some text\n")
			}
		})
	}
}

func BenchmarkMarshal50000Files(b *testing.B) {
	d := &Document{WorkingDir: "/workspace", Files: map[string]File{}}
	for i := range 50_000 {
		d.Files[fmt.Sprintf("/workspace/d%d/f%d", i%100, i)] = File{Content: []byte("some text\n"), Mode: 0o644, ModTime: time.Unix(1, 1000)}
	}
	t, err := d.tree()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		b.SetBytes(int64(len(t.marshal())))
	}
}

func BenchmarkDocument(b *testing.B) {
	for name, content := range map[string]string{
		"text":   strings.Repeat("a line of text with \"quotes\" and ümlauts\n", 1<<20/42),
		"binary": strings.Repeat("\x00\xff\x10\x80", 1<<20/4),
	} {
		d := &Document{WorkingDir: "/w", Files: map[string]File{}}
		for i := range 16 {
			d.Files[fmt.Sprintf("/w/%d", i)] = File{Content: []byte(content), Mode: 0o644}
		}
		data, err := d.Marshal()
		if err != nil {
			b.Fatal(err)
		}
		b.Run("marshal "+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := d.Marshal(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("parse "+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := ParseDocument(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
