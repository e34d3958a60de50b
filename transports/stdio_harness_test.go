package transports

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// patience is how long a test waits for what must come, on a busy machine and under the
// race detector too.
const patience = 4 * time.Minute

// fixture is an MCPServer with tools that do what the tests need.
type fixture struct {
	*server.MCPServer
	started chan string // names of "wait" calls that have begun
	ended   chan error  // causes that "wait" calls were cancelled with
	gates   sync.Map    // name to channel that lets the "wait" call go on
}

func newFixture() *fixture {
	f := &fixture{
		MCPServer: server.NewMCPServer("fixture", "1", server.WithToolCapabilities(true), server.WithElicitation(), server.WithLogging()),
		started:   make(chan string, 10000),
		ended:     make(chan error, 10000),
	}
	tool := func(name string, handler server.ToolHandlerFunc) { f.AddTool(mcp.NewTool(name), handler) }
	tool("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	tool("big", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Repeat("x", r.GetInt("bytes", 0))), nil
	})
	tool("length", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(len(r.GetString("text", "")))), nil
	})
	tool("wait", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		name := r.GetString("name", "")
		f.started <- name
		select {
		case <-f.gate(name):
			return mcp.NewToolResultText("waited " + name), nil
		case <-ctx.Done():
			f.ended <- context.Cause(ctx)
			return mcp.NewToolResultError("cancelled " + name), nil
		}
	})
	tool("deaf", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		f.started <- "deaf"
		<-f.gate("deaf")
		return mcp.NewToolResultText("heard nothing"), nil
	})
	tool("panic", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("on purpose") })
	tool("goexit", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		runtime.Goexit()
		return nil, nil
	})
	tool("unencodable", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultStructured(map[string]any{"f": func() {}}, "text"), nil
	})
	tool("notify", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range r.GetInt("times", 1) {
			if err := f.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"call": r.GetString("name", ""), "progress": i}); err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("notified"), nil
	})
	tool("whoami", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		session := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
		if name := r.GetString("name", ""); name != "" {
			f.started <- name
			<-f.gate(name)
		}
		return mcp.NewToolResultText(fmt.Sprintf("%s elicitation=%v", session.GetClientInfo().Name, session.GetClientCapabilities().Elicitation != nil)), nil
	})
	tool("ask", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer := server.ElicitationResponse(r.Params.InputResponses, "ok"); answer != nil {
			return mcp.NewToolResultText("the answer is " + string(answer.Action)), nil
		}
		return server.NewInputRequestBuilder("").Elicit("ok", mcp.ElicitationParams{
			Message:         "may I?",
			RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
		}).ToolResult(), nil
	})
	return f
}

func (f *fixture) gate(name string) chan struct{} {
	ch, _ := f.gates.LoadOrStore(name, make(chan struct{}))
	return ch.(chan struct{})
}

func (f *fixture) open(name string) { close(f.gate(name)) }

// peer is the client's end of a Serve that runs.
type peer struct {
	t      *testing.T
	f      *fixture
	in     *os.File
	lines  chan string
	served chan error
	log    *syncBuffer
	stop   context.CancelCauseFunc
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// connect serves a fixture over real pipes.
func connect(t *testing.T, adjust func(*Stdio)) *peer {
	t.Helper()
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, f: newFixture(), in: inWrite, lines: make(chan string, 10000), served: make(chan error, 1), log: &syncBuffer{}}
	ctx, stop := context.WithCancelCause(context.Background())
	p.stop = stop
	s := &Stdio{Server: p.f.MCPServer, Logger: slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	if adjust != nil {
		adjust(s)
	}
	go func() {
		err := s.Serve(ctx, inRead, outWrite)
		outWrite.Close()
		p.served <- err
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.lines)
		r := bufio.NewReaderSize(outRead, 1<<20)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				if line != "" {
					t.Errorf("the output ends in the middle of a line: %.100q", line)
				}
				return
			}
			p.lines <- line
		}
	}()
	t.Cleanup(func() {
		inWrite.Close()
		stop(nil)
		<-read
		inRead.Close()
		outRead.Close()
		noGoroutines(t)
	})
	return p
}

