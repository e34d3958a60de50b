package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/mcp-workspace/mcp-workspace/internal/audit"
	"github.com/mcp-workspace/mcp-workspace/internal/telemetry"
	"github.com/mcp-workspace/mcp-workspace/sessions"
	"github.com/mcp-workspace/mcp-workspace/tools"
	"github.com/mcp-workspace/mcp-workspace/transports"
)

// workspaceCounts is for the metrics.
func workspaceCounts(m *sessions.Manager) func(context.Context) ([]telemetry.WorkspaceCount, error) {
	return func(ctx context.Context) ([]telemetry.WorkspaceCount, error) {
		var out []telemetry.WorkspaceCount
		for kind, n := range m.Stats(ctx).Workspaces {
			out = append(out, telemetry.WorkspaceCount{Backend: kind.Backend, State: kind.State, Count: n})
		}
		return out, nil
	}
}

// openAudit opens the audit log, if there is to be one.
func (v *service) openAudit() (*audit.Log, error) {
	file := v.flags.auditLog
	if file == "" {
		return nil, nil
	}
	if file != "-" {
		abs, err := v.settings.loaded.Abs("audit-log", file)
		if err != nil {
			return nil, err
		}
		file = abs
	}
	log, err := audit.Open(audit.Config{Path: file, Required: v.flags.auditRequired, Logger: v.log})
	if err != nil {
		return nil, v.settings.wrong("audit-log", "cannot be written: %v", err)
	}
	v.onClose(func(context.Context) error { return log.Close() })
	if file != "-" {
		v.reopenOnHangup(log)
	}
	return log, nil
}

// reopenOnHangup opens the audit log anew on SIGHUP, as programs that rotate
// logs expect; that signal does not end this program then.
func (v *service) reopenOnHangup(log *audit.Log) {
	signal.Reset(syscall.SIGHUP)
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			if err := log.Reopen(); err != nil {
				v.log.Error("the audit log could not be opened anew, and goes on into the old file", "error", err)
			}
		}
	}()
	v.onClose(func(context.Context) error {
		signal.Stop(hangups)
		close(hangups)
		return nil
	})
}

// record writes a line of the audit log, where there is one.
func (v *service) record(r audit.Record) { v.recorded(v.audit.Record(context.Background(), r)) }

// recorded hears how the writing of a line went. The log itself complains.
func (v *service) recorded(err error) {
	if err != nil {
		v.log.Debug("a line of the audit log was lost", "error", err)
	}
}

// observeCall counts and records a call.
func (v *service) observeCall(ctx context.Context, e tools.Event) {
	if e.Ref == "" { // the tools do not know the headers
		e.Ref = sessions.ShownRef(sessions.CallerFrom(ctx).Ref)
	}
	v.metrics.Observe(ctx, e)
	v.tracing.Observe(ctx, e)
	v.recorded(v.audit.Call(ctx, e))
}

// observeWorkspace records what has become of a workspace.
func (v *service) observeWorkspace(e sessions.Event) {
	if e.Kind == sessions.EventRefused {
		v.metrics.Refused(telemetry.Reason(e.Reason))
	}
	v.recorded(v.audit.Workspace(e))
}

func (v *service) sessionStarted(ctx context.Context, principal, session string) {
	v.record(audit.Record{Kind: audit.KindSessionStarted, RequestID: sessions.CallerFrom(ctx).RequestID, Principal: principal, Session: session})
}

func (v *service) sessionEnded(principal, session string, cause error) {
	reason := "closed" // by its client
	switch {
	case errors.Is(cause, transports.ErrSessionIdle):
		reason = "idle"
	case errors.Is(cause, transports.ErrDisconnected):
		reason = "disconnected"
	case errors.Is(cause, transports.ErrShutdown):
		reason = "shutdown"
	}
	v.record(audit.Record{Kind: audit.KindSessionEnded, Principal: principal, Session: session, Reason: reason})
}

// observeHTTP counts a request, and records it when it was refused.
func (v *service) observeHTTP(e transports.HTTPEvent) {
	v.metrics.ObserveHTTP(e.Method, e.Route, e.Status)
	v.log.Debug("request", "method", e.Method, "route", e.Route, "status", e.Status, "took", e.Took, "principal", e.Principal, "request", e.RequestID)
	reason, refused := refusals[e.Status]
	if !refused || e.Status == http.StatusNotFound && !slices.Contains([]string{"/mcp", "/message"}, e.Route) {
		return
	}
	if e.Refused != "" {
		reason = telemetry.Reason(e.Refused)
	}
	v.metrics.Refused(reason)
	v.record(audit.Record{
		Kind: audit.KindRefused, RequestID: e.RequestID, Principal: e.Principal, Reason: string(reason), Status: e.Status, Remote: e.Remote,
	})
}

// refusals are what statuses say of requests that reached no tool.
var refusals = map[int]telemetry.Reason{
	http.StatusUnauthorized:          telemetry.ReasonUnauthenticated,
	http.StatusForbidden:             telemetry.ReasonForbidden,
	http.StatusNotFound:              telemetry.ReasonForeignSession,
	http.StatusRequestEntityTooLarge: telemetry.ReasonTooLarge,
	http.StatusBadRequest:            telemetry.ReasonMalformed,
	http.StatusTooManyRequests:       telemetry.ReasonRate,
	http.StatusServiceUnavailable:    telemetry.ReasonDraining,
}

// traced has requests take part in the trace that their headers name, also those
// whose headers mcp-go does not see.
func (v *service) traced(next http.Handler) http.Handler {
	if v.tracing == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(v.tracing.FromHeaders(r.Context(), r.Header)))
	})
}

// operations answers whoever reaches --metrics-listen.
func (v *service) operations() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", v.metrics.Handler())
	for _, path := range []string{"/healthz", "/readyz"} {
		mux.Handle(path, v.handler.Handler())
	}
	return mux
}
