package transports

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// sse is an event, or a comment.
type sse struct{ id, name, data, comment string }

// stream is a response that is read as it comes.
type stream struct {
	t      testing.TB
	resp   *http.Response
	events chan sse
	cut    context.CancelFunc // ends the connection
}

func (s *site) open(method, path, body string, headers ...string) *stream {
	s.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	// A connection of its own, so that cutting it cuts a connection.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(s.request(ctx, method, path, body, headers...)) //nolint:bodyclose // by the goroutine that reads it
	if err != nil {
		stop()
		s.t.Fatal(err)
	}
	st := &stream{t: s.t, resp: resp, events: make(chan sse, 10000), cut: stop}
	if ct := resp.Header.Get("Content-Type"); ct != "text/event-stream" {
		text, _ := io.ReadAll(resp.Body)
		stop()
		s.t.Fatalf("%s %s: %d %s %s", method, path, resp.StatusCode, ct, text)
	}
	go func() {
		defer close(st.events)
		defer resp.Body.Close()
		readEvents(resp.Body, func(e sse) { st.events <- e })
	}()
	s.t.Cleanup(stop)
	return st
}

func readEvents(r io.Reader, each func(sse)) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var e sse
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		switch name, value, _ := strings.Cut(line, ": "); {
		case line == "":
			each(e)
			e = sse{}
		case line[0] == ':':
			e.comment = "comment"
		case name == "id":
			e.id = value
		case name == "event":
			e.name = value
		case name == "data":
			e.data = value
		}
	}
}

func (v *visitor) open(method, body string, headers ...string) *stream {
	v.t.Helper()
	return v.site.open(method, "/mcp", body, v.headers(headers)...)
}

// next returns the next event that is no comment.
func (st *stream) next() sse {
	st.t.Helper()
	for {
		if e := st.any(); e.comment == "" {
			return e
		}
	}
}

func (st *stream) any() sse {
	st.t.Helper()
	select {
	case e, ok := <-st.events:
		if !ok {
			st.t.Fatal("the stream has ended")
		}
		return e
	case <-time.After(patience):
		st.t.Fatal("nothing comes")
	}
	return sse{}
}

func (st *stream) message() message {
	st.t.Helper()
	for {
		if e := st.next(); e.data != "" {
			return parse(st.t, e.data)
		}
	}
}

// ended waits until the server ends the stream, and returns what came before.
func (st *stream) ended() (rest []sse) {
	st.t.Helper()
	late := time.After(patience)
	for {
		select {
		case e, ok := <-st.events:
			if !ok {
				return rest
			}
			rest = append(rest, e)
		case <-late:
			st.t.Fatal("the stream does not end")
		}
	}
}
