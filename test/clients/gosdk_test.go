package clients

import (
	"context"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goSDK is the official Go client.
type goSDK struct {
	to        remote
	transport string
	version   string
	person    *person // nil: it cannot ask
}

// sending adds headers to every request.
type sending map[string]string

func (s sending) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range s {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (g goSDK) connect(ctx context.Context) (*mcp.ClientSession, error) {
	opts := &mcp.ClientOptions{}
	if g.person != nil {
		opts.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			answer, ok := g.person.answer(req.Params.Message, req.Params.RequestedSchema)
			if !ok {
				return &mcp.ElicitResult{Action: "decline"}, nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": answer}}, nil
		}
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "go-sdk-test", Version: "1"}, opts)
	httpClient := &http.Client{Transport: sending(g.to.headers)}
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: g.to.endpoint(g.transport), HTTPClient: httpClient}
	if g.transport == sse {
		transport = &mcp.SSEClientTransport{Endpoint: g.to.endpoint(g.transport), HTTPClient: httpClient}
	}
	return c.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: g.version})
}

func (g goSDK) drive(t *testing.T, steps []step) report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	session, err := g.connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	}()
	init := session.InitializeResult()
	r := report{Server: init.ServerInfo.Name, Version: init.ProtocolVersion}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		r.Tools = append(r.Tools, tool.Name)
	}
	for _, s := range steps {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: s.Tool, Arguments: s.Arguments})
		if err != nil {
			t.Fatalf("%s: %v", s.Tool, err)
		}
		a := answer{IsError: result.IsError}
		for _, part := range result.Content {
			if text, ok := part.(*mcp.TextContent); ok {
				a.Text += text.Text
			}
		}
		a.Code, _ = result.Meta["mcp-workspace/code"].(string)
		r.Results = append(r.Results, a)
	}
	if g.person != nil {
		r.Asked = g.person.asked
	}
	return r
}

func TestGoSDK(t *testing.T) {
	for _, c := range goClients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, nil, func(t *testing.T, to remote) {
				steps := networkSteps()
				got := goSDK{to: to, transport: c.transport, version: c.version}.drive(t, steps)
				checkClient(t, steps, got)
				checkVersion(t, c.version, got)
			})
			t.Run("approval", func(t *testing.T) {
				a := approvalOf(c.version)
				to := guarded(t, "--permissions", writeFile(t, "rules.yaml", askingRules))
				a.check(t, goSDK{to, c.transport, c.version, &person{answers: a.answers}}.drive(t, a.steps))
			})
			t.Run("no token", func(t *testing.T) {
				to := guarded(t)
				to.headers = nil
				if session, err := (goSDK{to: to, transport: c.transport, version: c.version}).connect(t.Context()); err == nil {
					t.Errorf("it was let in; closing says %v", session.Close())
				}
			})
		})
	}
}

// goClients are the ways in which clients in this process connect.
var goClients = []struct{ name, transport, version string }{
	{"Streamable HTTP with sessions", streamable, sessionEra},
	{"Streamable HTTP without", streamable, statelessEra},
	{"SSE", sse, sessionEra},
}
