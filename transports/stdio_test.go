package transports

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func TestEndOfInputWaitsForAnswers(t *testing.T) {
	t.Run("calls in flight and queued are answered before Serve returns", func(t *testing.T) {
		p := connect(t, func(s *Stdio) { s.maxRunning = 2 })
		for i := range 5 {
			p.call(fmt.Sprint(i), "wait", `{"name":"w"}`)
		}
		p.waitStarted("w")
		p.in.Close()
		p.f.open("w")
		got := p.collect(5)
		for i := range 5 {
			if got[fmt.Sprint(i)].text() != "waited w" {
				t.Errorf("call %d: %s", i, got[fmt.Sprint(i)].line)
			}
		}
		if err := p.result(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a last line without a newline counts", func(t *testing.T) {
		out := pipe(t, &Stdio{}, toolCall("1", "echo", `{"text":"hi"}`))
		if len(out) != 1 || parse(t, out[0]).text() != "hi" {
			t.Error(out)
		}
	})
	t.Run("a question nobody can answer any more counts as closed at once", func(t *testing.T) {
		p := connect(t, nil)
		p.initialize(`{"elicitation":{}}`)
		p.call("1", "ask", `{}`)
		if m := p.next(); m.Method != "elicitation/create" {
			t.Fatal(m.line)
		}
		p.in.Close()
		if m := p.next(); m.ID != "1" || m.text() != "the answer is cancel" {
			t.Error(m.line)
		}
		if err := p.result(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a question asked after the end counts as closed at once", func(t *testing.T) {
		input := initialize("0", `{"elicitation":{}}`) + "\n" + toolCall("1", "ask", "{}")
		for _, line := range pipe(t, &Stdio{}, input) {
			if m := parse(t, line); m.ID == "1" && m.Method == "" && m.text() != "the answer is cancel" {
				t.Error(line)
			}
		}
	})
	t.Run("a subscription, which has no end of its own, ends", func(t *testing.T) {
		out := pipe(t, &Stdio{}, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
		if len(out) != 2 || !strings.Contains(out[0], "acknowledged") || parse(t, out[1]).ID != "1" {
			t.Error(out)
		}
	})
	t.Run("a cancelled call that goes on holds nothing up for long", func(t *testing.T) {
		p := connect(t, nil)
		p.call("1", "deaf", `{}`)
		p.waitStarted("deaf")
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if err := p.end(); err != nil {
			t.Error(err)
		}
		if !strings.Contains(p.log.String(), "still running") {
			t.Error("nothing in the log about it")
		}
		p.f.open("deaf")
	})
}

func TestInitializePipedWithCallsTakesEffectFirst(t *testing.T) {
	for range 50 {
		input := initialize("0", `{}`) + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
		for i := 1; i <= 10; i++ {
			input += toolCall(fmt.Sprint(i), "whoami", `{}`) + "\n"
		}
		out := pipe(t, &Stdio{}, input)
		if len(out) != 11 {
			t.Fatalf("%d answers", len(out))
		}
		for _, line := range out {
			if m := parse(t, line); m.ID != "0" && m.text() != "tester elicitation=false" {
				t.Fatal(line)
			}
		}
	}
}

func TestInOrderRunsOneAtATime(t *testing.T) {
	t.Run("answers come in the order of the requests", func(t *testing.T) {
		input := initialize("0", `{}`) + "\n"
		for i := 1; i <= 200; i++ {
			input += toolCall(fmt.Sprint(i), "echo", fmt.Sprintf(`{"text":"%d"}`, i)) + "\n"
		}
		for i, line := range pipe(t, &Stdio{InOrder: true}, input) {
			if m := parse(t, line); m.ID != fmt.Sprint(i) {
				t.Fatalf("answer %d has id %s", i, m.ID)
			}
		}
	})
	t.Run("nothing overtakes but a ping and a cancellation", func(t *testing.T) {
		p := connect(t, func(s *Stdio) { s.InOrder = true })
		p.call("1", "wait", `{"name":"a"}`)
		p.waitStarted("a")
		p.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		if m := p.next(); m.ID != "2" {
			t.Error(m.line)
		}
		p.call("3", "wait", `{"name":"never"}`)
		p.call("4", "echo", `{"text":"last"}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`)
		var cancelled *CancelledError
		if err := p.waitEnded(); !errors.As(err, &cancelled) || cancelled.Reason != "enough" {
			t.Error(err)
		}
		if m := p.next(); m.ID != "4" {
			t.Error(m.line)
		}
		if len(p.f.started) != 0 {
			t.Error("a cancelled call in the queue was started")
		}
	})
	t.Run("an answer from the client passes what waits", func(t *testing.T) {
		p := connect(t, func(s *Stdio) { s.InOrder = true })
		p.initialize(`{"elicitation":{}}`)
		p.call("1", "ask", `{}`)
		p.call("2", "echo", `{"text":"after"}`)
		q := p.next()
		p.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, q.ID)
		if m := p.next(); m.ID != "1" || m.text() != "the answer is accept" {
			t.Error(m.line)
		}
		if m := p.next(); m.ID != "2" {
			t.Error(m.line)
		}
	})
}

func TestBusyCallsStopNothingElse(t *testing.T) {
	t.Run("ping is answered when every place is taken", func(t *testing.T) {
		p := connect(t, func(s *Stdio) { s.maxRunning = 3 })
		for i := range 10 {
			p.call(fmt.Sprint(i), "wait", `{"name":"w"}`)
		}
		p.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		if m := p.next(); m.ID != `"p"` {
			t.Error(m.line)
		}
		for range 3 {
			p.waitStarted("w")
		}
		if len(p.f.started) != 0 {
			t.Error("more calls run than may")
		}
		p.f.open("w")
		p.collect(10)
	})
	t.Run("calls that wait for the person do not count", func(t *testing.T) {
		p := connect(t, func(s *Stdio) { s.maxRunning = 3 })
		p.initialize(`{"elicitation":{}}`)
		var questions []string
		for i := range 300 {
			p.call(fmt.Sprint(i), "ask", `{}`)
		}
		for range 300 {
			questions = append(questions, p.next().ID)
		}
		p.call(`"e"`, "echo", `{"text":"still here"}`)
		if m := p.next(); m.text() != "still here" {
			t.Fatal(m.line)
		}
		for _, id := range questions {
			p.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, id)
		}
		for id, m := range p.collect(300) {
			if m.text() != "the answer is decline" {
				t.Errorf("%s: %s", id, m.line)
			}
		}
	})
	t.Run("a cancellation behind more than may run is seen", func(t *testing.T) {
		p := connect(t, func(s *Stdio) { s.maxRunning = 1 })
		p.call("0", "wait", `{"name":"first"}`)
		p.waitStarted("first")
		for i := 1; i < 1000; i++ {
			p.call(fmt.Sprint(i), "echo", `{"text":"x"}`)
		}
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`)
		_ = p.waitEnded() // why does not matter here
		if got := p.collect(999); len(got) != 999 {
			t.Errorf("%d answers", len(got))
		}
	})
}

func TestMessagesHeldAreBounded(t *testing.T) {
	t.Run("reading waits, and goes on when there is room", func(t *testing.T) {
		p := connect(t, func(s *Stdio) { s.maxRunning = 1; s.maxHeld = 10_000 })
		p.call("0", "wait", `{"name":"w"}`)
		p.waitStarted("w")
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for i := 1; i < 100; i++ {
				p.call(fmt.Sprint(i), "length", fmt.Sprintf(`{"text":"%s"}`, strings.Repeat("x", 9000)))
			}
		}()
		p.f.open("w")
		if got := p.collect(100); len(got) != 100 {
			t.Errorf("%d answers", len(got))
		}
		<-sent
	})
	t.Run("behind a question what does not fit is refused, so that the answer is read", func(t *testing.T) {
		p := connect(t, func(s *Stdio) { s.InOrder = true; s.maxHeld = 2*callOverhead + 1000 })
		p.initialize(`{"elicitation":{}}`)
		p.call("1", "ask", `{}`)
		q := p.next()
		p.call("2", "length", fmt.Sprintf(`{"text":"%s"}`, strings.Repeat("x", 9000)))
		if m := p.next(); m.ID != "2" || m.Error == nil || m.Error.Code != mcp.INTERNAL_ERROR {
			t.Fatal(m.line)
		}
		p.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`, q.ID)
		if m := p.next(); m.ID != "1" || m.text() != "the answer is accept" {
			t.Error(m.line)
		}
	})
}

