package backends

import (
	"context"
	"sync"
)

// Lazy is a connection to one environment that is created, or attached to,
// with the first operation and not before. It is safe for concurrent use:
// callers that come first together share one environment.
type Lazy struct {
	provider string
	open     func(context.Context) (Workspace, error)

	mu      sync.Mutex
	ws      Workspace
	opening *opening
	closed  bool
}

// opening is one attempt in flight; its fields are set when done is closed.
type opening struct {
	done chan struct{}
	ws   Workspace
	err  error
}

// Create returns a Lazy whose first use creates an environment.
func Create(b Backend, spec Spec) *Lazy {
	return &Lazy{provider: b.Provider(), open: func(ctx context.Context) (Workspace, error) { return b.Create(ctx, spec) }}
}

// Attach returns a Lazy whose first use attaches to ref.
func Attach(b Backend, ref Ref) *Lazy {
	return &Lazy{provider: b.Provider(), open: func(ctx context.Context) (Workspace, error) { return b.Attach(ctx, ref) }}
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
	if l.ws != nil {
		ws := l.ws
		l.mu.Unlock()
		return ws, nil
	}
	o := l.opening
	if o == nil {
		o = &opening{done: make(chan struct{})}
		l.opening = o
		go l.finish(context.WithoutCancel(ctx), o)
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

func (l *Lazy) finish(ctx context.Context, o *opening) {
	o.ws, o.err = l.open(ctx)
	l.mu.Lock()
	l.opening = nil
	if o.err == nil {
		l.ws = o.ws
	}
	l.mu.Unlock()
	close(o.done)
}

// Provider is that of the environment's backend.
func (l *Lazy) Provider() string { return l.provider }

// Ref returns the ref of the environment, and whether there is one yet.
func (l *Lazy) Ref() (Ref, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ws == nil {
		return Ref{}, false
	}
	return l.ws.Ref(), true
}

// Close ends the connection, waiting for an opening in flight. The environment
// stays.
func (l *Lazy) Close() error {
	l.mu.Lock()
	l.closed = true
	o := l.opening
	l.mu.Unlock()
	if o != nil {
		<-o.done
	}
	l.mu.Lock()
	ws := l.ws
	l.mu.Unlock()
	if ws == nil {
		return nil
	}
	return ws.Close()
}
