package transports

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const asks = `{"elicitation":{}}`

func TestHTTPQuestions(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.questionTime = patience })
	v := s.visit("alice", mcp.ProtocolVersion20251125, asks)
	question := func(t *testing.T, st *stream) (id string) {
		m := st.message()
		if m.Method != "elicitation/create" || !strings.Contains(string(m.Params), "may I?") {
			t.Fatalf("%s", m.line)
		}
		return m.ID
	}
	answer := func(id, body string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, body) }
	accept := `"result":{"action":"accept","content":{}}`
	t.Run("are asked and answered", func(t *testing.T) {
		st := v.open("POST", toolCall("1", "elicit", "{}"))
		id := question(t, st)
		other := s.visit("alice", mcp.ProtocolVersion20251125, asks)
		if r := other.post(answer(id, accept)); r.status != 202 {
			t.Errorf("another session's answer: %d", r.status)
		}
		if r := v.post(answer(id, accept), "Authorization: Bearer bob"); r.status != 404 {
			t.Errorf("another principal's answer: %d", r.status)
		}
		if r := v.post(answer(id, `"result":{"action":"decline"}`)); r.status != 202 {
			t.Errorf("%d %s", r.status, r.body)
		}
		if m := st.message(); m.text() != "the answer is decline" {
			t.Errorf("%s", m.line)
		}
	})
	t.Run("an error closes the question", func(t *testing.T) {
		st := v.open("POST", toolCall("1", "elicit", "{}"))
		v.post(answer(question(t, st), `"error":{"code":-1,"message":"no"}`))
		if m := st.message(); m.text() != "the answer is cancel" {
			t.Errorf("%s", m.line)
		}
	})
	t.Run("survive a broken connection", func(t *testing.T) {
		st := v.open("POST", toolCall("1", "elicit", "{}"))
		first := st.next()
		question(t, st)
		st.cut()
		rest := v.open("GET", "", "Last-Event-ID: "+first.id)
		v.post(answer(question(t, rest), accept))
		if m := rest.message(); m.text() != "the answer is accept" {
			t.Errorf("%s", m.line)
		}
	})
	t.Run("go to the session's stream when the call has none", func(t *testing.T) {
		listening := v.open("GET", "")
		listening.next()
		done := make(chan httpReply)
		go func() { done <- v.post(toolCall("1", "elicit", "{}"), "Accept: application/json") }()
		v.post(answer(question(t, listening), accept))
		if r := <-done; r.message(t).text() != "the answer is accept" {
			t.Errorf("%s", r.body)
		}
	})
	t.Run("a cancelled call takes its question back", func(t *testing.T) {
		st := v.open("POST", toolCall("1", "elicit", "{}"))
		id := question(t, st)
		v.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if m := st.message(); m.Method != "notifications/cancelled" || !strings.Contains(string(m.Params), `"requestId":`+id) {
			t.Errorf("%s", m.line)
		}
	})
	t.Run("are not asked of a client that cannot", func(t *testing.T) {
		r := s.visit("alice", mcp.ProtocolVersion20251125, "{}").post(toolCall("1", "elicit", "{}"))
		if m := r.message(t); !m.Result.IsError || !strings.Contains(m.text(), "does not support elicitation") {
			t.Errorf("%s", r.body)
		}
	})
	t.Run("nor of one that takes no stream", func(t *testing.T) {
		r := s.visit("alice", mcp.ProtocolVersion20251125, asks).post(toolCall("1", "elicit", "{}"), "Accept: application/json")
		if m := r.message(t); !m.Result.IsError || !strings.Contains(m.text(), "does not support elicitation") {
			t.Errorf("%s", r.body)
		}
	})
}

func TestHTTPQuestionsHaveATimeLimit(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.questionTime = 50 * time.Millisecond })
	v := s.visit("alice", mcp.ProtocolVersion20251125, asks)
	st := v.open("POST", toolCall("1", "elicit", "{}"))
	if m := st.message(); m.Method != "elicitation/create" {
		t.Fatalf("%s", m.line)
	}
	if m := st.message(); m.Method != "notifications/cancelled" {
		t.Fatalf("%s", m.line)
	}
	if m := st.message(); m.text() != "the answer is cancel" {
		t.Errorf("%s", m.line)
	}
}
