package backends

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// closePatience is how long Close lets an opening in flight come to its end by
// itself before it is told to give up.
const closePatience = 2 * time.Second

// Lazy is a connection to one environment that is created, or attached to,
// with the first operation and not before. It is safe for concurrent use:
// callers that come first together share one environment.
//
// A workspace that has answered CodeUnavailable, or was closed by Rest, is
// attached to anew, by its ref, for the next caller: what was gone may be back.
type Lazy struct {
	backend Backend
	create  func(context.Context) (Workspace, error) // the first opening

	mu      sync.Mutex
	hear    map[int]func(string) // of the progress of an opening
	heard   int                  // how many have ever listened
	ref     Ref                  // of the environment, once there has been one
	ws      *watched
	lost    bool       // ws has answered CodeUnavailable
	former  []*watched // those that ws took the place of; calls may be using them
	opening *opening
	closed  bool
}

// opening is one attempt in flight; ws and err are set when done is closed.
type opening struct {
	cancel context.CancelFunc
	done   chan struct{}
	ws     Workspace
	err    error
}

// Create returns a Lazy whose first use creates an environment.
func Create(b Backend, spec Spec) *Lazy {
	l := &Lazy{backend: b}
	given := spec.Progress
	spec.Progress = func(message string) {
		if given != nil {
			given(message)
		}
		l.report(message)
	}
	l.create = func(ctx context.Context) (Workspace, error) { return b.Create(ctx, spec) }
	return l
}

// Attach returns a Lazy whose first use attaches to ref.
func Attach(b Backend, ref Ref) *Lazy {
	return &Lazy{backend: b, create: func(ctx context.Context) (Workspace, error) { return b.Attach(ctx, ref) }}
}

// OnProgress has hear told what a slow creation is doing, from other goroutines,
// until stop is called.
func (l *Lazy) OnProgress(hear func(message string)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hear == nil {
		l.hear = map[int]func(string){}
	}
	l.heard++
	id := l.heard
	l.hear[id] = hear
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.hear, id)
	}
}

func (l *Lazy) report(message string) {
	l.mu.Lock()
	listeners := slices.Collect(maps.Values(l.hear))
	l.mu.Unlock()
	for _, hear := range listeners {
		hear(message)
	}
}

// Workspace opens the environment if that has not happened yet. A caller whose
// ctx ends gives up waiting, not the opening: it is finished for the next
// caller. A failed opening is tried again by the next call.
func (l *Lazy) Workspace(ctx context.Context) (Workspace, error) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, Errorf(CodeUnavailable, "open", "", "the connection to this workspace is closed")
	}
	if l.ws != nil && !l.lost {
		ws := l.ws
		l.mu.Unlock()
		return ws, nil
	}
	o := l.opening
	if o == nil {
		o = &opening{done: make(chan struct{})}
		opening, cancel := context.WithCancel(context.WithoutCancel(ctx))
		o.cancel = cancel
		l.opening = o
		open := l.create
		if ref := l.ref; ref != (Ref{}) {
			open = func(ctx context.Context) (Workspace, error) { return l.backend.Attach(ctx, ref) }
		}
		go l.finish(opening, o, open)
	}
	l.mu.Unlock()

	select {
	case <-o.done:
		return o.ws, o.err
	case <-ctx.Done():
		return nil, &Error{Code: CodeCancelled, Op: "open", Err: context.Cause(ctx),
			Message: "given up while the workspace was still being opened; it is finished in the background, so try again"}
	}
}

func (l *Lazy) finish(ctx context.Context, o *opening, open func(context.Context) (Workspace, error)) {
	defer o.cancel()
	ws, err := open(ctx)
	l.mu.Lock()
	l.opening = nil
	if err == nil {
		if l.ws != nil {
			l.former = append(l.former, l.ws)
		}
		l.ws, l.lost, l.ref = &watched{ws, l}, false, ws.Ref()
		o.ws = l.ws
	}
	o.err = err
	l.mu.Unlock()
	close(o.done)
}

// Provider is that of the environment's backend.
func (l *Lazy) Provider() string { return l.backend.Provider() }

