//go:build darwin

package agent

import "log/slog"

// ledger is for process 1 of a container; here is none.
type ledger struct{}

func newLedger(*slog.Logger) *ledger { return &ledger{} }

func (*ledger) track(int) (ended func()) { return func() {} }

func (*ledger) close() {}
