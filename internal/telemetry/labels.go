package telemetry

import (
	"strconv"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/tools"
)

// other stands for every label value that is not in its set.
const other = "other"

// Reason that a request was refused for, before any tool saw it.
type Reason string

// The reasons.
const (
	ReasonUnauthenticated Reason = "unauthenticated" // no token, or none that is known
	ReasonForbidden       Reason = "forbidden"       // a token without the scope, an operator's page
	ReasonForeignSession  Reason = "foreign_session" // another principal's, or one that never existed
	// ReasonForeignWorkspace is another principal's, or one that is gone or never was.
	ReasonForeignWorkspace Reason = "foreign_workspace"
	ReasonHost             Reason = "host"
	ReasonOrigin           Reason = "origin"
	ReasonTooLarge         Reason = "too_large"
	ReasonMalformed        Reason = "malformed"
	ReasonRate             Reason = "rate"     // too many calls a second, or at once
	ReasonSessions         Reason = "sessions" // too many sessions
	ReasonDraining         Reason = "draining" // the server is ending
)

// set is a closed set of label values.
type set map[string]bool

func setOf[S ~string](values ...S) set {
	s := make(set, len(values))
	for _, v := range values {
		s[string(v)] = true
	}
	return s
}

// label is v, or other when v is not in the set.
func (s set) label(v string) string {
	if s[v] {
		return v
	}
	return other
}

var reasons = setOf(ReasonUnauthenticated, ReasonForbidden, ReasonForeignSession, ReasonForeignWorkspace, ReasonHost,
	ReasonOrigin, ReasonTooLarge, ReasonMalformed, ReasonRate, ReasonSessions, ReasonDraining)

// outcomes are those of tools.Event.
var outcomes = setOf(tools.OutcomeOK, tools.OutcomeAsked, "approval_required", "approval_refused",
	string(backends.CodeNotFound), string(backends.CodeIsDirectory), string(backends.CodeNotDirectory),
	string(backends.CodePermission), string(backends.CodeStale), string(backends.CodeNotUnique),
	string(backends.CodeNoMatch), string(backends.CodeInvalidArgument), string(backends.CodeTooLarge),
	string(backends.CodeBinary), string(backends.CodeTimeout), string(backends.CodeUnavailable),
	string(backends.CodeUnsupported), string(backends.CodeReadOnly), string(backends.CodeCancelled),
	string(backends.CodeInternal))

// engineErrors are the outcomes for which something other than the call is at
// fault.
var engineErrors = setOf(backends.CodeUnavailable, backends.CodeInternal)

// states are the words backends have for a workspace.
var states = setOf("ready", "running", "stopped", "created", "paused", "restarting", "removing", "exited", "dead")

var methods = setOf("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

// toolNames are those of both edit formats.
func toolNames() []string {
	return append(tools.Names(tools.EditByString), tools.Names(tools.EditByLine)...)
}

// status is an HTTP status as a label.
func status(code int) string {
	if code < 100 || code > 599 {
		return other
	}
	return strconv.Itoa(code)
}
