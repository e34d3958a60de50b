package clients

import (
	"context"
	"log/slog"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// Elicit is how mcp-go asks.
func (p *person) Elicit(_ context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	answer, ok := p.answer(req.Params.Message, req.Params.RequestedSchema)
	if !ok {
		return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionDecline}}, nil
	}
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{
		Action: mcp.ElicitationResponseActionAccept, Content: map[string]any{"answer": answer},
	}}, nil
}

// mcpGo is mcp-go's client over the network, which has to be started still.
func mcpGo(t *testing.T, to remote, kind string, asking *person) *client.Client {
	t.Helper()
	var over transport.Interface
	var err error
	if kind == sse {
		over, err = transport.NewSSE(to.endpoint(kind), transport.WithHeaders(to.headers))
	} else {
		// It would complain when a call ends before the server has acknowledged the
		// answer that ended it.
		quiet := transport.WithHTTPLogger(slog.New(slog.DiscardHandler))
		over, err = transport.NewStreamableHTTP(to.endpoint(kind), transport.WithHTTPHeaders(to.headers), quiet)
	}
	if err != nil {
		t.Fatal(err)
	}
	var options []client.ClientOption
	if asking != nil {
		options = append(options, client.WithElicitationHandler(asking))
	}
	return client.NewClient(over, options...)
}

func driveMCPGoOver(t *testing.T, to remote, kind, version string, steps []step, asking *person) report {
	t.Helper()
	c := mcpGo(t, to, kind, asking)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := driveClient(t, c, version, steps)
	if asking != nil {
		r.Asked = asking.asked
	}
	return r
}

func TestMCPGoOverTheNetwork(t *testing.T) {
	for _, c := range goClients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, nil, func(t *testing.T, to remote) {
				steps := networkSteps()
				got := driveMCPGoOver(t, to, c.transport, c.version, steps, nil)
				checkClient(t, steps, got)
				checkVersion(t, c.version, got)
			})
			t.Run("approval", func(t *testing.T) {
				if c.transport == sse {
					t.Skip("over SSE mcp-go's client declares that it can ask, and then answers no request of a server")
				}
				a := approvalOf(c.version)
				to := guarded(t, "--permissions", writeFile(t, "rules.yaml", askingRules))
				a.check(t, driveMCPGoOver(t, to, c.transport, c.version, a.steps, &person{answers: a.answers}))
			})
			t.Run("no token", func(t *testing.T) {
				to := guarded(t)
				to.headers = nil
				stranger := mcpGo(t, to, c.transport, nil)
				err := stranger.Start(t.Context())
				if err == nil {
					_, err = handshake(t.Context(), stranger, c.version)
				}
				if err == nil {
					t.Error("it was let in")
				}
				if err := stranger.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
