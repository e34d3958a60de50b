//go:build linux

package agent

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/guest"
)

// FuzzRequest gives the agent requests that may be anything. Those that only look
// are answered; those that change something are taken apart.
func FuzzRequest(f *testing.F) {
	for op, body := range map[guest.Op]any{
		guest.OpCancel:    guest.CancelRequest{Stream: 3},
		guest.OpSetup:     guest.Setup{WorkingDir: "/tmp", Env: []string{"A=b"}},
		guest.OpResolve:   guest.PathRequest{Path: "f"},
		guest.OpStat:      guest.PathRequest{Path: "/"},
		guest.OpList:      backends.ListRequest{Path: ".", Limit: 3},
		guest.OpRead:      backends.ReadRequest{Path: "f", Limit: 1, Hashes: true},
		guest.OpWrite:     guest.WriteRequest{Path: "f", Mode: 0o600},
		guest.OpEdit:      backends.EditRequest{Path: "f", Old: "a", New: "b"},
		guest.OpEditLines: backends.EditLinesRequest{Path: "f", StartLine: 1},
		guest.OpGlob:      backends.GlobRequest{Pattern: "**/*.go", Filter: backends.Filter{Names: []backends.FilterSet{{Default: true}}}},
		guest.OpGrep:      backends.GrepRequest{Pattern: "a+", Context: 1},
		guest.OpRun:       guest.RunRequest{Argv: []string{"true"}, Timeout: time.Second},
	} {
		frame, err := guest.EncodeRequest(op, body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame)
	}
	log := slog.New(slog.DiscardHandler)
	s := &session{cfg: Config{Log: log}, ledger: newLedger(log), running: map[uint32]*call{}}
	if _, err := s.setUp(context.Background(), guest.Setup{WorkingDir: f.TempDir()}); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.close)
	f.Fuzz(func(t *testing.T, data []byte) {
		kind, payload, err := guest.ReadFrame(bytes.NewReader(data), nil, guest.MaxRequest)
		if err != nil || kind != guest.FrameRequest {
			return
		}
		op, body, err := guest.DecodeRequest(payload)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		c := &call{op: op, ctx: ctx, cancel: cancel}
		var reply any
		switch op {
		case guest.OpWrite:
			reply, err = with(body, func(guest.WriteRequest) (int, error) { return 0, nil })
		case guest.OpRun:
			reply, err = with(body, func(guest.RunRequest) (int, error) { return 0, nil })
		case guest.OpEdit:
			reply, err = with(body, func(backends.EditRequest) (int, error) { return 0, nil })
		case guest.OpEditLines:
			reply, err = with(body, func(backends.EditLinesRequest) (int, error) { return 0, nil })
		case guest.OpSetup: // makes directories
			reply, err = with(body, func(guest.Setup) (int, error) { return 0, nil })
		case guest.OpOpen: // needs a stream
			reply, err = with(body, func(guest.PathRequest) (int, error) { return 0, nil })
		default:
			reply, err = s.answer(c, op, body)
		}
		if err != nil {
			if f := guest.FailureOf(err); f.Code == "" {
				t.Fatalf("a failure without a code: %v", err)
			}
			return
		}
		if _, err := guest.EncodeReply(reply); err != nil && backends.CodeOf(err) != backends.CodeTooLarge {
			t.Fatal(err)
		}
	})
}
