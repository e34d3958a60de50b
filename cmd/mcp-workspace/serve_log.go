package main

import (
	"context"
	"log/slog"

	"github.com/mcp-workspace/mcp-workspace/sessions"
)

// requestLog adds to what is logged during a request whose it is.
type requestLog struct{ slog.Handler }

func (l requestLog) Handle(ctx context.Context, r slog.Record) error {
	if c := sessions.CallerFrom(ctx); c.RequestID != "" {
		r = r.Clone()
		r.AddAttrs(slog.String("request", c.RequestID))
		if c.Principal != "" {
			r.AddAttrs(slog.String("principal", c.Principal))
		}
	}
	return l.Handler.Handle(ctx, r)
}

func (l requestLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestLog{l.Handler.WithAttrs(attrs)}
}

func (l requestLog) WithGroup(name string) slog.Handler { return requestLog{l.Handler.WithGroup(name)} }
