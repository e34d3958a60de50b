// Package conformance runs the official MCP conformance suite against the
// server's own binary, over Streamable HTTP, for every revision of the protocol
// that the suite knows. scripts/test-deps.sh installs the suite.
package conformance
