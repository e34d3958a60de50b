package transports

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// What mcp-go writes when a subscription to nothing ends in the moment in which
// it is acknowledged.
func TestHTTPSubscriptionIsAcknowledgedFirst(t *testing.T) {
	const (
		result = `{"jsonrpc":"2.0","id":7,"result":{}}`
		ack    = `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"notifications":{}}}`
	)
	for name, writes := range map[string]func(m *modernWriter){
		"a stream without it": func(m *modernWriter) {
			m.header.Set("Content-Type", "text/event-stream")
			m.WriteHeader(200)
			m.Write([]byte("event: message\ndata: " + result + "\n\n"))
		},
		"a stream with it": func(m *modernWriter) {
			m.header.Set("Content-Type", "text/event-stream")
			m.WriteHeader(200)
			m.Write([]byte("event: message\ndata: " + ack + "\n\n"))
			m.Write([]byte("event: message\ndata: " + result + "\n\n"))
		},
		"no stream": func(m *modernWriter) {
			m.header.Set("Content-Type", "application/json")
			m.WriteHeader(200)
			m.Write([]byte(result))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			r := httptest.NewRequest("POST", "/mcp", nil)
			r.Header.Set("Accept", "application/json, text/event-stream")
			w := httptest.NewRecorder()
			p, _ := s.h.start().newPost(w, r, nil)
			m := &modernWriter{post: p, header: map[string][]string{}, id: []byte("7"), unacknowledged: true}
			m.session.out = m
			writes(m)
			m.returned = true
			m.end()
			body := w.Body.String()
			if strings.Count(body, "acknowledged") != 1 || strings.Index(body, ack) > strings.Index(body, result) || !strings.Contains(body, result) {
				t.Errorf("%s", body)
			}
		})
	}
}
