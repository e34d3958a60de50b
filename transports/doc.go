// Package transports carries MCP between clients and an
// [github.com/mark3labs/mcp-go/server.MCPServer]: over standard input and
// output with [Stdio], over the network with [HTTP].
//
// A transport frames messages, keeps them in order, bounds what is held of
// them, routes cancellations and answers, and knows nothing of what a message
// asks for. It imports mcp-go, whose HandleMessage does the protocol, and no
// tool, no permission and no backend; of package sessions only how a call is
// told who makes it.
//
// Over the network, requests of protocol 2026-07-28 go through mcp-go's own
// handler, which checks their headers against their bodies. Sessions of the
// revisions before it are kept here. mcp-go's handler has one channel for the
// notifications of all calls of a session, so that they end up in each other's
// responses; it does not ask whose a session is; it remembers every stream that
// could be resumed for as long as its session lasts; and it has no batches.
package transports
