// Package transports carries MCP between a client and an
// [github.com/mark3labs/mcp-go/server.MCPServer]: over standard input and
// output with [Stdio].
//
// A transport frames messages, keeps them in order, bounds what is held of
// them, routes cancellations and answers, and knows nothing of what a message
// asks for. It imports mcp-go, whose HandleMessage does the protocol, and no
// tool, no permission and no backend.
package transports
