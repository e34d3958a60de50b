package transports

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const otherEra = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// ambiguous are messages that encoding/json, and so mcp-go, makes something else
// of than a reader for which names are exact and the last of two counts.
var ambiguous = map[string]struct {
	message string
	code    int
	said    string // in the refusal
}{
	"params, the first of the other era": {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":` + otherEra + `},"params":{"name":"echo"}}`, -32600, `"params" is there more than once`},
	"params, the last empty":             {`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":` + otherEra + `},"params":{}}`, -32600, `"params" is there more than once`},
	"_meta":                              {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","_meta":` + otherEra + `,"_meta":null}}`, -32602, `in params: "_meta" is there more than once`},
	"the version":                        {`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/protocolVersion":"2025-11-25"}}}`, -32602, `in _meta: "io.modelcontextprotocol/protocolVersion" is there more than once`},
	"method":                             {`{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call","params":{"name":"echo"}}`, -32600, `"method" is there more than once`},
	"id":                                 {`{"jsonrpc":"2.0","id":1,"method":"ping","id":7}`, -32600, `"id" is there more than once`},
	"a name":                             {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","name":"wait"}}`, -32602, `in params: "name" is there more than once`},
	"an escaped name":                    {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","\u006eame":"wait"}}`, -32602, `in params: "name" is there more than once`},
	"a name that means nothing":          {`{"jsonrpc":"2.0","id":7,"method":"ping","x":1,"x":1}`, -32600, `"x" is there more than once`},
	"Params":                             {`{"jsonrpc":"2.0","id":7,"method":"tools/call","Params":{"_meta":` + otherEra + `},"params":{"name":"echo"}}`, -32600, `"Params" must be written "params"`},
	"_Meta":                              {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","_META":` + otherEra + `}}`, -32602, `in params: "_META" must be written "_meta"`},
	"Method":                             {`{"jsonrpc":"2.0","id":7,"Method":"tools/call","method":"ping"}`, -32600, `"Method" must be written "method"`},
	"paramſ, as Unicode folds it":        {`{"jsonrpc":"2.0","id":7,"method":"ping","param\u017f":{"_meta":` + otherEra + `}}`, -32600, `"paramſ" must be written "params"`},
	"Arguments":                          {`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","Arguments":{}}}`, -32602, `in params: "Arguments" must be written "arguments"`},
	"PROTOCOLVERSION":                    {`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/PROTOCOLVERSION":"2026-07-28"}}}`, -32602, `in _meta: "io.modelcontextprotocol/PROTOCOLVERSION" must be written`},
	"too many to compare":                {`{"jsonrpc":"2.0","id":7,"method":"ping","params":{` + manyMembers(maxMembers+1) + `}}`, -32602, `in params: there are more than 256 members`},
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"m` + strings.Repeat("x", i) + `":0`)
	}
	return b.String()
}

// Whatever way a message comes in, what could be understood in two ways is not
// handled.
func TestAmbiguousMessagesAreRefused(t *testing.T) {
	s := newSite(t, nil)
	v := s.visit("alice", mcp.ProtocolVersion20251125, "{}")
	batching := s.visit("alice", mcp.ProtocolVersion20250326, "{}")
	sse := s.connectSSE("alice", "{}")
	for name, c := range ambiguous {
		t.Run(name, func(t *testing.T) {
			refused := func(way, answer string) {
				t.Helper()
				m := parse(t, answer)
				if m.ID != "7" || m.Error == nil || m.Error.Code != c.code || !strings.Contains(m.Error.Message, c.said) {
					t.Errorf("%s: %s", way, answer)
				}
			}
			overHTTP := func(way string, r httpReply) {
				t.Helper()
				if r.status != 400 {
					t.Errorf("%s: %d", way, r.status)
				}
				refused(way, r.body)
			}
			overHTTP("session", v.post(c.message))
			overHTTP("without sessions", s.do("POST", "/mcp", c.message, modernHeaders("tools/call", "echo")...))
			overHTTP("/sse", s.do("POST", sse.path, c.message))
			batch := batching.post("[" + c.message + "]")
			refused("batch", strings.Trim(batch.body, "[]"))
			sse.post("[" + c.message + "]")
			refused("batch on /sse", strings.Trim(sse.next().data, "[]"))
			refused("stdio", strings.Join(pipe(t, &Stdio{}, c.message), "\n"))
		})
	}
	if n := len(s.f.started); n != 0 {
		t.Errorf("%d calls ran", n)
	}
}

// An answer whose envelope is ambiguous answers nothing, and what is said of that
// does not look like the answer to a request of the client's.
func TestAnAmbiguousAnswerIsRefused(t *testing.T) {
	for _, bad := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"},"result":{"action":"decline"}}`,
		`{"jsonrpc":"2.0","id":1,"Result":{},"result":{"action":"accept"}}`,
	} {
		out := pipe(t, &Stdio{}, bad)
		if len(out) != 1 {
			t.Fatalf("%s: %q", bad, out)
		}
		if m := parse(t, out[0]); m.ID != "null" || m.Error == nil || m.Error.Code != mcp.INVALID_REQUEST {
			t.Errorf("%s: %s", bad, out[0])
		}
	}
}

// paramsNames has every name that mcp-go looks for in the params of what a client
// sends.
func TestParamsNamesAreComplete(t *testing.T) {
	for _, params := range []any{
		mcp.InitializeParams{}, mcp.CallToolParams{}, mcp.MultiRoundTripParams{}, mcp.PaginatedParams{}, mcp.ReadResourceParams{}, mcp.SubscribeParams{},
		mcp.UnsubscribeParams{}, mcp.GetPromptParams{}, mcp.CompleteParams{}, mcp.SetLevelParams{}, mcp.DiscoverParams{}, mcp.SubscriptionsListenParams{},
		mcp.GetTaskParams{}, mcp.TaskResultParams{}, mcp.CancelTaskParams{}, mcp.ProgressNotificationParams{}, mcp.CancelledNotificationParams{},
	} {
		for f := range reflect.TypeOf(params).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && name != "-" && !slices.Contains(paramsNames, name) {
				t.Errorf("%T has %q", params, name)
			}
		}
	}
}

// FuzzReadMessage holds our reading of a message against mcp-go's: what is handled
// has the id, the method and the era that it was let in for.
func FuzzReadMessage(f *testing.F) {
	for _, c := range ambiguous {
		f.Add([]byte(c.message))
	}
	for _, seed := range []string{
		toolCall("1", "echo", "{}"), initialize("1", "{}"), modernBody("1", "tools/list", ""), modernTool(`"\u0031"`, "echo", "{}"),
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"\u0032026-07-28","progressToken":1e999}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":[{"_meta":` + otherEra + `}]}`, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":[]}}`,
	} {
		f.Add([]byte(seed))
	}
	type request struct {
		id     any
		method string
		modern bool
	}
	var theirs *request
	hooks := &server.Hooks{}
	hooks.AddBeforeAny(func(ctx context.Context, id any, method mcp.MCPMethod, _ any) {
		theirs = &request{id, string(method), server.IsModernRequest(ctx)}
	})
	s := server.NewMCPServer("fuzz", "1", server.WithToolCapabilities(false), server.WithHooks(hooks))
	s.AddTool(mcp.NewTool("echo"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(""), nil
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		env, wrong := readMessage(data)
		if wrong != nil || env.isResponse() || env.id == nil {
			return
		}
		ours := request{method: env.method, modern: mcp.IsModernProtocol(env.protocol)}
		if err := json.Unmarshal(env.id, &ours.id); err != nil {
			t.Fatalf("the id %s was taken: %v", env.id, err)
		}
		theirs = nil
		s.HandleMessage(t.Context(), data)
		if theirs != nil && !reflect.DeepEqual(*theirs, ours) {
			t.Errorf("%s\nwas let in as %+v and handled as %+v", data, ours, *theirs)
		}
	})
}
