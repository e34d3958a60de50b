package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The newest revision of either era.
const (
	statelessEra = "2026-07-28"
	sessionEra   = "2025-11-25"
)

type (
	args map[string]any
	meta map[string]any
)

// caller makes requests of a server in somebody's name. It is a value: with…
// methods return another one.
type caller struct {
	root    string
	token   string
	header  http.Header
	meta    meta
	session string // of the era that has them
	asks    bool   // declares that it can put questions to a person
	id      int    // of its requests, 1 if 0: calls of a session that run at once need different ones
	http    *http.Client
}

// as is a client of the stateless era; nobody when p is the zero person.
func (p *program) as(who person) caller { return callerOf(p.root, who) }

func callerOf(root string, who person) caller {
	return caller{root: root, token: who.token, header: http.Header{}, http: &http.Client{Timeout: callWithin}}
}

func (c caller) withHeader(name, value string) caller {
	c.header = c.header.Clone()
	c.header.Set(name, value)
	return c
}

func (c caller) withMeta(name string, value any) caller {
	c.meta = maps.Clone(c.meta)
	if c.meta == nil {
		c.meta = meta{}
	}
	c.meta[name] = value
	return c
}

func (c caller) asking() caller { c.asks = true; return c }

// reply is an answer as it came over the wire.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// message is the JSON-RPC answer, also out of a stream of events.
func (r reply) message() (m rpcMessage, err error) {
	body := r.body
	if strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		body = nil
		for _, e := range eventsOf(string(r.body)) {
			var probe rpcMessage
			if json.Unmarshal([]byte(e.data), &probe) == nil && probe.Method == "" && len(probe.ID) > 0 {
				body = []byte(e.data)
			}
		}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, fmt.Errorf("no JSON-RPC message in the answer %d %q: %w", r.status, r.body, err)
	}
	return m, nil
}

type rpcMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result *callResult     `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

type callResult struct {
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Contents []struct {
		Text string `json:"text"`
	} `json:"contents"`
	IsError       bool           `json:"isError"`
	Meta          map[string]any `json:"_meta"`
	ResultType    string         `json:"resultType"`
	RequestState  string         `json:"requestState"`
	InputRequests map[string]any `json:"inputRequests"`
}

// event is a server-sent event.
type event struct{ id, name, data string }

func eventsOf(stream string) []event {
	var out []event
	for block := range strings.SplitSeq(stream, "\n\n") {
		var e event
		for line := range strings.Lines(block) {
			field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
			value = strings.TrimPrefix(value, " ")
			switch field {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				e.data += value
			}
		}
		if e != (event{}) {
			out = append(out, e)
		}
	}
	return out
}

// request is one request of JSON-RPC, with what its era needs around it.
func (c caller) request(ctx context.Context, method string, params map[string]any) (*http.Request, error) {
	params = maps.Clone(params)
	if params == nil {
		params = map[string]any{}
	}
	m := meta{}
	maps.Copy(m, c.meta)
	if c.session == "" {
		capabilities := map[string]any{}
		if c.asks {
			capabilities["elicitation"] = map[string]any{"form": map[string]any{}}
		}
		m["io.modelcontextprotocol/protocolVersion"] = statelessEra
		m["io.modelcontextprotocol/clientInfo"] = map[string]any{"name": "test", "version": "1"}
		m["io.modelcontextprotocol/clientCapabilities"] = capabilities
	}
	if len(m) > 0 {
		params["_meta"] = m
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": max(c.id, 1), "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.root+"/mcp", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	c.dress(r)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session == "" {
		r.Header.Set("Mcp-Protocol-Version", statelessEra)
		r.Header.Set("Mcp-Method", method)
		for _, key := range []string{"name", "uri"} {
			if name, ok := params[key].(string); ok {
				r.Header.Set("Mcp-Name", name)
			}
		}
	}
	return r, nil
}

// dress adds the headers of every request of c.
func (c caller) dress(r *http.Request) {
	maps.Copy(r.Header, c.header.Clone())
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("Mcp-Protocol-Version", sessionEra)
	}
}

func (c caller) do(r *http.Request) (reply, error) {
	res, err := c.http.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, body}, err
}

// another has a request id of its own.
func (c caller) another(id int) caller { c.id = id; return c }

// send makes a request that has to be answered, rightly or not.
func (c caller) send(t *testing.T, method string, params map[string]any) reply {
	t.Helper()
	r, err := c.request(t.Context(), method, params)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.do(r)
	if err != nil {
		t.Fatalf("%s had no answer: %v", method, err)
	}
	return got
}

// plain makes a request without a body, or with this one.
func (c caller) plain(t *testing.T, method, path, body string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.root+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	c.dress(r)
	got, err := c.do(r)
	if err != nil {
		t.Fatalf("%s %s had no answer: %v", method, path, err)
	}
	return got
}

// answer is what a tool answered.
type answer struct {
	reply
	text   string
	code   string
	ref    string
	exit   int
	failed bool
	state  string // to send back with a person's answer
	err    string // of JSON-RPC, when there is no result
}

func (a answer) String() string {
	return fmt.Sprintf("%d code %q error %q %s: %s", a.status, a.code, a.err, a.header.Get("Www-Authenticate"), tail(a.text, 600))
}

func toolParams(tool string, a args) map[string]any {
	if a == nil {
		a = args{}
	}
	return map[string]any{"name": tool, "arguments": a}
}

// try calls a tool; for goroutines and for calls that may have no answer.
func (c caller) try(ctx context.Context, tool string, a args) (answer, error) {
	return c.tryWith(ctx, toolParams(tool, a))
}

func (c caller) tryWith(ctx context.Context, params map[string]any) (answer, error) {
	r, err := c.request(ctx, "tools/call", params)
	if err != nil {
		return answer{}, err
	}
	got, err := c.do(r)
	if err != nil {
		return answer{}, err
	}
	return answerOf(got)
}

func answerOf(got reply) (answer, error) {
	a := answer{reply: got}
	m, err := got.message()
	switch {
	case err != nil:
		return a, err
	case m.Error != nil:
		a.err, a.failed = m.Error.Message, true
		return a, nil
	case m.Result == nil:
		return a, errors.New("a message without a result")
	}
	for _, part := range m.Result.Content {
		a.text += part.Text
	}
	for _, part := range m.Result.Contents {
		a.text += part.Text
	}
	a.failed, a.state = m.Result.IsError, m.Result.RequestState
	a.code, _ = m.Result.Meta["mcp-workspace/code"].(string)
	a.ref, _ = m.Result.Meta["mcp-workspace/ref"].(string)
	exit, _ := m.Result.Meta["mcp-workspace/exit_code"].(float64)
	a.exit = int(exit)
	return a, nil
}

// call calls a tool that has to be answered.
func (c caller) call(t *testing.T, tool string, a args) answer {
	t.Helper()
	got, err := c.try(t.Context(), tool, a)
	if err != nil {
		t.Fatalf("%s %v had no answer: %v", tool, a, err)
	}
	return got
}

// must calls a tool that has to succeed.
func (c caller) must(t *testing.T, tool string, a args) answer {
	t.Helper()
	got := c.call(t, tool, a)
	if got.failed || got.code != "" || got.exit != 0 || got.state != "" {
		t.Fatalf("%s %v failed: %v", tool, a, got)
	}
	return got
}

// write and content are what most tests do with a workspace.
func (c caller) write(t *testing.T, path, content string) answer {
	t.Helper()
	return c.must(t, "write_file", args{"path": path, "content": content})
}

// content is a file of one line.
func (c caller) content(t *testing.T, path string) string {
	t.Helper()
	_, line, _ := strings.Cut(c.must(t, "read_file", args{"path": path}).text, "\t")
	return strings.TrimSuffix(line, "\n")
}

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
	res, err := (&http.Client{Transport: c.http.Transport}).Do(r)
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
