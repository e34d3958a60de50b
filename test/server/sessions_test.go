package server

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// open begins a session.
func (c caller) open(t *testing.T) caller {
	t.Helper()
	opened, got := c.initialize(t)
	if got.status != http.StatusOK || opened.session == "" {
		t.Fatalf("initialize was answered with %d %s", got.status, got.body)
	}
	return opened
}

func (c caller) initialize(t *testing.T) (caller, reply) {
	t.Helper()
	capabilities := `{}`
	if c.asks {
		capabilities = `{"elicitation":{}}`
	}
	got := c.plain(t, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+sessionEra+
		`","capabilities":`+capabilities+`,"clientInfo":{"name":"test","version":"1"}}}`)
	c.session = got.header.Get("Mcp-Session-Id")
	if c.session != "" {
		c.plain(t, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return c, got
}

// close ends the session.
func (c caller) close(t *testing.T) {
	t.Helper()
	if got := c.plain(t, http.MethodDelete, "/mcp", ""); got.status/100 != 2 {
		t.Fatalf("DELETE was answered with %d %s", got.status, got.body)
	}
}

// stream is a response that is read while it is written.
type stream struct {
	status int
	header http.Header
	lines  chan string // closed at its end
	cancel context.CancelFunc
}

// listen opens a stream with GET.
func (c caller) listen(t *testing.T, path string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.root+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.dress(r)
	r.Header.Set("Accept", "text/event-stream")
	res, err := (&http.Client{Transport: c.http.Transport}).Do(r) //nolint:bodyclose // it is, by what reads it
	if err != nil {
		t.Fatal(err)
	}
	s := &stream{status: res.StatusCode, header: res.Header, lines: make(chan string, 1000), cancel: cancel}
	go func() {
		defer close(s.lines)
		defer res.Body.Close()
		for scan := bufio.NewScanner(res.Body); scan.Scan(); {
			select {
			case s.lines <- scan.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}

// next returns the next line that is not empty.
func (s *stream) next(t *testing.T, limit time.Duration) string {
	t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				t.Fatal("the stream has ended")
			}
			if line != "" {
				return line
			}
		case <-timer.C:
			t.Fatalf("nothing came within %v", limit)
		}
	}
}

// sse is a connection of the transport of 2024-11-05.
type sse struct {
	caller
	*stream
	endpoint string // path and query
}

func (c caller) sse(t *testing.T) *sse {
	t.Helper()
	s := &sse{caller: c, stream: c.listen(t, "/sse")}
	if s.status != http.StatusOK {
		t.Fatalf("/sse is answered with %d", s.status)
	}
	for {
		if data, ok := strings.CutPrefix(s.next(t, callWithin), "data:"); ok {
			s.endpoint = strings.TrimSpace(data)
			break
		}
	}
	s.post(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	s.data(t)
	s.post(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *sse) post(t *testing.T, body string) reply {
	t.Helper()
	return s.plain(t, http.MethodPost, s.endpoint, body)
}

// data is that of the next event.
func (s *sse) data(t *testing.T) string {
	t.Helper()
	for {
		if data, ok := strings.CutPrefix(s.next(t, callWithin), "data:"); ok {
			return strings.TrimSpace(data)
		}
	}
}

// TestListingToolsGoesBeforeCallsThatWait, even when as many of the principal's
// calls wait as may.
func TestListingToolsGoesBeforeCallsThatWait(t *testing.T) {
	t.Parallel()
	s := onFiles(t, "limits: {calls: 1}")
	alice := start(t, s.options).as(s.alice)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel() // before that
	refused := make(chan reply, 1)
	const most = 512 // that wait
	for i := range most + 2 {
		c := alice.another(i + 1)
		waiting.Go(func() {
			got, err := c.try(ctx, "execute", args{"command": "sleep 600"})
			if err == nil && got.status == http.StatusTooManyRequests {
				select {
				case refused <- got.reply:
				default:
				}
			}
		})
	}
	select {
	case got := <-refused:
		if !strings.Contains(string(got.body), "512 calls of yours are waiting") {
			t.Errorf("refused with %s", got.body)
		}
	case <-time.After(25 * time.Second): // less than a call's patience
		t.Fatal("nobody is refused: too few calls wait")
	}
	session := alice.open(t)
	for _, c := range []caller{alice, session} {
		began := time.Now()
		if got := c.send(t, "tools/list", nil); got.status != http.StatusOK || !strings.Contains(string(got.body), "read_file") {
			t.Errorf("answered with %d %s", got.status, got.body)
		}
		t.Logf("after %v", time.Since(began))
	}
}
