package transports

import (
	"net/http"
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
	const event = "event: message\ndata: "
	for name, c := range map[string]struct {
		contentType string
		writes      []string
	}{
		"a stream without it": {"text/event-stream", []string{event + result + "\n\n"}},
		"a stream with it":    {"text/event-stream", []string{event + ack + "\n\n", event + result + "\n\n"}},
		"no stream":           {"application/json", []string{result}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
			r.Header.Set("Accept", "application/json, text/event-stream")
			w := httptest.NewRecorder()
			p, _ := s.h.start().newPost(w, r, nil)
			m := &modernWriter{post: p, header: http.Header{}, id: []byte("7"), unacknowledged: true}
			m.session.out = m
			m.header.Set("Content-Type", c.contentType)
			m.WriteHeader(http.StatusOK)
			for _, text := range c.writes {
				if _, err := m.Write([]byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			m.returned = true
			m.end()
			body := w.Body.String()
			if strings.Count(body, "acknowledged") != 1 || strings.Index(body, ack) > strings.Index(body, result) || !strings.Contains(body, result) {
				t.Errorf("%s", body)
			}
		})
	}
}
