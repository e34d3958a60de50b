// Package sessions ties a client's connection to its workspace: opened with
// the first operation, reached by ref or by name, closed, and where that was
// asked for destroyed, at the end.
//
// It knows no transport and no backend by name.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// Options say which environment a session works in.
type Options struct {
	// Ref attaches to an environment that exists; the zero Ref creates one by
	// Spec.
	Ref  backends.Ref
	Spec backends.Spec
	// DestroyOnExit removes the environment, if the session opened one, when
	// the session is closed.
	DestroyOnExit bool
}

// Session is one connection and the environment it works in.
type Session struct {
	backend backends.Backend
	lazy    *backends.Lazy
	tools   *tools.Connection
	destroy bool

	close  sync.Once
	closed error // set by close
}

// New returns a session. Nothing is created until a tool needs it.
func New(b backends.Backend, opts Options) *Session {
	var lazy *backends.Lazy
	if opts.Ref != (backends.Ref{}) {
		lazy = backends.Attach(b, opts.Ref)
	} else {
		opts.Spec.Temporary = opts.DestroyOnExit
		lazy = backends.Create(b, opts.Spec)
	}
	// Tools ask only about a workspace that there is.
	describe := func(ctx context.Context) (backends.Info, error) {
		ref, _ := lazy.Ref()
		return b.Describe(ctx, ref)
	}
	return &Session{backend: b, lazy: lazy, tools: tools.Connect(tools.ConnectionConfig{Lazy: lazy, Describe: describe}), destroy: opts.DestroyOnExit}
}

// Tools is what the tools remember of this connection.
func (s *Session) Tools() *tools.Connection { return s.tools }

// Connection is Tools for a request that may name a workspace: on a connection
// that has one workspace, only that one.
func (s *Session) Connection(asked tools.Asked) (*tools.Connection, func(), error) {
	if asked != (tools.Asked{}) && (asked.Ref == "" || asked.Ref != s.tools.Ref()) {
		return nil, nil, backends.Errorf(backends.CodeInvalidArgument, "call", "",
			"this connection has one workspace, which was chosen when the server was started (--ref, --name, --image); leave the choice out of _meta, or start another server")
	}
	return s.tools, nil, nil
}

// Close ends the session. Its environment stays, unless the session was told
// to destroy it. An environment that is still being opened is waited for until
// ctx ends. Closing again does nothing more.
func (s *Session) Close(ctx context.Context) error {
	s.close.Do(func() { s.closed = s.end(ctx) })
	return s.closed
}

func (s *Session) end(ctx context.Context) error {
	closed := make(chan error, 1)
	go func() { closed <- s.lazy.Close() }()
	var closing error
	select {
	case closing = <-closed:
	case <-ctx.Done():
		return fmt.Errorf("the workspace is still being opened, and stays: %w", context.Cause(ctx))
	}
	ref, opened := s.lazy.Ref()
	if !s.destroy || !opened {
		return closing
	}
	return errors.Join(closing, s.backend.Destroy(ctx, ref))
}
