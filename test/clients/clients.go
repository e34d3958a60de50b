// Package clients runs MCP clients that others wrote against the server's own
// binary. Each client is driven through the same steps and has to bring back
// the same answers. scripts/test-deps.sh installs the clients.
package clients
