// Package telemetry tells operators what a server does: Prometheus metrics and
// OpenTelemetry traces.
//
// Neither has a global state, and neither holds content: no label has a
// principal, path, command, ref or session, and spans have no path, command,
// principal or token. What a client sends makes no new series and no new span
// name, because labels and names come from closed sets.
package telemetry
