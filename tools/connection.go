package tools

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
)

// Connection is what the tools remember of one client: its workspace, which
// state of which file it has seen, and what its person has approved. It is
// safe for concurrent use.
type Connection struct {
	lazy *backends.Lazy
	key  [32]byte // seals approvals; see approval.go

	mu       sync.Mutex
	seen     map[string]string    // resolved path -> version last read or written
	approved map[string]bool      // operations approved for this connection
	redeemed map[string]time.Time // approvals used once, until they expire
}

// maxSeen bounds how many files' versions are remembered. Past it an arbitrary
// one is forgotten, which costs an edit of it no more than the staleness
// check.
const maxSeen = 10_000

// NewConnection returns a connection that works in the environment of lazy.
func NewConnection(lazy *backends.Lazy) *Connection {
	c := &Connection{
		lazy:     lazy,
		seen:     map[string]string{},
		approved: map[string]bool{},
		redeemed: map[string]time.Time{},
	}
	rand.Read(c.key[:]) // never fails
	return c
}

// Workspace opens the connection's environment if that has not happened yet.
func (c *Connection) Workspace(ctx context.Context) (backends.Workspace, error) {
	return c.lazy.Workspace(ctx)
}

// Backend is the provider of the connection's environment.
func (c *Connection) Backend() string { return c.lazy.Provider() }

// Ref is the environment's ref, or "" before there is one.
func (c *Connection) Ref() string {
	ref, _ := c.lazy.Ref()
	return ref.String()
}

// saw notes the state in which a file was last read or written.
func (c *Connection) saw(resolved, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.seen[resolved]; !known && len(c.seen) >= maxSeen {
		for other := range c.seen {
			delete(c.seen, other)
			break
		}
	}
	c.seen[resolved] = version
}

// lastSeen is the version noted for a file, or "".
func (c *Connection) lastSeen(resolved string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[resolved]
}
