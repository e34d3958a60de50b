package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
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
