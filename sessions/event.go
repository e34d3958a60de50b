package sessions

import "context"

// Event is something that has become of a workspace, or was refused in its name.
type Event struct {
	Kind EventKind
	// Ref of the workspace; of one that was refused, what the client has sent.
	Ref string
	// Principal is whose the workspace is; of one that was refused, who asked.
	Principal string
	// Session that made it, uses it or ended with it; "" when it was for none.
	Session string
	// RequestID of the request that it was done for, which to make room may be
	// another principal's; "" when it was for none.
	RequestID string
	// Reason that it was stopped, removed or refused for; "" for other kinds.
	Reason EventReason
}

// EventKind says what has become of it.
type EventKind string

// The kinds of events.
const (
	EventCreated  EventKind = "created"
	EventAttached EventKind = "attached" // a connection to it was opened
	EventStopped  EventKind = "stopped"
	EventRemoved  EventKind = "removed" // with its files
	EventRefused  EventKind = "refused" // a request named it
)

// EventReason says why.
type EventReason string

// The reasons.
const (
	ReasonIdle         EventReason = "idle"
	ReasonRoom         EventReason = "room"              // another container needed its place
	ReasonAge          EventReason = "age"               // MaxAge
	ReasonSessionEnded EventReason = "session_ended"     // DestroyOnExit
	ReasonLimit        EventReason = "limit"             // replicas had made one too many
	ReasonForeign      EventReason = "foreign_workspace" // another principal's, or one that is gone or never was
)

// tell tells the configured observer what was done for the caller in ctx.
func (m *Manager) tell(ctx context.Context, e Event) {
	if m.cfg.Observe == nil {
		return
	}
	e.RequestID = CallerFrom(ctx).RequestID
	e.Ref = ShownRef(e.Ref)
	m.cfg.Observe(e)
}