// Ref returns the ref of the environment, and whether there is one yet.
func (l *Lazy) Ref() (Ref, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ref, l.ref != (Ref{})
}

// Unused tells that there is no environment yet, and nothing under way to one.
func (l *Lazy) Unused() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ref == (Ref{}) && l.opening == nil
}

// IsOpen tells whether there is a connection just now.
func (l *Lazy) IsOpen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ws != nil && !l.lost && !l.closed
}

// Rest closes the connection until the next use, which attaches anew. Whoever
// calls it knows that no operation is under way: one would fail. While the
// environment is being opened, nothing is done.
func (l *Lazy) Rest() error {
	l.mu.Lock()
	if l.closed || l.opening != nil || l.ws == nil {
		l.mu.Unlock()
		return nil
	}
	resting := append(slices.Clone(l.former), l.ws)
	l.former, l.ws, l.lost = nil, nil, false
	l.mu.Unlock()
	var errs []error
	for _, w := range resting {
		errs = append(errs, w.Close())
	}
	return errors.Join(errs...)
}

// Close ends the connection, waiting for an opening in flight, which is
// cancelled after 2 s. The environment stays.
func (l *Lazy) Close() error {
	l.mu.Lock()
	l.closed = true
	o := l.opening
	l.mu.Unlock()
	if o != nil {
		impatient := time.AfterFunc(closePatience, o.cancel)
		<-o.done
		impatient.Stop()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, w := range l.former {
		errs = append(errs, w.Close())
	}
	l.former = nil
	if l.ws != nil {
		errs = append(errs, l.ws.Close())
	}
	return errors.Join(errs...)
}

// watched is a workspace of a Lazy, which hears when it is unavailable.
type watched struct {
	Workspace
	lazy *Lazy
}

// saw returns err, which an operation has failed with.
func (w *watched) saw(err error) error {
	if CodeOf(err) == CodeUnavailable {
		w.lazy.mu.Lock()
		defer w.lazy.mu.Unlock()
		w.lazy.lost = w.lazy.lost || w.lazy.ws == w
	}
	return err
}

func (w *watched) Resolve(ctx context.Context, path string) (Resolution, error) {
	res, err := w.Workspace.Resolve(ctx, path)
	return res, w.saw(err)
}

func (w *watched) Stat(ctx context.Context, path string) (FileInfo, error) {
	res, err := w.Workspace.Stat(ctx, path)
	return res, w.saw(err)
}

func (w *watched) Open(ctx context.Context, path string) (io.ReadCloser, FileInfo, error) {
	file, info, err := w.Workspace.Open(ctx, path)
	return file, info, w.saw(err)
}

func (w *watched) List(ctx context.Context, req ListRequest) (ListResult, error) {
	res, err := w.Workspace.List(ctx, req)
	return res, w.saw(err)
}

func (w *watched) Read(ctx context.Context, req ReadRequest) (ReadResult, error) {
	res, err := w.Workspace.Read(ctx, req)
	return res, w.saw(err)
}

func (w *watched) Write(ctx context.Context, req WriteRequest) (WriteResult, error) {
	res, err := w.Workspace.Write(ctx, req)
	return res, w.saw(err)
}

func (w *watched) Edit(ctx context.Context, req EditRequest) (EditResult, error) {
	res, err := w.Workspace.Edit(ctx, req)
	return res, w.saw(err)
}

func (w *watched) EditLines(ctx context.Context, req EditLinesRequest) (EditResult, error) {
	res, err := w.Workspace.EditLines(ctx, req)
	return res, w.saw(err)
}

func (w *watched) Glob(ctx context.Context, req GlobRequest) (GlobResult, error) {
	res, err := w.Workspace.Glob(ctx, req)
	return res, w.saw(err)
}

func (w *watched) Grep(ctx context.Context, req GrepRequest) (GrepResult, error) {
	res, err := w.Workspace.Grep(ctx, req)
	return res, w.saw(err)
}

func (w *watched) Run(ctx context.Context, req Command) (Exit, error) {
	res, err := w.Workspace.Run(ctx, req)
	return res, w.saw(err)
}
