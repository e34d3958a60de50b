// Package pipeline drives the server's own binary as a shell pipeline does:
// requests piped in, answers read from its output, and nothing else.
package pipeline
