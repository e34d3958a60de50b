package docker

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

// workspace is a session of the agent in a container. Where one of its calls
// fails because the session has ended, the engine is asked why.
type workspace struct {
	*guest.Client
	backend   *Backend
	container string // its id
	exec      string // the id of the session's exec
	ref       backends.Ref

	closed atomic.Bool
	asked  sync.Once
	reason string // why the session ended, once asked
}

var _ backends.Workspace = (*workspace)(nil)

// Ref implements [backends.Workspace].
func (w *workspace) Ref() backends.Ref { return w.ref }

// Limits on finding out what became of a container: how long the engine may take
// to answer, and how long to notice what has happened.
const (
	explainLimit = 5 * time.Second
	noticeLimit  = time.Second
)

// explain adds to a failure what has become of the container. The context of the
// call is not heeded: the call has failed already, and the reason is worth the
// moment.
func (w *workspace) explain(err error) error {
	var e *backends.Error
	if !errors.As(err, &e) || e.Code != backends.CodeUnavailable || w.closed.Load() {
		return err
	}
	select {
	case <-w.Done():
	default:
		return err // the session goes on: it is something else that is unavailable
	}
	w.asked.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), explainLimit)
		defer cancel()
		w.reason = w.backend.becameOf(ctx, w.container)
	})
	if w.reason == "" {
		return err
	}
	explained := *e
	explained.Message = w.reason
	explained.Err = err
	return &explained
}

// explained is call with its failure explained.
func explained[Request, Result any](ctx context.Context, w *workspace, call func(context.Context, Request) (Result, error), req Request) (Result, error) {
	res, err := call(ctx, req)
	return res, w.explain(err)
}

// becameOf says what has become of a container whose session has just ended, or
// "" when it goes on. The session may have ended because the container is about
// to, and it may stop because it is about to be removed.
func (b *Backend) becameOf(ctx context.Context, id string) string {
	deadline := time.Now().Add(noticeLimit)
	for stopped := 0; ; {
		info, reason := b.look(ctx, id)
		if reason != "" {
			return reason
		}
		switch info.State.Status {
		case "running", "removing", "stopping":
		case "exited", "stopped":
			stopped++
		default:
			return b.stateOf(info, "the next call starts it again")
		}
		if stopped > 4 || time.Now().After(deadline) || pause(ctx, pollInterval) != nil {
			return b.stateOf(info, "the next call starts it again")
		}
	}
}

// Close implements [backends.Workspace].
func (w *workspace) Close() error {
	w.closed.Store(true)
	closedExecs.add(w.exec, time.Now())
	return w.Client.Close()
}

// Resolve implements [backends.Workspace].
func (w *workspace) Resolve(ctx context.Context, path string) (backends.Resolution, error) {
	return explained(ctx, w, w.Client.Resolve, path)
}

// Stat implements [backends.Workspace].
func (w *workspace) Stat(ctx context.Context, path string) (backends.FileInfo, error) {
	return explained(ctx, w, w.Client.Stat, path)
}

// List implements [backends.Workspace].
func (w *workspace) List(ctx context.Context, req backends.ListRequest) (backends.ListResult, error) {
	return explained(ctx, w, w.Client.List, req)
}

// Read implements [backends.Workspace].
func (w *workspace) Read(ctx context.Context, req backends.ReadRequest) (backends.ReadResult, error) {
	return explained(ctx, w, w.Client.Read, req)
}

// Open implements [backends.Workspace].
func (w *workspace) Open(ctx context.Context, path string) (io.ReadCloser, backends.FileInfo, error) {
	file, info, err := w.Client.Open(ctx, path)
	return file, info, w.explain(err)
}

// Write implements [backends.Workspace].
func (w *workspace) Write(ctx context.Context, req backends.WriteRequest) (backends.WriteResult, error) {
	return explained(ctx, w, w.Client.Write, req)
}

// Edit implements [backends.Workspace].
func (w *workspace) Edit(ctx context.Context, req backends.EditRequest) (backends.EditResult, error) {
	return explained(ctx, w, w.Client.Edit, req)
}

// EditLines implements [backends.Workspace].
func (w *workspace) EditLines(ctx context.Context, req backends.EditLinesRequest) (backends.EditResult, error) {
	return explained(ctx, w, w.Client.EditLines, req)
}

// Glob implements [backends.Workspace].
func (w *workspace) Glob(ctx context.Context, req backends.GlobRequest) (backends.GlobResult, error) {
	return explained(ctx, w, w.Client.Glob, req)
}

// Grep implements [backends.Workspace].
func (w *workspace) Grep(ctx context.Context, req backends.GrepRequest) (backends.GrepResult, error) {
	return explained(ctx, w, w.Client.Grep, req)
}

// stopNotice is how long after a command the session ends at the latest when both
// were ended because the container stops.
const stopNotice = 500 * time.Millisecond

// Run implements [backends.Workspace].
//
// An engine that stops a container has the agent pass SIGTERM on to everything in
// it. A command that ends by that has not come to its own end, which shows when
// the session ends as well.
func (w *workspace) Run(ctx context.Context, cmd backends.Command) (backends.Exit, error) {
	exit, err := w.Client.Run(ctx, cmd)
	if err == nil && exit.Code == 128+int(syscall.SIGTERM) {
		timer := time.NewTimer(stopNotice)
		defer timer.Stop()
		select {
		case <-w.Done():
			return backends.Exit{OutputFile: exit.OutputFile}, w.explain(backends.Errorf(backends.CodeUnavailable, "run", "",
				"the command was ended together with the connection to the workspace, so what became of it is not known; look before you repeat it"))
		case <-timer.C:
		case <-ctx.Done(): // the command has ended, whoever waits
		}
	}
	return exit, w.explain(err)
}