func TestCancellation(t *testing.T) {
	t.Run("a string and a number are different ids", func(t *testing.T) {
		p := connect(t, nil)
		p.call("1", "wait", `{"name":"number"}`)
		p.waitStarted("number")
		p.call(`"1"`, "wait", `{"name":"string"}`)
		p.waitStarted("string")
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`)
		_ = p.waitEnded() // why does not matter here
		p.f.open("number")
		if m := p.next(); m.ID != "1" || m.text() != "waited number" {
			t.Error(m.line)
		}
	})
	t.Run("a cancelled call gets no answer, and its id can be used again", func(t *testing.T) {
		p := connect(t, nil)
		p.call("7", "wait", `{"name":"w"}`)
		p.waitStarted("w")
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7.0}}`)
		_ = p.waitEnded() // why does not matter here
		p.call("7", "echo", `{"text":"again"}`)
		if m := p.next(); m.ID != "7" || m.text() != "again" {
			t.Error(m.line)
		}
		if err := p.end(); err != nil {
			t.Error(err)
		}
		if line, more := <-p.lines; more {
			t.Errorf("one answer too many: %s", line)
		}
	})
	t.Run("what is unknown or malformed is ignored", func(t *testing.T) {
		out := pipe(t, &Stdio{}, strings.Join([]string{
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
			`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		}, "\n"))
		if len(out) != 1 {
			t.Error(out)
		}
	})
	t.Run("initialize cannot be cancelled", func(t *testing.T) {
		for range 50 {
			out := pipe(t, &Stdio{}, initialize("1", `{}`)+"\n"+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
			if len(out) != 1 || parse(t, out[0]).Result == nil {
				t.Fatal(out)
			}
		}
	})
	t.Run("a question of a cancelled call is withdrawn", func(t *testing.T) {
		p := connect(t, nil)
		p.initialize(`{"elicitation":{}}`)
		p.call("1", "ask", `{}`)
		q := p.next()
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		m := p.next()
		var params struct{ RequestID json.RawMessage }
		if err := json.Unmarshal(m.Params, &params); err != nil || m.Method != "notifications/cancelled" || string(params.RequestID) != q.ID {
			t.Errorf("%s for question %s", m.line, q.ID)
		}
	})
	t.Run("an id in use is refused", func(t *testing.T) {
		p := connect(t, nil)
		p.call("1", "wait", `{"name":"w"}`)
		p.waitStarted("w")
		p.call("1", "echo", `{"text":"x"}`)
		if m := p.next(); m.ID != "1" || m.Error == nil || m.Error.Code != mcp.INVALID_REQUEST || !strings.Contains(m.Error.Message, "has not been answered yet") {
			t.Error(m.line)
		}
		p.f.open("w")
		if m := p.next(); m.text() != "waited w" {
			t.Error(m.line)
		}
	})
}

func TestContextEndStopsCalls(t *testing.T) {
	reason := errors.New("told to stop")
	p := connect(t, nil)
	p.call("1", "wait", `{"name":"w"}`)
	p.waitStarted("w")
	p.stop(reason)
	if err := p.waitEnded(); !errors.Is(err, ErrShutdown) || !errors.Is(err, reason) {
		t.Error(err)
	}
	if m := p.next(); m.text() != "cancelled w" {
		t.Error(m.line)
	}
	if err := p.result(); !errors.Is(err, ErrShutdown) || !errors.Is(err, reason) {
		t.Error(err)
	}
}

func TestClientGoneStopsCalls(t *testing.T) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer inWrite.Close()
	f := newFixture()
	served := make(chan error, 1)
	go func() { served <- (&Stdio{Server: f.MCPServer}).Serve(context.Background(), inRead, outWrite) }()
	fmt.Fprintln(inWrite, toolCall("1", "wait", `{"name":"w"}`))
	<-f.started
	outRead.Close()
	fmt.Fprintln(inWrite, toolCall("2", "echo", `{}`))
	if err := <-f.ended; !errors.Is(err, ErrDisconnected) {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, ErrDisconnected) {
		t.Error(err)
	}
	noGoroutines(t)
}

func TestClientThatDoesNotReadIsLeftBehind(t *testing.T) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer inWrite.Close()
	defer outRead.Close()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- (&Stdio{Server: newFixture().MCPServer}).Serve(ctx, inRead, outWrite) }()
	fmt.Fprintln(inWrite, toolCall("1", "big", `{"bytes":1000000}`))
	buf := make([]byte, 1)
	if _, err := outRead.Read(buf); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-served; !errors.Is(err, ErrShutdown) {
		t.Error(err)
	}
	noGoroutines(t)
}

func TestGarbageIsAnsweredAndTheConnectionLives(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 1_000_000) + "1" + strings.Repeat("}", 1_000_000)
	cases := []struct {
		name, line string
		id         string
		code       int
	}{
		{"not JSON", `hello`, "null", mcp.PARSE_ERROR},
		{"half an object", `{"jsonrpc":"2.0","id":1`, "null", mcp.PARSE_ERROR},
		{"two messages on a line", `{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}`, "null", mcp.PARSE_ERROR},
		{"broken inside params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{oops}}`, "null", mcp.PARSE_ERROR},
		{"broken inside the params of a notification", `{"jsonrpc":"2.0","method":"x","params":{oops}}`, "null", mcp.PARSE_ERROR},
		{"broken inside a cancellation", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{oops}}`, "null", mcp.PARSE_ERROR},
		{"mismatched brackets", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[}}`, "null", mcp.PARSE_ERROR},
		{"a bare control character", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\x01\"}}", "null", mcp.PARSE_ERROR},
		{"a string", `"hello"`, "null", mcp.INVALID_REQUEST},
		{"a number", `5`, "null", mcp.INVALID_REQUEST},
		{"null", `null`, "null", mcp.INVALID_REQUEST},
		{"an empty object", `{}`, "null", mcp.INVALID_REQUEST},
		{"no version", `{"id":1,"method":"ping"}`, "1", mcp.INVALID_REQUEST},
		{"wrong version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1", mcp.INVALID_REQUEST},
		{"version is a number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, "1", mcp.INVALID_REQUEST},
		{"no method", `{"jsonrpc":"2.0","id":"a"}`, `"a"`, mcp.INVALID_REQUEST},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":1}`, "1", mcp.INVALID_REQUEST},
		{"a member in other letters", `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}`, "1", mcp.INVALID_REQUEST},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, "1", mcp.INVALID_REQUEST},
		{"id is null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "null", mcp.INVALID_REQUEST},
		{"id is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, "null", mcp.INVALID_REQUEST},
		{"id is an array", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, "null", mcp.INVALID_REQUEST},
		{"id is a boolean", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, "null", mcp.INVALID_REQUEST},
		{"id is beyond a number", `{"jsonrpc":"2.0","id":1e999,"method":"ping"}`, "null", mcp.INVALID_REQUEST},
		{"id is not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", "null", mcp.INVALID_REQUEST},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"nope"}`, "1", mcp.METHOD_NOT_FOUND},
		{"params of the wrong kind", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, "1", mcp.INVALID_REQUEST},
		{"nested a million deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep + `}`, "null", mcp.PARSE_ERROR},
		{"nested a million deep, alone", strings.Repeat("[", 1_000_000), "null", mcp.PARSE_ERROR},
		{"an empty batch", `[]`, "null", mcp.INVALID_REQUEST},
		{"a broken batch", `[{"jsonrpc":"2.0"`, "null", mcp.PARSE_ERROR},
		{"a huge batch", "[" + strings.Repeat("1,", 5000) + "1]", "null", mcp.INVALID_REQUEST},
		{"too long a line", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 7_000_000) + `"}`, "null", mcp.INVALID_REQUEST},
	}
	p := connect(t, func(s *Stdio) { s.MaxLine = 7_000_000 })
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p.t = t
			p.send("%s", c.line)
			if m := p.next(); m.ID != c.id || m.Error == nil || m.Error.Code != c.code {
				t.Errorf("answered %.300s, want id %s and code %d", m.line, c.id, c.code)
			}
			p.send(`{"jsonrpc":"2.0","id":"after %d","method":"ping"}`, i)
			if m := p.next(); m.ID != fmt.Sprintf(`"after %d"`, i) || m.Error != nil {
				t.Errorf("then answered %.300s", m.line)
			}
		})
	}
	p.t = t
}

func TestTolerated(t *testing.T) {
	cases := []struct {
		name, input string
		id, text    string
	}{
		{"blank lines and CRLF", "\r\n\n  \t\n" + toolCall("1", "echo", `{"text":"a"}`) + "\r\n\r\n", "1", "a"},
		{"a byte order mark", "\ufeff" + toolCall("1", "echo", `{"text":"a"}`), "1", "a"},
		{"invalid UTF-8 in a string", toolCall("1", "echo", "{\"text\":\"a\xffb\"}"), "1", "a\ufffdb"},
		{"a lone surrogate", toolCall("1", "echo", `{"text":"a\ud800b"}`), "1", "a\ufffdb"},
		{"escaped member names", `{"jsonrpc":"2.0","\u0069d":1,"m\u0065thod":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}`, "1", "a"},
		{"an escaped version", `{"jsonrpc":"\u0032.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}`, "1", "a"},
		{"an id of zero", toolCall("0", "echo", `{"text":"a"}`), "0", "a"},
		{"an empty id", toolCall(`""`, "echo", `{"text":"a"}`), `""`, "a"},
		{"an id with escapes comes back as it was", toolCall(`"\u0041\\\""`, "echo", `{"text":"a"}`), `"\u0041\\\""`, "a"},
		{"a fraction for an id", toolCall(`1.5`, "echo", `{"text":"a"}`), `1.5`, "a"},
		{"an id beyond 2^53 comes back digit by digit", toolCall(`9007199254740993123`, "echo", `{"text":"a"}`), `9007199254740993123`, "a"},
		{"quotes and brackets in strings", toolCall("1", "echo", `{"text":"}]\\\"{["}`), "1", `}]\"{[`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out := pipe(t, &Stdio{}, c.input)
			if len(out) != 1 {
				t.Fatalf("%q", out)
			}
			if m := parse(t, out[0]); m.ID != c.id || m.text() != c.text {
				t.Error(out[0])
			}
		})
	}
	t.Run("notifications nobody knows", func(t *testing.T) {
		if out := pipe(t, &Stdio{}, `{"jsonrpc":"2.0","method":"notifications/x"}`+"\n"); out != nil {
			t.Error(out)
		}
	})
	t.Run("answers nobody asked for", func(t *testing.T) {
		if out := pipe(t, &Stdio{}, `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n"+`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`+"\n"+`{"jsonrpc":"2.0","result":{}}`); out != nil {
			t.Error(out)
		}
	})
}

func TestLinesOfFiftyMegabytes(t *testing.T) {
	const size = 50 << 20
	p := connect(t, nil)
	p.call("1", "length", `{"text":"`+strings.Repeat("x", size)+`"}`)
	if m := p.next(); m.text() != fmt.Sprint(size) {
		t.Errorf("%.200s", m.line)
	}
	p.call("2", "big", fmt.Sprintf(`{"bytes":%d}`, size))
	if m := p.next(); len(m.text()) != size {
		t.Errorf("%d bytes came back", len(m.text()))
	}
}

func TestLineOverTheLimitIsNotHeld(t *testing.T) {
	const limit = 1 << 20
	long := io.MultiReader(bytes.NewReader(make([]byte, limit)), &repeated{left: 256 << 20}, strings.NewReader("\nnext"))
	l := newLineReader(long, limit)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := l.next(); !errors.Is(err, errLineTooLong) {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 4*limit {
		t.Errorf("%d bytes were allocated for a line that may have %d", n, limit)
	}
	if line, err := l.next(); string(line) != "next" || err != nil {
		t.Error(string(line), err)
	}
}

// repeated is a number of bytes that are never in memory together.
type repeated struct{ left int }

func (r *repeated) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), r.left)
	clear(p[:n])
	r.left -= n
	return n, nil
}

func TestBatch(t *testing.T) {
	ids := func(t *testing.T, line string) []string {
		var answers []json.RawMessage
		if err := json.Unmarshal([]byte(line), &answers); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		var out []string
		for _, a := range answers {
			out = append(out, parse(t, string(a)).ID)
		}
		return out
	}
	t.Run("is answered as one array", func(t *testing.T) {
		out := pipe(t, &Stdio{}, "["+toolCall("1", "echo", "{}")+`, {"jsonrpc":"2.0","method":"notifications/x"} ,5,`+toolCall("2", "echo", "{}")+"]")
		if len(out) != 1 || !slices.Equal(ids(t, out[0]), []string{"1", "null", "2"}) {
			t.Error(out)
		}
	})
	t.Run("of notifications is answered with nothing", func(t *testing.T) {
		if out := pipe(t, &Stdio{}, `[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}},{"jsonrpc":"2.0","id":5,"result":1}]`); out != nil {
			t.Error(out)
		}
	})
	t.Run("leaves out what was cancelled", func(t *testing.T) {
		p := connect(t, nil)
		p.send("[%s,%s]", toolCall("1", "wait", `{"name":"w"}`), toolCall("2", "echo", `{}`))
		p.waitStarted("w")
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		if line := p.nextLine(); !slices.Equal(ids(t, line), []string{"2"}) {
			t.Error(line)
		}
	})
}

func TestNotificationsComeBeforeTheAnswer(t *testing.T) {
	p := connect(t, nil)
	p.initialize(`{}`)
	const calls, times = 20, 30
	for i := range calls {
		p.call(fmt.Sprint(i), "notify", fmt.Sprintf(`{"name":"%d","times":%d}`, i, times))
	}
	seen := map[string]int{}
	for answered := 0; answered < calls; {
		m := p.next()
		if m.Method == "" {
			answered++
			if seen[m.ID] != times {
				t.Errorf("call %s was answered after %d of its notifications", m.ID, seen[m.ID])
			}
			continue
		}
		var params struct {
			Call     string
			Progress int
		}
		if err := json.Unmarshal(m.Params, &params); err != nil {
			t.Fatal(err)
		}
		if params.Progress != seen[params.Call] {
			t.Errorf("call %s: notification %d came after %d", params.Call, params.Progress, seen[params.Call])
		}
		seen[params.Call]++
	}
}

func TestHandlerThatFailsIsAnswered(t *testing.T) {
	for _, tool := range []string{"panic", "goexit", "unencodable"} {
		t.Run(tool, func(t *testing.T) {
			p := connect(t, func(s *Stdio) { s.InOrder = true })
			p.call("1", tool, `{}`)
			p.call("2", "echo", `{"text":"alive"}`)
			if m := p.next(); m.ID != "1" || m.Error == nil || m.Error.Code != mcp.INTERNAL_ERROR {
				t.Error(m.line)
			}
			if m := p.next(); m.text() != "alive" {
				t.Error(m.line)
			}
			if log := p.log.String(); !strings.Contains(log, "level=ERROR") || tool == "panic" && !strings.Contains(log, "stdio_harness_test.go") {
				t.Errorf("the log does not say where: %s", log)
			}
		})
	}
}

func TestElicitation(t *testing.T) {
	t.Run("a client that answers with an error has closed the question", func(t *testing.T) {
		p := connect(t, nil)
		p.initialize(`{"elicitation":{}}`)
		p.call("1", "ask", `{}`)
		p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no screen"}}`, p.next().ID)
		if m := p.next(); m.text() != "the answer is cancel" {
			t.Error(m.line)
		}
		if log := p.log.String(); !strings.Contains(log, "no screen") {
			t.Errorf("the log does not say why: %s", log)
		}
	})
	t.Run("an answer that is none has closed the question", func(t *testing.T) {
		p := connect(t, nil)
		p.initialize(`{"elicitation":{}}`)
		p.call("1", "ask", `{}`)
		p.send(`{"jsonrpc":"2.0","id":%s,"result":"yes"}`, p.next().ID)
		if m := p.next(); m.text() != "the answer is cancel" {
			t.Error(m.line)
		}
	})
	t.Run("a question is closed when time is up, and the client told so", func(t *testing.T) {
		p := connect(t, func(s *Stdio) { s.questionTime = time.Millisecond })
		p.initialize(`{"elicitation":{}}`)
		p.call("1", "ask", `{}`)
		if m := p.next(); m.Method != "elicitation/create" {
			t.Fatal(m.line)
		}
		if m := p.next(); m.Method != "notifications/cancelled" {
			t.Error(m.line)
		}
		if m := p.next(); m.text() != "the answer is cancel" {
			t.Error(m.line)
		}
	})
	t.Run("a client that has not said it can is not asked", func(t *testing.T) {
		p := connect(t, nil)
		p.initialize(`{}`)
		p.call("1", "ask", `{}`)
		if m := p.next(); m.ID != "1" || m.Error == nil || !strings.Contains(m.Error.Message, server.ErrElicitationNotSupported.Error()) {
			t.Error(m.line)
		}
	})
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}`

func modernCall(id, tool, arguments, client, capabilities string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,`+modernMeta+`}}`, id, tool, arguments, client, capabilities)
}

