package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/shell"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// Limits of what one script can make, beyond those of the document.
const (
	maxScriptFile = 256 << 20 // bytes in one file
	maxOpenFiles  = 256
	maxNewEntries = 1 << 17 // files, symlinks and directories: each takes memory twice
)

// shareEvery is how often what a running script has written is put into the
// document, where all others see it. Tests change it.
var shareEvery = time.Second

// keepWithin is how long keeping what a script has written may take once its
// caller has given up.
const keepWithin = 30 * time.Second

// session is one run of a script: a file system over the document that is
// copied where it is written to, and that is merged back.
type session struct {
	w  *Workspace
	fs *vfs.FS

	mu        sync.Mutex // one merge at a time
	base      *tree      // what the file system lies over
	conflicts []conflict
}

// Run implements [backends.Workspace]: a script runs inside this process, over
// the document's files and nothing else; see package shell. It sees the
// document as it is when it starts, and about every second what others have
// written since; what it has written itself is put into the document as often,
// and at its end, however that comes. When somebody else has changed a file
// that the script has changed, too, Run answers stale: what they wrote stays,
// and what the script wrote is in a file beside it, which the message names.
// What both only appended is kept in the file, one after the other.
func (w *Workspace) Run(ctx context.Context, cmd backends.Command) (backends.Exit, error) {
	if err := w.ready("run"); err != nil {
		return backends.Exit{}, err
	}
	v, err := w.doc.current(ctx)
	if err != nil {
		return backends.Exit{}, storeError("run", w.ref.ID, err)
	}
	memory := w.backend.memory.Open(w.owner)
	defer memory.Close()
	s := &session{w: w, base: v.tree, fs: vfs.New(vfs.Options{
		Base: v.tree.root, Memory: memory, Used: v.tree.bytes, Entries: v.tree.count, Access: cmd.Access,
		Limits: vfs.Limits{TotalBytes: w.backend.maxBytes, FileBytes: maxScriptFile, Entries: min(maxEntries, v.tree.count+maxNewEntries), OpenFiles: maxOpenFiles},
	})}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	shared := make(chan struct{})
	go func() {
		defer close(shared)
		s.share(running, stop)
	}()
	exit, err := shell.Run(running, cmd, shell.Options{Files: s.fs, Memory: memory, Turns: w.backend.turns, Owner: w.owner, Dir: w.dir, Env: w.backend.env, OpenOutputFile: s.openOutputFile, Logger: w.backend.log})
	stop(nil)
	<-shared
	return s.finish(ctx, exit, err)
}

// share merges about every second until ctx ends, and stops the script when it
// cannot.
func (s *session) share(ctx context.Context, stop context.CancelCauseFunc) {
	tick := time.NewTicker(shareEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.keep(ctx); err != nil && ctx.Err() == nil {
			stop(err)
			return
		}
	}
}

// keep merges, also when ctx ends meanwhile: a merge that is given up may have
// come about, and with the next one what was appended would be there twice.
func (s *session) keep(ctx context.Context) error {
	keeping, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepWithin)
	defer cancel()
	return s.merge(keeping)
}

// merge puts what has changed into the document, and takes over what others
// have changed. It fails when there was a conflict.
func (s *session) merge(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conflicts) > 0 {
		return s.stale()
	}
	if !s.fs.Changed() {
		// Others may have changed or destroyed the workspace.
		v, err := s.w.doc.current(ctx)
		if err != nil || v.tree == s.base {
			return storeError("run", s.w.ref.ID, err)
		}
	}
	err := s.fs.Exchange(func(changes []vfs.Change) (vfs.Node, int64, int, error) {
		var merged *tree
		var conflicts []conflict
		err := s.w.doc.update(ctx, func(t *tree) (out *tree, err error) {
			if merged, conflicts, err = merge(t, changes, s.w.backend.maxBytes, aside); err != nil {
				return nil, err
			}
			if len(changes) == 0 {
				merged = t
			}
			return merged, nil
		})
		if err != nil {
			return nil, 0, 0, err
		}
		s.conflicts = append(s.conflicts, conflicts...)
		s.base = merged
		return merged.root, merged.bytes, merged.count, nil
	})
	if err != nil {
		return storeError("run", s.w.ref.ID, err)
	}
	if len(s.conflicts) > 0 {
		return s.stale()
	}
	return nil
}

// stale tells of conflicts.
func (s *session) stale() error {
	var b strings.Builder
	for i, c := range s.conflicts {
		if i == 10 {
			fmt.Fprintf(&b, "; and %d more", len(s.conflicts)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c.path)
		if c.kept != "" {
			b.WriteString(" (what this command wrote is in " + c.kept + ")")
		}
	}
	return backends.Errorf(backends.CodeStale, "run", s.conflicts[0].path,
		"while the command ran, another call or connection changed what it changed, too, and that was left as it is: %s. Look at both, and run the command again if it is still needed; calls that write to one file are better made one after the other", b.String())
}

// finish keeps what the script has written and tells how it ended.
func (s *session) finish(ctx context.Context, exit backends.Exit, err error) (backends.Exit, error) {
	merr := s.keep(ctx)
	if merr == nil {
		return exit, err
	}
	if exit.OutputFile != "" && backends.CodeOf(merr) != backends.CodeStale {
		exit.OutputFile = "" // it is not there
	}
	// What became of the files counts for more than how the script ended, but
	// for a caller that has gone.
	e := &backends.Error{Code: backends.CodeOf(merr), Op: "run", Err: errors.Join(merr, err), Message: merr.Error()}
	switch {
	case err == nil:
		e.Message += fmt.Sprintf("; the command itself ended with exit code %d", exit.Code)
	case backends.CodeOf(err) != backends.CodeCancelled:
		e.Message += "; the command itself: " + err.Error()
	}
	return exit, e
}

// openOutputFile makes the file that holds all of a command's output. It is not
// held against the caller's rules: the command's output is theirs anyway.
func (s *session) openOutputFile() (string, io.WriteCloser, error) {
	name := "/tmp/output-" + strings.TrimPrefix(newID(), "mcpws-") + ".txt"
	w, err := s.fs.CreateOwn(name)
	if err != nil {
		return "", nil, err
	}
	return name, &outputFile{w, s.fs, name}, nil
}

// outputFile is removed when not all could be written to it.
type outputFile struct {
	vfs.File
	fs   *vfs.FS
	name string
}

func (f *outputFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if err != nil {
		err = errors.Join(err, f.fs.RemoveOwn(f.name))
	}
	return n, err
}
