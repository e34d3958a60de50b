package transports

import (
	"context"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

func TestHTTPServesClientsOfMCPGo(t *testing.T) {
	s := newSite(t, nil)
	auth := map[string]string{"Authorization": "Bearer alice"}
	for name, connect := range map[string]func() (*client.Client, error){
		"Streamable HTTP": func() (*client.Client, error) {
			return client.NewStreamableHttpClient(s.url+"/mcp", transport.WithHTTPHeaders(auth))
		},
		"SSE": func() (*client.Client, error) {
			return client.NewSSEMCPClient(s.url+"/sse", transport.WithHeaders(auth))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := connect()
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(context.Background(), patience)
			defer stop()
			if err := c.Start(ctx); err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			init := mcp.InitializeRequest{}
			init.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
			init.Params.ClientInfo = mcp.Implementation{Name: "t", Version: "1"}
			if _, err := c.Initialize(ctx, init); err != nil {
				t.Fatal(err)
			}
			call := mcp.CallToolRequest{}
			call.Params.Name, call.Params.Arguments = "echo", map[string]any{"text": "hello"}
			result, err := c.CallTool(ctx, call)
			if err != nil {
				t.Fatal(err)
			}
			if text, _ := mcp.AsTextContent(result.Content[0]); text == nil || text.Text != "hello" {
				t.Errorf("%+v", result)
			}
		})
	}
}

// TestHTTPIdleSessionsCostLittle opens 1,000 sessions with a stream each. The
// sockets' buffers are the kernel's; what is counted is this process, which has
// both ends of each connection.
func TestHTTPIdleSessionsCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("opens 2,000 connections")
	}
	const n = 1000
	s := newSite(t, func(h *HTTP) { h.Logger = nil })
	before := inUse()
	for range n {
		body := initialize("1", "{}")
		r := s.do("POST", "/mcp", body)
		c := s.dial()
		if err := c.SetDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice\r\nAccept: text/event-stream\r\nMcp-Session-Id: " + r.header.Get("Mcp-Session-Id") + "\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 12)
		if _, err := c.Read(buf); err != nil || string(buf) != "HTTP/1.1 200" {
			t.Fatalf("%q %v", buf, err)
		}
	}
	each := (inUse() - before) / n
	t.Logf("an idle session with a stream takes %d bytes; %d are open", each, s.h.Sessions())
	if each > 100<<10 {
		t.Errorf("an idle session with a stream takes %d bytes", each)
	}
}

// inUse is the memory of the heap and the stacks, after a collection.
func inUse() uint64 {
	http.DefaultClient.CloseIdleConnections()
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