func TestProtocolWithoutHandshake(t *testing.T) {
	t.Run("server/discover", func(t *testing.T) {
		out := pipe(t, &Stdio{}, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+modernMeta+`}}`, "c", "{}"))
		if len(out) != 1 || !strings.Contains(out[0], `"supportedVersions":["2026-07-28"`) {
			t.Error(out)
		}
	})
	t.Run("a tool that asks returns what it needs, and is called again with it", func(t *testing.T) {
		p := connect(t, nil)
		p.send("%s", modernCall("1", "ask", "{}", "c", `{"elicitation":{}}`))
		if line := p.nextLine(); !strings.Contains(line, `"resultType":"input_required"`) || !strings.Contains(line, `"may I?"`) {
			t.Error(line)
		}
		p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","inputResponses":{"ok":{"action":"accept"}},`+modernMeta+`}}`, "c", `{"elicitation":{}}`)
		if m := p.next(); m.text() != "the answer is accept" || !strings.Contains(m.line, `"resultType":"complete"`) {
			t.Error(m.line)
		}
	})
	t.Run("what one request says of its client does not leak into another", func(t *testing.T) {
		p := connect(t, nil)
		p.send("%s", modernCall("1", "whoami", `{"name":"a"}`, "able", `{"elicitation":{}}`))
		p.waitStarted("a")
		p.send("%s", modernCall("2", "whoami", `{}`, "unable", `{}`))
		if m := p.next(); m.text() != "unable elicitation=false" {
			t.Error(m.line)
		}
		p.f.open("a")
		if m := p.next(); m.text() != "able elicitation=true" {
			t.Error(m.line)
		}
		p.call("3", "whoami", `{}`)
		if m := p.next(); m.text() != " elicitation=false" {
			t.Error(m.line)
		}
	})
}

