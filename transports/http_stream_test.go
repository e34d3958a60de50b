package transports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestHTTPLongCallsBecomeStreams(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.Heartbeat = 20 * time.Millisecond })
	v := s.visit("alice", mcp.ProtocolVersion20250618, "{}")
	check := func(t *testing.T, st *stream) {
		for range 3 {
			if e := st.any(); e.comment == "" {
				t.Fatalf("%+v instead of a comment", e)
			}
		}
		if h := st.resp.Header; h.Get("X-Accel-Buffering") != "no" || !strings.Contains(h.Get("Cache-Control"), "no-cache") {
			t.Errorf("%v", h)
		}
		s.f.open(t.Name())
		if m := st.message(); m.ID != "1" || m.text() != "waited "+t.Name() {
			t.Errorf("%s", m.line)
		}
		st.ended()
	}
	t.Run("session", func(t *testing.T) {
		check(t, v.open("POST", toolCall("1", "wait", `{"name":"`+t.Name()+`"}`)))
	})
	t.Run("stateless", func(t *testing.T) {
		check(t, s.open("POST", "/mcp", modernTool("1", "wait", `{"name":"`+t.Name()+`"}`), modernHeaders("tools/call", "wait")...))
	})
	for name, headers := range map[string][]string{
		"a client that takes only JSON gets JSON": {"Accept: application/json"},
		"*/* is no wish for a stream":             {"Accept: */*"},
		"nor is no Accept at all":                 {"Accept:"},
	} {
		t.Run(name, func(t *testing.T) {
			time.AfterFunc(60*time.Millisecond, func() { s.f.open(name) })
			r := v.post(toolCall("1", "wait", fmt.Sprintf(`{"name":%q}`, name)), headers...)
			if r.header.Get("Content-Type") != "application/json" || r.message(t).text() != "waited "+name {
				t.Errorf("%v %s", r.header, r.body)
			}
		})
	}
	t.Run("a client that takes only a stream gets one", func(t *testing.T) {
		st := v.open("POST", toolCall("1", "echo", `{"text":"x"}`), "Accept: text/event-stream")
		if m := st.message(); m.text() != "x" {
			t.Errorf("%s", m.line)
		}
	})
}

func TestHTTPNotificationsGoToTheCallTheyBelongTo(t *testing.T) {
	s := newSite(t, nil)
	v := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	a := make(chan []sse)
	for _, name := range []string{"a", "b"} {
		go func() {
			st := v.open("POST", toolCall(`"`+name+`"`, "notify", `{"name":"`+name+`","times":50}`))
			a <- st.ended()
		}()
	}
	for range 2 {
		events := <-a
		var owner string
		var n int
		for _, e := range events {
			if e.data == "" {
				continue
			}
			m := parse(t, e.data)
			if m.Method == "" { // the answer, which is last
				if got := strings.Trim(m.ID, `"`); got != owner || n != 50 {
					t.Errorf("%s follows %d notifications of %s", e.data, n, owner)
				}
				continue
			}
			if want := fmt.Sprintf(`"progress":%d}`, n); !strings.Contains(string(m.Params), want) {
				t.Errorf("%s instead of %s", m.Params, want)
			}
			n++
			for _, name := range []string{"a", "b"} {
				if strings.Contains(string(m.Params), `"call":"`+name+`"`) {
					if owner != "" && owner != name {
						t.Fatalf("the stream has notifications of both calls")
					}
					owner = name
				}
			}
		}
	}
	t.Run("stateless", func(t *testing.T) {
		st := s.open("POST", "/mcp", modernTool("1", "notify", `{"name":"m","times":3}`), modernHeaders("tools/call", "notify")...)
		for i := range 3 {
			if m := st.message(); m.Method != "notifications/progress" || !strings.Contains(string(m.Params), fmt.Sprint(i)) {
				t.Errorf("%s", m.line)
			}
		}
		if m := st.message(); m.text() != "notified" {
			t.Errorf("%s", m.line)
		}
	})
}

