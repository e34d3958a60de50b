package transports

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestHTTPDrain(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.Heartbeat = 20 * time.Millisecond })
	v := s.visit("alice", mcp.ProtocolVersion20251125, asks)
	old := s.connectSSE("alice", "{}")
	listening := v.open("GET", "")
	listening.next()
	call := v.open("POST", toolCall("1", "wait", `{"name":"a"}`))
	s.waitStarted("a")
	old.post(toolCall("1", "wait", `{"name":"b"}`))
	s.waitStarted("b")
	asking := v.open("POST", toolCall("2", "elicit", "{}"))
	question := asking.message()
	drained := make(chan error, 1)
	go func() {
		calls, err := s.h.Drain(context.Background())
		if want := (Drained{Finished: 3}); calls != want {
			err = errors.Join(err, fmt.Errorf("the calls became %+v, not %+v", calls, want))
		}
		drained <- err
	}()
	eventually(t, "still ready", func() bool { return s.do("GET", "/readyz", "").status == 503 })
	if r := s.do("GET", "/healthz", ""); r.status != 200 {
		t.Errorf("health: %d", r.status)
	}
	for name, r := range map[string]httpReply{
		"call":       v.post(toolCall("3", "echo", "{}")),
		"stateless":  s.do("POST", "/mcp", modernTool("2", "echo", "{}"), modernHeaders("tools/call", "echo")...),
		"initialize": s.do("POST", "/mcp", initialize("1", "{}")),
		"sse":        s.do("GET", "/sse", ""),
	} {
		if r.status != 503 || r.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	s.f.open("a")
	s.f.open("b")
	if m := call.message(); m.text() != "waited a" {
		t.Errorf("%s", m.line)
	}
	if m := old.message(); m.text() != "waited b" {
		t.Errorf("%s", m.line)
	}
	select {
	case err := <-drained:
		t.Fatalf("drained with a call in flight: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	v.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, question.ID))
	if m := asking.message(); m.text() != "the answer is accept" {
		t.Errorf("%s", m.line)
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
	listening.ended()
	old.ended()
	over := map[string]error{}
	for range 2 {
		ended := <-s.over
		over[ended.who] = ended.cause
	}
	if !errors.Is(over["alice "+v.id], ErrShutdown) || !errors.Is(over["alice "+old.id], ErrShutdown) || s.left(v.id) || s.left(old.id) {
		t.Errorf("over: %v", over)
	}
}

func TestHTTPDrainCancelsWhatDoesNotEnd(t *testing.T) {
	s := newSite(t, nil)
	v := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	old := s.connectSSE("alice", "{}")
	done := make(chan httpReply)
	go func() { done <- v.post(toolCall("1", "wait", `{"name":"a"}`)) }()
	s.waitStarted("a")
	old.post(toolCall("1", "wait", `{"name":"b"}`))
	s.waitStarted("b")
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer stop()
	if calls, err := s.h.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) || calls != (Drained{Cut: 2}) {
		t.Errorf("%+v, %v", calls, err)
	}
	for range 2 {
		if err := s.waitEnded(); !errors.Is(err, ErrShutdown) {
			t.Error(err)
		}
	}
	<-done
}
