package state

import (
	"path"
	"path/filepath"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/backendtest"
	"github.com/mcp-workspace/mcp-workspace/internal/testpg"
)

// stores are all stores, each made anew by its function.
var stores = []struct {
	name   string
	shared bool // with other processes
	make   func(t testing.TB) string
}{
	{"memory", false, func(testing.TB) string { return "memory" }},
	{"file", true, func(t testing.TB) string { return "file:" + filepath.Join(t.TempDir(), "new", "a dir [*]") }},
	{"sqlite", true, func(t testing.TB) string {
		return "sqlite:" + filepath.Join(t.TempDir(), "new", "100% of ?mode=ro&x #1 ü.db")
	}},
	{"postgres", true, testpg.Start},
}

// eachStore runs do with every store, new.
func eachStore(t *testing.T, do func(t *testing.T, store string)) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) { do(t, s.make(t)) })
	}
}

// eachShared is eachStore for those that several processes can use.
func eachShared(t *testing.T, do func(t *testing.T, store string)) {
	for _, s := range stores {
		if s.shared {
			t.Run(s.name, func(t *testing.T) { do(t, s.make(t)) })
		}
	}
}

func open(t testing.TB, cfg Config) *Backend {
	t.Helper()
	b, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestContract(t *testing.T) {
	for i, s := range stores {
		if underRace && i > 0 {
			break // what races is above the stores, and this takes minutes for each
		}
		t.Run(s.name, func(t *testing.T) {
			at := map[backends.Backend]string{}
			h := backendtest.Harness{
				New: func(t *testing.T) backends.Backend {
					store := s.make(t)
					b := open(t, Config{Store: store})
					at[b] = store
					return b
				},
				Commands:    true,
				NoProcesses: true,
				Destroys:    true,
				Fresh:       true,
				Symlink: func(t *testing.T, ws backends.Workspace, target, link string) {
					change(t, ws, func(d *Document) { d.Files[path.Clean(link)] = File{Link: target} })
				},
				Mkdir: func(t *testing.T, ws backends.Workspace, dir string) {
					change(t, ws, func(d *Document) { d.Directories = append(d.Directories, path.Clean(dir)) })
				},
			}
			if s.shared {
				h.Reopen = func(t *testing.T, b backends.Backend) backends.Backend {
					return open(t, Config{Store: at[b]})
				}
			}
			backendtest.Run(t, h)
		})
	}
}

// change does to a document what no tool can.
func change(t *testing.T, ws backends.Workspace, do func(*Document)) {
	t.Helper()
	err := ws.(*Workspace).backend.Update(t.Context(), ws.Ref(), func(d *Document) error {
		do(d)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