func TestHTTPBrokenConnections(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.Heartbeat = 20 * time.Millisecond })
	plain := s.visit("alice", mcp.ProtocolVersion20250618, "{}")
	v := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	waiting := func(t *testing.T, v *visitor) *stream {
		st := v.open("POST", toolCall("1", "wait", fmt.Sprintf(`{"name":%q}`, t.Name())))
		s.waitStarted(t.Name())
		return st
	}
	t.Run("without the id of an event the call is cancelled", func(t *testing.T) {
		st := waiting(t, plain)
		st.any()
		st.cut()
		if err := s.waitEnded(); !errors.Is(err, ErrDisconnected) {
			t.Errorf("%v", err)
		}
	})
	t.Run("before there is a stream the call is cancelled", func(t *testing.T) {
		c := s.dial()
		body := toolCall("1", "wait", fmt.Sprintf(`{"name":%q}`, t.Name()))
		fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice\r\nMcp-Session-Id: %s\r\nAccept: application/json\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", v.id, len(body), body)
		s.waitStarted(t.Name())
		c.Close()
		if err := s.waitEnded(); !errors.Is(err, ErrDisconnected) {
			t.Errorf("%v", err)
		}
	})
	t.Run("in the stateless era the call is cancelled", func(t *testing.T) {
		st := s.open("POST", "/mcp", modernTool("1", "wait", fmt.Sprintf(`{"name":%q}`, t.Name())), modernHeaders("tools/call", "wait")...)
		s.waitStarted(t.Name())
		st.any()
		st.cut()
		if err := s.waitEnded(); !errors.Is(err, ErrDisconnected) {
			t.Errorf("%v", err)
		}
	})
	t.Run("with one the call goes on and its answer can be fetched", func(t *testing.T) {
		st := waiting(t, v)
		first := st.next()
		if first.id == "" || first.data != "" {
			t.Fatalf("%+v", first)
		}
		st.cut()
		<-time.After(30 * time.Millisecond)
		s.f.open(t.Name())
		rest := v.open("GET", "", "Last-Event-ID: "+first.id)
		e := rest.next()
		if m := parse(t, e.data); m.ID != "1" || m.text() != "waited "+t.Name() || e.id == "" {
			t.Errorf("%+v", e)
		}
		rest.ended()
		if again := v.open("GET", "", "Last-Event-ID: "+first.id).ended(); len(again) != 1 || again[0] != e {
			t.Errorf("asked again: %v", again)
		}
		if none := v.open("GET", "", "Last-Event-ID: "+e.id).ended(); len(none) != 0 {
			t.Errorf("after the answer: %v", none)
		}
	})
	t.Run("the rest of a stream comes as it is made", func(t *testing.T) {
		st := waiting(t, v)
		first := st.next()
		st.cut()
		rest := v.open("GET", "", "Last-Event-ID: "+first.id)
		if e := rest.any(); e.comment == "" {
			t.Errorf("%+v", e)
		}
		newer := v.open("GET", "", "Last-Event-ID: "+first.id)
		rest.ended()
		s.f.open(t.Name())
		if m := newer.message(); m.text() != "waited "+t.Name() {
			t.Errorf("%s", m.line)
		}
	})
	t.Run("a cancelled call ends", func(t *testing.T) {
		st := waiting(t, v)
		st.next()
		st.cut()
		if r := v.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"bored"}}`); r.status != 202 {
			t.Errorf("%d %s", r.status, r.body)
		}
		var c *CancelledError
		if err := s.waitEnded(); !errors.As(err, &c) || c.Reason != "bored" {
			t.Errorf("%v", err)
		}
	})
	t.Run("nobody else can fetch", func(t *testing.T) {
		st := waiting(t, v)
		first := st.next()
		other := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
		for _, id := range []string{first.id, "1-0", "0-0", "9-9", "x", "-1-0", "1-99", "01-0"} {
			if r := other.do("GET", "/mcp", "", other.headers([]string{"Last-Event-ID: " + id})...); r.status != 400 || r.message(t).Error == nil {
				t.Errorf("%s: %d %s", id, r.status, r.body)
			}
		}
		s.f.open(t.Name())
		st.message()
	})
	t.Run("a deleted session cancels its calls", func(t *testing.T) {
		st := waiting(t, v)
		v.do("DELETE", "/mcp", "", v.headers(nil)...)
		if err := s.waitEnded(); !errors.Is(err, ErrSessionEnded) {
			t.Errorf("%v", err)
		}
		st.ended()
		s.waitOver("alice "+v.id, ErrSessionEnded)
	})
}

func TestHTTPListening(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.Heartbeat = 20 * time.Millisecond })
	v := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	tell := func(what string) { s.f.SendNotificationToAllClients("notifications/"+what, nil) }
	st := v.open("GET", "")
	first := st.next()
	if first.id == "" || first.data != "" {
		t.Fatalf("%+v does not give an id", first)
	}
	tell("one")
	one := st.next()
	if m := parse(t, one.data); m.Method != "notifications/one" || one.id == "" {
		t.Fatalf("%+v", one)
	}
	newer := v.open("GET", "")
	newer.next() // an id: it has begun
	tell("two")
	if m := newer.message(); m.Method != "notifications/two" {
		t.Errorf("%s", m.line)
	}
	newer.cut()
	newer.ended()
	// The older one takes over when the server has seen the newer one go.
	eventually(t, "the newer stream stays", func() bool {
		hub := s.h.start()
		hub.sessions.mu.Lock()
		session := hub.sessions.byID[v.id]
		hub.sessions.mu.Unlock()
		session.mu.Lock()
		defer session.mu.Unlock()
		return len(session.listeners) == 1
	})
	tell("three")
	m := st.message()
	if m.Method == "notifications/two" {
		// The newer one broke before the server knew that this had arrived.
		m = st.message()
	}
	if m.Method != "notifications/three" {
		t.Errorf("%s", m.line)
	}
	st.cut()
	st.ended()
	tell("four")
	again := v.open("GET", "", "Last-Event-ID: "+one.id)
	for _, want := range []string{"two", "three", "four"} {
		if m := again.message(); m.Method != "notifications/"+want {
			t.Errorf("%s instead of %s", m.line, want)
		}
	}
	if e := again.any(); e.comment == "" {
		t.Errorf("%+v", e)
	}
	t.Run("more than a few end the oldest", func(*testing.T) {
		for range maxListeners {
			v.open("GET", "")
		}
		again.ended()
	})
	t.Run("GET has to accept a stream", func(t *testing.T) {
		if r := v.do("GET", "/mcp", "", v.headers([]string{"Accept: application/json"})...); r.status != 406 {
			t.Errorf("%d", r.status)
		}
	})
}

// stalled makes a call whose answer nobody reads, on a socket with a small
// buffer.
func (v *visitor) stalled(body string) io.Closer {
	c := v.dial()
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nMcp-Session-Id: %s\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", v.who, v.id, len(body), body)
	return c
}

func TestHTTPReaderThatStallsLosesItsConnection(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.WriteTimeout = 200 * time.Millisecond })
	v := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	c := v.stalled(toolCall("1", "big", `{"bytes":50000000}`))
	defer c.Close()
	begun := time.Now()
	if r := v.post(toolCall("2", "echo", `{"text":"quick"}`)); r.message(t).text() != "quick" {
		t.Errorf("%s", r.body)
	}
	eventually(t, "the connection stays", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.events) == 4
	})
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("after %v", took)
	}
}

func TestHTTPHTTP2StreamsOutliveTheWriteTimeout(t *testing.T) {
	s := newSite(t, func(h *HTTP) { h.WriteTimeout = 100 * time.Millisecond; h.Heartbeat = 250 * time.Millisecond })
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	protocols.SetHTTP1(true)
	s2 := s.h.Server()
	s2.Protocols = &protocols
	l := listenLocal(t)
	go func() { _ = s2.Serve(l) }()
	defer s2.Close()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	v := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	r := s.request(context.Background(), "GET", "/mcp", "", v.headers(nil)...)
	r.URL.Host = l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	resp, err := (&http.Client{Transport: transport}).Do(r.WithContext(ctx)) //nolint:bodyclose // it is, below
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.ProtoMajor != 2 {
		t.Fatalf("%s", resp.Proto)
	}
	comments := make(chan sse, 100)
	go func() {
		defer close(comments)
		readEvents(resp.Body, func(e sse) { comments <- e })
	}()
	for range 4 {
		select {
		case _, ok := <-comments:
			if !ok {
				t.Fatal("the stream has ended")
			}
		case <-time.After(patience):
			t.Fatal("nothing comes")
		}
	}
}

func TestEventWriterLeavesAloneAResponseThatIsOver(t *testing.T) {
	h := newHub(&HTTP{})
	defer h.cancel(nil)
	writers := make(chan *eventWriter, 1)
	srv := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		out := h.newEventWriter(w)
		if err := out.event("1", "message", []byte("x")); err != nil {
			t.Error(err)
		}
		out.end()
		writers <- out
	})}
	srv.Protocols.SetUnencryptedHTTP2(true)
	l := listenLocal(t)
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	transport := &http.Transport{Protocols: srv.Protocols}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || string(body) != "id: 1\nevent: message\ndata: x\n\n" {
		t.Errorf("%q %v", body, err)
	}
	out := <-writers
	out.abort()
	out.beat()
	if err := out.event("2", "message", nil); !errors.Is(err, errStreamEnded) {
		t.Errorf("%v", err)
	}
}
