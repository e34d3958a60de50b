//go:build linux || darwin

package local

import (
	"os"
	"testing"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/backendtest"
)

func TestContract(t *testing.T) {
	roots := map[backends.Backend]string{}
	backendtest.Run(t, backendtest.Harness{
		New: func(t *testing.T) backends.Backend {
			b := newBackend(t, Config{Root: t.TempDir()})
			roots[b] = b.root
			return b
		},
		Reopen: func(t *testing.T, b backends.Backend) backends.Backend {
			return newBackend(t, Config{Root: roots[b]})
		},
		Gone: func(t *testing.T, ws backends.Workspace) {
			if err := os.RemoveAll(ws.Ref().ID); err != nil {
				t.Fatal(err)
			}
		},
		Foreign: func(t *testing.T, _ backends.Backend) backends.Ref {
			return backends.Ref{Provider: Provider, ID: t.TempDir()}
		},
		Commands: true,
		Confined: true,
	})
}

func newBackend(t *testing.T, cfg Config) *Backend {
	t.Helper()
	b, err := New(cfg)
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