func TestTwoConnectionsOfOneServer(t *testing.T) {
	f := newFixture()
	a := connect(t, func(s *Stdio) { s.Server = f.MCPServer })
	b := connect(t, func(s *Stdio) { s.Server = f.MCPServer })
	a.initialize(`{"elicitation":{}}`)
	b.initialize(`{}`)
	a.call("1", "whoami", `{}`)
	b.call("1", "whoami", `{}`)
	if m := a.next(); m.text() != "tester elicitation=true" {
		t.Error(m.line)
	}
	if m := b.next(); m.text() != "tester elicitation=false" {
		t.Error(m.line)
	}
	for _, p := range []*peer{a, b} {
		if err := p.end(); err != nil {
			t.Error(err)
		}
	}
}

// TestStorm mixes calls, questions, cancellations and repeated ids on a
// connection with little room, so that a count that is off stops it.
func TestStorm(t *testing.T) {
	for _, inOrder := range []bool{false, true} {
		t.Run(fmt.Sprintf("in order %v", inOrder), func(t *testing.T) {
			p := connect(t, func(s *Stdio) { s.InOrder = inOrder; s.maxRunning = 3; s.maxHeld = 20 * callOverhead })
			p.initialize(`{"elicitation":{}}`)
			const n = 2000
			answered := make(chan map[string]int, 1)
			var in sync.Mutex
			send := func(line string) error {
				in.Lock()
				defer in.Unlock()
				_, err := io.WriteString(p.in, line+"\n")
				return err
			}
			answer := func(id string) {
				if err := send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept"}}`); err != nil && !errors.Is(err, os.ErrClosed) {
					t.Error(err)
				}
			}
			go func() {
				seen := map[string]int{}
				defer func() { answered <- seen }()
				for line := range p.lines {
					switch m := parse(t, line); m.Method {
					case "elicitation/create":
						go answer(m.ID)
					case "":
						seen[m.ID]++
					}
				}
			}()
			cancelled := func(i int) bool { return i%5 == 0 }
			for i := range n {
				tool := []string{"echo", "ask", "notify"}[i%3]
				lines := toolCall(fmt.Sprint(i), tool, `{"text":"x"}`)
				if cancelled(i) {
					lines += fmt.Sprintf("\n"+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i)
				}
				if err := send(lines); err != nil {
					t.Fatal(err)
				}
			}
			// Questions still open at the end of the input fail, which is an answer.
			in.Lock()
			err := p.end()
			in.Unlock()
			if err != nil {
				t.Error(err)
			}
			seen := <-answered
			for id, times := range seen {
				if times != 1 {
					t.Errorf("call %s was answered %d times", id, times)
				}
			}
			for i := range n {
				if !cancelled(i) && seen[fmt.Sprint(i)] != 1 {
					t.Errorf("call %d was not answered", i)
				}
			}
		})
	}
}