// noGoroutines waits until nothing of this package runs any more.
func noGoroutines(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		var left []string
		for _, g := range strings.Split(string(stacks), "\n\n") {
			if strings.Contains(g, "transports.(*conn)") || strings.Contains(g, "transports.(*lineWriter)") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("goroutines are left behind:\n%s", strings.Join(left, "\n\n"))
			return
		}
		runtime.Gosched()
	}
}

func (p *peer) send(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) call(id, tool, arguments string) {
	p.t.Helper()
	p.send("%s", toolCall(id, tool, arguments))
}

func toolCall(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

func (p *peer) initialize(capabilities string) {
	p.t.Helper()
	p.send("%s", initialize(`"init"`, capabilities))
	if m := p.next(); m.ID != `"init"` || m.Result == nil {
		p.t.Fatalf("initialize was answered with %s", m.line)
	}
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func initialize(id, capabilities string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"tester","version":"1"}}}`, id, capabilities)
}

// message is a line of output, taken apart.
type message struct {
	line   string
	ID     string
	Method string
	Params json.RawMessage
	Result *struct {
		Content []struct{ Text string }
		IsError bool
		Meta    map[string]any `json:"_meta"`
	}
	Error *struct {
		Code    int
		Message string
	}
}

func (m message) text() string {
	if m.Result == nil || len(m.Result.Content) == 0 {
		return ""
	}
	return m.Result.Content[0].Text
}

func parse(t testing.TB, line string) message {
	t.Helper()
	var raw struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
	}
	var m message
	if err := json.Unmarshal([]byte(line), &raw); err != nil || raw.JSONRPC != "2.0" {
		t.Fatalf("not a JSON-RPC message: %.300q (%v)", line, err)
	}
	var rest struct {
		Method string
		Params json.RawMessage
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &rest); err != nil {
		t.Fatal(err)
	}
	m.line, m.ID, m.Method, m.Params = line, string(raw.ID), rest.Method, rest.Params
	if rest.Result != nil {
		if err := json.Unmarshal(rest.Result, &m.Result); err != nil {
			t.Fatalf("%v in %.300q", err, line)
		}
	}
	if rest.Error != nil {
		if err := json.Unmarshal(rest.Error, &m.Error); err != nil {
			t.Fatalf("%v in %.300q", err, line)
		}
	}
	return m
}

// nextLine waits for a line of output.
func (p *peer) nextLine() string {
	p.t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			p.t.Fatal("the output has ended")
		}
		return line
	case <-time.After(patience):
		p.t.Fatal("no output")
	}
	return ""
}

func (p *peer) next() message {
	p.t.Helper()
	return parse(p.t, p.nextLine())
}

// collect waits for n messages and returns them by id.
func (p *peer) collect(n int) map[string]message {
	p.t.Helper()
	out := map[string]message{}
	for range n {
		m := p.next()
		out[m.ID] = m
	}
	return out
}

// end closes the input and returns what Serve does.
func (p *peer) end() error {
	p.t.Helper()
	p.in.Close()
	return p.result()
}

func (p *peer) result() error {
	p.t.Helper()
	select {
	case err := <-p.served:
		return err
	case <-time.After(patience):
		buf := make([]byte, 1<<20)
		p.t.Fatalf("Serve does not return\n%s", buf[:runtime.Stack(buf, true)])
	}
	return nil
}

func (p *peer) waitStarted(name string) {
	p.t.Helper()
	select {
	case got := <-p.f.started:
		if got != name {
			p.t.Fatalf("%q started, not %q", got, name)
		}
	case <-time.After(patience):
		p.t.Fatalf("%q does not start", name)
	}
}

func (p *peer) waitEnded() (cause error) {
	p.t.Helper()
	select {
	case err := <-p.f.ended:
		return err
	case <-time.After(patience):
		p.t.Fatal("the call is not cancelled")
	}
	return nil
}

// pipe serves input to its end, as a shell pipeline does, and returns the
// lines of output.
func pipe(t testing.TB, s *Stdio, input string) []string {
	t.Helper()
	if s.Server == nil {
		s.Server = newFixture().MCPServer
	}
	var out bytes.Buffer
	if err := s.Serve(context.Background(), strings.NewReader(input), &out); err != nil {
		t.Fatalf("Serve: %v", err)
	}
	if out.Len() == 0 {
		return nil
	}
	if !strings.HasSuffix(out.String(), "\n") {
		t.Fatalf("the output does not end in a newline: %q", out.String())
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}
