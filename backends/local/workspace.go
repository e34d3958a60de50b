//go:build linux || darwin

package local

import (
	"context"
	"log/slog"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/fsops"
	"github.com/mcp-workspace/mcp-workspace/backends/osfs"
	"github.com/mcp-workspace/mcp-workspace/backends/procs"
)

// outputDir is where the whole output of commands is kept, below the root.
const outputDir = ".mcp-workspace/output"

// workspace is the directory, open. All connections share one, so that their
// edits exclude each other.
type workspace struct {
	*fsops.Tree
	files   *osfs.FS
	ref     backends.Ref
	env     []string
	log     *slog.Logger
	outputs *osfs.Outputs
}

// Ref implements [backends.Workspace].
func (w *workspace) Ref() backends.Ref { return w.ref }

// Close implements [backends.Workspace]. The directory stays open for other
// connections until the Backend is closed.
func (w *workspace) Close() error { return nil }

// Run implements [backends.Workspace]. The command may start anywhere in the
// workspace, and nowhere else.
func (w *workspace) Run(ctx context.Context, cmd backends.Command) (backends.Exit, error) {
	if err := w.files.Check(); err != nil {
		return backends.Exit{}, err
	}
	if cmd.Dir == "" {
		cmd.Dir = w.WorkingDir()
	}
	at, err := w.Resolve(ctx, cmd.Dir)
	if err != nil {
		return backends.Exit{}, err
	}
	cmd.Dir = at.Resolved
	return procs.Run(ctx, cmd, procs.Options{
		Env:            w.env,
		Dir:            w.WorkingDir(),
		OpenOutputFile: w.outputs.Open,
		Logger:         w.log,
	})
}
