package transports

import (
	"context"
	"io"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

type accepts struct{ asked atomic.Int32 }

func (a *accepts) Elicit(context.Context, mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	a.asked.Add(1)
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept}}, nil
}

func TestClientOfMCPGo(t *testing.T) {
	for name, options := range map[string][]client.ClientOption{
		"without handshake": nil,
		"with handshake":    {client.WithLegacyProtocolOnly()}, //nolint:staticcheck // deprecated with the era it is for, which is served here
	} {
		t.Run(name, func(t *testing.T) {
			toServer, fromClient := io.Pipe()
			toClient, fromServer := io.Pipe()
			served := make(chan error, 1)
			go func() {
				served <- (&Stdio{Server: newFixture().MCPServer}).Serve(context.Background(), toServer, fromServer)
				fromServer.Close()
			}()
			person := &accepts{}
			c := client.NewClient(transport.NewIO(toClient, fromClient, io.NopCloser(nil)), append(options, client.WithElicitationHandler(person))...)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := c.Start(ctx); err != nil {
				t.Fatal(err)
			}
			var hello mcp.InitializeRequest
			hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
			hello.Params.ClientInfo = mcp.Implementation{Name: "client", Version: "1"}
			if _, err := c.Initialize(ctx, hello); err != nil {
				t.Fatal(err)
			}
			tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
			if err != nil || len(tools.Tools) < 5 {
				t.Fatal(tools, err)
			}
			for tool, want := range map[string]string{"whoami": "client elicitation=true", "ask": "the answer is accept"} {
				var call mcp.CallToolRequest
				call.Params.Name = tool
				result, err := c.CallTool(ctx, call)
				if err != nil {
					t.Fatal(err)
				}
				if text := result.Content[0].(mcp.TextContent).Text; text != want {
					t.Errorf("%s answered %q", tool, text)
				}
			}
			if person.asked.Load() != 1 {
				t.Errorf("the person was asked %d times", person.asked.Load())
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if err := <-served; err != nil {
				t.Error(err)
			}
			noGoroutines(t)
		})
	}
}
