package transports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-workspace/mcp-workspace/sessions"
)

// site is an HTTP that serves a fixture on a real port. Who sends
// "Authorization: Bearer NAME" is the principal NAME.
type site struct {
	t     testing.TB
	f     *fixture
	h     *HTTP
	srv   *http.Server
	url   string
	addr  string
	log   *syncBuffer
	begun sync.Map // "principal session" of each BeginSession
	over  chan over

	mu     sync.Mutex
	events []HTTPEvent
}

// over is an EndSession.
type over struct {
	who   string // "principal session"
	cause error
}

type authError struct{ status int }

func (e authError) Error() string     { return "not you" }
func (e authError) Status() int       { return e.status }
func (e authError) Challenge() string { return `Bearer realm="test"` }

func newSite(t testing.TB, adjust func(*HTTP)) *site {
	t.Helper()
	s := &site{t: t, f: newFixture(), log: &syncBuffer{}, over: make(chan over, 10000)}
	s.f.AddTool(mcp.NewTool("elicit"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := s.f.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{
			Message: "may I?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		}})
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText("the answer is " + string(result.Action)), nil
	})
	s.f.AddTool(mcp.NewTool("caller"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c := sessions.CallerFrom(ctx)
		if c.RetryAfter != nil {
			c.RetryAfter(1500 * time.Millisecond)
		}
		return mcp.NewToolResultText(strings.Join([]string{c.Principal, c.RequestID, c.Ref, c.Name, c.Image, c.Runtime}, "|")), nil
	})
	s.h = &HTTP{
		Authenticate: func(r *http.Request) (*Client, error) {
			name, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			if !ok {
				return nil, authError{http.StatusUnauthorized}
			}
			return &Client{Principal: name, Server: s.f.MCPServer, Operator: name == "op"}, nil
		},
		BeginSession: func(_ context.Context, principal, session string) { s.begun.Store(principal+" "+session, true) },
		EndSession: func(_ context.Context, principal, session string, cause error) {
			if _, begun := s.begun.LoadAndDelete(principal + " " + session); !begun {
				t.Errorf("a session ends (%v) that was not told to begin: %s", cause, session)
			}
			s.over <- over{principal + " " + session, cause}
		},
		Logger: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Observe: func(e HTTPEvent) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = append(s.events, e)
		},
	}
	if adjust != nil {
		adjust(s.h)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.srv = s.h.Server()
	s.addr = l.Addr().String()
	s.url = "http://" + s.addr
	go func() { _ = s.srv.Serve(l) }()
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		defer stop()
		if _, err := s.h.Drain(ctx); err != nil {
			t.Log(err)
		}
		s.srv.Close()
		http.DefaultClient.CloseIdleConnections()
		noHTTPGoroutines(t)
	})
	return s
}

// noHTTPGoroutines waits until nothing of this package runs any more.
func noHTTPGoroutines(t testing.TB) {
	t.Helper()
	eventually(t, "goroutines are left behind", func() bool {
		stacks := make([]byte, 4<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for _, part := range []string{"(*hub)", "(*post)", "(*eventWriter)", "(*sessionView)", "(*sseConn)", "(*conn)", "(*lineWriter)"} {
			if strings.Contains(string(stacks), "transports."+part) {
				return false
			}
		}
		return true
	})
}

// eventually waits for something that no event tells.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%s\n%s", what, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

// reply is an answer that has been read to its end.
type httpReply struct {
	status int
	header http.Header
	body   string
}

func (r httpReply) message(t testing.TB) message {
	t.Helper()
	return parse(t, r.body)
}

// request makes a request. Headers are "Name: value"; one that is empty after
// the colon removes the default.
func (s *site) request(ctx context.Context, method, path, body string, headers ...string) *http.Request {
	s.t.Helper()
	var reader io.Reader
	if method == http.MethodPost {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, reader)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer alice")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		value = strings.TrimSpace(value)
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	return r
}

func (s *site) do(method, path, body string, headers ...string) httpReply {
	s.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	resp, err := http.DefaultClient.Do(s.request(ctx, method, path, body, headers...))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return httpReply{resp.StatusCode, resp.Header, string(text)}
}

// visitor is a client with a session.
type visitor struct {
	*site
	who, id string
}

func (s *site) visit(who, version, capabilities string) *visitor {
	s.t.Helper()
	body := strings.Replace(initialize(`0`, capabilities), mcp.ProtocolVersion20251125, version, 1)
	r := s.do("POST", "/mcp", body, "Authorization: Bearer "+who)
	v := &visitor{site: s, who: who, id: r.header.Get("Mcp-Session-Id")}
	if r.status != http.StatusOK || v.id == "" || r.message(s.t).Result == nil {
		s.t.Fatalf("initialize: %d %s", r.status, r.body)
	}
	if r := v.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); r.status != http.StatusAccepted || r.body != "" {
		s.t.Fatalf("initialized: %d %s", r.status, r.body)
	}
	return v
}

func (v *visitor) headers(more []string) []string {
	return append([]string{"Authorization: Bearer " + v.who, "Mcp-Session-Id: " + v.id}, more...)
}

func (v *visitor) post(body string, headers ...string) httpReply {
	v.t.Helper()
	return v.do("POST", "/mcp", body, v.headers(headers)...)
}

func (s *site) waitStarted(name string) {
	s.t.Helper()
	select {
	case got := <-s.f.started:
		if got != name {
			s.t.Fatalf("%q started, not %q", got, name)
		}
	case <-time.After(patience):
		s.t.Fatalf("%q does not start", name)
	}
}

func (s *site) waitEnded() error {
	s.t.Helper()
	select {
	case err := <-s.f.ended:
		return err
	case <-time.After(patience):
		s.t.Fatal("the call is not cancelled")
	}
	return nil
}

func (s *site) waitOver(want string, cause error) {
	s.t.Helper()
	select {
	case got := <-s.over:
		if got.who != want || !errors.Is(got.cause, cause) {
			s.t.Fatalf("%+v is over, not %q because of %v", got, want, cause)
		}
	case <-time.After(patience):
		s.t.Fatalf("%q is not over", want)
	}
}

// modernBody is a request of the era without sessions.
func modernBody(id, method, params string) string {
	if params != "" {
		params += ","
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"m","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, id, method, params)
}

func modernHeaders(method, name string, more ...string) []string {
	h := []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
	if name != "" {
		h = append(h, "Mcp-Name: "+name)
	}
	return append(h, more...)
}

func modernTool(id, tool, arguments string) string {
	name, _ := json.Marshal(tool)
	return modernBody(id, "tools/call", fmt.Sprintf(`"name":%s,"arguments":%s`, name, arguments))
}

// left tells whether mcp-go still knows a session.
func (s *site) left(session string) bool {
	return s.f.SendNotificationToSpecificClient(session, "notifications/message", nil) != server.ErrSessionNotFound //nolint:errorlint // mcp-go returns it as it is
}

func listenLocal(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
