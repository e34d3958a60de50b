package transports

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// BenchmarkCall measures tools/call over pipes, beside mcp-go's own server.
// "one" waits for each answer; "many" keeps 16 calls in flight, which the
// other side's five workers and queue take without falling back.
func BenchmarkCall(b *testing.B) {
	servers := map[string]func(context.Context, *server.MCPServer, io.Reader, io.Writer) error{
		"ours": func(ctx context.Context, s *server.MCPServer, in io.Reader, out io.Writer) error {
			return (&Stdio{Server: s}).Serve(ctx, in, out)
		},
		"mcp-go": func(ctx context.Context, s *server.MCPServer, in io.Reader, out io.Writer) error {
			stdio := server.NewStdioServer(s)
			stdio.SetErrorLogger(log.New(io.Discard, "", 0))
			return stdio.Listen(ctx, in, out)
		},
	}
	answer := strings.Repeat("func main() { fmt.Println(\"hello\") }\n", 10_000/38)
	s := server.NewMCPServer("bench", "1", server.WithToolCapabilities(false))
	s.AddTool(mcp.NewTool("read"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result := mcp.NewToolResultText(answer)
		result.Meta = mcp.NewMetaFromMap(map[string]any{"mcp-workspace/ref": "state:demo", "mcp-workspace/total_lines": 263})
		return result, nil
	})
	for _, window := range []struct {
		name  string
		calls int
	}{{"one", 1}, {"many", 16}} {
		for _, name := range []string{"ours", "mcp-go"} {
			b.Run(window.name+"/"+name, func(b *testing.B) { benchmarkCalls(b, s, servers[name], window.calls) })
		}
	}
}

func benchmarkCalls(b *testing.B, s *server.MCPServer, serve func(context.Context, *server.MCPServer, io.Reader, io.Writer) error, window int) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- serve(context.Background(), s, inRead, outWrite) }()
	r := bufio.NewReaderSize(outRead, 64<<10)
	next := func() {
		for {
			_, err := r.ReadSlice('\n')
			if err == nil {
				return
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				b.Fatal(err)
			}
		}
	}
	fmt.Fprintln(inWrite, initialize("0", "{}"))
	next()
	b.ReportAllocs()
	sent := 0
	for b.Loop() {
		for sent < window {
			fmt.Fprintln(inWrite, toolCall(fmt.Sprint(sent+1), "read", `{"path":"main.go"}`))
			sent++
		}
		for ; sent > 0; sent-- {
			next()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*window), "ns/call")
	inWrite.Close()
	if err := <-served; err != nil {
		b.Fatal(err)
	}
	for _, f := range []*os.File{inRead, outRead, outWrite} {
		f.Close()
	}
}

// BenchmarkReadMessage is what a message costs before mcp-go sees it.
func BenchmarkReadMessage(b *testing.B) {
	msg := []byte(modernBody("17", "tools/call", `"name":"read_file","arguments":{"path":"cmd/mcp-workspace/main.go","offset":100,"limit":200}`))
	b.ReportAllocs()
	for b.Loop() {
		if _, wrong := readMessage(msg); wrong != nil {
			b.Fatal(wrong.message)
		}
	}
}
