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

// becameOf says what has become of a container whose session has just ended, or
// "" when it goes on. The session may have ended because the container is about
// to, and it may stop because it is about to be removed.
func (b *Backend) becameOf(ctx context.Context, id string) string {
	deadline := time.Now().Add(noticeLimit)
	for stopped := 0; ; {
		info, err := b.inspect(ctx, "open", id)
		switch {
		case errors.Is(err, errGone):
			return removedReason
		case err != nil:
			return err.Error()
		}
		switch info.State.Status {
		case "running", "removing", "stopping":
		case "exited", "stopped":
			stopped++
		default:
			return b.stateOf(info)
		}
		if stopped > 4 || time.Now().After(deadline) || pause(ctx, pollInterval) != nil {
			return b.stateOf(info)
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
	res, err := w.Client.Resolve(ctx, path)
	return res, w.explain(err)
}

// Stat implements [backends.Workspace].
func (w *workspace) Stat(ctx context.Context, path string) (backends.FileInfo, error) {
	res, err := w.Client.Stat(ctx, path)
	return res, w.explain(err)
}

// List implements [backends.Workspace].
func (w *workspace) List(ctx context.Context, req backends.ListRequest) (backends.ListResult, error) {
	res, err := w.Client.List(ctx, req)
	return res, w.explain(err)
}

// Read implements [backends.Workspace].
func (w *workspace) Read(ctx context.Context, req backends.ReadRequest) (backends.ReadResult, error) {
	res, err := w.Client.Read(ctx, req)
	return res, w.explain(err)
}

// Open implements [backends.Workspace].
func (w *workspace) Open(ctx context.Context, path string) (io.ReadCloser, backends.FileInfo, error) {
	file, info, err := w.Client.Open(ctx, path)
	return file, info, w.explain(err)
}

// Write implements [backends.Workspace].
func (w *workspace) Write(ctx context.Context, req backends.WriteRequest) (backends.WriteResult, error) {
	res, err := w.Client.Write(ctx, req)
	return res, w.explain(err)
}

// Edit implements [backends.Workspace].
func (w *workspace) Edit(ctx context.Context, req backends.EditRequest) (backends.EditResult, error) {
	res, err := w.Client.Edit(ctx, req)
	return res, w.explain(err)
}

// EditLines implements [backends.Workspace].
func (w *workspace) EditLines(ctx context.Context, req backends.EditLinesRequest) (backends.EditResult, error) {
	res, err := w.Client.EditLines(ctx, req)
	return res, w.explain(err)
}

// Glob implements [backends.Workspace].
func (w *workspace) Glob(ctx context.Context, req backends.GlobRequest) (backends.GlobResult, error) {
	res, err := w.Client.Glob(ctx, req)
	return res, w.explain(err)
}

// Grep implements [backends.Workspace].
func (w *workspace) Grep(ctx context.Context, req backends.GrepRequest) (backends.GrepResult, error) {
	res, err := w.Client.Grep(ctx, req)
	return res, w.explain(err)
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
