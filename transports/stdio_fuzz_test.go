package transports

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
)

// FuzzLines: whatever comes in, nothing panics, everything that goes out is a
// line of JSON, and a request that follows is answered.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"", "\n\n", "{", "[]", "[1,[2]]", `{"jsonrpc":"2.0"}`, `{"\u0069d":1}`, "\ufeff{}", "\xff",
		initialize("1", `{"elicitation":{}}`) + "\n" + toolCall("2", "ask", "{}"),
		toolCall("1", "echo", `{"text":"x"}`) + "\r\n" + toolCall("1", "echo", `{"text":"\ud800"}`),
		"[" + toolCall("1", "echo", "{}") + "," + toolCall("1", "echo", "{}") + "]",
		toolCall("1", "panic", "{}"), toolCall("1e400", "echo", "{}"), modernCall("1", "ask", "{}", "c", "{}"),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"error":5}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, inOrder bool) {
		const last = `"the last request, whose id no input has"`
		input := append(bytes.Clone(data), "\n"+toolCall(last, "echo", `{"text":"alive"}`)+"\n"...)
		var out bytes.Buffer
		f := newFixture()
		// What waits, or makes more than it was given, shows nothing here.
		f.DeleteTools("wait", "deaf", "whoami", "big")
		s := &Stdio{Server: f.MCPServer, InOrder: inOrder, MaxLine: 1 << 16}
		if err := s.Serve(context.Background(), bytes.NewReader(input), &out); err != nil {
			t.Fatal(err)
		}
		answers := 0
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) {
				t.Fatalf("not JSON: %q", line)
			}
			if line[0] == '{' {
				if m := parse(t, string(line)); m.ID == last && m.text() == "alive" {
					answers++
				}
			}
		}
		if answers != 1 {
			t.Fatalf("the request after %q was answered %d times", data, answers)
		}
	})
}
