// Package audit keeps a log of who did what in which workspace: one JSON object
// a line, for every call, every request that was refused, the beginning and end
// of sessions, and what becomes of workspaces.
//
// A line names the path or the command of a call and never what was read,
// written or printed. A session id gives access, so a line has only a short
// hash of it.
package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/mcp-workspace/mcp-workspace/sessions"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// Kind says what a line is about.
type Kind string

// The kinds of lines.
const (
	KindCall    Kind = "call"
	KindRefused Kind = "refused" // a request that reached no tool
	KindLost    Kind = "lost"    // lines before this one could not be written

	KindSessionStarted Kind = "session_started"
	KindSessionEnded   Kind = "session_ended"
	// Lines of workspaces are "workspace_" and the [sessions.EventKind].
)

// Record is one line. Fields that do not apply are left out of it.
type Record struct {
	// Time of writing unless set; for a call, of its beginning. It is written
	// in UTC with nine digits of the second.
	Time time.Time `json:"-"`
	Kind Kind      `json:"event"`
	// RequestID, Principal and Session come from the context's
	// [sessions.Caller] where they are empty. Session is a session id here,
	// and its hash in the line.
	RequestID string `json:"request_id,omitempty"`
	Principal string `json:"principal,omitempty"`
	Session   string `json:"session,omitempty"`
	// Remote is the address that a request came from.
	Remote string `json:"remote,omitempty"`
	// Workspace is a ref.
	Workspace string `json:"workspace,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Operation string `json:"operation,omitempty"`
	// Target is the path or the command.
	Target   string `json:"target,omitempty"`
	Decision string `json:"decision,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Approved bool   `json:"approved,omitempty"`
	Outcome  string `json:"outcome,omitempty"`
	// ExitCode of a command that ran to its end.
	ExitCode *int `json:"exit_code,omitempty"`
	// Duration of a call; written in
	// milliseconds as duration_ms.
	Duration time.Duration `json:"-"`
	// Reason that a request was refused, a session has ended, or a workspace
	// was stopped or removed for; a word, never the text of an error, which may
	// hold what a client sent.
	Reason string `json:"reason,omitempty"`
	// Status is what HTTP answered.
	Status int `json:"status,omitempty"`
	// Skipped is how many requests were refused since the last such line that
	// have no line of their own; see [Log.Record].
	Skipped uint64 `json:"skipped,omitempty"`
	// Lines that were lost.
	Lines uint64 `json:"lines,omitempty"`
}

// Call writes the line of a call that has ended. It fits [tools.Observer] but
// for its error, which is that of [Log.Record]; see also
// [Log.ServerOptions].
func (l *Log) Call(ctx context.Context, e tools.Event) error {
	r := Record{
		Time:      e.Started,
		Kind:      KindCall,
		Workspace: e.Ref,
		Tool:      e.Tool,
		Operation: string(e.Operation),
		Target:    e.Target,
		Decision:  string(e.Decision),
		Rule:      e.Rule,
		Approved:  e.Approved,
		Outcome:   e.Outcome,
		Duration:  e.Took,
	}
	if e.ExitCode >= 0 {
		r.ExitCode = &e.ExitCode
	}
	err := l.Record(ctx, r)
	if err != nil {
		noteUnlogged(ctx)
	}
	return err
}

// Workspace writes the line of what has become of a workspace.
func (l *Log) Workspace(e sessions.Event) error {
	r := Record{
		Kind: Kind("workspace_" + e.Kind), RequestID: e.RequestID, Principal: e.Principal, Session: e.Session,
		Workspace: e.Ref, Reason: string(e.Reason),
	}
	if e.Kind == sessions.EventRefused {
		r.Kind = KindRefused
	}
	return l.Record(context.Background(), r)
}

// SessionHash is how a session is named where its id would give access to it:
// the first 12 hexadecimal digits of the id's SHA-256; "" for none.
func SessionHash(session string) string {
	if session == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:6])
}

// complete fills in what the context knows.
func (r *Record) complete(ctx context.Context) {
	c := sessions.CallerFrom(ctx)
	if r.RequestID == "" {
		r.RequestID = c.RequestID
	}
	if r.Principal == "" {
		r.Principal = c.Principal
	}
	if r.Session == "" {
		r.Session = c.Session
	}
	r.Session = SessionHash(r.Session)
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
}
