// Package server tests `mcp-workspace serve` as its clients and its operators
// meet it: the program is started, reached over TCP, and works on a real
// PostgreSQL and in containers of real engines.
//
// Most tests write their requests themselves, byte for byte, because what they
// are about is what a client must not be able to do; those about use go by
// mcp-go's client.
package server
